/* SPDX-License-Identifier: MIT */
/* cmd_run.c: `rvprof run [OPTION..] [--] CMD [ARG..]`: the program as our child, recorded by librvprof.so
 * inside it and watched from outside; outputs and a short summary when it is gone.
 *
 * Order: the program is found, forked on hold (its pid names the folder), the folder and its table are made,
 * the program goes, we watch, it ends, the outputs are written, its end is passed on. What fails before the
 * program runs is 125 to 127 and leaves nothing behind; what fails later ends our recording, not the program.
 */
#include "tools/commands.h"

#include "tools/find_program.h"
#include "tools/meters.h"
#include "tools/process_stat.h"
#include "tools/run_environment.h"
#include "tools/run_finish.h"
#include "tools/run_place.h"
#include "tools/run_program.h"
#include "tools/run_record.h"
#include "tools/run_settings.h"
#include "tools/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRELOAD_BYTES = 16384 };

struct run {
	struct rvp_run_settings settings;
	struct rvp_run_place place;
	struct rvp_program program;
	struct rvp_meters *power; /* NULL: not asked for */
	struct rvp_watch *watch;
	struct rvp_run_end end;
	char program_path[RVP_PROGRAM_PATH_BYTES];
	char preload[PRELOAD_BYTES];
};

/* The nearest command, for `rvprof reprot`; NULL for a word with a slash or far from any. */
static const char *meant_command(const char *word)
{
	static const char *const names[] = {
#define RVP_COMMAND(id, page, help) #id,
#include "tools/commands.def"
	    NULL};

	return strchr(word, '/') ? NULL : rvp_nearest(word, names);
}

static int complain_of_program(const char *word, int failed)
{
	const char *command = failed == ENOENT ? meant_command(word) : NULL;

	if (command)
		rvp_complain("cannot run '%s': no such program (did you mean 'rvprof %s'?)", word, command);
	else
		rvp_complain("cannot run '%s': %s", word,
			     failed == ENOENT ? "no such program" : strerror(failed));
	return failed == ENOENT ? RVP_EXIT_NOT_FOUND : RVP_EXIT_NOT_EXECUTABLE;
}

static int complain(struct rvp_status status)
{
	rvp_complain_of(&status);
	return RVP_EXIT_RUN_FAILED;
}

static int find_preload(struct run *run)
{
	char library[RVP_PROGRAM_PATH_BYTES], sanitizer[256];
	struct rvp_status status;

	if (rvp_find_library(library)) {
		rvp_complain(
		    "librvprof.so is not beside this command (../preload, ../lib): build or install it");
		return RVP_EXIT_RUN_FAILED;
	}
	rvp_sanitizer_of(run->program_path, sanitizer, sizeof sanitizer);
	status =
	    rvp_preload_value(run->preload, sizeof run->preload, library, getenv("LD_PRELOAD"), sanitizer);
	return rvp_failed(status) ? complain(status) : 0;
}

static int before_exec(const char *run_dir, void *context)
{
	const struct run *run = context;

	return rvp_set_environment(&run->settings, run_dir, run->preload);
}

static int make_place(struct run *run)
{
	uint32_t pid = (uint32_t)run->program.pid;
	struct rvp_status status =
	    rvp_run_place_make(&run->place, &run->settings, pid, rvp_start_ticks(run->program.pid));

	if (rvp_failed(status)) {
		rvp_program_cancel(&run->program);
		return complain(status);
	}
	if (run->place.moved)
		rvp_complain("the current folder can not be written; the run folder is %s", run->place.path);
	return 0;
}

/* The program is on hold: what a driver's library opens here it does not inherit. */
static int open_power(struct run *run)
{
	struct rvp_status status = RVP_OK;

	if (*run->settings.options.power)
		status = rvp_meters_open(&run->power, run->settings.options.power);
	if (!rvp_failed(status))
		return 0;
	rvp_program_cancel(&run->program);
	return complain(status);
}

static int start(struct run *run)
{
	struct rvp_status status = rvp_program_prepare(&run->program);
	int failed;

	if (run->program.pid == 0 && !rvp_failed(status))
		rvp_program_become(&run->program, run->settings.program, before_exec, run);
	if (rvp_failed(status))
		return complain(status);
	failed = open_power(run);
	if (failed)
		return failed;
	failed = make_place(run);
	if (failed)
		return failed;
	failed = rvp_program_go(&run->program, run->place.path);
	if (!failed)
		return 0;
	rvp_run_place_remove(&run->place);
	if (failed == ENOENT) { /* the file is there: what it needs to run is not */
		rvp_complain("cannot run '%s': its interpreter is not there", run->settings.program[0]);
		return RVP_EXIT_NOT_EXECUTABLE;
	}
	return complain_of_program(run->settings.program[0], failed);
}

/* Until the program is gone. Without a watcher the rest of the recording goes on. */
static void watch(struct run *run)
{
	struct rvp_status status =
	    rvp_watch_open(&run->watch, run->place.path, run->place.tree, run->program.pid, run->power);

	if (rvp_failed(status))
		rvp_complain_of(&status);
	while (!run->program.ended)
		rvp_program_wait(&run->program, run->watch ? rvp_watch_step(run->watch) : -1);
	run->end.wait_status = run->program.wait_status;
	if (!run->watch)
		return;
	status = rvp_watch_close(run->watch, run->program.wait_status, &run->end.watched);
	if (rvp_failed(status))
		rvp_complain_of(&status);
}

bool rvp_run_record(int argc, char **argv, struct rvp_recorded *recorded, int *status)
{
	static struct run run;

	if (rvp_run_settings_read(&run.settings, argc, argv, status))
		return false;
	*status = rvp_find_program(run.settings.program[0], run.program_path);
	if (*status) {
		*status = complain_of_program(run.settings.program[0], *status);
		return false;
	}
	*status = find_preload(&run);
	if (!*status)
		*status = start(&run);
	if (*status)
		return false;
	watch(&run);
	rvp_meters_close(run.power);
	run.end.program_path = run.program_path;
	rvp_run_finish(&run.settings, &run.place, &run.end);
	rvp_program_done(&run.program);
	*recorded = (struct rvp_recorded){.folder = run.place.path, .wait_status = run.end.wait_status};
	return true;
}

int rvp_cmd_run(int argc, char **argv)
{
	struct rvp_recorded recorded;
	int status;

	return rvp_run_record(argc, argv, &recorded, &status) ? rvp_program_pass_on(recorded.wait_status) : status;
}
