/* SPDX-License-Identifier: MIT */
/* kernel_table.c: see kernel_table.h. */
#include "report/kernel_table.h"

#include "report/grow.h"
#include "report/text_style.h"

#include <ctype.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- the head ---- */

void rvp_rule_print(FILE *out, char sign, size_t length)
{
	while (length--)
		fputc(sign, out);
	fputc('\n', out);
}

static void put_upper(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), out);
}

/* A device's name of one character is none, as there. */
static const char *device_of(const struct rvp_kernel_heading *heading)
{
	return heading->device && strlen(heading->device) > 1 ? heading->device : NULL;
}

static size_t heading_columns(const struct rvp_kernel_heading *heading, const char *mode)
{
	static const char words[] = "Kernel Profiler(, ) @ ";
	size_t columns = sizeof words - 1 + strlen(mode) + rvp_text_columns(heading->toolkit) + strlen(heading->arch);

	return columns + (device_of(heading) ? sizeof " on " - 1 + rvp_text_columns(device_of(heading)) : 0);
}

size_t rvp_kernel_heading_print(const struct rvp_kernel_heading *heading, const char *mode, const char *columns, FILE *out)
{
	size_t width = heading_columns(heading, mode);

	width = width > strlen(columns) ? width : strlen(columns);
	rvp_rule_print(out, '=', width);
	fprintf(out, "Kernel Profiler(%s, ", mode);
	rvp_print_safely(out, heading->toolkit, 0);
	fputs(") @ ", out);
	put_upper(out, heading->arch);
	if (device_of(heading)) {
		fputs(" on ", out);
		rvp_print_safely(out, device_of(heading), 0);
	}
	fputc('\n', out);
	rvp_rule_print(out, '=', width);
	fprintf(out, "%s\n", columns);
	rvp_rule_print(out, '-', width);
	return width;
}

void rvp_kernel_heading_json(const struct rvp_kernel_heading *heading, const char *mode, struct rvp_json *json)
{
	rvp_json_string(json, "mode", mode);
	rvp_json_string(json, "toolkit", heading->toolkit);
	rvp_json_string(json, "arch", heading->arch);
	if (device_of(heading))
		rvp_json_string(json, "device", device_of(heading));
}

/* ---- groups ---- */

bool rvp_kernel_table_add(struct rvp_kernel_table *table, const char *name, size_t length, double ms)
{
	uint32_t number = rvp_name_number(&table->names, name, length);
	struct rvp_kernel_group *group;

	if (number == UINT32_MAX ||
	    !rvp_grow((void **)&table->groups, &table->room, table->names.count, sizeof *table->groups))
		return false;
	group = &table->groups[number];
	if (!group->count || ms < group->min_ms)
		group->min_ms = ms;
	if (!group->count || ms > group->max_ms)
		group->max_ms = ms;
	group->count++;
	group->total_ms += ms;
	table->total_ms += ms;
	table->count++;
	return true;
}

double rvp_kernel_table_share(const struct rvp_kernel_table *table, uint32_t group)
{
	return table->total_ms > 0 ? table->groups[group].total_ms / table->total_ms * 100 : 0;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct rvp_kernel_group *groups = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (groups[a].total_ms != groups[b].total_ms)
		return groups[a].total_ms > groups[b].total_ms ? -1 : 1;
	return a < b ? -1 : a > b;
}

uint32_t *rvp_kernel_table_order(const struct rvp_kernel_table *table)
{
	uint32_t *order = calloc(table->names.count + 1, sizeof *order);

	for (uint32_t i = 0; order && i < table->names.count; i++)
		order[i] = i;
	if (order && table->names.count)
		qsort_r(order, table->names.count, sizeof *order, compare, table->groups);
	return order;
}

static double mean_ms(const struct rvp_kernel_group *group)
{
	return group->total_ms / (double)group->count;
}

bool rvp_kernel_table_count(const struct rvp_kernel_table *table, const struct rvp_kernel_heading *heading, FILE *out)
{
	static const char columns[] = "[      %     total   count |      min       avg       max   ] Kernel name";
	uint32_t *order = rvp_kernel_table_order(table);
	size_t width;

	if (!order)
		return false;
	width = rvp_kernel_heading_print(heading, "count", columns, out);
	for (size_t i = 0; i < table->names.count; i++) {
		const struct rvp_kernel_group *group = &table->groups[order[i]];

		fprintf(out, "[%6.2f%% %7.3f s %6" PRIu64 "x |%9.3f %9.3f %9.3f ms] ",
			rvp_kernel_table_share(table, order[i]), group->total_ms / 1000, group->count, group->min_ms,
			mean_ms(group), group->max_ms);
		rvp_print_safely(out, table->names.names[order[i]], 0);
		fputc('\n', out);
	}
	rvp_rule_print(out, '-', width);
	fprintf(out, "[100.00%%] Total execution time: %7.3f s   number of results: %zu\n", table->total_ms / 1000,
		table->names.count);
	rvp_rule_print(out, '=', width);
	free(order);
	return true;
}

static void put_group(struct rvp_json *json, const struct rvp_kernel_table *table, uint32_t number)
{
	const struct rvp_kernel_group *group = &table->groups[number];

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", table->names.names[number]);
	rvp_json_double(json, "percent", rvp_kernel_table_share(table, number));
	rvp_json_double(json, "total_s", group->total_ms / 1000);
	rvp_json_number(json, "count", group->count);
	rvp_json_double(json, "min_ms", group->min_ms);
	rvp_json_double(json, "avg_ms", mean_ms(group));
	rvp_json_double(json, "max_ms", group->max_ms);
	rvp_json_close(json, '}');
}

bool rvp_kernel_table_count_json(const struct rvp_kernel_table *table, const struct rvp_kernel_heading *heading,
				 FILE *out)
{
	struct rvp_json json = {.out = out};
	uint32_t *order = rvp_kernel_table_order(table);

	if (!order)
		return false;
	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.kernel_table/1");
	rvp_kernel_heading_json(heading, "count", &json);
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < table->names.count; i++)
		put_group(&json, table, order[i]);
	rvp_json_close(&json, ']');
	rvp_json_double(&json, "total_s", table->total_ms / 1000);
	rvp_json_number(&json, "number_of_results", table->names.count);
	rvp_json_close(&json, '}');
	fputc('\n', out);
	free(order);
	return true;
}

void rvp_kernel_table_free(struct rvp_kernel_table *table)
{
	rvp_name_table_free(&table->names);
	free(table->groups);
	*table = (struct rvp_kernel_table){0};
}

/* ---- a question ---- */

static void take_into(struct rvp_kernel_query *query, const struct rvp_kernel_table *table, uint32_t number)
{
	const struct rvp_kernel_group *group = &table->groups[number];

	if (query->counter && query->counter != group->count) {
		query->left_out = number;
		return;
	}
	if (!query->counter)
		query->first = number;
	query->counter = group->count;
	query->min_ms += group->min_ms;
	query->max_ms += group->max_ms;
	query->avg_ms += mean_ms(group);
}

enum rvp_kernel_query_end rvp_kernel_table_query(const struct rvp_kernel_table *table, const char *pattern,
						 struct rvp_kernel_query *query, char *why, size_t why_bytes)
{
	size_t bytes = strlen(pattern) + sizeof "^((.*))$";
	char *whole = malloc(bytes);
	regex_t regex;
	int error;

	*query = (struct rvp_kernel_query){.left_out = UINT32_MAX};
	if (!whole)
		return RVP_QUERY_NO_MEMORY;
	snprintf(whole, bytes, "^(%s(.*))$", pattern);
	error = regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB);
	free(whole);
	if (error) {
		regerror(error, &regex, why, why_bytes);
		return error == REG_ESPACE ? RVP_QUERY_NO_MEMORY : RVP_QUERY_NO_PATTERN;
	}
	for (uint32_t i = 0; i < table->names.count; i++)
		if (regexec(&regex, table->names.names[i], 0, NULL, 0) == 0)
			take_into(query, table, i);
	regfree(&regex);
	return RVP_QUERY_DONE;
}
