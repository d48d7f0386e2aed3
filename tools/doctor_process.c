/* SPDX-License-Identifier: MIT */
/* doctor_process.c: whether a process that runs is recorded, and if not, why. */
#include "tools/doctor.h"

#include "tools/process_stat.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of /proc/PID/`name` (ended by `end`) that contains `word`, into `line`. -1: can not be read.
 */
static int find_line(pid_t pid, const char *name, int end, const char *word, char *line, size_t bytes)
{
	char path[64], *text = NULL;
	size_t room = 0;
	FILE *file;
	int found = 0;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (!found && getdelim(&text, &room, end, file) > 0) {
		found = strstr(text, word) != NULL;
		if (found)
			snprintf(line, bytes, "%s", text);
	}
	free(text);
	fclose(file);
	return found;
}

static void check_loaded(struct rvp_findings *findings, pid_t pid)
{
	char line[PATH_MAX];
	int found = find_line(pid, "maps", '\n', "/librvprof.so", line, sizeof line);

	if (found < 0) {
		rvp_found(findings, RVP_FINDING_NO, "rights", "ask as its user, or as root",
			  "process %d can not be looked into: %s", (int)pid, strerror(errno));
		return;
	}
	if (!found) {
		rvp_found(
		    findings, RVP_FINDING_NO, "not_loaded", "start it again under `rvprof run`",
		    "process %d runs without librvprof.so: it is taken in only at the start of a program",
		    (int)pid);
		return;
	}
	if (find_line(pid, "environ", '\0', "RVPROF_RUN_DIR=", line, sizeof line) > 0)
		rvp_found(findings, RVP_FINDING_NOTE, "recorded", "", "process %d is recorded in %s",
			  (int)pid, line + strlen("RVPROF_RUN_DIR="));
}

static void check_seccomp(struct rvp_findings *findings, pid_t pid)
{
	char line[128];

	if (find_line(pid, "status", '\n', "Seccomp:\t2", line, sizeof line) > 0)
		rvp_found(findings, RVP_FINDING_NOTE, "seccomp", "",
			  "process %d has a seccomp filter: from then on records only stay in its buffers",
			  (int)pid);
}

static bool has_ring(pid_t pid)
{
	char path[64], link[64];
	bool found = false;
	ssize_t length;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		return false;
	for (struct dirent *entry; !found && (entry = readdir(folder));) {
		length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
		link[length > 0 ? length : 0] = 0;
		found = strcmp(link, "anon_inode:[io_uring]") == 0;
	}
	closedir(folder);
	return found;
}

static void check_io_uring(struct rvp_findings *findings, pid_t pid)
{
	if (has_ring(pid))
		rvp_found(findings, RVP_FINDING_NOTE, "io_uring", "",
			  "process %d uses io_uring: what it reads by that way is not seen, so weights that "
			  "it loads so "
			  "are not known by their file",
			  (int)pid);
}

void rvp_doctor_process(struct rvp_findings *findings, pid_t pid)
{
	char path[64], program[PATH_MAX];
	ssize_t length;

	if (!rvp_process_state(pid)) {
		rvp_found(findings, RVP_FINDING_NO, "no_process", "", "there is no process %d", (int)pid);
		return;
	}
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	length = readlink(path, program, sizeof program - 1);
	check_loaded(findings, pid);
	if (length <= 0)
		return;
	program[length] = 0;
	check_seccomp(findings, pid);
	check_io_uring(findings, pid);
	rvp_doctor_program(findings, program);
}
