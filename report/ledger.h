/* SPDX-License-Identifier: MIT */
/* ledger.h: what resident memory consisted of, at the snapshot with the highest RSS, at the last one and
 * where the program asked for one (rvprof_snapshot); and what the categories held when live bytes were
 * highest.
 *
 * An entry with `sums` was made from looks at the map from inside (ledger_look.h), each part by itself. One
 * without was made from REGION records alone, where heap and anonymous memory are one row, or from an RSS
 * sample.
 */
#ifndef RVP_REPORT_LEDGER_H
#define RVP_REPORT_LEDGER_H

#include "report/ledger_look.h"
#include "report/ledger_pins.h"
#include "report/ledger_pss.h"

struct rvp_ledger_entry {
	bool is_set;
	uint64_t ns;            /* of the RSS sample */
	uint64_t regions_ns;    /* of the snapshot of maps; 0: none */
	bool regions_are_whole; /* every living process has one */
	uint64_t rss_bytes, swap_bytes, live_bytes;
	uint64_t regions_rss_bytes; /* RSS as it was known at regions_ns */
	uint64_t mapped_bytes[RVP_CATEGORY_COUNT], region_bytes[RVP_CATEGORY_COUNT];
	struct rvp_ledger_sums *sums; /* of the tree; NULL: not looked at from inside */
	bool sums_are_whole;          /* every living process was, and holds what it did then */
	char label[64];               /* of a mark */
};

enum { RVP_LEDGER_MARKS_MAX = 16 };

struct rvp_ledger {
	struct rvp_observer observer;
	struct rvp_ledger_entry peak; /* the highest one with a snapshot of maps, else the highest */
	struct rvp_ledger_entry end;
	struct rvp_ledger_entry marks[RVP_LEDGER_MARKS_MAX]; /* the last ones */
	uint64_t mark_count;                                 /* ever */
	struct rvp_ledger_entry at_live_peak;
	uint64_t max_region_bytes[RVP_CATEGORY_COUNT];
	uint64_t regions_ns, regions_rss_bytes; /* of the latest snapshot of maps */
	uint64_t live_peak_bytes;
	struct rvp_record_CGROUP cgroup,
	    cgroup_peak; /* the last, and the one with the highest current_bytes */
	bool has_cgroup;
	/* Where the allocator kept much: what keeps it from going back. */
	struct rvp_pin peak_pins[RVP_PINS_MAX], end_pins[RVP_PINS_MAX];
	size_t peak_pin_count, end_pin_count;
	uint64_t peak_trimmable_bytes, end_trimmable_bytes; /* rvp_trimmable_bytes */
	bool peak_has_trimmable, end_has_trimmable;
	struct rvp_pss_round pss; /* of the tree, where it was read and RSS was highest */
	/* While the pass goes on. */
	struct rvp_ledger_ranges ranges;
	struct rvp_look *looks; /* by process */
	uint32_t open_process;  /* whose look is open, or RVP_NO_PROCESS */
	/* By process: what it held at the peak, without a look of that time; 0: nothing is missing of it. Its
	 * next look stands for it if it holds about as much then. */
	uint64_t *peak_missing, *now_missing;
	size_t peak_missing_count;
	struct rvp_pss_round pss_now;
	bool no_memory; /* no entry has sums from then on */
};

/* False without memory. */
bool rvp_ledger_open(struct rvp_ledger *ledger, const struct rvp_run *run);
void rvp_ledger_close(struct rvp_ledger *ledger);

/* Whether the parts of an entry were looked at in the same moment as its whole, so that the rest means
 * something. */
bool rvp_ledger_closes(const struct rvp_ledger_entry *entry);

/* Whether the allocator kept so much freed memory that it is worth a word: less is what any keeps. */
bool rvp_ledger_keeps_much(const struct rvp_ledger_sums *sums);

/* RSS less all rows. */
int64_t rvp_ledger_entry_unexplained(const struct rvp_ledger_entry *entry);

#endif
