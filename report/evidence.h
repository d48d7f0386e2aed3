/* SPDX-License-Identifier: MIT */
/* evidence.h: the interface of a kind of evidence, one file each (evidence_tags.c, evidence_files.c,
 * evidence_rules.c, evidence_scopes.c, evidence_lifetime.c, evidence_writes.c, evidence_device.c).
 *
 * Rules
 *   - A source only claims what it has seen; it never guesses for others, and never overwrites: who is
 * believed is decided in attribution.c, by evidence.def's order.
 *   - `survey` sees every event of the first pass, with the state after it; blocks of the program's own
 * mappings come as blocks too (RVP_BLOCK_MAPPED). `survey_end` comes once behind the last event: claims that
 * need the whole.
 *   - `judge` is asked at a birth in the second pass, and must be quick (nanoseconds): remember per site.
 *     `see` gets each event of the second pass before that.
 *   - Bounded memory, hostile logs: every number of a record is checked before use.
 */
#ifndef RVP_REPORT_EVIDENCE_H
#define RVP_REPORT_EVIDENCE_H

#include "report/observer.h"

enum rvp_evidence {
#define RVP_EVIDENCE(id, name, what) RVP_EVIDENCE_##id,
#include "report/evidence.def"
	RVP_EVIDENCE_COUNT
};
extern const char *const rvp_evidence_names[RVP_EVIDENCE_COUNT];
extern const char *const rvp_evidence_texts[RVP_EVIDENCE_COUNT];

struct rvp_attribution;
struct rvp_steps;

struct rvp_verdict {
	uint16_t purpose;   /* purpose.h; RVP_CATEGORY_UNKNOWN: nobody spoke */
	uint8_t evidence;   /* enum rvp_evidence */
	uint8_t confidence; /* percent, as the evidence sees itself */
	uint32_t reason;    /* rvp_reason; 0: none */
};

/* What a block is called by in every pass. Two blocks of one address can have come at one ns: not every alloc is stamped
 * (docs/format.md), so the number of the birth belongs to it. */
struct rvp_block_key {
	uint64_t address, birth_ns;
	uint32_t process, birth;
};
static inline struct rvp_block_key rvp_block_key_of(const struct rvp_block *block, uint32_t process)
{
	return (struct rvp_block_key){block->address, block->birth_ns, process, block->birth};
}
struct rvp_block_key rvp_key_of(const struct rvp_event *event);

struct rvp_evidence_source {
	void (*survey)(struct rvp_evidence_source *source, const struct rvp_event *event,
		       const struct rvp_state *state);
	void (*survey_end)(struct rvp_evidence_source *source, const struct rvp_state *state);
	/* A pass that answers begins, not always the first one: nothing is open. */
	void (*begin_pass)(struct rvp_evidence_source *source);
	void (*see)(struct rvp_evidence_source *source, const struct rvp_event *event);
	/* True: it speaks. */
	bool (*judge)(struct rvp_evidence_source *source, const struct rvp_event *birth,
		      struct rvp_verdict *verdict);
	/* As an observer's (observer.h), of the survey; NULL: it does not mind. */
	bool (*minds)(struct rvp_evidence_source *source);
	/* Of what `judge` came to at this birth, of a block that is no mapping, in a process without scopes: does it hold
	 * for the later blocks of the site with *least <= bytes <= *most, which it may narrow? NULL: it does. */
	bool (*lasts)(struct rvp_evidence_source *source, const struct rvp_event *birth, uint64_t *least,
		      uint64_t *most);
	void (*close)(struct rvp_evidence_source *source);
	struct rvp_attribution *attribution; /* set before the first call */
};

/* Each of these may be NULL but close. Makers: NULL without memory. */
struct rvp_evidence_source *rvp_evidence_tags(struct rvp_attribution *attribution);
struct rvp_evidence_source *rvp_evidence_files(struct rvp_attribution *attribution);
struct rvp_evidence_source *rvp_evidence_rules(struct rvp_attribution *attribution);
struct rvp_evidence_source *rvp_evidence_scopes(struct rvp_attribution *attribution);
struct rvp_evidence_source *rvp_evidence_lifetime(struct rvp_attribution *attribution);
struct rvp_evidence_source *rvp_evidence_writes(struct rvp_attribution *attribution);
struct rvp_evidence_source *rvp_evidence_device(struct rvp_attribution *attribution);

/* Claims; `from_ns` 0: for the block's whole life. Without memory they are dropped and the attribution fails.
 */
void rvp_claim_block(struct rvp_attribution *attribution, struct rvp_block_key key,
		     struct rvp_verdict verdict, uint64_t from_ns);
/* Every block of a site (a number in state->sites of the survey) with least <= bytes <= most. */
void rvp_claim_site(struct rvp_attribution *attribution, uint32_t site, struct rvp_verdict verdict,
		    uint64_t least_bytes, uint64_t most_bytes);
/* Narrows [*least, *most], around `bytes`, to sizes on the same sides of `from` and `to`. */
static inline void rvp_narrow_sizes(uint64_t from, uint64_t to, uint64_t bytes, uint64_t *least, uint64_t *most)
{
	if (bytes < from) {
		if (from - 1 < *most)
			*most = from - 1;
	} else if (from > *least) {
		*least = from;
	}
	if (bytes > to) {
		if (to + 1 > *least)
			*least = to + 1;
	} else if (to < *most) {
		*most = to;
	}
}
/* A reason's number; the same text gives the same number. At most 200 characters are kept. */
uint32_t rvp_reason(struct rvp_attribution *attribution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void rvp_evidence_note(struct rvp_attribution *attribution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* During survey_end: what of this reason the survey found in a process; it is in the answering pass's losses.
 */
void rvp_evidence_loss(struct rvp_attribution *attribution, uint32_t process, enum rvp_loss reason,
		       uint64_t count);

/* What evidence may ask for. */
const struct rvp_run *rvp_attribution_run(const struct rvp_attribution *attribution);
const struct rvp_attribution_settings *rvp_attribution_settings(const struct rvp_attribution *attribution);
const struct rvp_steps *rvp_attribution_steps(const struct rvp_attribution *attribution);
struct rvp_purposes *rvp_attribution_purposes(struct rvp_attribution *attribution);
/* During the survey: the live block that holds `address` (blocks of RVP_INDEXED_BYTES and more, and mappings;
 * smaller ones only by their first byte); NULL: none. Valid until the next event. */
enum { RVP_INDEXED_BYTES = 1024 };
const struct rvp_block *rvp_survey_block(const struct rvp_attribution *attribution, uint32_t process,
					 uint64_t address);
/* The survey will be shown when the live block that begins at `address` goes. */
void rvp_survey_watch(const struct rvp_attribution *attribution, uint32_t process, uint64_t address);

#endif
