/* SPDX-License-Identifier: MIT */
/* tree.h: the table of the processes of a run (RVP_TREE_FILE), of fixed size, mapped shared by each of them.
 *
 * Who makes the run folder makes the table, fully allocated: the root process under a bare LD_PRELOAD, `rvprof run`
 * else. Every process claims an entry by fetch-add of `next_entry` and counts there what its first thread does, so
 * that a process which does next to nothing needs no file of its own, and a SIGKILL takes no count away.
 *
 * Invariants
 *   (T1) entry.state goes FREE -> CLAIMED -> RUNNING -> {EXITED, REPLACED}; a RUNNING entry whose process is not
 *        alive was killed.
 *   (T2) identity (pid, start_ticks, pidns) is written before RUNNING is stored with release.
 *   (T3) Totals of a process = entry.counters + entry.spill + the counters of all slots of its buffer file. Each
 *        counter word but spill's has one writing thread.
 */
#ifndef RVP_TREE_H
#define RVP_TREE_H

#include "record/chunk.h"
#include "record/counters.h"

#include <stdatomic.h>

#define RVP_TREE_MAGIC "RVPTREE\n"

enum {
	RVP_TREE_HEADER_BYTES = 16384,
	RVP_TREE_ENTRY_BYTES = 512,
	RVP_TREE_ENTRY_COUNT = 16384,
	RVP_TREE_COMMAND_BYTES = 8192,
};

enum rvp_entry_state {
	RVP_ENTRY_FREE = 0,
	RVP_ENTRY_CLAIMED = 1,
	RVP_ENTRY_RUNNING = 2,
	RVP_ENTRY_EXITED = 3,   /* said so at its last hook */
	RVP_ENTRY_REPLACED = 4, /* by exec: the next image has an entry of its own */
};

enum rvp_tree_maker { RVP_MADE_BY_PRELOAD = 0, RVP_MADE_BY_RUN = 1 };

struct rvp_tree {
	struct rvp_file_header file; /* magic RVP_TREE_MAGIC; pid and start_ticks are the root's */
	uint32_t entry_count;
	_Atomic uint32_t next_entry; /* may pass entry_count: the rest found no place */
	uint32_t maker;              /* enum rvp_tree_maker */
	uint32_t mode;               /* enum rvp_mode of the root */
	uint64_t root_pidns;
	_Atomic uint32_t root_pid;         /* under `run` known only after the fork */
	_Atomic uint32_t root_done;        /* the root's outputs were written: the last process writes them again */
	_Atomic uint64_t root_start_ticks;
	_Atomic uint64_t unfollowed;       /* exec and spawn with an environment without us */
	_Atomic uint64_t log_bytes;        /* of all logs of the tree */
	uint64_t max_log_bytes;
	_Atomic uint32_t folded;           /* log_bytes met max_log_bytes */
	_Atomic uint32_t warned_options;   /* the line about an unknown RVPROF_ name was printed */
	_Atomic uint32_t warned_stop;      /* the line that recording had to stop was printed */
	uint32_t command_is_cut;
	_Atomic uint64_t loss[64]; /* of processes that have no buffer file; by enum rvp_loss */
	char run_id[40];   /* 32 hex digits */
	char boot_id[40];  /* /proc/sys/kernel/random/boot_id */
	char exe[256];     /* basename as typed */
	uint32_t command_bytes;
	uint32_t reserved;
	char command[RVP_TREE_COMMAND_BYTES]; /* argv of the root, each with its NUL */
};
_Static_assert(sizeof(struct rvp_tree) <= RVP_TREE_HEADER_BYTES, "the tree's header fits");

struct rvp_tree_entry {
	_Atomic uint32_t state; /* enum rvp_entry_state */
	uint32_t pid;
	uint64_t start_ticks;
	uint64_t pidns_inode;
	uint32_t parent_pid;
	_Atomic uint32_t folder; /* 0: none; else RVP_PROC_FORMAT with pid and folder - 1 */
	uint64_t begin_realtime_ns;
	_Atomic uint64_t end_realtime_ns; /* of EXITED and REPLACED */
	uint32_t exit_how;                /* enum rvp_ending */
	uint32_t exit_status;             /* as the hook saw it */
	uint64_t first_rss_bytes, last_rss_bytes;
	_Atomic uint64_t peak_rss_bytes;
	uint32_t mode; /* enum rvp_mode */
	uint32_t is_fork;
	char exe[64];
	struct rvp_counters counters; /* of the first thread */
	struct rvp_counters spill;    /* of threads that have no slot (yet): added to by locked instructions */
	/* record/windows.h: */
	_Atomic uint64_t order, answer; /* from outside, and what became of it */
	_Atomic uint64_t steps_seen;    /* by those who count steps for a schedule */
	_Atomic uint64_t windows_opened, windows_finished;
	_Atomic uint32_t held;          /* enum rvp_hold bits: why blocks are not recorded now; 0: they are */
	_Atomic uint32_t was_held;      /* likewise, at any time */
};
_Static_assert(sizeof(struct rvp_tree_entry) <= RVP_TREE_ENTRY_BYTES, "an entry fits");

static inline struct rvp_tree_entry *rvp_tree_entry_at(struct rvp_tree *tree, uint32_t number)
{
	return (struct rvp_tree_entry *)((char *)tree + RVP_TREE_HEADER_BYTES + (size_t)number * RVP_TREE_ENTRY_BYTES);
}
static inline size_t rvp_tree_bytes(uint32_t entry_count)
{
	return RVP_TREE_HEADER_BYTES + (size_t)entry_count * RVP_TREE_ENTRY_BYTES;
}

#endif
