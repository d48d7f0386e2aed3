/* SPDX-License-Identifier: MIT */
/* process.c: birth of the recorder in a process, and again in a child by fork. See process.h. */
#include "preload/process.h"

#include "preload/descriptor.h"
#include "preload/disk.h"
#include "preload/events.h"
#include "preload/finish.h"
#include "preload/flush.h"
#include "preload/folder.h"
#include "preload/followers.h"
#include "preload/loader_list.h"
#include "preload/own.h"
#include "preload/procfs.h"
#include "preload/reads.h"
#include "preload/snapshot.h"
#include "preload/stamp.h"
#include "preload/sys.h"
#include "preload/told_files.h"
#include "preload/walk.h"
#include "preload/window.h"
#include "preload/writes.h"
#include "record/pattern.h"
#include "record/tree_file.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>


struct rvp_process rvp_process;

/* A page of its own. */
_Alignas(4096) _Atomic uint64_t rvp_alive[4096 / sizeof(uint64_t)];

/* A pipe that nobody reads and a file at its limit answer with a signal that would end the program. */
static void write_quietly(const char *line, size_t length)
{
	static const uint64_t answers = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1);
	uint64_t mask = 0;
	long put;

	rvp_block_signals(&mask);
	put = rvp_sys_write(2, line, length);
	if (put == -EPIPE || put == -EFBIG)
		rvp_sys_sigtake(&answers);
	rvp_unblock_signals(mask);
}

void rvp_process_say(const char *text)
{
	char line[512] = "rvprof: ";
	size_t length = strlen(line), more = strlen(text);

	if (more > sizeof line - length - 1)
		more = sizeof line - length - 1;
	memcpy(line + length, text, more);
	line[length + more] = '\n';
	write_quietly(line, length + more + 1);
}

static void join(char *into, size_t bytes, const char *const *parts)
{
	size_t length = 0;

	for (; *parts; parts++)
		length = rvp_disk_append(into, bytes, length, *parts);
}

void rvp_process_stop(const char *why, const char *what_to_do)
{
	struct rvp_tree *tree = rvp_process.tree;
	uint32_t none = 0;
	char line[448];

	if (!tree || atomic_compare_exchange_strong(&tree->warned_stop, &none, 1)) {
		join(line, sizeof line, (const char *const[]){"recording stopped: ", why, ": ", what_to_do, NULL});
		if (!atomic_load(&rvp_process.locked))
			rvp_process_say(line);
	}
}

bool rvp_process_is_vfork_child(void)
{
	/* A child by fork finds the word wiped; one of vfork sees ours. */
	return !atomic_load_explicit(&rvp_process.locked, memory_order_relaxed) && atomic_load(rvp_alive) &&
	       (uint32_t)rvp_sys_getpid() != rvp_process.pid;
}

/* The page whose first word says that this process is at home; a child by fork finds it wiped. */
static bool wipe_alive_on_fork(void)
{
	return rvp_sys_madvise(rvp_alive, sizeof rvp_alive, MADV_WIPEONFORK) == 0;
}

static void read_identity(void)
{
	rvp_process.pid = (uint32_t)rvp_sys_getpid();
	rvp_process.begin_realtime_ns = rvp_realtime_ns();
	rvp_process.begin_stamp = rvp_stamp();
	rvp_procfs_identity(&rvp_process.parent_pid, &rvp_process.start_ticks, &rvp_process.pidns_inode);
}

/* Takes an entry of the tree's table. */
static bool claim_entry(void)
{
	struct rvp_tree *tree = rvp_process.tree;
	uint32_t number = atomic_fetch_add(&tree->next_entry, 1);

	if (number >= tree->entry_count) {
		atomic_fetch_add(&tree->loss[RVP_LOSS_TREE_FULL], 1);
		return false;
	}

	struct rvp_tree_entry *entry = rvp_tree_entry_at(tree, number);

	atomic_store(&entry->state, RVP_ENTRY_CLAIMED);
	entry->pid = rvp_process.pid;
	entry->start_ticks = rvp_process.start_ticks;
	entry->pidns_inode = rvp_process.pidns_inode;
	entry->parent_pid = rvp_process.parent_pid;
	entry->begin_realtime_ns = rvp_process.begin_realtime_ns;
	entry->mode = rvp_process.options.mode;
	entry->is_fork = rvp_process.is_fork;
	rvp_disk_append(entry->exe, sizeof entry->exe, 0, rvp_process.exe);
	rvp_process.entry = entry;
	rvp_process_note_rss(true);
	atomic_store_explicit(&entry->state, RVP_ENTRY_RUNNING, memory_order_release);
	return true;
}

/* The tree that an ancestor or `rvprof run` made. */
static bool join_tree(void)
{
	char path[RVP_FOLDER_BYTES];
	struct rvp_tree head;
	long fd;

	join(path, sizeof path, (const char *const[]){rvp_process.folder, "/" RVP_TREE_FILE, NULL});
	fd = rvp_sys_openat(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (rvp_sys_read((int)fd, &head, sizeof head) == sizeof head &&
	    memcmp(head.file.magic, RVP_TREE_MAGIC, sizeof head.file.magic) == 0 &&
	    head.file.version == RVP_FORMAT_VERSION && head.entry_count <= 1u << 20) {
		rvp_process.tree = rvp_disk_map((int)fd, 0, rvp_tree_bytes(head.entry_count));
	}
	rvp_sys_close((int)fd);
	return rvp_process.tree != NULL;
}

/* The root of a bare preload makes folder and tree. 0 or an errno. */
static int make_tree(char **environment)
{
	struct rvp_folder_facts facts = {.pid = rvp_process.pid,
					 .start_unix_s = rvp_process.begin_realtime_ns / 1000000000u,
					 .host = rvp_procfs_host(),
					 .exe = rvp_process.exe,
					 .environment = environment};
	struct rvp_tree_facts tree = {.maker = RVP_MADE_BY_PRELOAD,
				      .mode = rvp_process.options.mode,
				      .root_pid = rvp_process.pid,
				      .root_start_ticks = rvp_process.start_ticks,
				      .root_pidns = rvp_process.pidns_inode,
				      .begin_realtime_ns = rvp_process.begin_realtime_ns,
				      .max_log_bytes = rvp_process.options.max_log_bytes,
				      .exe = rvp_process.exe};
	char path[RVP_FOLDER_BYTES], line[RVP_FOLDER_BYTES + 64];
	bool moved = false;
	int error = rvp_folder_place(rvp_process.folder, rvp_process.options.output, &facts, true, &moved);

	if (error)
		return error;
	if (moved) {
		join(line, sizeof line,
		     (const char *const[]){"the current folder can't be written: the run is in ", rvp_process.folder,
					   NULL});
		rvp_process_say(line);
	}
	tree.command_bytes = rvp_procfs_command(&tree.command);
	join(path, sizeof path, (const char *const[]){rvp_process.folder, "/" RVP_TREE_FILE, NULL});
	error = rvp_tree_make(path, &tree, &rvp_process.tree);
	rvp_process.is_root = !error;
	return error;
}

/* After an exec of the root the new image is the root again. */
static void recognise_root(void)
{
	struct rvp_tree *tree = rvp_process.tree;

	if (tree->maker == RVP_MADE_BY_PRELOAD && atomic_load(&tree->root_pid) == rvp_process.pid &&
	    atomic_load(&tree->root_start_ticks) == rvp_process.start_ticks && tree->root_pidns == rvp_process.pidns_inode)
		rvp_process.is_root = 1;
}

static bool find_tree(char **environment)
{
	int error;

	if (rvp_process.options.run_dir[0]) {
		strncpy(rvp_process.folder, rvp_process.options.run_dir, sizeof rvp_process.folder - 1);
		if (!join_tree())
			return false; /* another user's folder, a chroot: this process is not seen */
		recognise_root();
		return true;
	}
	error = make_tree(environment);
	if (!error)
		return true;
	rvp_process_stop(strerrordesc_np(error), "the run folder can't be made; set RVPROF_OUTPUT to a folder that can "
						 "be written");
	return false;
}

static void complain(const char *complaint)
{
	uint32_t none = 0;

	if (atomic_compare_exchange_strong(&rvp_process.tree->warned_options, &none, 1))
		rvp_process_say(complaint);
}

static bool is_wanted(void)
{
	return !rvp_process.options.only[0] || rvp_pattern_matches(rvp_process.options.only, rvp_process.exe);
}

/* Everything that has no way back. False: this process is not recorded. */
static bool start(int argument_count, char **arguments, char **environment)
{
	char complaint[RVP_COMPLAINT_BYTES] = "";
	bool understood = rvp_options_read(&rvp_process.options, environment, complaint, sizeof complaint);

	if (rvp_process.options.disable)
		return false;
	strncpy(rvp_process.exe, rvp_folder_exe(argument_count > 0 ? arguments[0] : ""), sizeof rvp_process.exe - 1);
	rvp_process.clock = rvp_clock_choose();
	rvp_events_start();
	rvp_process.number = 1;
	rvp_process.threshold_bytes = RVP_THRESHOLD_BYTES;
	rvp_process.sample_bytes = RVP_SAMPLE_BYTES;
	read_identity();
	rvp_folder_find_stack();
	if (!find_tree(environment))
		return false;
	if (!understood)
		complain(complaint);
	rvp_followers_prepare();
	if (!is_wanted() && !rvp_process.is_root)
		return false;
	return claim_entry() && wipe_alive_on_fork();
}

static void come_alive(void)
{
	atomic_store_explicit(rvp_alive, rvp_window_alive(), memory_order_release);
}

void rvp_process_start(int argument_count, char **arguments, char **environment)
{
	bool ready;

	atomic_store(&rvp_process.state, RVP_STARTING);
	ready = start(argument_count, arguments, environment);
	if (ready) {
		struct rvp_process *process = &rvp_process;

		process->entry->counters.early_count = atomic_load(&process->early_count);
		rvp_walk_start(process->options.python);
		rvp_finish_prepare();
		rvp_window_start();
		if (is_wanted())
			rvp_writes_start();
	}
	/* A root that is not wanted by --only still owns the folder and finalizes. */
	ready = ready && is_wanted();
	if (ready)
		come_alive();
	atomic_store(&rvp_process.state, ready ? RVP_READY : RVP_OFF);
}

/* What the parent's threads were doing with these is no concern of the child. */
static void leave_parent(void)
{
	struct rvp_process *process = &rvp_process;

	rvp_folder_leave_parent();
	process->number++;
	process->entry = NULL;
	process->is_root = 0;
	process->is_fork = 1;
	process->exec_number = 0;
	atomic_store(&process->first_taken, 0);
	rvp_descriptor_forget(RVP_DESCRIPTOR_STATM);
	rvp_descriptor_close(RVP_DESCRIPTOR_MAPS);
	rvp_descriptor_close(RVP_DESCRIPTOR_PAGEMAP);
	read_identity();
}

bool rvp_process_reborn(void)
{
	uint32_t held = rvp_process.entry ? atomic_load(&rvp_process.entry->held) : 0;

	if (atomic_load(&rvp_process.locked) || !rvp_process.options.follow) {
		atomic_store(&rvp_process.state, RVP_OFF);
		return false;
	}
	rvp_loader_list_after_fork();
	leave_parent();
	if (!claim_entry()) {
		atomic_store(&rvp_process.state, RVP_OFF);
		return false;
	}
	rvp_walk_after_fork();
	rvp_snapshot_after_fork();
	rvp_told_files_after_fork();
	rvp_reads_after_fork();
	rvp_writes_after_fork();
	rvp_window_after_fork(held);
	come_alive();
	return true;
}
