/* SPDX-License-Identifier: MIT */
/* csv_rows.c: see csv_rows.h. */
#include "report/csv_rows.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIELDS_MAX = 64, SHOWN_BYTES = 40 };

const char *rvp_csv_path(const struct rvp_csv_rows *rows)
{
	return strcmp(rows->path, "-") ? rows->path : "standard input";
}

static struct rvp_status no_csv(const struct rvp_csv_rows *rows)
{
	return rvp_fail_with("read", rvp_csv_path(rows), "line %" PRIu64 ": this is no CSV", rows->line);
}

/* Without its end of line. False at the end of the file, and where *status says why not. */
static bool read_line(struct rvp_csv_rows *rows, struct rvp_status *status)
{
	size_t length = 0;
	int byte;

	*status = RVP_OK;
	rows->line++;
	while ((byte = getc_unlocked(rows->file)) != EOF && byte != '\n') {
		if (!byte || length == RVP_CSV_LINE_MAX_BYTES) {
			*status = no_csv(rows);
			return false;
		}
		rows->text[length++] = (char)byte;
	}
	if (ferror(rows->file))
		*status = rvp_fail("read", rvp_csv_path(rows), errno);
	while (length && rows->text[length - 1] == '\r')
		length--;
	rows->text[length] = '\0';
	return !ferror(rows->file) && (byte != EOF || length);
}

/* Takes the quotes off the field at `text`, in place; what stands behind it, NULL: its quotes are not balanced. */
static char *unquote(char *text)
{
	char *to = text, *from = text + 1;

	while (*from && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	if (*from != '"' || (from[1] && from[1] != ','))
		return NULL;
	*to = '\0';
	return from + 1;
}

/* Cuts the line at its commas; how many fields, at most FIELDS_MAX + 1. 0: a field's quotes are not balanced. */
static unsigned cut(char *text, char *fields[FIELDS_MAX])
{
	unsigned count = 0;

	while (count < FIELDS_MAX) {
		char *end = *text == '"' ? unquote(text) : strchrnul(text, ',');
		bool is_last = end && !*end;

		if (!end)
			return 0;
		fields[count++] = text;
		if (is_last)
			return count;
		*end = '\0';
		text = end + 1;
	}
	return FIELDS_MAX + 1;
}

static struct rvp_status find_columns(struct rvp_csv_rows *rows, char *const *fields)
{
	for (unsigned i = 0; rows->names[i]; i++) {
		bool may_miss = *rows->names[i] == '?';
		unsigned at = 0;

		while (at < rows->field_count && strcmp(fields[at], rows->names[i] + may_miss) != 0)
			at++;
		if (at == rows->field_count && !may_miss)
			return rvp_fail_with("read", rvp_csv_path(rows),
					     "line %" PRIu64 ": the header has no column %s", rows->line,
					     rows->names[i]);
		rows->place[i] = at;
	}
	return RVP_OK;
}

static struct rvp_status read_header(struct rvp_csv_rows *rows)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct rvp_status status;
	char *fields[FIELDS_MAX], *text;

	if (!read_line(rows, &status))
		return rvp_failed(status) ? status
					  : rvp_fail_with("read", rvp_csv_path(rows), "it is empty: no header");
	text = rows->text + (strncmp(rows->text, mark, 3) == 0 ? 3 : 0);
	rows->field_count = cut(text, fields);
	if (!rows->field_count)
		return no_csv(rows);
	if (rows->field_count > FIELDS_MAX)
		return rvp_fail_with("read", rvp_csv_path(rows), "line 1: more than %d columns", FIELDS_MAX);
	return find_columns(rows, fields);
}

static struct rvp_status open_file(struct rvp_csv_rows *rows)
{
	struct stat file;

	rows->file = strcmp(rows->path, "-") ? fopen(rows->path, "re") : stdin;
	if (!rows->file)
		return rvp_fail("open", rows->path, errno);
	if (fstat(fileno(rows->file), &file) == 0 && S_ISDIR(file.st_mode))
		return rvp_fail_with("read", rows->path, "it is a folder: name a CSV file in it");
	return RVP_OK;
}

struct rvp_status rvp_csv_rows_open(struct rvp_csv_rows *rows, const char *path, const char *const *names)
{
	struct rvp_status status;

	*rows = (struct rvp_csv_rows){.path = path, .names = names};
	status = open_file(rows);
	rows->text = malloc(RVP_CSV_LINE_MAX_BYTES + 1);
	if (!rvp_failed(status) && !rows->text)
		status = rvp_fail("read", rvp_csv_path(rows), ENOMEM);
	if (!rvp_failed(status))
		status = read_header(rows);
	if (rvp_failed(status))
		rvp_csv_rows_close(rows);
	return status;
}

struct rvp_status rvp_csv_rows_next(struct rvp_csv_rows *rows, bool *has_row)
{
	char *fields[FIELDS_MAX];
	struct rvp_status status;
	unsigned count;

	do
		*has_row = read_line(rows, &status);
	while (*has_row && !*rows->text);
	if (!*has_row)
		return status;
	count = cut(rows->text, fields);
	if (!count)
		return no_csv(rows);
	if (count != rows->field_count)
		return rvp_fail_with("read", rvp_csv_path(rows),
				     "line %" PRIu64 ": %s fields than the header's %u", rows->line,
				     count < rows->field_count ? "fewer" : "more", rows->field_count);
	for (unsigned i = 0; rows->names[i]; i++)
		rows->fields[i] = rows->place[i] < count ? fields[rows->place[i]] : "";
	return RVP_OK;
}

static struct rvp_status fail_at(const struct rvp_csv_rows *rows, unsigned column, const char *what)
{
	const char *field = rows->fields[column];

	return rvp_fail_with("read", rvp_csv_path(rows), "line %" PRIu64 ": %s is %s%.*s%s, %s", rows->line,
			     rows->names[column] + (*rows->names[column] == '?'), *field ? "'" : "", SHOWN_BYTES, *field ? field : "empty",
			     *field ? "'" : "", what);
}

struct rvp_status rvp_csv_whole(const struct rvp_csv_rows *rows, unsigned column, uint64_t *value)
{
	const char *field = rows->fields[column];
	char *end;

	errno = 0;
	*value = isdigit((unsigned char)*field) ? strtoull(field, &end, 10) : 0;
	if (!isdigit((unsigned char)*field) || *end)
		return fail_at(rows, column, "not a whole number");
	return errno ? fail_at(rows, column, "beyond 64 bits") : RVP_OK;
}

/* strtod alone would take hexadecimal digits, "inf" and "nan". */
struct rvp_status rvp_csv_decimal(const struct rvp_csv_rows *rows, unsigned column, double *value)
{
	const char *field = rows->fields[column];
	char *end;

	*value = strtod(field, &end);
	if (!*field || *end || strspn(field, "0123456789+-.eE") != strlen(field) || !isfinite(*value))
		return fail_at(rows, column, "not a number");
	return RVP_OK;
}

void rvp_csv_rows_close(struct rvp_csv_rows *rows)
{
	if (rows->file && rows->file != stdin)
		fclose(rows->file);
	free(rows->text);
	rows->file = NULL;
	rows->text = NULL;
}
