/* SPDX-License-Identifier: MIT */
/* run.h: an opened run folder: its processes with all that their logs define (modules, call paths, Python
 * code, threads). Events are not held: analysis.h streams them.
 *
 * Rules
 *   - Everything here is read-only for users and lives until rvp_run_close.
 *   - Times are UNIX ns. RVP_NEVER stands for "has not happened".
 *   - A damaged or missing piece of one process is in its `loss` and `flaw`, never a failure of the whole.
 *   - Numbers from a log are checked: use rvp_node_at and its like, never the arrays with a number from a
 * record.
 */
#ifndef RVP_REPORT_RUN_H
#define RVP_REPORT_RUN_H

#include "record/counters.h"
#include "record/names.h"
#include "record/schema.h"
#include "record/status.h"
#include "report/device_list.h"
#include "report/metrics.h"
#include "report/origin.h"

#include <stdbool.h>
#include <stddef.h>

#define RVP_NEVER UINT64_MAX

struct rvp_power_list;

/* One load of a file of code. Text pointers are terminated and never NULL. */
struct rvp_module {
	uint64_t number;
	uint64_t load_ns, unload_ns; /* unload: RVP_NEVER while mapped */
	uint64_t bias, start, end;   /* an address a of it is a - bias in the file's symbols */
	uint64_t device, inode, file_bytes, modified_ns;
	const unsigned char *build_id;
	size_t build_id_bytes;
	const char *path;
};

/* A file that was mapped or read; the path is where it was then. */
struct rvp_known_file {
	uint64_t device, inode, bytes;
	const char *path;
};

struct rvp_node {
	uint64_t pc;     /* return address, or with `exact` the instruction's own: look up pc - !exact */
	uint32_t parent; /* the caller; 0: none */
	uint32_t exact;
};

struct rvp_python_node {
	uint32_t parent; /* the caller; 0: none */
	uint32_t code;
	uint32_t instruction; /* offset in bytes in the code */
	uint32_t is_entry;    /* 1: entered from C: one C eval frame stands for all up to here */
};

struct rvp_code {
	const char *name, *file; /* terminated, never NULL */
	const unsigned char *lines;
	size_t lines_bytes;
	uint32_t first_line;
	uint32_t version; /* 0x30b is 3.11 */
};

struct rvp_thread {
	uint32_t tid;
	uint64_t first_ns;
	const char *name; /* the last one; "" if it never got one */
};

/* A window in which the library followed writes; number 0: it could not, for this reason. */
struct rvp_write_span {
	uint64_t number, begin_ns, end_ns; /* end: RVP_NEVER while !has_end */
	uint64_t scans, block_count, block_bytes, left_out, cost_ns;
	uint32_t beat;                     /* enum rvp_write_beat */
	bool has_end;
	const char *reason; /* of an early end; never NULL */
};

/* When blocks were recorded (windows.h). Steps are 1 + their number; 0: none. */
struct rvp_window_counts {
	uint64_t alloc_count, alloc_bytes, free_count;
};
struct rvp_window_span {
	uint64_t number, begin_ns, end_ns; /* RVP_NEVER while !has_begin, !has_end: of the process */
	uint64_t first_step, last_step, level;
	uint32_t opened_by, closed_by;     /* enum rvp_window_cause */
	bool has_begin, has_end, is_finished;
	struct rvp_window_counts counts[2]; /* of the process at its begin and at its end */
};

enum rvp_end {
	RVP_END_ALIVE,    /* still running */
	RVP_END_EXITED,   /* exit_how and exit_status say how */
	RVP_END_REPLACED, /* by exec */
	RVP_END_KILLED,   /* gone without its last hook: a signal, or the machine */
};

struct rvp_process {
	uint32_t number; /* in run->processes */
	uint32_t pid, parent_pid;
	uint32_t parent; /* number of the parent in the run, or RVP_NO_PROCESS */
	uint32_t exec_number;
	bool is_fork;
	uint64_t start_ticks, pidns_inode;
	uint64_t begin_ns, end_ns; /* end of an alive one: the moment of reading */
	enum rvp_end end;
	uint32_t exit_how, exit_status; /* enum rvp_ending */
	const char *name;               /* file name of the program, never NULL */
	const char *exe, *rank, *boot_id;
	const char *folder; /* name in the run folder; NULL: it recorded nothing but its counters */
	char **arguments;   /* NULL ends them */
	char **environment; /* NAME=value of the chosen variables; NULL ends them */
	size_t argument_count, environment_count;
	const char *host, *kernel, *cpu; /* "" when not recorded */
	uint64_t cpu_count, memory_bytes;

	enum rvp_mode mode;
	uint64_t sample_bytes, threshold_bytes, page_bytes;
	uint32_t clock; /* enum rvp_clock */
	uint64_t cost_timed_count, cost_timed_ticks, cpu_ns; /* of the last EVENT_COST; 0: none */
	uint64_t cost_stamp;

	struct rvp_counters counters;  /* exact: the entry's and the slots' */
	uint64_t loss[RVP_LOSS_COUNT]; /* by reason; the reader's findings included */
	uint64_t lost_records;
	uint64_t decoded_records;
	bool counters_are_whole; /* false: a piece with counters could not be read */
	char flaw[256];          /* what could not be read, one line; "" if nothing */
	uint64_t own_bytes, log_bytes;
	uint64_t first_rss_bytes, last_rss_bytes, peak_rss_bytes; /* 0: not read */

	struct rvp_module *modules; /* by load_ns */
	size_t module_count;
	struct rvp_node *nodes;               /* index: number; 0 unused */
	struct rvp_python_node *python_nodes; /* index: number; 0 unused */
	struct rvp_code *codes;               /* index: number; 0 unused */
	size_t node_count, python_node_count, code_count;
	struct rvp_known_file *files; /* as they were told; a file can be here twice */
	size_t file_count;
	struct rvp_thread *threads; /* by tid */
	size_t thread_count;
	struct rvp_write_span *write_windows; /* as they were told */
	size_t write_window_count;
	struct rvp_window_span *windows; /* by number */
	size_t window_count;
	uint32_t was_held; /* enum rvp_hold bits: why blocks were not recorded at some time */
	uint64_t steps_seen; /* of a schedule */
	struct rvp_met_devices devices;

	struct rvp_process_source *source; /* the reader's own */
};

#define RVP_NO_PROCESS UINT32_MAX

struct rvp_run {
	const char *folder; /* as given */
	struct rvp_process *processes;
	size_t process_count;
	size_t alive_count;
	uint32_t root; /* number, or RVP_NO_PROCESS */
	char id[40], boot_id[40];
	char **command; /* NULL ends it; the root's words */
	size_t command_count;
	bool command_is_cut;
	const char *name; /* of the program as typed */
	uint64_t begin_ns,
	    end_ns; /* first process's begin; last end, or the moment of reading while one is alive */
	enum rvp_mode mode;
	bool is_folded;        /* detail was folded at --max-log */
	bool made_by_run;      /* by `rvprof run`, else by a bare LD_PRELOAD */
	bool clock_is_guessed; /* no anchors to tie stamps to time: order is right, times are not */
	uint64_t unfollowed;
	char flaw[256]; /* what of the tree or the watcher could not be read, one line; "" if nothing */
	uint64_t loss[RVP_LOSS_COUNT]; /* of the tree itself and of the watcher's log, not of processes */
	uint64_t lost_records;         /* likewise */
	/* From the watcher; has_child_end false without one. */
	bool has_child_end;
	uint64_t child_how, child_status, child_started_ns, watch_cost_ns;

	struct rvp_power_list *power; /* power.h; NULL: nobody sampled power */
	struct rvp_origin origin;   /* empty before rvp_origin_make */
	struct rvp_metrics metrics; /* what the program said of itself */
	struct rvp_device devices[RVP_DEVICES_MAX]; /* number 1 is devices[0] */
	size_t device_count;

	struct rvp_run_source *source; /* the reader's own */
};

/* Opens `folder`. Fails with a line that says what to do: not a folder, an empty one, another tool's, another
 * format version, unreadable. A run that is going on opens as of now. */
struct rvp_status rvp_run_open(struct rvp_run **run, const char *folder);
void rvp_run_close(struct rvp_run *run);

/* NULL for a number that no record defined. */
const struct rvp_node *rvp_node_at(const struct rvp_process *process, uint64_t number);
const struct rvp_python_node *rvp_python_node_at(const struct rvp_process *process, uint64_t number);
const struct rvp_code *rvp_code_at(const struct rvp_process *process, uint64_t number);

/* The module that held `address` at `ns`; when none did then, one that held it at any time; else NULL. */
const struct rvp_module *rvp_module_at(const struct rvp_process *process, uint64_t address, uint64_t ns);

#endif
