/* SPDX-License-Identifier: MIT */
/* doctor_system.c: whether this machine, folder and shell let a recording be made. */
#include "tools/doctor.h"

#include "record/options.h"
#include "record/run_folder.h"
#include "record/tree.h"
#include "report/text_numbers.h"
#include "tools/find_program.h"
#include "tools/watch_cgroup.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TREE_BYTES ((uint64_t)RVP_TREE_HEADER_BYTES + (uint64_t)RVP_TREE_ENTRY_COUNT * RVP_TREE_ENTRY_BYTES)
#define MIB        (1ull << 20)

enum { FILES_LEAST = 16, LINE_BYTES = 8192 };

static void check_library(struct rvp_findings *findings)
{
	char path[RVP_PROGRAM_PATH_BYTES];
	struct statvfs place;

	if (rvp_find_library(path)) {
		rvp_found(findings, RVP_FINDING_NO, "library", "build it (ninja), or install rvprof whole",
			  "librvprof.so is not beside this command (../preload, ../lib)");
		return;
	}
	if (strpbrk(path, " :\t"))
		rvp_found(findings, RVP_FINDING_NO, "library_path",
			  "move it to a path without spaces and colons", "LD_PRELOAD can not name %s", path);
	if (statvfs(path, &place) == 0 && (place.f_flag & ST_NOEXEC))
		rvp_found(findings, RVP_FINDING_NO, "noexec",
			  "install rvprof on a file system without noexec",
			  "%s lies on a file system that is mounted noexec: no program can load it", path);
}

/* Where a run folder would be made: 0 here, 1 elsewhere, -1 nowhere. */
static int find_place(char *place, size_t bytes)
{
	const char *temporary = getenv("TMPDIR"), *tried[] = {".", temporary, "/tmp"};

	for (int i = 0; i < 3; i++) {
		if (!tried[i] || access(tried[i], W_OK | X_OK))
			continue;
		snprintf(place, bytes, "%s", tried[i]);
		return i != 0;
	}
	return -1;
}

static void check_space(struct rvp_findings *findings, const char *place, uint64_t max_log_bytes)
{
	char have[RVP_NUMBER_TEXT_BYTES], need[RVP_NUMBER_TEXT_BYTES];
	struct statvfs disk;
	uint64_t free_bytes;

	if (statvfs(place, &disk))
		return;
	free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	rvp_text_bytes(free_bytes, have);
	if (free_bytes < TREE_BYTES + MIB)
		rvp_found(findings, RVP_FINDING_NO, "disk_full", "free some, or name another place by -o",
			  "%s has %s left: not enough for a run folder", place, have);
	else if (free_bytes < max_log_bytes)
		rvp_found(findings, RVP_FINDING_NOTE, "disk",
			  "lower it (--max-log 64MiB), or name another place by -o",
			  "%s has %s left, less than the log may take (--max-log %s)", place, have,
			  rvp_text_bytes(max_log_bytes, need));
}

static void check_place(struct rvp_findings *findings)
{
	char place[RVP_FOLDER_BYTES], complaint[RVP_COMPLAINT_BYTES];
	struct rvp_options options;
	int found = find_place(place, sizeof place);

	if (!rvp_options_read(&options, environ, complaint, sizeof complaint))
		rvp_found(findings, RVP_FINDING_NOTE, "variable", "unset or correct it", "%s", complaint);
	if (found < 0) {
		rvp_found(findings, RVP_FINDING_NO, "no_place", "name a folder that you may write by -o",
			  "neither the current folder, nor $TMPDIR, nor /tmp can be written");
		return;
	}
	if (found > 0)
		rvp_found(findings, RVP_FINDING_NOTE, "read_only", "name another place by -o",
			  "the current folder can not be written: the run folder will be in %s", place);
	check_space(findings, place, options.max_log_bytes);
}

static void check_limits(struct rvp_findings *findings)
{
	char text[RVP_NUMBER_TEXT_BYTES];
	struct rlimit most;

	if (!getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur != RLIM_INFINITY)
		rvp_found(
		    findings, most.rlim_cur < TREE_BYTES ? RVP_FINDING_NO : RVP_FINDING_NOTE, "file_limit",
		    "ulimit -f unlimited",
		    "files may not grow beyond %s (RLIMIT_FSIZE): recording stops there, never the program",
		    rvp_text_bytes(most.rlim_cur, text));
	if (!getrlimit(RLIMIT_NOFILE, &most) && most.rlim_cur < FILES_LEAST)
		rvp_found(findings, RVP_FINDING_NOTE, "open_files", "ulimit -n 64",
			  "only %" PRIu64 " files may be open (RLIMIT_NOFILE)", (uint64_t)most.rlim_cur);
	if (!getrlimit(RLIMIT_AS, &most) && most.rlim_cur != RLIM_INFINITY)
		rvp_found(findings, RVP_FINDING_NOTE, "address_space", "ulimit -v unlimited",
			  "address space is bounded to %s (RLIMIT_AS): our own buffers count in it",
			  rvp_text_bytes(most.rlim_cur, text));
}

static bool file_has(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[LINE_BYTES];
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file))
		found = strstr(line, word) != NULL;
	if (file)
		fclose(file);
	return found;
}

static void check_clock(struct rvp_findings *findings)
{
	if (!file_has("/proc/cpuinfo", " constant_tsc") || !file_has("/proc/cpuinfo", " nonstop_tsc"))
		rvp_found(findings, RVP_FINDING_NOTE, "tsc", "",
			  "this machine's TSC is not constant: stamps come from the kernel's clock, which "
			  "costs more");
}

static void check_proc(struct rvp_findings *findings)
{
	if (access("/proc/self/maps", R_OK))
		rvp_found(findings, RVP_FINDING_LESS, "proc", "mount -t proc proc /proc",
			  "/proc is not mounted: no module names, no resident memory");
	else if (file_has("/proc/self/status", "Seccomp:\t2"))
		rvp_found(findings, RVP_FINDING_NOTE, "seccomp", "",
			  "a seccomp filter is on here: a call that it forbids stops the recording, or more");
}

static void check_ledger(struct rvp_findings *findings)
{
	struct rvp_cgroup cgroup;

	rvp_cgroup_find(&cgroup, "", getpid());
	if (!cgroup.version)
		rvp_found(findings, RVP_FINDING_NOTE, "cgroup", "",
			  "no control group with a memory controller is mounted: no limit of one can be seen");
	if (access("/proc/self/pagemap", R_OK))
		rvp_found(findings, RVP_FINDING_NOTE, "pagemap", "",
			  "/proc/self/pagemap is not readable: the ledger has no free-or-fragmented, no resident "
			  "bytes of blocks");
}

static void check_debuginfod(struct rvp_findings *findings)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *library;

	if (!urls || !*urls)
		return;
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		dlclose(library);
	else
		rvp_found(
		    findings, RVP_FINDING_NOTE, "debuginfod",
		    "install libdebuginfod (apt-get install libdebuginfod1)",
		    "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is not there: no symbols from the net");
}

void rvp_doctor_system(struct rvp_findings *findings)
{
	check_library(findings);
	check_place(findings);
	check_limits(findings);
	check_clock(findings);
	check_proc(findings);
	check_ledger(findings);
	check_debuginfod(findings);
	rvp_doctor_writes(findings);
	rvp_doctor_cuda(findings);
}
