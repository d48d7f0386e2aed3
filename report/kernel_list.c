/* SPDX-License-Identifier: MIT */
/* kernel_list.c: see kernel_list.h. */
#include "report/kernel_list.h"

#include "report/text_style.h"

#include <inttypes.h>

#define TIMES "[  start.time | kernel.time "

static void begin(struct rvp_kernel_list *list)
{
	const char *columns = list->has_attributes
				  ? TIMES "|   regs  |   shared mem | grid size | block size | occupancy ] Kernel name"
				  : TIMES "] Kernel name";

	if (!list->json) {
		list->width = rvp_kernel_heading_print(list->heading, "trace", columns, list->out);
		return;
	}
	rvp_json_string(list->json, "schema", "rvprof.kernel_trace/1");
	rvp_kernel_heading_json(list->heading, "trace", list->json);
	rvp_json_open(list->json, "rows", '[');
}

void rvp_kernel_list_open(struct rvp_kernel_list *list, const struct rvp_kernel_heading *heading, FILE *out,
			  struct rvp_json *json)
{
	*list = (struct rvp_kernel_list){.out = out, .heading = heading, .json = json};
}

static void put_attribute(const struct rvp_kernel_list *list, const struct rvp_kernel_record *record,
			  enum rvp_kernel_attribute which, const char *before, int width, const char *behind)
{
	if (record->known & 1u << which)
		fprintf(list->out, "%s%*" PRIu64 "%s", before, width, record->attributes[which], behind);
	else
		fprintf(list->out, "%s%*s%s", before, width, "-", behind);
}

static void put_text(const struct rvp_kernel_list *list, const struct rvp_kernel_record *record, double start_ms)
{
	fprintf(list->out, "[%9.3f ms |%9.3f ms ", start_ms, record->ms);
	if (list->has_attributes) {
		put_attribute(list, record, RVP_KERNEL_REGISTERS, "|    ", 4, " ");
		put_attribute(list, record, RVP_KERNEL_SHARED_BYTES, "| ", 6, " bytes ");
		put_attribute(list, record, RVP_KERNEL_GRID, "|    ", 6, " ");
		put_attribute(list, record, RVP_KERNEL_BLOCK, "|     ", 6, " ");
		put_attribute(list, record, RVP_KERNEL_OCCUPANCY, "| ", 2, " blocks ");
	}
	fputs("] ", list->out);
	rvp_print_safely(list->out, record->name, 0);
	fputc('\n', list->out);
}

static void put_json(const struct rvp_kernel_list *list, const struct rvp_kernel_record *record, double start_ms)
{
	static const char *const keys[RVP_KERNEL_ATTRIBUTES] = {"registers", "shared_bytes", "grid_size", "block_size",
								"occupancy_blocks"};

	rvp_json_open(list->json, NULL, '{');
	rvp_json_string(list->json, "name", record->name);
	rvp_json_double(list->json, "start_time_ms", start_ms);
	rvp_json_double(list->json, "kernel_time_ms", record->ms);
	for (int i = 0; i < RVP_KERNEL_ATTRIBUTES; i++)
		if (record->known & 1u << i)
			rvp_json_number(list->json, keys[i], record->attributes[i]);
	rvp_json_close(list->json, '}');
}

void rvp_kernel_list_put(struct rvp_kernel_list *list, const struct rvp_kernel_record *record)
{
	double start_ms;

	if (!list->count) {
		list->has_attributes =
		    record->known & 1u << RVP_KERNEL_REGISTERS && record->attributes[RVP_KERNEL_REGISTERS] > 0;
		begin(list);
	}
	start_ms = record->has_start ? record->start_ms : list->sum_ms;
	if (list->json)
		put_json(list, record, start_ms);
	else
		put_text(list, record, start_ms);
	list->count++;
	list->sum_ms += record->ms;
}

void rvp_kernel_list_close(struct rvp_kernel_list *list)
{
	if (!list->count)
		begin(list);
	if (list->json) {
		rvp_json_close(list->json, ']');
		rvp_json_number(list->json, "number_of_records", list->count);
		return;
	}
	rvp_rule_print(list->out, '-', list->width);
	fprintf(list->out, "Number of records:  %" PRIu64 "\n", list->count);
	rvp_rule_print(list->out, '=', list->width);
}
