/* SPDX-License-Identifier: MIT */
/* operators_cache.c: what was measured of operators before: see operators.h.
 *
 * The file: a line that says what it is, then a line an entry: key, workspace, latencies, with tabs between.
 * A writer holds a lock beside it; the file is replaced whole. A line that is not right is no entry. Beyond
 * ENTRIES_MAX the oldest go.
 */
#include "model/machine.h"
#include "model/operators.h"
#include "model/user_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { ENTRIES_MAX = 10000 };
static const char first_line[] = "rvprof operators 1\n";

bool rvp_op_key(const struct rvp_operator *operators, size_t count, struct rvp_op_wish wish,
		char key[RVP_OP_KEY_BYTES])
{
	char layer[RVP_LAYER_TEXT_BYTES], shape[RVP_SHAPE_TEXT_BYTES];
	int length = snprintf(key, RVP_OP_KEY_BYTES, "f32 threads=%d warmup=%u number=%u repeat=%u",
			      wish.threads, wish.warmup, wish.number, wish.repeat);

	for (size_t i = 0; i < count; i++) {
		const struct rvp_network *network = &operators[i].network;

		for (size_t at = 0; at < network->count && length < RVP_OP_KEY_BYTES; at++)
			length += snprintf(key + length, RVP_OP_KEY_BYTES - (size_t)length, "%s%s",
					   at ? " " : "; ", rvp_layer_text(&network->layers[at], layer));
		if (length < RVP_OP_KEY_BYTES)
			length +=
			    snprintf(key + length, RVP_OP_KEY_BYTES - (size_t)length, " over %s stream=%d",
				     rvp_shape_text(&network->input, shape), operators[i].stream);
	}
	return length < RVP_OP_KEY_BYTES;
}

static void path_of(char path[PATH_MAX])
{
	struct rvp_machine machine;
	char key[RVP_PROCESSOR_BYTES + 16];

	rvp_machine_name(&machine);
	snprintf(key, sizeof key, "%s %u", machine.processor, machine.threads);
	rvp_user_cache_path("operators", key, path);
}

/* ---- entries ---- */

struct entries {
	char **lines;
	size_t count, room;
};

static void free_entries(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->lines[i]);
	free(entries->lines);
	*entries = (struct entries){.count = 0};
}

/* What is behind the key; the result may be NULL. */
static bool parse_values(const char *text, struct rvp_op_result *result)
{
	struct rvp_op_result values = {.count = 0};
	char *end;

	errno = 0;
	values.workspace_bytes = strtoull(text, &end, 10);
	if (end == text || errno)
		return false;
	while (*end == '\t' && values.count < RVP_REPEAT_MAX) {
		const char *begin = end + 1;
		double us = strtod(begin, &end);

		if (end == begin || !isfinite(us) || us < 0)
			return false;
		values.latency_us[values.count++] = us;
	}
	if (*end || !values.count)
		return false;
	if (result)
		*result = values;
	return true;
}

/* Takes the line. */
static bool keep(struct entries *entries, char *line)
{
	if (entries->count == entries->room) {
		size_t room = entries->room ? entries->room * 2 : 64;
		char **more = realloc(entries->lines, room * sizeof *more);

		if (!more)
			return false;
		entries->lines = more;
		entries->room = room;
	}
	entries->lines[entries->count++] = line;
	return true;
}

static void read_entries(const char *path, struct entries *entries)
{
	FILE *file = *path ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	bool is_ours = file && getline(&line, &room, file) > 0 && strcmp(line, first_line) == 0;

	*entries = (struct entries){.count = 0};
	while (is_ours && entries->count < ENTRIES_MAX && getline(&line, &room, file) > 0) {
		char *tab = strchr(line, '\t');

		line[strcspn(line, "\n")] = 0;
		if (!tab || !parse_values(tab + 1, NULL))
			continue;
		if (!keep(entries, line))
			break;
		line = NULL;
		room = 0;
	}
	free(line);
	if (file)
		fclose(file);
}

static bool has_key(const char *line, const char *key)
{
	size_t length = strlen(key);

	return strncmp(line, key, length) == 0 && line[length] == '\t';
}

bool rvp_op_cache_find(const char *key, struct rvp_op_result *result)
{
	struct entries entries;
	char path[PATH_MAX];
	bool is_there = false;

	path_of(path);
	read_entries(path, &entries);
	for (size_t i = 0; i < entries.count && !is_there; i++)
		is_there = has_key(entries.lines[i], key) &&
			   parse_values(entries.lines[i] + strlen(key) + 1, result);
	free_entries(&entries);
	return is_there;
}

size_t rvp_op_cache_size(void)
{
	struct entries entries;
	char path[PATH_MAX];
	size_t count;

	path_of(path);
	read_entries(path, &entries);
	count = entries.count;
	free_entries(&entries);
	return count;
}

/* ---- writing ---- */

static void write_entries(FILE *out, const void *what)
{
	const struct entries *entries = what;

	fputs(first_line, out);
	for (size_t i = entries->count > ENTRIES_MAX ? entries->count - ENTRIES_MAX : 0; i < entries->count;
	     i++)
		fprintf(out, "%s\n", entries->lines[i]);
}

/* -1: none to be had; then the last writer is right. */
static int lock_beside(const char *path)
{
	char name[PATH_MAX + 8];
	int file;

	if (!*path)
		return -1;
	snprintf(name, sizeof name, "%s.lock", path);
	file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file >= 0)
		flock(file, LOCK_EX);
	return file;
}

static char *line_of(const char *key, const struct rvp_op_result *result)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&line, &bytes);

	if (!out)
		return NULL;
	fprintf(out, "%s\t%" PRIu64, key, result->workspace_bytes);
	for (unsigned i = 0; i < result->count; i++)
		fprintf(out, "\t%.17g", result->latency_us[i]);
	if (fclose(out) == 0)
		return line;
	free(line);
	return NULL;
}

struct rvp_status rvp_op_cache_put(const char *key, const struct rvp_op_result *result)
{
	struct entries entries;
	struct rvp_status status;
	char path[PATH_MAX], *line = line_of(key, result);
	int lock;

	path_of(path);
	lock = lock_beside(path);
	read_entries(path, &entries);
	if (line && keep(&entries, line)) {
		status = rvp_user_cache_write(path, write_entries, &entries);
	} else {
		free(line);
		status = rvp_fail("keep", "what was measured", ENOMEM);
	}
	free_entries(&entries);
	if (lock >= 0)
		close(lock);
	return status;
}

struct rvp_status rvp_op_cache_reset(void)
{
	char path[PATH_MAX];

	path_of(path);
	if (!*path || unlink(path) == 0 || errno == ENOENT)
		return RVP_OK;
	return rvp_fail("remove", path, errno);
}
