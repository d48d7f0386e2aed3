/* SPDX-License-Identifier: MIT */
/* claims.h: what evidence claimed of single blocks and of sites, and the texts of its reasons. */
#ifndef RVP_REPORT_CLAIMS_H
#define RVP_REPORT_CLAIMS_H

#include "report/attribution.h"

enum { RVP_WORDS_MAX = 24, RVP_REASON_BYTES = 201 };

struct rvp_block_claim {
	struct rvp_block_key key;
	struct rvp_verdict verdict;
	uint64_t from_ns; /* 0: whole life */
	uint32_t next;    /* of the same place; number + 1 */
};

struct rvp_site_claim {
	struct rvp_verdict verdict;
	uint64_t least_bytes, most_bytes;
	uint32_t next; /* of the same site; number + 1 */
};

struct rvp_claims {
	struct rvp_block_claim *blocks;
	size_t block_count, block_room;
	uint32_t *places; /* of a block's key; number + 1 */
	size_t mask;
	uint64_t *sieve; /* a bit is clear: no block of such a key is claimed */
	struct rvp_site_claim *sites;
	size_t site_count, site_room;
	uint32_t *site_heads; /* by site; number + 1 */
	size_t site_heads_count;
	struct rvp_recast *changes; /* after rvp_claims_settle, in order of time */
	size_t change_count;
};

/* False without memory, each of them. The same claim twice is one. */
bool rvp_claims_add_block(struct rvp_claims *claims, const struct rvp_block_key *key,
			  const struct rvp_verdict *verdict, uint64_t from_ns);
bool rvp_claims_add_site(struct rvp_claims *claims, uint32_t site, const struct rvp_verdict *verdict,
			 uint64_t least_bytes, uint64_t most_bytes);

/* When all are in: makes the changes. */
bool rvp_claims_settle(struct rvp_claims *claims);

/* The words for a block at its birth, blocks' claims first; how many of words[RVP_WORDS_MAX / 2]. */
size_t rvp_claims_of(const struct rvp_claims *claims, const struct rvp_block_key *key,
		     const struct rvp_block *block, struct rvp_verdict *words);

/* False: no claim is of this very block. */
bool rvp_claims_may_have(const struct rvp_claims *claims, const struct rvp_block_key *key);

/* Narrows [*least, *most], around `bytes`, to sizes of which the claims of the site say the same. */
void rvp_claims_narrow(const struct rvp_claims *claims, uint32_t site, uint64_t bytes, uint64_t *least, uint64_t *most);

void rvp_claims_free(struct rvp_claims *claims);

struct rvp_reasons {
	char **texts; /* number - 1 */
	size_t count, room;
	uint32_t *places;
	size_t mask;
};

/* The number of a text, from 1; 0 without memory. */
uint32_t rvp_reasons_number(struct rvp_reasons *reasons, const char *text);
const char *rvp_reasons_text(const struct rvp_reasons *reasons, uint32_t number);
void rvp_reasons_free(struct rvp_reasons *reasons);

#endif
