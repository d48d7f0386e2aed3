/* SPDX-License-Identifier: MIT */
/* run_source.h: what the reader keeps of an opened run beyond run.h: the logs themselves, the clock, forks.
 */
#ifndef RVP_REPORT_RUN_SOURCE_H
#define RVP_REPORT_RUN_SOURCE_H

#include "record/log_reader.h"
#include "record/tree.h"
#include "report/arena.h"
#include "report/clock.h"
#include "report/run.h"

#define RVP_NO_ENTRY UINT32_MAX

struct rvp_kernel_defs; /* kernels_defs.h */

/* A FORK record of a process. */
struct rvp_fork {
	uint64_t stamp;
	uint32_t child_pid; /* 0: not known */
};

struct rvp_process_source {
	struct rvp_log log;
	bool has_log;
	bool has_entry;
	struct rvp_tree_entry entry; /* a copy */
	uint64_t process_stamp;      /* of the PROCESS record */
	bool has_process_record;
	uint64_t first_stamp, last_stamp; /* of all records */
	bool has_stamps;
	bool has_scopes;      /* SCOPE records */
	uint64_t asked_count; /* records that speak of a block by an address in it: see rvp_survey_block */
	uint64_t first_ns, last_ns; /* the same in time; meaningful with has_stamps */
	struct rvp_fork *forks;
	size_t fork_count, fork_room;
	size_t module_room, thread_room, node_room, python_node_room, code_room, argument_room, write_window_room, window_room,
	    environment_room, file_room;
	uint64_t number_limit; /* no node or code can have a larger number */
	uint32_t *node_numbers, *python_numbers; /* by number in the log: its path's; NULL: the same (paths.c) */
	size_t node_numbers_count, python_numbers_count;
	struct rvp_kernel_defs *kernel_defs; /* NULL: no record of a device */
};

struct rvp_run_source {
	struct rvp_arena arena;
	struct rvp_clock_map clock;
	struct rvp_tree *tree; /* a copy, header and the entries in use; NULL: unreadable */
	uint32_t entry_count;  /* entries in the copy */
	bool is_other_version; /* the table is good and of another format version */
	struct rvp_log watch;
	bool has_watch;
	uint64_t watch_clock;
	uint64_t child_end_stamp;
	uint64_t root_seen_stamp; /* the watcher's last WATCH of the root; meaningful with has_root_sight */
	bool has_root_sight;
	uint64_t read_ns; /* when it was opened */
	uint64_t watch_decoded;
};

/* tree_reader.c: the copy of tree.rvt in `path`. ENOENT as error where there is none. */
struct rvp_status rvp_tree_read(struct rvp_run_source *source, const char *path);

/* scan.c: the first pass over all records of a process, or of the watcher: definitions, stamps, anchors. */
struct rvp_status rvp_scan_process(struct rvp_run *run, struct rvp_process *process);
struct rvp_status rvp_scan_watch(struct rvp_run *run);

/* After the clock is known: stamps into times, texts and parents checked. */
struct rvp_status rvp_scan_settle(struct rvp_run *run, struct rvp_process *process);

/* paths.c: one node and number for each call path. After all records were seen and modules are in order. */
struct rvp_status rvp_scan_paths(struct rvp_process *process);

/* The numbers of paths in a record of the process, as the log has them, become those of its tables. */
void rvp_number_paths(const struct rvp_process_source *source, struct rvp_record *record);

/* identity.c: begins, ends, parents, names, aliveness of all processes. After rvp_scan_settle. */
struct rvp_status rvp_identify(struct rvp_run *run);

/* UNIX ns of a stamp of this process. */
uint64_t rvp_process_ns(const struct rvp_run *run, const struct rvp_process *process, uint64_t stamp);

#endif
