/* SPDX-License-Identifier: MIT */
/* claims.c: see claims.h. Chained hash tables by number, so that growing moves nothing that is pointed to. */
#include "report/claims.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

enum { SIEVE_FACTOR = 8 };

static uint64_t mix(const struct rvp_block_key *key)
{
	return (key->address ^ (key->birth_ns + key->birth) * 0x9e3779b97f4a7c15u ^ (uint64_t)key->process << 48) *
	       0xbf58476d1ce4e5b9u;
}

static size_t place_of(const struct rvp_claims *claims, const struct rvp_block_key *key)
{
	return (size_t)(mix(key) >> 20) & claims->mask;
}

/* ---- the sieve: a bit for each claim, eight times as many bits as places, small enough for a near cache.
 * Most blocks are claimed by nobody singly, and need no look into the table. ---- */

static size_t sieve_bit(const struct rvp_claims *claims, uint64_t mixed)
{
	return (size_t)(mixed >> 36) & (claims->mask * SIEVE_FACTOR + SIEVE_FACTOR - 1);
}

static void put_into_sieve(struct rvp_claims *claims, const struct rvp_block_key *key)
{
	size_t bit = sieve_bit(claims, mix(key));

	claims->sieve[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool may_be_claimed(const struct rvp_claims *claims, const struct rvp_block_key *key)
{
	size_t bit = sieve_bit(claims, mix(key));

	return claims->sieve[bit / 64] >> bit % 64 & 1;
}

static bool is_same_key(const struct rvp_block_key *a, const struct rvp_block_key *b)
{
	return a->address == b->address && a->birth_ns == b->birth_ns && a->process == b->process &&
	       a->birth == b->birth;
}

static bool is_same_verdict(const struct rvp_verdict *a, const struct rvp_verdict *b)
{
	return a->purpose == b->purpose && a->evidence == b->evidence;
}

static bool grow_places(struct rvp_claims *claims)
{
	size_t count = claims->places ? (claims->mask + 1) * 4 : 1024;
	uint32_t *places = calloc(count, sizeof *places);
	uint64_t *sieve = calloc(count * SIEVE_FACTOR / 64, sizeof *sieve);

	if (!places || !sieve) {
		free(places);
		free(sieve);
		return false;
	}
	free(claims->places);
	free(claims->sieve);
	claims->places = places;
	claims->sieve = sieve;
	claims->mask = count - 1;
	for (size_t i = claims->block_count; i-- > 0;) { /* backwards: chains keep the order of claims */
		size_t at = place_of(claims, &claims->blocks[i].key);

		claims->blocks[i].next = places[at];
		places[at] = (uint32_t)i + 1;
		put_into_sieve(claims, &claims->blocks[i].key);
	}
	return true;
}

/* Where the next claim of this key is to be linked in; NULL: this claim is there already. */
static uint32_t *end_of_chain(struct rvp_claims *claims, const struct rvp_block_key *key,
			      const struct rvp_verdict *verdict, uint64_t from_ns)
{
	uint32_t *link = &claims->places[place_of(claims, key)];

	for (; *link; link = &claims->blocks[*link - 1].next) {
		const struct rvp_block_claim *claim = &claims->blocks[*link - 1];

		if (claim->from_ns == from_ns && is_same_key(&claim->key, key) &&
		    is_same_verdict(&claim->verdict, verdict))
			return NULL;
	}
	return link;
}

bool rvp_claims_add_block(struct rvp_claims *claims, const struct rvp_block_key *key,
			  const struct rvp_verdict *verdict, uint64_t from_ns)
{
	uint32_t *link;

	if (!rvp_grow((void **)&claims->blocks, &claims->block_room, claims->block_count + 1,
		      sizeof *claims->blocks) ||
	    ((!claims->places || claims->block_count > claims->mask) && !grow_places(claims)))
		return false;
	link = end_of_chain(claims, key, verdict, from_ns);
	if (!link)
		return true;
	claims->blocks[claims->block_count++] =
	    (struct rvp_block_claim){.key = *key, .verdict = *verdict, .from_ns = from_ns};
	*link = (uint32_t)claims->block_count;
	put_into_sieve(claims, key);
	return true;
}

bool rvp_claims_add_site(struct rvp_claims *claims, uint32_t site, const struct rvp_verdict *verdict,
			 uint64_t least_bytes, uint64_t most_bytes)
{
	uint32_t *link;

	if (site == UINT32_MAX)
		return true;
	if (!rvp_grow((void **)&claims->sites, &claims->site_room, claims->site_count + 1,
		      sizeof *claims->sites) ||
	    !rvp_grow((void **)&claims->site_heads, &claims->site_heads_count, (size_t)site + 1,
		      sizeof *claims->site_heads))
		return false;
	for (link = &claims->site_heads[site]; *link; link = &claims->sites[*link - 1].next)
		if (is_same_verdict(&claims->sites[*link - 1].verdict, verdict) &&
		    claims->sites[*link - 1].least_bytes == least_bytes &&
		    claims->sites[*link - 1].most_bytes == most_bytes)
			return true;
	claims->sites[claims->site_count++] = (struct rvp_site_claim){
	    .verdict = *verdict, .least_bytes = least_bytes, .most_bytes = most_bytes};
	*link = (uint32_t)claims->site_count;
	return true;
}

/* What is believed of a block for its whole life by claims of its own; NULL: nothing. */
static const struct rvp_block_claim *whole_life_claim(const struct rvp_claims *claims,
						      const struct rvp_block_key *key)
{
	const struct rvp_block_claim *best = NULL;

	for (uint32_t at = claims->places[place_of(claims, key)]; at; at = claims->blocks[at - 1].next) {
		const struct rvp_block_claim *claim = &claims->blocks[at - 1];

		if (!claim->from_ns && is_same_key(&claim->key, key) &&
		    (!best || claim->verdict.evidence < best->verdict.evidence))
			best = claim;
	}
	return best;
}

static int by_time(const void *a, const void *b)
{
	const struct rvp_recast *left = a, *right = b;

	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

bool rvp_claims_settle(struct rvp_claims *claims)
{
	size_t late = 0;

	for (size_t i = 0; i < claims->block_count; i++)
		late += claims->blocks[i].from_ns != 0;
	claims->changes = calloc(late + 1, sizeof *claims->changes);
	if (!claims->changes)
		return false;
	for (size_t i = 0; i < claims->block_count; i++) {
		const struct rvp_block_claim *claim = &claims->blocks[i], *whole;

		if (!claim->from_ns)
			continue;
		whole = whole_life_claim(claims, &claim->key);
		if (whole && whole->verdict.evidence < claim->verdict.evidence)
			continue;
		claims->changes[claims->change_count++] =
		    (struct rvp_recast){claim->key, claim->from_ns, claim->verdict};
	}
	qsort(claims->changes, claims->change_count, sizeof *claims->changes, by_time);
	return true;
}

static size_t words_of_block(const struct rvp_claims *claims, const struct rvp_block_key *key,
			     struct rvp_verdict *words)
{
	size_t count = 0;

	if (!claims->places || !may_be_claimed(claims, key))
		return 0;
	for (uint32_t at = claims->places[place_of(claims, key)]; at && count < RVP_WORDS_MAX / 4;
	     at = claims->blocks[at - 1].next) {
		const struct rvp_block_claim *claim = &claims->blocks[at - 1];

		if (!claim->from_ns && is_same_key(&claim->key, key))
			words[count++] = claim->verdict;
	}
	return count;
}

size_t rvp_claims_of(const struct rvp_claims *claims, const struct rvp_block_key *key,
		     const struct rvp_block *block, struct rvp_verdict *words)
{
	size_t count = words_of_block(claims, key, words);
	uint32_t at = block->site < claims->site_heads_count ? claims->site_heads[block->site] : 0;

	for (; at && count < RVP_WORDS_MAX / 2; at = claims->sites[at - 1].next) {
		const struct rvp_site_claim *claim = &claims->sites[at - 1];

		if (block->bytes >= claim->least_bytes && block->bytes <= claim->most_bytes)
			words[count++] = claim->verdict;
	}
	return count;
}

bool rvp_claims_may_have(const struct rvp_claims *claims, const struct rvp_block_key *key)
{
	return claims->places && may_be_claimed(claims, key);
}

void rvp_claims_narrow(const struct rvp_claims *claims, uint32_t site, uint64_t bytes, uint64_t *least, uint64_t *most)
{
	uint32_t at = site < claims->site_heads_count ? claims->site_heads[site] : 0;

	for (; at; at = claims->sites[at - 1].next)
		rvp_narrow_sizes(claims->sites[at - 1].least_bytes, claims->sites[at - 1].most_bytes, bytes, least, most);
}

void rvp_claims_free(struct rvp_claims *claims)
{
	free(claims->blocks);
	free(claims->places);
	free(claims->sieve);
	free(claims->sites);
	free(claims->site_heads);
	free(claims->changes);
	memset(claims, 0, sizeof *claims);
}

static size_t place_of_text(const struct rvp_reasons *reasons, const char *text)
{
	uint64_t hash = 14695981039346656037u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return (size_t)(hash >> 16) & reasons->mask;
}

static bool grow_reasons(struct rvp_reasons *reasons)
{
	size_t count = reasons->places ? (reasons->mask + 1) * 4 : 256;
	uint32_t *places = calloc(count, sizeof *places);

	if (!places)
		return false;
	free(reasons->places);
	reasons->places = places;
	reasons->mask = count - 1;
	for (size_t i = 0; i < reasons->count; i++) {
		size_t at = place_of_text(reasons, reasons->texts[i]);

		while (places[at])
			at = (at + 1) & reasons->mask;
		places[at] = (uint32_t)i + 1;
	}
	return true;
}

uint32_t rvp_reasons_number(struct rvp_reasons *reasons, const char *text)
{
	size_t at;

	if ((!reasons->places || reasons->count * 2 > reasons->mask) && !grow_reasons(reasons))
		return 0;
	for (at = place_of_text(reasons, text); reasons->places[at]; at = (at + 1) & reasons->mask)
		if (strcmp(reasons->texts[reasons->places[at] - 1], text) == 0)
			return reasons->places[at];
	if (!rvp_grow((void **)&reasons->texts, &reasons->room, reasons->count + 1, sizeof *reasons->texts))
		return 0;
	reasons->texts[reasons->count] = strdup(text);
	if (!reasons->texts[reasons->count])
		return 0;
	reasons->places[at] = (uint32_t)++reasons->count;
	return (uint32_t)reasons->count;
}

const char *rvp_reasons_text(const struct rvp_reasons *reasons, uint32_t number)
{
	return number && number <= reasons->count ? reasons->texts[number - 1] : "";
}

void rvp_reasons_free(struct rvp_reasons *reasons)
{
	for (size_t i = 0; i < reasons->count; i++)
		free(reasons->texts[i]);
	free(reasons->texts);
	free(reasons->places);
	memset(reasons, 0, sizeof *reasons);
}
