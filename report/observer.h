/* SPDX-License-Identifier: MIT */
/* observer.h: for whoever wants every event of a pass of rvp_analyse, with the state that it leads to: the
 * writers of memory.csv, categories.csv, trace.json and the ledger. */
#ifndef RVP_REPORT_OBSERVER_H
#define RVP_REPORT_OBSERVER_H

#include "report/match.h"
#include "report/resident.h"

struct rvp_map_table;
struct rvp_device_blocks;

struct rvp_live {
	struct rvp_amount amount;
	uint64_t sampled_bytes; /* of the bytes: what sampled blocks stand for */
	double variance;        /* of the bytes, from sampling */
};

struct rvp_state {
	const struct rvp_run *run;
	const struct rvp_matcher *matcher;            /* its live blocks */
	struct rvp_live live;                         /* of the tree: blocks */
	struct rvp_live tracked;                      /* of the tree: blocks and the program's own mappings */
	struct rvp_live by_purpose[RVP_PURPOSES_MAX]; /* of tracked */
	struct rvp_live by_category[RVP_CATEGORY_COUNT]; /* of tracked, sub-kinds summed */
	bool is_attributed;                              /* false: all of it is in unknown */
	struct rvp_live *live_by_process;                /* run->process_count of them */
	struct rvp_tree_rss resident;
	const struct rvp_site *sites; /* may move at each event; of a block: sites[block.split], in a survey
				       * also sites[block.site] */
	size_t site_count;
	uint64_t change_count; /* purposes that changed in the middle of a life so far: bytes went from site
				* to site without an event */
	const struct rvp_map_table *maps; /* its live mappings; NULL in a survey */
	const struct rvp_device_blocks *devices;
	uint32_t device; /* whose memory the sums are: 0 the host's, else that device's alone */
};

struct rvp_observer {
	/* An event, and the state after it; the end of a process comes with the state before, while it still
	 * counts. */
	void (*see)(struct rvp_observer *observer, const struct rvp_event *event,
		    const struct rvp_state *state);
	/* Once, behind the last event. */
	void (*finish)(struct rvp_observer *observer, const struct rvp_state *state);
	/* Whether it wants to see plain allocs and frees too, as things stand; NULL: it does. Who does not is still shown
	 * the first block of each site, frees of blocks with RVP_BLOCK_WATCHED, all other records, and now and then
	 * an alloc or a free that somebody else wants or that is out of order. Asked again whenever it was shown
	 * something. */
	bool (*minds)(struct rvp_observer *observer, uint32_t process);
};

#endif
