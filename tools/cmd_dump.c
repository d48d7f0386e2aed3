/* SPDX-License-Identifier: MIT */
/* cmd_dump.c: `rvprof dump [DIR] [--json]`: every record of every log, a line each, in the order of the logs.
 * What a field is called and how it is printed comes from the schema table alone. */
#include "record/decode.h"
#include "report/run_source.h"
#include "tools/commands.h"
#include "tools/folder_arguments.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: rvprof dump [DIR] [--json]\n"
    "Prints every record of every log of a run folder, a line each: log, slot, sequence of\n"
    "its chunk, thread, kind, and its fields. docs/format.md says what they mean.\n"
    "  --json   a JSON object a line\n"
    "  --help   this\n";

struct dump {
	bool is_json;
	const char *log;
	const struct rvp_chunk *chunk;
};

/* Texts stay texts; a text with bytes that no terminal should get is printed as hexadecimal digits. */
static bool is_printable(struct rvp_text text)
{
	for (uint64_t i = 0; i < text.length; i++)
		if ((unsigned char)text.bytes[i] < 0x20 || (unsigned char)text.bytes[i] >= 0x7f)
			return false;
	return true;
}

static void print_hex(struct rvp_text text)
{
	fputs("\"0x", stdout);
	for (uint64_t i = 0; i < text.length; i++)
		printf("%02x", (unsigned char)text.bytes[i]);
	fputc('"', stdout);
}

static void print_text(struct rvp_text text)
{
	if (!is_printable(text)) {
		print_hex(text);
		return;
	}
	fputc('"', stdout);
	for (uint64_t i = 0; i < text.length; i++) {
		if (text.bytes[i] == '"' || text.bytes[i] == '\\')
			fputc('\\', stdout);
		fputc(text.bytes[i], stdout);
	}
	fputc('"', stdout);
}

static void print_field(const struct dump *dump, const struct rvp_field *field, const void *value)
{
	uint64_t number;

	printf(dump->is_json ? ",\"%s\":" : " %s=", field->name);
	if (field->kind == 'X' || field->kind == 'R') {
		print_text(*(const struct rvp_text *)value);
		return;
	}
	number = *(const uint64_t *)value;
	printf(field->kind == 'A' && !dump->is_json ? "0x%" PRIx64 : "%" PRIu64, number);
}

static void print_record(const struct dump *dump, const struct rvp_record *record)
{
	const struct rvp_schema *schema = &rvp_schemas[record->kind];
	const char *fields = (const char *)&record->ALLOC;

	printf(dump->is_json ? "{\"log\":\"%s\",\"slot\":%u,\"sequence\":%" PRIu64
			       ",\"tid\":%u,\"record\":\"%s\""
			     : "%s slot=%u sequence=%" PRIu64 " tid=%u %s",
	       dump->log, dump->chunk->slot, dump->chunk->sequence, dump->chunk->tid, schema->name);
	for (unsigned i = 0; i < schema->field_count; i++)
		print_field(dump, &schema->fields[i], fields + schema->fields[i].offset);
	fputs(dump->is_json ? "}\n" : "\n", stdout);
}

static void dump_log(struct dump *dump, const struct rvp_log *log, const char *name)
{
	dump->log = name;
	for (size_t i = 0; i < log->chunk_count && !ferror(stdout); i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
		struct rvp_record record;

		dump->chunk = &log->chunks[i];
		while (rvp_decode_next(&decoder, &record))
			print_record(dump, &record);
		if (decoder.broken)
			rvp_complain("%s: slot %u, sequence %" PRIu64 ": the rest of this chunk is damaged",
				     name, log->chunks[i].slot, log->chunks[i].sequence);
	}
}

static int dump_run(struct dump *dump, const char *folder)
{
	struct rvp_run *run;
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].source->has_log)
			dump_log(dump, &run->processes[i].source->log, run->processes[i].folder);
		else if (run->processes[i].flaw[0])
			rvp_complain("%s", run->processes[i].flaw);
	if (run->source->has_watch)
		dump_log(dump, &run->source->watch, RVP_WATCH_FILE);
	rvp_run_close(run);
	return RVP_EXIT_DONE;
}

int rvp_cmd_dump(int argc, char **argv)
{
	struct rvp_folder_arguments arguments;
	char path[PATH_MAX];
	int status;

	if (!rvp_folder_arguments_read(argc, argv, help, path, &arguments, &status))
		return status;
	struct dump dump = {.is_json = arguments.is_json};

	return dump_run(&dump, arguments.folder);
}
