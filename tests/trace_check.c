/* SPDX-License-Identifier: MIT */
/* trace_check.c: reads a Chrome trace as strictly as its strictest reader does.
 *
 *     trace_check FILE        status 0: good, and one line with counts; 1: the first breach; 2: cannot be
 * read
 *
 * Rules: complete JSON, valid UTF-8, begins {"...; no surrogate escapes, no raw control characters, no NaN;
 * ph is one of those that Perfetto takes; ts, dur numbers and not negative; pid, tid unsigned 32 bit; C has
 * args with numbers and a name; i has a scope; M names a process or a thread; X nests on its thread; each b
 * has its e behind it, and the other way round; numbers that JavaScript holds.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path;

__attribute__((format(printf, 2, 3), noreturn)) static void breach(size_t event, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "trace_check: %s: event %zu: ", path, event);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static char *read_all(size_t *length)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0, got = 1;

	*length = 0;
	while (file && got) {
		room = *length + (1 << 20);
		text = realloc(text, room + 1);
		if (!text)
			exit(2);
		got = fread(text + *length, 1, room - *length, file);
		*length += got;
	}
	if (!file) {
		perror(path);
		exit(2);
	}
	fclose(file);
	text[*length] = 0;
	return text;
}

/* What a JSON parser lets through and a reader of traces does not. */
static void check_text(const char *text, size_t length)
{
	if (length < 2 || text[0] != '{' || text[strspn(text + 1, " \n\t") + 1] != '"')
		breach(0, "it does not begin with {\"");
	for (size_t i = 0; i + 6 < length; i++)
		if (text[i] == '\\' && text[i + 1] == '\\')
			i++;
		else if (text[i] == '\\' && text[i + 1] == 'u' && (text[i + 2] | 32) == 'd' &&
			 text[i + 3] >= '8')
			breach(0, "a surrogate escape at byte %zu", i);
}

static double number(json_t *event, size_t index, const char *key, bool must)
{
	json_t *value = json_object_get(event, key);

	if (!value && !must)
		return 0;
	if (!json_is_number(value))
		breach(index, "%s is not a number", key);
	if (json_number_value(value) < 0)
		breach(index, "%s is negative", key);
	if (json_number_value(value) > 9007199254740992.0)
		breach(index, "%s is beyond 2^53", key);
	return json_number_value(value);
}

static uint32_t id_of(json_t *event, size_t index, const char *key, bool must)
{
	json_t *value = json_object_get(event, key);

	if (!value && !must)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > UINT32_MAX)
		breach(index, "%s is no unsigned 32 bit number", key);
	return (uint32_t)json_integer_value(value);
}

static const char *name_of(json_t *event, size_t index)
{
	const char *name = json_string_value(json_object_get(event, "name"));

	if (!name || !*name)
		breach(index, "no name");
	return name;
}

static void check_counter(json_t *event, size_t index)
{
	json_t *args = json_object_get(event, "args"), *value;
	const char *key;

	name_of(event, index);
	if (!json_is_object(args) || !json_object_size(args))
		breach(index, "a counter without args");
	json_object_foreach(args, key, value)
	{
		if (!json_is_number(value))
			breach(index, "counter %s is not a number", key);
		number(args, index, key, true);
	}
}

static void check_instant(json_t *event, size_t index)
{
	const char *scope = json_string_value(json_object_get(event, "s"));

	name_of(event, index);
	if (!scope || strlen(scope) != 1 || !strchr("gpt", *scope))
		breach(index, "an instant without scope g, p or t");
}

static void check_metadata(json_t *event, size_t index)
{
	const char *name = name_of(event, index);
	json_t *args = json_object_get(event, "args");
	bool is_sort = strstr(name, "sort_index") != NULL;

	if (strcmp(name, "process_name") && strcmp(name, "thread_name") &&
	    strcmp(name, "process_sort_index") && strcmp(name, "thread_sort_index") &&
	    strcmp(name, "process_labels"))
		breach(index, "metadata %s is not handled", name);
	if (is_sort ? !json_is_integer(json_object_get(args, "sort_index"))
		    : !json_is_string(json_object_get(args, strcmp(name, "process_labels") ? "name" : "labels")))
		breach(index, "metadata %s without its argument", name);
}

struct slice {
	uint64_t thread;
	double begin, end;
	bool is_device; /* pieces may touch: rounding of their sums, 1e-4 us, is no crossing */
};
static struct slice *slices;
static size_t slice_count;

static bool is_of_device(const char *category)
{
	return category && (!strncmp(category, "gpu_", 4) || !strncmp(category, "cuda_", 5) ||
			    !strcmp(category, "kernel") || !strcmp(category, "overhead"));
}

/* Whether it lies before `begin`. */
static bool is_over(const struct slice *slice, double begin)
{
	return slice->end <= begin + (slice->is_device ? 0.0001 : 0);
}

static void add_slice(json_t *event, size_t index)
{
	slices = realloc(slices, (slice_count + 1) * sizeof *slices);
	if (!slices)
		exit(2);
	slices[slice_count].thread =
	    (uint64_t)id_of(event, index, "pid", true) << 32 | id_of(event, index, "tid", false);
	slices[slice_count].begin = number(event, index, "ts", true);
	slices[slice_count].end = slices[slice_count].begin + number(event, index, "dur", true);
	slices[slice_count].is_device = is_of_device(json_string_value(json_object_get(event, "cat")));
	slice_count++;
}

static int compare_slices(const void *left, const void *right)
{
	const struct slice *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

static void check_nesting(void)
{
	size_t depth = 0;
	struct slice *open = calloc(slice_count + 1, sizeof *open);

	if (slice_count)
		qsort(slices, slice_count, sizeof *slices, compare_slices);
	for (size_t i = 0; open && i < slice_count; i++) {
		while (depth &&
		       (open[depth - 1].thread != slices[i].thread || is_over(&open[depth - 1], slices[i].begin)))
			depth--;
		if (depth && open[depth - 1].end < slices[i].end)
			breach(i, "slices of one thread overlap at %.3f", slices[i].begin);
		open[depth++] = slices[i];
	}
	free(open);
}

/* The open pair, if any: pairs stand one behind the other in what we write, so at most one is. */
struct pair {
	json_t *begin;
	size_t count;
};
static struct pair pair;

static bool has_same(json_t *left, json_t *right, const char *key)
{
	return json_equal(json_object_get(left, key), json_object_get(right, key));
}

static void check_pair(json_t *event, size_t index, char ph)
{
	name_of(event, index);
	if (!json_is_string(json_object_get(event, "id")) || !json_is_string(json_object_get(event, "cat")))
		breach(index, "half of a pair without id and cat");
	if (ph == 'b') {
		if (pair.begin)
			breach(index, "a pair in a pair");
		pair.begin = event;
		return;
	}
	if (!pair.begin || !has_same(pair.begin, event, "id") || !has_same(pair.begin, event, "cat") ||
	    !has_same(pair.begin, event, "pid") || !has_same(pair.begin, event, "name"))
		breach(index, "an end without its begin");
	if (number(event, index, "ts", true) < number(pair.begin, index, "ts", true))
		breach(index, "a pair ends before it begins");
	pair.begin = NULL;
	pair.count++;
}

static void check_event(json_t *event, size_t index)
{
	const char *ph = json_string_value(json_object_get(event, "ph"));

	if (!ph || strlen(ph) != 1 || !strchr("XBEiIRCbnestfM", *ph))
		breach(index, "ph is not one that is handled");
	id_of(event, index, "pid",
	      *ph != 'i' || strcmp(json_string_value(json_object_get(event, "s")) ?: "", "g"));
	id_of(event, index, "tid", false);
	number(event, index, "ts", *ph != 'M');
	switch (*ph) {
	case 'C': check_counter(event, index); break;
	case 'i': check_instant(event, index); break;
	case 'M': check_metadata(event, index); break;
	case 'X': add_slice(event, index); break;
	case 'b':
	case 'e': check_pair(event, index, *ph); break;
	default: name_of(event, index); break;
	}
}

int main(int argc, char **argv)
{
	json_error_t error;
	size_t length, index;
	json_t *event;

	if (argc != 2) {
		fprintf(stderr, "usage: trace_check FILE\n");
		return 2;
	}
	path = argv[1];
	char *text = read_all(&length);

	check_text(text, length);
	json_t *trace = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);

	if (!trace)
		breach(0, "line %d: %s", error.line, error.text);
	json_t *events = json_object_get(trace, "traceEvents"),
	       *metadata = json_object_get(trace, "metadata");

	if (!json_is_array(events))
		breach(0, "no traceEvents");
	if (metadata && !json_is_object(metadata))
		breach(0, "metadata is no object");
	json_array_foreach(events, index, event) check_event(event, index);
	if (pair.begin)
		breach(index, "a begin without its end");
	check_nesting();
	printf("%zu events, %zu slices, %zu pairs, %zu bytes\n", json_array_size(events), slice_count, pair.count,
	       length);
	json_decref(trace);
	free(slices);
	free(text);
	return 0;
}
