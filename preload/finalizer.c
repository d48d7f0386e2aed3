/* SPDX-License-Identifier: MIT */
/* finalizer.c: see finalizer.h.
 *
 * The tool must not be the program's child as far as the program can see: no SIGCHLD, nothing for wait(), no open
 * descriptor, no orphan that comes home to a subreaper. An exec'ed process always has SIGCHLD as its exit signal, so
 * between us and the tool stands a middle process: a clone that shares our memory (no page tables are copied), has
 * exit signal 0 (only wait with __WCLONE sees it), never execs, and stays the tool's parent until that is done. Then it
 * wakes us through a word in shared memory.
 *
 * Rules: the middle runs on a stack of its own and makes raw system calls only: it shares our thread-local storage.
 */
#include "preload/finalizer.h"

#include "preload/disk.h"
#include "preload/flush.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/procfs.h"
#include "preload/sys.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIDDLE_STACK_BYTES = 64 * 1024 };

static char tool[RVP_FOLDER_BYTES + 64];
static char destination[RVP_FOLDER_BYTES]; /* empty: the run folder */
static _Atomic uint32_t done;
static int tool_status; /* the middle's, once `done` */

/* One tool at a time. What did not end in time is waited for before the next, and its stack is still in use. */
static _Atomic uint32_t taker; /* pid: a child by fork has a copy of its parent's */
static struct {
	long child; /* 0: none */
	char *stack;
	uint32_t pid; /* whose child it is */
} middle_of;

/* The tool beside the library: in a build tree, and where it is installed. */
static bool find_tool(void)
{
	static const char *const places[] = {"/../tools/rvprof", "/../bin/rvprof", "/../../bin/rvprof",
					     "/../../../bin/rvprof", "/rvprof"};
	size_t folder = rvp_disk_append(tool, sizeof tool, 0, rvp_process.library);

	while (folder && tool[folder - 1] != '/')
		folder--;
	if (!folder)
		return false;
	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
		rvp_disk_append(tool, sizeof tool, folder - 1, places[i]);
		if (rvp_syscall6(SYS_access, (long)tool, X_OK, 0, 0, 0, 0) == 0)
			return true;
	}
	return false;
}

/* Soft limits of the program are not the tool's. */
static void lift_limits(void)
{
	static const int kinds[] = {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_STACK};
	uint64_t limit[2];

	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (rvp_sys_getrlimit(kinds[i], limit) == 0) {
			if (kinds[i] != RLIMIT_STACK || limit[0] < 1u << 20)
				limit[0] = limit[1];
			rvp_syscall6(SYS_prlimit64, 0, kinds[i], (long)limit, 0, 0, 0);
		}
}

/* The tool itself, between vfork and exec: on the middle's stack, its memory shared. */
__attribute__((noinline)) static void become_tool(void)
{
	static char word_disable[] = "RVPROF_DISABLE=1", word_path[] = "PATH=/usr/bin:/bin";
	static char *environment[] = {word_disable, word_path, NULL};
	static char name[] = "rvprof", verb[] = "finalize";
	static char option[] = "--output";
	char *at_home[] = {name, verb, rvp_process.folder, NULL};
	char *elsewhere[] = {name, verb, option, destination, rvp_process.folder, NULL};
	char **arguments = destination[0] ? elsewhere : at_home;
	unsigned char processors[128];
	uint64_t no_signals = 0;

	memset(processors, 0xff, sizeof processors);
	rvp_syscall6(SYS_setsid, 0, 0, 0, 0, 0, 0);
	rvp_syscall6(SYS_chdir, (long)"/", 0, 0, 0, 0, 0);
	rvp_syscall6(SYS_sched_setaffinity, 0, sizeof processors, (long)processors, 0, 0, 0);
	lift_limits();
	rvp_sys_sigmask(&no_signals, NULL);
	rvp_syscall6(SYS_execve, (long)tool, (long)arguments, (long)environment, 0, 0, 0);
	for (;;)
		rvp_syscall6(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

static void close_everything(void)
{
	rvp_syscall6(SYS_close_range, 0, ~0u, 0, 0, 0, 0);
	for (int fd = 0; fd < 3; fd++)
		rvp_sys_openat("/dev/null", O_RDWR, 0);
}

static int middle(void *nothing)
{
	long child;

	(void)nothing;
	close_everything();
	child = rvp_syscall6(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, 0);
	if (child == 0)
		become_tool();
	if (child > 0)
		while (rvp_syscall6(SYS_wait4, child, (long)&tool_status, 0, 0, 0, 0) == -EINTR)
			;
	atomic_store(&done, 1);
	rvp_syscall6(SYS_futex, (long)&done, FUTEX_WAKE, 1, 0, 0, 0);
	rvp_syscall6(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	return 0;
}

/* True when the tool has ended within the time. */
static bool wait_for_tool(void)
{
	uint64_t until = rvp_realtime_ns() + (uint64_t)rvp_process.options.exit_wait_s * 1000000000u;
	struct timespec slice = {.tv_nsec = 100 * 1000 * 1000};

	while (!atomic_load(&done) && rvp_realtime_ns() < until)
		rvp_syscall6(SYS_futex, (long)&done, FUTEX_WAIT, 0, (long)&slice, 0, 0);
	return atomic_load(&done);
}

static void say_later(const char *why)
{
	char line[400] = "";
	size_t length = rvp_disk_append(line, sizeof line, 0, why);

	length = rvp_disk_append(line, sizeof line, length, "; `rvprof report ");
	length = rvp_disk_append(line, sizeof line, length, rvp_process.folder);
	rvp_disk_append(line, sizeof line, length, "` writes them");
	rvp_process_say(line);
}

/* The middle is gone, if it is. False when it is still at it. */
static bool reap(void)
{
	if (!middle_of.child || middle_of.pid != rvp_process.pid)
		return true;
	if (!wait_for_tool())
		return false;
	rvp_syscall6(SYS_wait4, middle_of.child, 0, __WCLONE, 0, 0, 0);
	rvp_own_unmap(middle_of.stack, MIDDLE_STACK_BYTES);
	middle_of.child = 0;
	return true;
}

static bool start_middle(void)
{
	char *stack = rvp_own_map(MIDDLE_STACK_BYTES);
	uint64_t mask = 0;
	long child;

	if (!stack)
		return false;
	atomic_store(&done, 0);
	tool_status = -1;
	rvp_block_signals(&mask);
	child = clone(middle, stack + MIDDLE_STACK_BYTES - 64, CLONE_VM, NULL);
	rvp_unblock_signals(mask);
	middle_of.child = child > 0 ? child : 0;
	middle_of.stack = stack;
	middle_of.pid = rvp_process.pid;
	if (child < 0)
		rvp_own_unmap(stack, MIDDLE_STACK_BYTES);
	return child > 0;
}

static void run_tool_at_end(void)
{
	if (!find_tool()) {
		say_later("no rvprof beside the library, so there are no outputs yet");
		return;
	}
	if (!reap() || (destination[0] = '\0', start_middle() && !reap()))
		say_later("the outputs are not ready in time");
}

/* The tool works in another folder: a path of the program's is made one from the root. */
static bool set_destination(const char *path)
{
	size_t length = 0;

	destination[0] = '\0';
	if (!path)
		return true;
	if (path[0] != '/') {
		if (rvp_syscall6(SYS_getcwd, (long)destination, sizeof destination, 0, 0, 0, 0) < 0 ||
		    destination[0] != '/')
			return false;
		length = rvp_disk_append(destination, sizeof destination, strlen(destination), "/");
	}
	return *path && length + strlen(path) + 1 < sizeof destination &&
	       rvp_disk_append(destination, sizeof destination, length, path);
}

bool rvp_finalizer_now(const char *path)
{
	uint32_t before = atomic_load(&taker);
	bool is_whole;

	if (atomic_load(&rvp_process.locked) || rvp_process_is_vfork_child() || before == rvp_process.pid ||
	    !atomic_compare_exchange_strong(&taker, &before, rvp_process.pid))
		return false;
	is_whole = reap() && find_tool() && set_destination(path) && start_middle() && reap() && tool_status == 0;
	atomic_store(&taker, 0);
	return is_whole;
}

static bool is_running(const struct rvp_tree_entry *entry)
{
	return atomic_load(&entry->state) == RVP_ENTRY_RUNNING && entry->pidns_inode == rvp_process.pidns_inode &&
	       rvp_syscall6(SYS_kill, entry->pid, 0, 0, 0, 0, 0) != -ESRCH;
}

static bool others_run(void)
{
	struct rvp_tree *tree = rvp_process.tree;
	uint32_t count = atomic_load(&tree->next_entry);

	for (uint32_t i = 0; i < count && i < tree->entry_count; i++)
		if (is_running(rvp_tree_entry_at(tree, i)))
			return true;
	return false;
}

void rvp_finalizer_at_end(void)
{
	struct rvp_tree *tree = rvp_process.tree;
	bool is_last = atomic_load(&tree->root_done) && !others_run();
	int error = errno;

	if (tree->maker != RVP_MADE_BY_PRELOAD)
		return;
	if (rvp_process.is_root)
		atomic_store(&tree->root_done, 1);
	if ((rvp_process.is_root || is_last) && rvp_process.options.finalize)
		run_tool_at_end();
	errno = error;
}
