/* SPDX-License-Identifier: MIT */
/* kernel_list.h: the kernel table of Taichi's and Quadrants' profiler, mode trace: a row a record, as they come; nothing is
 * kept.
 *
 *     rvp_kernel_list_open(&list, &heading, out, NULL);
 *     rvp_kernel_list_put(&list, &record);
 *     rvp_kernel_list_close(&list);
 *
 *   - Of no record: the head and "Number of records:  0" (there it fails).
 *   - Columns of attributes are there where the first record has registers, as there; an attribute that a record lacks
 * is a dash.
 *   - start.time there is the sum of the times before. Here it is the start where that is known, and that sum where it is
 * not.
 */
#ifndef RVP_REPORT_KERNEL_LIST_H
#define RVP_REPORT_KERNEL_LIST_H

#include "report/kernel_table.h"

enum rvp_kernel_attribute {
	RVP_KERNEL_REGISTERS,    /* of a thread */
	RVP_KERNEL_SHARED_BYTES, /* static and dynamic */
	RVP_KERNEL_GRID,         /* blocks */
	RVP_KERNEL_BLOCK,        /* threads of one */
	RVP_KERNEL_OCCUPANCY,    /* blocks that a multiprocessor can hold at once */
	RVP_KERNEL_ATTRIBUTES
};

struct rvp_kernel_record {
	const char *name; /* terminated */
	double ms, start_ms;
	bool has_start;
	unsigned known; /* bits 1 << enum rvp_kernel_attribute */
	uint64_t attributes[RVP_KERNEL_ATTRIBUTES];
};

struct rvp_kernel_list {
	FILE *out;
	const struct rvp_kernel_heading *heading;
	struct rvp_json *json; /* NULL: text; else an object that is open */
	double sum_ms;         /* of the records before */
	uint64_t count;
	size_t width;
	bool has_attributes;
};

void rvp_kernel_list_open(struct rvp_kernel_list *list, const struct rvp_kernel_heading *heading, FILE *out,
			  struct rvp_json *json);
void rvp_kernel_list_put(struct rvp_kernel_list *list, const struct rvp_kernel_record *record);
void rvp_kernel_list_close(struct rvp_kernel_list *list);

#endif
