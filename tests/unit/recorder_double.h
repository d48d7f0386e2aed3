/* SPDX-License-Identifier: MIT */
/* recorder_double.h: stands in for the recorder where the walk is tested: threads with slots of the heap,
 * whose records are decoded into tables when a slot is full or somebody asks. */
#ifndef RVP_RECORDER_DOUBLE_H
#define RVP_RECORDER_DOUBLE_H

#include "preload/thread.h"
#include "record/names.h"

enum { DOUBLE_NODES_MAX = 1 << 24, DOUBLE_MODULES_MAX = 4096, DOUBLE_CODES_MAX = 1 << 20 };

struct double_node {
	uint32_t parent, exact; /* exact: for a Python node the offset of its instruction */
	uint64_t pc;            /* for a Python node the number of its code */
	uint32_t is_defined, is_entry;
};
struct double_module {
	uint64_t bias, start, end, inode;
	char path[512];
	unsigned loads, unloads, build_id_bytes;
};
struct double_code {
	unsigned first_line, version, lines_bytes, is_defined;
	char name[256], file[512];
};

extern struct double_node *double_nodes, *double_python_nodes;
extern struct double_module *double_modules;
extern struct double_code *double_codes;
extern unsigned double_record_count, double_fails; /* fails: the next records that cannot be kept */
extern _Atomic uint64_t double_lost[RVP_LOSS_COUNT];
extern unsigned double_map_refused; /* the how many-th map from here on gets no memory; 0: none */

/* The calling thread's, made at the first call; with the bounds of its stack. */
struct rvp_thread *double_thread(void);

/* Decodes what the calling thread's slot holds. */
void double_collect(void);

/* Forgets all records, as a child by fork does. */
void double_reset(void);

#endif
