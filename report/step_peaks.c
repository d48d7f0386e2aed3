/* SPDX-License-Identifier: MIT */
/* step_peaks.c: see step_peaks.h. */
#include "report/step_peaks.h"

#include <stdlib.h>

static void raise_to(struct rvp_step_peak *peak, const struct rvp_step_peak *now)
{
	if (now->tracked_bytes > peak->tracked_bytes)
		peak->tracked_bytes = now->tracked_bytes;
	if (now->kv_cache_bytes > peak->kv_cache_bytes)
		peak->kv_cache_bytes = now->kv_cache_bytes;
}

/* Steps that begin or go on before `ns` saw what was live until then. */
static void end_before(struct rvp_step_peaks *peaks, uint64_t ns)
{
	for (; peaks->step < peaks->steps->count; peaks->step++) {
		const struct rvp_step *step = &peaks->steps->steps[peaks->step];

		if (step->begin_ns >= ns)
			return;
		raise_to(&peaks->peaks[peaks->step], &peaks->now);
		if (step->end_ns >= ns)
			return;
	}
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_step_peaks *peaks = (struct rvp_step_peaks *)observer;

	end_before(peaks, event->moment->ns);
	peaks->now.tracked_bytes = state->tracked.amount.bytes;
	peaks->now.kv_cache_bytes = state->by_category[RVP_CATEGORY_KV_CACHE].amount.bytes;
}

static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	(void)state;
	end_before((struct rvp_step_peaks *)observer, RVP_NEVER);
}

bool rvp_step_peaks_open(struct rvp_step_peaks *peaks, const struct rvp_steps *steps)
{
	*peaks = (struct rvp_step_peaks){.observer = {.see = see, .finish = finish}, .steps = steps};
	peaks->peaks = calloc(steps->count + 1, sizeof *peaks->peaks);
	return peaks->peaks;
}
