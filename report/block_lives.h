/* SPDX-License-Identifier: MIT */
/* block_lives.h: how the blocks of some sites lived, and what was said of them at their births: an observer.
 *
 * Every block has a number: its birth's place among the births of the timeline, from 1. It is the same in
 * each pass over a run, and stays the same while the program runs on; reports print it as b<number>.
 * A block that gets another purpose in the middle of its life dies where it is summed then.
 */
#ifndef RVP_REPORT_BLOCK_LIVES_H
#define RVP_REPORT_BLOCK_LIVES_H

#include "report/attribution.h"
#include "report/observer.h"

enum { RVP_LIVES_LARGEST = 5, RVP_LIVES_WORDS = 24 };

struct rvp_life_block {
	uint64_t number, bytes, birth_ns, death_ns; /* RVP_NEVER: not given back; number 0: no block */
	struct rvp_block_key key;
	uint32_t split; /* its site at birth; RVP_NOT_COUNTED: in none */
};

struct rvp_life_word {
	struct rvp_verdict verdict;
	bool is_believed;
	uint64_t count, bytes; /* of the blocks of which it was said */
};

/* Recorded blocks, not what samples stand for. */
struct rvp_lives {
	uint64_t born_count, died_count;
	uint64_t least_bytes, most_bytes, bytes;
	uint64_t first_ns, last_ns;                /* births */
	uint64_t longest_ns;                       /* of those that died */
	double life_ns;                            /* summed, of those that died */
	uint64_t same_step, next_step, later_step; /* of those that died: born before a step ended, ... */
	struct rvp_life_block largest[RVP_LIVES_LARGEST];
	struct rvp_life_word words[RVP_LIVES_WORDS];
	size_t word_count;
};

struct rvp_block_lives {
	struct rvp_observer observer;
	const struct rvp_attribution *attribution;
	struct rvp_lives *rows;      /* the asker's */
	const uint32_t *row_of_site; /* a row's number + 1; 0: in no row */
	size_t site_count;
	uint64_t wanted_number; /* this block alone, into rows[0]; 0: none */
	uint64_t number;        /* births so far */
};

void rvp_block_lives_open(struct rvp_block_lives *lives, const struct rvp_attribution *attribution,
			  struct rvp_lives *rows);

#endif
