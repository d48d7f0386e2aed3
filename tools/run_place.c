/* SPDX-License-Identifier: MIT */
/* run_place.c: see run_place.h. */
#include "tools/run_place.h"

#include "record/clock_ns.h"
#include "record/names.h"
#include "record/tree_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* argv with each word's NUL, into `into`; a word that does not fit is cut. Returns the bytes, more than fit
 * when cut. */
static size_t join_command(char *into, size_t room, char *const *argv)
{
	size_t length = 0;

	for (; *argv; argv++) {
		size_t word = strlen(*argv) + 1;

		if (length < room)
			memcpy(into + length, *argv, word < room - length ? word : room - length);
		length += word;
	}
	return length;
}

static struct rvp_status make_tree(struct rvp_run_place *place, const struct rvp_run_settings *settings,
				   uint32_t pid, uint64_t start_ticks)
{
	static char command[RVP_TREE_COMMAND_BYTES + 1];
	struct stat namespace = {0};
	char path[RVP_FOLDER_BYTES + 16];
	struct rvp_tree_facts facts = {
	    .maker = RVP_MADE_BY_RUN, .mode = settings->options.mode, .root_pid = pid};
	int failed;

	stat("/proc/self/ns/pid", &namespace);
	facts.root_start_ticks = start_ticks;
	facts.root_pidns = namespace.st_ino;
	facts.begin_realtime_ns = rvp_clock_ns(CLOCK_REALTIME);
	facts.max_log_bytes = settings->options.max_log_bytes;
	facts.exe = rvp_folder_exe(settings->program[0]);
	facts.command = command;
	facts.command_bytes = join_command(command, sizeof command, settings->program);
	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, place->path);
	failed = rvp_tree_make(path, &facts, &place->tree);
	if (failed)
		return rvp_fail("make", path, failed);
	atomic_store(&place->tree->warned_options, settings->environment_was_odd);
	return RVP_OK;
}

const char *rvp_path_from_here(const char *path)
{
	char here[RVP_FOLDER_BYTES];
	size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

	return length > 1 && !strncmp(path, here, length) && path[length] == '/' ? path + length + 1 : path;
}

static struct rvp_status explain(const char *path, int failed)
{
	if (failed == EEXIST)
		return rvp_fail_with("make", rvp_path_from_here(path),
				     "it exists; -f replaces it, -o names another");
	if (failed == EINVAL)
		return rvp_fail_with(
		    "make", "the run folder",
		    "its name may use %%p %%h %%r %%e %%t %%q{NAME} and %%%%, and not be empty");
	return rvp_fail("make", path, failed);
}

struct rvp_status rvp_run_place_make(struct rvp_run_place *place, const struct rvp_run_settings *settings,
				     uint32_t pid, uint64_t start_ticks)
{
	struct utsname machine;
	struct rvp_folder_facts facts = {.pid = pid, .environment = environ};
	struct rvp_status status;
	int failed;

	uname(&machine);
	facts.host = machine.nodename;
	facts.exe = rvp_folder_exe(settings->program[0]);
	facts.start_unix_s = (uint64_t)time(NULL);
	place->tree = NULL;
	failed = rvp_folder_place(place->path, settings->options.output, &facts, false, &place->moved);
	if (failed == EEXIST && settings->options.force) {
		status = rvp_old_run_remove(place->path);
		if (rvp_failed(status))
			return status;
		failed = rvp_folder_make(place->path);
	}
	if (failed)
		return explain(place->path, failed);
	status = make_tree(place, settings, pid, start_ticks);
	if (rvp_failed(status))
		rmdir(place->path);
	return status;
}

void rvp_run_place_remove(struct rvp_run_place *place)
{
	char path[RVP_FOLDER_BYTES + 16];

	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, place->path);
	unlink(path);
	rmdir(place->path);
	munmap(place->tree, rvp_tree_bytes(RVP_TREE_ENTRY_COUNT));
	place->tree = NULL;
}
