/* SPDX-License-Identifier: MIT */
/* process.h: what the recorder knows of its process; one instance, made by the constructor, renewed after a fork.
 *
 * Lives from the constructor on: UNBORN -> STARTING -> READY, or OFF for good (disabled, not wanted, no folder).
 * In READY the hooks record while the word *rvp_alive is not 0. That word lies alone on a page which the kernel wipes on
 * fork, so a child by fork, _Fork or raw clone finds 0 and makes itself at home (rvp_process_reborn) at its first hook:
 * where a signal handler forked inside a hook, at the first one behind that.
 *
 * Invariants
 *   (P1) Nothing here is changed by two threads: the constructor, the reborn child (single-threaded both), or
 *        a compare-and-swap on the one word that names the owner of the step (`making_buffers`, `making_slots`).
 *   (P2) A child of vfork shares all of this with its parent. What would change it, or use a descriptor, compares
 *        getpid() with `pid` first (rvp_process_is_vfork_child).
 *   (P3) After `locked` (seccomp) nothing makes a system call.
 */
#ifndef RVP_PROCESS_H
#define RVP_PROCESS_H

#include "preload/thread.h"
#include "record/options.h"
#include "record/run_folder.h"
#include "record/tree.h"

enum rvp_state { RVP_UNBORN = 0, RVP_STARTING = 1, RVP_READY = 2, RVP_OFF = 3 };

struct rvp_process {
	_Atomic uint32_t state;
	_Atomic uint32_t locked; /* seccomp: stores only */
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t number; /* 1, and one more after each fork: tells a thread's inherited state from its own */
	uint64_t start_ticks, pidns_inode;
	uint64_t begin_realtime_ns, begin_stamp;
	uint32_t exec_number; /* = the n of proc.<pid>.<n> */
	uint32_t is_fork;
	uint32_t is_root; /* of a bare preload: it finalizes */
	bool is_windowed; /* window.h */
	enum rvp_clock clock;
	struct rvp_options options;
	uint64_t threshold_bytes, sample_bytes;
	struct rvp_tree *tree;
	struct rvp_tree_entry *entry;
	struct rvp_buffers *buffers; /* NULL until the first record */
	_Atomic uint32_t making_buffers, buffers_failed;
	_Atomic uint32_t making_slots, first_taken;
	_Atomic uint64_t early_count;
	_Atomic uint64_t loss[RVP_LOSS_COUNT]; /* before there is a shared place */
	uint64_t log_device, log_inode;        /* identity of the log behind the descriptor */
	uint64_t main_thread_pointer, main_stack_low, main_stack_high;
	char folder[RVP_FOLDER_BYTES];      /* the run folder, absolute */
	char proc_folder[RVP_FOLDER_BYTES + 32];
	char library[RVP_FOLDER_BYTES]; /* absolute path of librvprof.so */
	char exe[256];                  /* basename as typed */
};
extern struct rvp_process rvp_process __attribute__((visibility("hidden")));
/* *rvp_alive. PAUSES: alive, and recording was paused at least once (pause.h). LONG_WAY: likewise, and no thread takes the
 * short way of quick.h, since a window is open in full mode (window.h). */
enum { RVP_ALIVE = 1, RVP_ALIVE_LONG_WAY = 2, RVP_ALIVE_PAUSES = 3, RVP_ALIVE_QUICK_BIT = 1 };
extern _Atomic uint64_t rvp_alive[] __attribute__((visibility("hidden")));

/* Once, by the constructor: READY or OFF afterwards. `arguments` is argv. */
void rvp_process_start(int argument_count, char **arguments, char **environment);

/* In a child by fork, at its first hook. True: READY with a new entry. Single-threaded. */
bool rvp_process_reborn(void);

bool rvp_process_is_vfork_child(void);

/* The line that recording had to stop, once a tree, and OFF. */
void rvp_process_stop(const char *why, const char *what_to_do);

/* `rvprof: <text>` and newline to stderr by one write; nothing when fd 2 is closed. */
void rvp_process_say(const char *text);

/* Ticks of the process's clock, ordered after the loads before it and before those behind it; CLOCK_REALTIME in ns. */
uint64_t rvp_stamp(void);
uint64_t rvp_realtime_ns(void);

/* first_rss / last_rss / peak of the entry, from getrusage and statm. */
void rvp_process_note_rss(bool first);

/* Of the thread's last record that had one: not every event has a stamp of its own, and what is told before the first
 * that has was so from the beginning. */
static inline uint64_t rvp_last_stamp(const struct rvp_thread *thread)
{
	return thread->last_stamp ? thread->last_stamp : rvp_process.begin_stamp;
}

#endif
