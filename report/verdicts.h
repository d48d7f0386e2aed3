/* SPDX-License-Identifier: MIT */
/* verdicts.h: what a run comes to, in a few sentences: the first lines of a report, summary.json's
 * "verdicts".
 *
 * Only what is certain enough: each alarm has a threshold with its reason in verdicts.c. A healthy program
 * gets the sentence about its peak, and no other.
 *
 *   peak        what live memory consisted of when it was highest
 *   kv_growth   the KV cache grows with the steps, as it is made to
 *   growth      live memory grows with the steps, and where
 *   allocator   the allocator kept much that had been given back to it, when RSS was highest
 *   device_bound, host_bound, communication_bound   what the busiest device waited for (kernels_verdict.h)
 *   lost        records are missing: the figures are lower bounds
 * and of devices, each named:
 *   device_peak what its memory consisted of when it was highest
 *   device_oom  it had no memory for a request, and what came of that (device_refusals.h); routine refusals are no alarm
 *   kv_growth, growth   likewise, of its memory
 */
#ifndef RVP_REPORT_VERDICTS_H
#define RVP_REPORT_VERDICTS_H

#include "report/attribution.h"
#include "report/analysis.h"
#include "report/device_answer.h"
#include "report/ledger.h"
#include "report/step_ends.h"

enum { RVP_SENTENCES_MAX = 24, RVP_SENTENCE_BYTES = 320 };

struct rvp_sentence {
	const char *id;
	char text[RVP_SENTENCE_BYTES];
	uint64_t bytes;
};

struct rvp_verdicts {
	struct rvp_sentence sentences[RVP_SENTENCES_MAX];
	size_t count;
};

/* `answer` was asked with the moments of `ends`. `ledger` may be NULL. */
void rvp_verdicts_make(struct rvp_verdicts *verdicts, const struct rvp_run *run,
		       const struct rvp_analysis *answer, struct rvp_attribution *attribution,
		       const struct rvp_step_ends *ends, const struct rvp_ledger *ledger);

/* Behind the host's. `devices` were asked with the moments of `ends`. */
void rvp_verdicts_add_devices(struct rvp_verdicts *verdicts, const struct rvp_run *run,
			      const struct rvp_device_answers *devices, struct rvp_attribution *attribution,
			      const struct rvp_step_ends *ends);

#endif
