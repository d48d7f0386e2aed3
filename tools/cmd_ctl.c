/* SPDX-License-Identifier: MIT */
/* cmd_ctl.c: `rvprof ctl start|stop|clear|get|dump|snapshot PID`: orders to a program that is recorded and runs, from
 * outside. The way of an order is told in record/windows.h: a word in the run folder's shared memory, which the process
 * takes at one of its next hooked calls; no thread of ours is in it, and no signal is sent.
 *
 * get and dump need nothing of the process but what it shares anyway: they read the run folder as `rvprof report` does.
 */
#include "record/clock_ns.h"
#include "record/line.h"
#include "record/windows.h"
#include "report/finalize.h"
#include "report/json_writer.h"
#include "tools/commands.h"
#include "tools/recorded_process.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "Usage: rvprof ctl start|stop|clear|get|dump|snapshot PID [--level N] [-o DIR] [--wait SECONDS] [--json]\n"
    "Orders to a program that is recorded, from outside; it takes them at one of its next hooked calls.\n"
    "  start     blocks are recorded from here on; --level 2: with rows of its calls too\n"
    "  stop      blocks are counted and not recorded any more\n"
    "  clear     a moment from which a report can begin: rvprof report --from 'clear 1'\n"
    "  get       prints what the run has so far: the text of summary.json\n"
    "  dump      writes the outputs so far, into the run folder or DIR\n"
    "  snapshot  the process's memory of this moment, as a row of the ledger\n"
    "  -o, --output DIR   of dump: another folder, made where it is not there\n"
    "  --level N          of start: 1 or 2 (default 1)\n"
    "  --wait SECONDS     how long to wait for the process (default 5)\n"
    "  --json             one JSON object, schema rvprof.ctl/1\n"
    "  --help             this\n"
    "Status: 0 done; 1 the process has not taken the order in that time: it does at its next hooked call; 2 wrong use,\n"
    "or no such process that is recorded.\n";

enum { MOST_WAIT_S = 86400, MOST_LEVEL = 2 };

static const char *const verbs[] = {
    [RVP_CTL_START] = "start",       [RVP_CTL_STOP] = "stop", [RVP_CTL_CLEAR] = "clear",
    [RVP_CTL_SNAPSHOT] = "snapshot", [RVP_CTL_VERB_COUNT] = "get", [RVP_CTL_VERB_COUNT + 1] = "dump",
};
enum { GET = RVP_CTL_VERB_COUNT, DUMP, VERBS };

struct asked {
	int verb;
	uint64_t level, wait_s;
	const char *output;
	bool is_json, has_level;
};

enum answer { TAKEN, NOT_YET, GONE };

static void sleep_a_little(void)
{
	static const struct timespec moment = {.tv_nsec = 1000000};

	nanosleep(&moment, NULL);
}

static uint64_t now_ms(void)
{
	return rvp_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Until the process has answered `number` or a later order. */
static enum answer wait_for(const struct rvp_recorded_process *process, uint64_t number, uint64_t end_ms)
{
	while (rvp_ctl_number(atomic_load(&process->entry->answer)) < number) {
		if (!rvp_recorded_process_runs(process))
			return GONE;
		if (now_ms() >= end_ms)
			return NOT_YET;
		sleep_a_little();
	}
	return TAKEN;
}

/* Puts the order behind those that were given before, and waits. `result` is what the process made of it. */
static enum answer give(const struct rvp_recorded_process *process, const struct asked *asked, unsigned *result)
{
	struct rvp_tree_entry *entry = process->entry;
	uint64_t end_ms = now_ms() + asked->wait_s * 1000, before = atomic_load(&entry->order), word;
	enum answer answer;

	do {
		answer = wait_for(process, rvp_ctl_number(before), end_ms);
		if (answer != TAKEN)
			return answer;
		word = rvp_ctl_word(rvp_ctl_number(before) + 1, (enum rvp_ctl_verb)asked->verb, (unsigned)asked->level);
	} while (!atomic_compare_exchange_strong(&entry->order, &before, word));
	answer = wait_for(process, rvp_ctl_number(word), end_ms);
	*result = rvp_ctl_result_of(atomic_load(&entry->answer));
	return answer;
}

/* ---- what is said ---- */

static void print_held(uint32_t held)
{
	if (held & RVP_HELD_BY_SCHEDULE)
		fputs("; its schedule records none of the present steps", stdout);
	if (held & RVP_HELD_BY_TIME)
		fputs("; its --delay is not over, or its --duration is", stdout);
	if (held & RVP_HELD_BY_PROGRAM)
		fputs("; stopped", stdout);
	if (!held)
		fputs("; it records", stdout);
}

static void print_json(const struct rvp_recorded_process *process, const struct asked *asked, const char *result)
{
	uint32_t held = atomic_load(&process->entry->held);
	struct rvp_json json = {.out = stdout};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.ctl/1");
	rvp_json_string(&json, "order", verbs[asked->verb]);
	rvp_json_number(&json, "pid", (uint64_t)process->pid);
	rvp_json_string(&json, "result", result);
	rvp_json_string(&json, "folder", asked->output ? asked->output : process->folder);
	rvp_json_bool(&json, "records", held == 0);
	rvp_json_bool(&json, "held_by_schedule", held & RVP_HELD_BY_SCHEDULE);
	rvp_json_bool(&json, "held_by_time", held & RVP_HELD_BY_TIME);
	rvp_json_bool(&json, "stopped", held & RVP_HELD_BY_PROGRAM);
	rvp_json_number(&json, "windows", atomic_load(&process->entry->windows_opened));
	rvp_json_number(&json, "steps_seen", atomic_load(&process->entry->steps_seen));
	rvp_json_close(&json, '}');
	putchar('\n');
}

static int say(const struct rvp_recorded_process *process, const struct asked *asked, const char *result, int status)
{
	if (asked->is_json) {
		print_json(process, asked, result);
	} else if (status == RVP_EXIT_DONE) {
		printf("%s of process %d: %s", verbs[asked->verb], (int)process->pid, result);
		if (asked->verb == RVP_CTL_START || asked->verb == RVP_CTL_STOP)
			print_held(atomic_load(&process->entry->held));
		putchar('\n');
	}
	return status;
}

static int order(const struct rvp_recorded_process *process, const struct asked *asked)
{
	unsigned result = 0;

	switch (give(process, asked, &result)) {
	case GONE:
		rvp_complain("process %d ended before it took the order", (int)process->pid);
		return RVP_EXIT_USAGE;
	case NOT_YET:
		rvp_complain("process %d made no hooked call in %" PRIu64 " s; it takes the order at its next one",
			     (int)process->pid, asked->wait_s);
		return say(process, asked, "waiting", RVP_EXIT_NO);
	default: break;
	}
	if (result == RVP_CTL_UNKNOWN) {
		rvp_complain("process %d is recorded by another version of rvprof, which does not know '%s'",
			     (int)process->pid, verbs[asked->verb]);
		return RVP_EXIT_USAGE;
	}
	return say(process, asked, result == RVP_CTL_WAS_SO ? "it was so already" : "done", RVP_EXIT_DONE);
}

/* The same text as `rvprof report --json DIR`. */
static int get(const struct rvp_recorded_process *process)
{
	char *words[] = {(char[]){"report"}, (char[]){"--json"}, (char *)process->folder, NULL};

	optind = 0; /* another command's words begin */
	return rvp_cmd_report(3, words);
}

static int dump(const struct rvp_recorded_process *process, const struct asked *asked)
{
	struct asked snapshot = *asked;
	struct rvp_status status;
	unsigned result = 0;

	snapshot.verb = RVP_CTL_SNAPSHOT;
	if (give(process, &snapshot, &result) == NOT_YET)
		rvp_complain("process %d made no hooked call in %" PRIu64 " s: without a snapshot of this moment",
			     (int)process->pid, asked->wait_s);
	status = asked->output ? rvp_finalize_into(process->folder, asked->output) : rvp_finalize(process->folder);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	if (asked->is_json)
		return say(process, asked, "done", RVP_EXIT_DONE);
	printf("the outputs so far are in %s/\n", asked->output ? asked->output : process->folder);
	return RVP_EXIT_DONE;
}

/* ---- words ---- */

static int complain_of_words(void)
{
	rvp_complain("ctl takes start, stop, clear, get, dump or snapshot, and the pid of a program that is recorded");
	return RVP_EXIT_USAGE;
}

static int verb_of(const char *word)
{
	for (int i = 1; i < VERBS; i++)
		if (!strcmp(verbs[i], word))
			return i;
	return 0;
}

static const char *nearest_verb(const char *word)
{
	static const char *const names[] = {"start", "stop", "clear", "get", "dump", "snapshot", NULL};

	return rvp_nearest(word, names);
}

static int answer(struct asked *asked, const char *verb, const char *pid_word)
{
	struct rvp_recorded_process process;
	struct rvp_status status;
	uint64_t pid;
	int result;

	asked->verb = verb_of(verb);
	if (!asked->verb) {
		const char *near = nearest_verb(verb);

		rvp_complain("ctl knows no '%s'%s%s%s", verb, near ? " (did you mean '" : "", near ? near : "",
			     near ? "'?)" : "");
		return RVP_EXIT_USAGE;
	}
	if (!rvp_part_number(rvp_part_of(pid_word), INT_MAX, &pid) || !pid) {
		rvp_complain("'%s' is no pid", pid_word);
		return RVP_EXIT_USAGE;
	}
	if ((asked->has_level && asked->verb != RVP_CTL_START) || (asked->output && asked->verb != DUMP)) {
		rvp_complain(asked->has_level && asked->verb != RVP_CTL_START ? "--level goes with start alone"
									      : "--output goes with dump alone");
		return RVP_EXIT_USAGE;
	}
	status = rvp_recorded_process_open(&process, (pid_t)pid);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	result = asked->verb == GET ? get(&process) : asked->verb == DUMP ? dump(&process, asked) : order(&process, asked);
	rvp_recorded_process_close(&process);
	return result;
}

static bool take_number(const char *option, uint64_t least, uint64_t most, uint64_t *number)
{
	if (rvp_part_number(rvp_part_of(optarg), most, number) && *number >= least)
		return true;
	rvp_complain("%s is '%s', not a whole number from %" PRIu64 " to %" PRIu64, option, optarg, least, most);
	return false;
}

int rvp_cmd_ctl(int argc, char **argv)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'},        {"level", required_argument, NULL, 'l'},
	    {"wait", required_argument, NULL, 'w'},  {"output", required_argument, NULL, 'o'},
	    {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
	struct asked asked = {.level = 1, .wait_s = 5};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		switch (option) {
		case 'h': fputs(help, stdout); return RVP_EXIT_DONE;
		case 'j': asked.is_json = true; break;
		case 'o': asked.output = optarg; break;
		case 'l':
			asked.has_level = true;
			if (!take_number("--level", 1, MOST_LEVEL, &asked.level))
				return RVP_EXIT_USAGE;
			break;
		case 'w':
			if (!take_number("--wait", 0, MOST_WAIT_S, &asked.wait_s))
				return RVP_EXIT_USAGE;
			break;
		default: rvp_complain_of_option(argv[0], option, argv[optind - 1], options); return RVP_EXIT_USAGE;
		}
	}
	return argc - optind == 2 ? answer(&asked, argv[optind], argv[optind + 1]) : complain_of_words();
}
