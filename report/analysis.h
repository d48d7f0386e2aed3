/* SPDX-License-Identifier: MIT */
/* analysis.h: the questions to a run. One pass over the merged, matched timeline answers them all: totals,
 * peak, end, any asked moments, by site.
 *
 * A site is (process, native call path, Python call path), and with attribution also purpose and evidence:
 * one call path whose blocks serve two purposes is two sites. What the words mean is in docs/metrics.md.
 * Memory: live blocks + sites (times asked moments) + asked series rows; nothing grows with events.
 *
 *     struct rvp_run *run;
 *     struct rvp_analysis answer;
 *     rvp_run_open(&run, "rvprof.app.42");
 *     rvp_analyse(run, &(struct rvp_question){.moments_ns = t, .moment_count = 2, .series_rows = 200},
 * &answer); uint32_t *order = rvp_sites_by(&answer, RVP_BY_PEAK_BYTES);   // then answer.sites[order[0]] ...
 */
#ifndef RVP_REPORT_ANALYSIS_H
#define RVP_REPORT_ANALYSIS_H

#include "report/purpose.h"
#include "report/run.h"

/* Bytes and blocks. Sampled blocks are in here with their weight. */
struct rvp_amount {
	uint64_t bytes, count;
};

/* What a site had live from an asked moment on. A site's are one behind the other in time, among those of others. */
struct rvp_held {
	uint32_t moment;
	uint32_t before; /* so many places before it is the one before; 0: it is the first */
	struct rvp_amount amount;
};

struct rvp_site {
	/* One line of the cache: what changes at every alloc and free. */
	struct rvp_amount live;      /* while the pass goes on */
	uint64_t peak_seen;          /* likewise */
	uint64_t first_ns, last_ns;  /* first and last alloc: when to look a module up */
	struct rvp_amount allocated; /* ever, folded ones included */
	uint64_t largest_bytes;      /* the largest single block */
	/* Another one: what may. */
	struct rvp_amount at_peak;   /* live when the tree's live bytes were highest */
	struct rvp_amount temporary; /* freed by their own thread before its next alloc */
	uint64_t peak_sampled_bytes; /* of at_peak: what sampled blocks stand for, and its variance */
	double peak_variance;
	uint32_t process;   /* in run->processes */
	uint16_t purpose;   /* purpose.h; RVP_CATEGORY_UNKNOWN without attribution */
	uint8_t evidence;   /* enum rvp_evidence */
	uint8_t confidence; /* percent, as the evidence sees itself */
	uint32_t stack;     /* rvp_node_at; 0: none */
	uint32_t python;    /* rvp_python_node_at; 0: none */
	/* The rest. */
	uint32_t reason;               /* rvp_reason_text: of its first block */
	uint16_t is_estimate;          /* 1: sampled blocks are in it */
	uint16_t device;               /* of its blocks, by the run's number; 0: the host */
	struct rvp_amount at_end;      /* live at its process's end (an alive one: now) */
	const struct rvp_held *held; /* the last; NULL: nothing was live at an asked moment. See rvp_site_at */
	uint64_t live_sampled_bytes;   /* while the pass goes on */
	double live_variance;
	uint32_t next_of_process;
	uint32_t last_held; /* while the pass goes on: number + 1; 0: none */
	uint32_t unused[2];
};

/* What was live at an asked moment. */
static inline struct rvp_amount rvp_site_at(const struct rvp_site *site, size_t moment)
{
	const struct rvp_held *held = site->held;

	while (held && held->moment > moment)
		held = held->before ? held - held->before : NULL;
	return held ? held->amount : (struct rvp_amount){0, 0};
}

/* The run's time is cut into series_rows equal parts; a row is a part in which something happened. */
struct rvp_series_row {
	uint64_t ns;         /* when live bytes were highest in this part */
	uint64_t live_bytes; /* of the tree, highest */
	uint64_t rss_bytes;  /* of the tree, highest; 0 before the first sample */
};

struct rvp_totals {
	struct rvp_counters counters; /* exact while counters_are_exact */
	bool counters_are_exact;
	uint64_t free_bytes, peak_live_bytes, end_live_bytes;
	bool timeline_is_exact; /* of the three above */
	uint64_t peak_ns;       /* when live bytes were highest; RVP_NEVER: no block was recorded */
	/* 95 % error of the three above, from sampling; meaningful when error_is_known and not
	 * timeline_is_exact. */
	bool error_is_known;
	uint64_t peak_sampled_bytes; /* of peak_live_bytes: what sampled blocks stand for */
	uint64_t free_error_bytes, peak_error_bytes, end_error_bytes;
	uint64_t loss[RVP_LOSS_COUNT]; /* of the run: processes, watcher, tree, and what matching found */
	uint64_t lost_records;
	uint64_t matched_events; /* allocs and frees in the timeline */
	uint64_t live_count;     /* blocks live at end */
	double end_variance;     /* of end_live_bytes, from sampling */
};

/* Highest live bytes that a purpose ever had. */
struct rvp_maximum {
	uint64_t bytes, ns;
};

struct rvp_analysis {
	struct rvp_site *sites;
	size_t site_count, site_room;
	struct rvp_totals totals;
	uint64_t *moment_live_bytes; /* of the tree, one a moment */
	size_t moment_count;
	struct rvp_series_row *series;
	size_t series_count;
	uint64_t peak_rss_bytes, peak_rss_ns; /* of the tree; 0: never sampled */
	uint64_t mean_rss_bytes;              /* over time */
	struct rvp_totals *processes;         /* the same totals by process, run->process_count of them */
	struct rvp_held *held; /* of the sites, at the asked moments */
	size_t held_count;
	uint64_t
	    tracked_peak_bytes; /* blocks and the program's own mappings: what the sites' at_peak sum up to */
	uint64_t tracked_peak_ns; /* RVP_NEVER: there was none */
	uint64_t tracked_end_bytes, tracked_end_count; /* likewise of at_end */
	struct rvp_maximum max_by_purpose[RVP_PURPOSES_MAX];
	struct rvp_maximum max_by_category[RVP_CATEGORY_COUNT];
	uint32_t device; /* as asked */
	uint64_t device_peak_live_bytes;    /* highest without what allocators held and had not given out */
	uint64_t device_peak_managed_bytes; /* of tracked_peak_bytes: managed memory */
	uint64_t device_unknown_frees;      /* of what was never seen to be given out */
};

struct rvp_observer; /* observer.h: whoever wants every matched event while the pass goes */
struct rvp_attribution;

struct rvp_question {
	const uint64_t *moments_ns; /* ascending */
	size_t moment_count;
	size_t series_rows;                  /* at most so many rows; 0: no series */
	uint32_t device;     /* whose memory: 0 the host's, else that device's (device_list.h) alone */
	bool shows_devices;  /* observers see the events of all devices too, which are in no sum: a survey */
	struct rvp_observer **observers;     /* NULL ends them; may be NULL */
	struct rvp_attribution *attribution; /* NULL: everything is unknown */
};

/* Answers into `answer` (whatever it held is overwritten). Fails only without memory. */
struct rvp_status rvp_analyse(struct rvp_run *run, const struct rvp_question *question,
			      struct rvp_analysis *answer);
void rvp_analysis_free(struct rvp_analysis *answer);

enum rvp_site_order {
	RVP_BY_PEAK_BYTES,
	RVP_BY_END_BYTES,
	RVP_BY_ALLOCATED_BYTES,
	RVP_BY_ALLOCATED_COUNT,
	RVP_BY_TEMPORARY_COUNT,
	RVP_BY_GROWTH, /* live at the last asked moment less at the first, shrinkers last; needs two moments */
};

/* Indices into answer->sites, largest first, ties in order of appearance; free() it. NULL without memory. */
uint32_t *rvp_sites_by(const struct rvp_analysis *answer, enum rvp_site_order order);

#endif
