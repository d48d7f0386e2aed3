/* SPDX-License-Identifier: MIT */
/* power.h: what the sources of --power said, as rows of watts, and what they come to: joules of the run, a step, a token.
 *
 *   - A round is a moment at which all figures of all sources were read. A source has a row where each of its figures has one; the
 *     sum (power.csv) where each source has one: a sum without a part would be another quantity.
 *   - A figure that is watts is its row. A counter of joules gives the mean watts since the round before; the first round of all
 *     is given the watts of the second, so that the trapezoids have an end to begin at.
 *   - Rows are whole microwatts and whole microseconds, so that power.csv says exactly what summary.json was made of.
 *   - A step's joules are the trapezoids' between its begin and its end. Steps that were not wholly within the rows don't count.
 *   - Memory does not grow with rounds.
 */
#ifndef RVP_REPORT_POWER_H
#define RVP_REPORT_POWER_H

#include "record/power.h"
#include "report/energy.h"
#include "report/json_writer.h"
#include "report/run.h"
#include "report/steps.h"

struct rvp_power_source {
	const char *name, *given; /* never NULL */
	enum rvp_power_kind kind;
	unsigned figure_count;
	bool has_counter;
	const char *what; /* its first figure's file or device */
};

/* Of the watcher's log. */
struct rvp_power_list {
	struct rvp_power_source sources[RVP_POWER_SOURCES_MAX];
	unsigned source_count;
	struct rvp_record_POWER_SOURCE figures[RVP_POWER_FIGURES_MAX];
	unsigned figure_count;
};

struct rvp_power_sums {
	struct rvp_energy energy;
	double counted_joules; /* the sum of what its counters counted */
	uint64_t unread, resets;
};

struct rvp_power_answer {
	const struct rvp_power_list *list; /* NULL: nobody sampled power */
	struct rvp_power_sums sum, sources[RVP_POWER_SOURCES_MAX];
	uint64_t step_count, token_count; /* tokens: of decode steps */
	double step_joules, decode_joules;
};

/* Every round, in order of time: watts by source, NAN where it has none, and their sum. */
struct rvp_power_sink {
	void (*take)(struct rvp_power_sink *sink, uint64_t ns, const double *watts, double sum);
	/* A step that was wholly within the rows; may be NULL. */
	void (*end_step)(struct rvp_power_sink *sink, size_t step, double joules);
};

/* POWER_SOURCE of the watcher's log; false without memory. */
struct rvp_arena;
bool rvp_power_take_source(struct rvp_power_list **list, struct rvp_arena *arena,
			   const struct rvp_record_POWER_SOURCE *record);

/* `steps` and `sink` may be NULL. */
void rvp_power_read(struct rvp_power_answer *answer, const struct rvp_run *run, const struct rvp_steps *steps,
		    struct rvp_power_sink *sink);

/* "mock:75", "gpu=nvml,cpu=rapl". */
void rvp_power_name_sources(const struct rvp_power_list *list, char *text, size_t bytes);
bool rvp_power_is_mock(const struct rvp_power_list *list);

/* The key `energy`; nothing where nobody sampled. */
void rvp_power_write_json(struct rvp_json *json, const struct rvp_power_answer *answer);

/* Whether the program was told to measure power by a variable, though nobody could. */
bool rvp_power_was_in_vain(const struct rvp_run *run);

#endif
