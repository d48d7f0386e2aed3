/* SPDX-License-Identifier: MIT */
/* results.h: what the jobs of a sweep come to: the CSV files, and the figures of each setting against the
 * reference.
 *
 * - csv/NAME.csv: sample_id,seq_len,wall_time_us,peak_mem_bytes,energy_j
 * - csv/results.csv: setting,coherence_delta,kv_cache_reduction,peak_mem_reduction,energy_reduction,
 *   p95_latency_us,accuracy
 * - witness/NAME.jsonl: what each setting's recorded run wrote to {witness}
 *
 * docs/metrics.md, "Sweeps", defines each. A setting whose recorded run failed has a row with its name alone. */
#ifndef RVP_SWEEP_RESULTS_H
#define RVP_SWEEP_RESULTS_H

#include "sweep/sweep.h"

struct rvp_outcome {
	size_t setting;
	char name[RVP_SETTING_NAME_BYTES];
	char failure[256]; /* of the recorded run, or the first failed round; "" if none */
	bool is_recorded;  /* its recorded run did not fail */
	double coherence_delta, accuracy;
	double peak_bytes, kv_cache_bytes, joules, p95_us; /* NAN: not measured */
	double kv_cache_reduction, peak_reduction, energy_reduction;
	json_t *metrics; /* all that it said of itself */
};

struct rvp_outcomes {
	struct rvp_outcome *rows; /* the reference first */
	size_t count;
};

struct rvp_status rvp_outcomes_read(struct rvp_outcomes *outcomes, const struct rvp_sweep *sweep);
void rvp_outcomes_free(struct rvp_outcomes *outcomes);

/* Writes csv/ and witness/. `is_wide`: results.csv has lambda and tau behind the setting, as RuVector's
 * script has it. */
struct rvp_status rvp_results_write(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				    bool is_wide);

#endif
