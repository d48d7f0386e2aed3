/* SPDX-License-Identifier: MIT */
/* cmd_schedule.c: `rvprof schedule SPEC N [--json]`: what `rvprof run --schedule SPEC` does in each of the first N
 * steps, before anything runs (record/schedule.h has the rule). */
#include "record/line.h"
#include "record/options.h"
#include "record/schedule.h"
#include "report/json_writer.h"
#include "tools/commands.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: rvprof schedule SPEC N [--json]\n"
    "What `rvprof run --schedule SPEC` does in steps 0 to N - 1, a line each: the step's number, and NONE, WARMUP,\n"
    "RECORD or RECORD_AND_SAVE (the last recorded step of a cycle), by torch.profiler's rule.\n"
    "  SPEC     wait=80,warmup=3,active=1[,repeat=1][,skip_first=10][,skip_first_wait=1]\n"
    "           skip_first steps, then cycles of wait, warmup and active steps; repeat cycles, 0: no end;\n"
    "           skip_first_wait=1: the first cycle has no wait\n"
    "  --json   one JSON object, schema rvprof.schedule/1\n"
    "  --help   this\n";

/* What the first steps come to. */
struct sums {
	uint64_t recorded, cycles, first;
};

static void add(struct sums *sums, enum rvp_action action, uint64_t step)
{
	if (!rvp_action_records(action))
		return;
	if (!sums->recorded++)
		sums->first = step;
	sums->cycles += action == RVP_ACTION_RECORD_AND_SAVE;
}

static struct sums print_lines(const struct rvp_schedule *schedule, uint64_t count)
{
	struct sums sums = {0};

	for (uint64_t step = 0; step < count && !ferror(stdout); step++) {
		enum rvp_action action = rvp_schedule_action(schedule, step);

		add(&sums, action, step);
		printf("%" PRIu64 " %s\n", step, rvp_action_name(action));
	}
	return sums;
}

static struct sums print_json(const struct rvp_schedule *schedule, uint64_t count, const char *spec)
{
	struct rvp_json json = {.out = stdout};
	struct sums sums = {0};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.schedule/1");
	rvp_json_string(&json, "schedule", spec);
	rvp_json_open(&json, "rows", '[');
	for (uint64_t step = 0; step < count && !ferror(stdout); step++) {
		enum rvp_action action = rvp_schedule_action(schedule, step);

		add(&sums, action, step);
		rvp_json_open(&json, NULL, '{');
		rvp_json_number(&json, "step", step);
		rvp_json_string(&json, "action", rvp_action_name(action));
		rvp_json_close(&json, '}');
	}
	rvp_json_close(&json, ']');
	rvp_json_number(&json, "steps", count);
	rvp_json_number(&json, "recorded_steps", sums.recorded);
	rvp_json_number(&json, "finished_cycles", sums.cycles);
	if (sums.recorded)
		rvp_json_number(&json, "first_recorded_step", sums.first);
	rvp_json_close(&json, '}');
	putchar('\n');
	return sums;
}

/* The first recorded step of all: there is always one. */
static uint64_t first_recorded(const struct rvp_schedule *schedule)
{
	return schedule->skip_first + (schedule->skip_first_wait ? 0 : schedule->wait) + schedule->warmup;
}

static void note(const struct rvp_schedule *schedule, const struct sums *sums, uint64_t count)
{
	if (!sums->recorded)
		rvp_complain("a run of %" PRIu64 " step%s records nothing: the first recorded step is %" PRIu64, count,
			     count == 1 ? "" : "s", first_recorded(schedule));
	else if (!schedule->warmup)
		rvp_complain("warmup is 0: the first recorded step of a cycle includes what starting to record costs");
}

static int preview(const char *spec, const char *number, bool is_json)
{
	char complaint[RVP_COMPLAINT_BYTES];
	struct rvp_schedule schedule;
	struct sums sums;
	uint64_t count;

	if (!rvp_schedule_read(&schedule, spec, strlen(spec), complaint, sizeof complaint)) {
		rvp_complain("%s", complaint);
		return RVP_EXIT_USAGE;
	}
	if (!rvp_part_number(rvp_part_of(number), RVP_SCHEDULE_MOST, &count)) {
		rvp_complain("schedule: N is '%s', not a number of steps (0 to 10^15)", number);
		return RVP_EXIT_USAGE;
	}
	sums = is_json ? print_json(&schedule, count, spec) : print_lines(&schedule, count);
	note(&schedule, &sums, count);
	return RVP_EXIT_DONE;
}

int rvp_cmd_schedule(int argc, char **argv)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	bool is_json = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return RVP_EXIT_DONE;
		}
		if (option != 'j') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], options);
			return RVP_EXIT_USAGE;
		}
		is_json = true;
	}
	if (argc - optind == 2)
		return preview(argv[optind], argv[optind + 1], is_json);
	rvp_complain("schedule takes a schedule and how many steps to show, as in rvprof schedule "
		     "wait=80,warmup=3,active=1,repeat=1 90");
	return RVP_EXIT_USAGE;
}
