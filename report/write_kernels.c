/* SPDX-License-Identifier: MIT */
/* write_kernels.c: see write_kernels.h. Rows are put together by hand: there may be a hundred million. */
#include "report/write_kernels.h"

#include <string.h>

enum { ROW_BYTES = 400, NUMBER_BYTES = 20 };

static char *put_number(char *at, uint64_t number)
{
	char digits[NUMBER_BYTES];
	int count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*at++ = digits[--count];
	return at;
}

static char *put_field(char *at, bool is_known, uint64_t number)
{
	*at++ = ',';
	return is_known ? put_number(at, number) : at;
}

/* "128x1x1" */
static char *put_three(char *at, const uint32_t numbers[3])
{
	*at++ = ',';
	for (int i = 0; i < 3; i++) {
		if (i)
			*at++ = 'x';
		at = put_number(at, numbers[i]);
	}
	return at;
}

static char *put_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static size_t name_bytes(const char *name)
{
	size_t bytes = strlen(name) + 2;

	for (const char *quote = name; (quote = strchr(quote, '"')); quote++)
		bytes++;
	return bytes;
}

/* Of any length, so by itself. */
static void put_name(FILE *out, const char *name)
{
	fputc_unlocked('"', out);
	for (const char *quote; (quote = strchr(name, '"')); name = quote + 1) {
		fwrite_unlocked(name, 1, (size_t)(quote - name) + 1, out);
		fputc_unlocked('"', out);
	}
	fputs_unlocked(name, out);
	fputc_unlocked('"', out);
}

static char *put_start(char *at, const struct rvp_activity *activity)
{
	*at++ = ',';
	if (!activity->has_start)
		return at;
	at = put_number(at, activity->start_ns / 1000);
	*at++ = '.';
	*at++ = (char)('0' + activity->start_ns % 1000 / 100);
	*at++ = (char)('0' + activity->start_ns % 100 / 10);
	*at++ = (char)('0' + activity->start_ns % 10);
	return at;
}

static char *put_shape(char *at, const struct rvp_kernel_shape *shape)
{
	if (!shape)
		return put_text(at, ",,,,");
	at = put_three(at, shape->grid);
	at = put_three(at, shape->block);
	at = put_field(at, true, shape->registers);
	return put_field(at, true, shape->static_bytes + shape->dynamic_bytes);
}

/* Up to the name; what stands behind it. */
static size_t put_head(char *row, const struct rvp_work *work)
{
	char *at = put_number(row, work->number);

	*at++ = ',';
	return (size_t)(at - row);
}

static size_t put_rest(char *row, const struct rvp_run *run, const struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;
	const struct rvp_process *process = &run->processes[activity->process];
	const struct rvp_kernel_shape *shape = rvp_kernel_shape_at(rvp_kernel_defs_of(process), activity->number);
	char *at = put_text(row, shape ? ",cuda:" : ",");

	at = shape ? put_number(at, rvp_device_called(run, process, activity->device)) : at;
	at = put_field(at, true, activity->stream);
	at = put_field(at, activity->correlation, activity->correlation);
	at = put_start(at, activity);
	at = put_field(at, !activity->flaw, activity->duration_ns);
	at = put_field(at, work->has_latency, work->latency_ns);
	at = put_shape(at, shape);
	at = put_field(at, activity->graph, activity->graph);
	at = put_field(at, work->step >= 0, (uint64_t)work->step);
	*at++ = ',';
	at = put_text(at, rvp_kernel_class_names[work->class]);
	*at++ = '\n';
	return (size_t)(at - row);
}

static void see(struct rvp_kernel_sink *sink, const struct rvp_work *work,
		const struct rvp_kernel_names *names)
{
	struct rvp_kernel_csv *csv = (struct rvp_kernel_csv *)sink;
	char head[NUMBER_BYTES + 1], rest[ROW_BYTES];
	const char *name;
	size_t head_bytes, rest_bytes, bytes;

	if (work->activity->kind != RVP_KERNEL)
		return;
	name = rvp_kernel_name_at(names, work->name)->text;
	head_bytes = put_head(head, work);
	rest_bytes = put_rest(rest, csv->run, work);
	bytes = head_bytes + name_bytes(name) + rest_bytes;
	if (csv->cut_rows || csv->bytes + bytes > csv->max_bytes) {
		csv->cut_rows++;
		return;
	}
	csv->bytes += bytes;
	csv->rows++;
	if (!csv->out)
		return;
	fwrite_unlocked(head, 1, head_bytes, csv->out);
	put_name(csv->out, name);
	fwrite_unlocked(rest, 1, rest_bytes, csv->out);
}

void rvp_kernel_csv_open(struct rvp_kernel_csv *csv, const struct rvp_run *run, FILE *out, uint64_t max_bytes)
{
	static const char header[] = "kernel_id,name,device,stream,correlation,start_us,duration_ns,launch_latency_ns,grid,"
				     "block,registers,shared_bytes,graph_id,step,class\n";

	*csv = (struct rvp_kernel_csv){
	    .sink.see = see, .run = run, .out = out, .max_bytes = max_bytes, .bytes = sizeof header - 1};
	if (out)
		fputs(header, out);
}
