/* SPDX-License-Identifier: MIT */
/* format_tables.c: the tables of docs/format.md, from the schema.
 *
 *     format_tables              prints them
 *     format_tables FILE         status 1 unless FILE holds them, between the two marker lines, as they are
 * printed
 */
#include "record/counters.h"
#include "record/names.h"
#include "record/schema.h"
#include "record/slot.h"
#include "record/tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What docs/format.md says in its own words about offsets. */
#define AT(type, field, at) \
	_Static_assert(offsetof(struct type, field) == (at), "docs/format.md says where " #field " is")
AT(rvp_tree, entry_count, 64);
AT(rvp_tree, root_pidns, 80);
AT(rvp_tree, unfollowed, 104);
AT(rvp_tree, folded, 128);
AT(rvp_tree, command_is_cut, 140);
AT(rvp_tree, loss, 144);
AT(rvp_tree, run_id, 656);
AT(rvp_tree, boot_id, 696);
AT(rvp_tree, exe, 736);
AT(rvp_tree, command_bytes, 992);
AT(rvp_tree, command, 1000);
AT(rvp_tree_entry, pid, 4);
AT(rvp_tree_entry, folder, 28);
AT(rvp_tree_entry, begin_realtime_ns, 32);
AT(rvp_tree_entry, exit_how, 48);
AT(rvp_tree_entry, first_rss_bytes, 56);
AT(rvp_tree_entry, is_fork, 84);
AT(rvp_tree_entry, exe, 88);
AT(rvp_tree_entry, counters, 152);
AT(rvp_tree_entry, spill, 280);
AT(rvp_slot, serial, 8);
AT(rvp_slot, word, 16);
AT(rvp_slot, counters, 32);
AT(rvp_chunk_header, thread_serial, 16);
AT(rvp_chunk_header, slot, 32);
AT(rvp_chunk_header, payload_checksum, 48);
AT(rvp_buffers, slot_bytes, 64);
AT(rvp_buffers, log_tail, 72);
AT(rvp_buffers, tree_entry, 88);
AT(rvp_buffers, loss, 96);
_Static_assert(sizeof(struct rvp_deferred) == 32, "docs/format.md says what a deferred event takes");

static const char begin_mark[] = "<!-- tables begin: made by format_tables from record/schema.def -->\n";
static const char end_mark[] = "<!-- tables end -->\n";

static void print_kind(FILE *out, int number)
{
	const struct rvp_schema *schema = &rvp_schemas[number];

	fprintf(out, "\n#### %d %s: %s\n\n| field | kind | what |\n| --- | --- | --- |\n", number,
		schema->name, schema->what);
	for (unsigned i = 0; i < schema->field_count; i++)
		fprintf(out, "| %s | %c | %s |\n", schema->fields[i].name, schema->fields[i].kind,
			schema->fields[i].what);
}

static void print_counters(FILE *out)
{
	int number = 0;

	fprintf(out, "\n### Counters\n\n| at | name | what |\n| --- | --- | --- |\n");
#define RVP_COUNTER(name, what) fprintf(out, "| %d | %s | %s |\n", 8 * number++, #name, what);
#include "record/counters.def"
}

static void print_names(FILE *out)
{
	fprintf(out, "\n### Reasons for loss\n\n| number | name | a record is missing | what |\n| --- | --- "
		     "| --- | --- |\n");
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		fprintf(out, "| %d | %s | %s | %s |\n", i, rvp_loss_names[i],
			rvp_loss_is_whole[i] ? "yes" : "no", rvp_loss_texts[i]);
	fprintf(out, "\n### Categories\n\n| number | name |\n| --- | --- |\n");
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		fprintf(out, "| %d | %s |\n", i, rvp_category_names[i]);
	fprintf(out, "\n### Families\n\n| number | name |\n| --- | --- |\n");
	for (int i = 0; i < RVP_FAMILY_COUNT; i++)
		fprintf(out, "| %d | %s |\n", i, rvp_family_names[i]);
}

static void print_tables(FILE *out)
{
	fprintf(out, "\n### Kinds of record\n");
	for (int i = 0; i < RVP_KIND_COUNT; i++)
		if (rvp_schemas[i].name)
			print_kind(out, i);
	print_counters(out);
	print_names(out);
	fputc('\n', out);
}

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return text;
}

static bool holds(char *text, const char *tables)
{
	char *begin = strstr(text, begin_mark), *end = begin ? strstr(begin, end_mark) : NULL;

	if (!end)
		return false;
	*end = 0;
	return strcmp(begin + strlen(begin_mark), tables) == 0;
}

int main(int argc, char **argv)
{
	char *tables = NULL, *text;
	size_t length = 0;
	FILE *memory;

	if (argc < 2) {
		print_tables(stdout);
		return 0;
	}
	memory = open_memstream(&tables, &length);
	if (!memory)
		return 2;
	print_tables(memory);
	fclose(memory);
	text = read_text(argv[1]);
	bool is_same = holds(text, tables);

	if (!is_same)
		fprintf(stderr,
			"%s: its tables are not those of record/schema.def: put the output of format_tables "
			"between its two marker lines\n",
			argv[1]);
	free(tables);
	free(text);
	return !is_same;
}
