/* SPDX-License-Identifier: MIT */
/* options.c: see options.h. Each option has a reader of its own below; the table in the middle ties names to
 * them. */
#include "record/options.h"

#include "record/line.h"
#include "record/nearest.h"

#include <string.h>

#define PREFIX "RVPROF_"

typedef bool read_value(struct rvp_options *options, struct rvp_part value);

static bool read_text(char *into, struct rvp_part value)
{
	if (value.length >= RVP_OPTION_TEXT_BYTES)
		return false;
	memcpy(into, value.text, value.length);
	into[value.length] = 0;
	return true;
}

static bool read_flag(bool *into, struct rvp_part value)
{
	bool on = value.length == 0 || rvp_part_is(value, "1") || rvp_part_is(value, "on");

	if (!on && !rvp_part_is(value, "0") && !rvp_part_is(value, "off"))
		return false;
	*into = on;
	return true;
}

static const struct {
	const char *name;
	uint64_t bytes;
} units[] = {
    {"", 1},
    {"B", 1},
    {"K", 1ull << 10},
    {"KiB", 1ull << 10},
    {"kB", 1000},
    {"M", 1ull << 20},
    {"MiB", 1ull << 20},
    {"MB", 1000000},
    {"G", 1ull << 30},
    {"GiB", 1ull << 30},
    {"GB", 1000000000},
    {"T", 1ull << 40},
    {"TiB", 1ull << 40},
    {"TB", 1000000000000},
};

bool rvp_size_read(const char *text, size_t length, uint64_t *bytes)
{
	size_t digits = 0;

	while (digits < length && text[digits] >= '0' && text[digits] <= '9')
		digits++;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (!rvp_part_is((struct rvp_part){text + digits, length - digits}, units[i].name))
			continue;
		if (!rvp_part_number((struct rvp_part){text, digits}, UINT64_MAX / units[i].bytes, bytes))
			return false;
		*bytes *= units[i].bytes;
		return true;
	}
	return false;
}

/* One reader a name. */
static bool read_OUTPUT(struct rvp_options *options, struct rvp_part value)
{
	return read_text(options->output, value);
}
static bool read_MODE(struct rvp_options *options, struct rvp_part value)
{
	if (!rvp_part_is(value, "full") && !rvp_part_is(value, "sampled"))
		return false;
	options->mode = rvp_part_is(value, "full") ? RVP_MODE_FULL : RVP_MODE_SAMPLED;
	return true;
}
static bool read_ONLY(struct rvp_options *options, struct rvp_part value)
{
	return read_text(options->only, value);
}
static bool read_PYTHON(struct rvp_options *options, struct rvp_part value)
{
	return value.length > 0 && read_flag(&options->python, value);
}
static bool read_NO_FOLLOW(struct rvp_options *options, struct rvp_part value)
{
	bool no;

	if (!read_flag(&no, value))
		return false;
	options->follow = !no;
	return true;
}
static bool read_NO_ADAPTERS(struct rvp_options *options, struct rvp_part value)
{
	bool no;

	if (!read_flag(&no, value))
		return false;
	options->adapters = !no;
	return true;
}
static bool read_WRITES(struct rvp_options *options, struct rvp_part value)
{
	if (!rvp_part_is(value, "window") && !rvp_part_is(value, "off"))
		return false;
	options->writes = rvp_part_is(value, "window");
	return true;
}
static bool read_MAX_LOG(struct rvp_options *options, struct rvp_part value)
{
	uint64_t bytes;

	if (!rvp_size_read(value.text, value.length, &bytes) || bytes == 0)
		return false;
	options->max_log_bytes = bytes;
	return true;
}
static bool read_CUDA(struct rvp_options *options, struct rvp_part value)
{
	if (rvp_part_is(value, "off"))
		options->cuda = RVP_CUDA_OFF;
	else if (rvp_part_is(value, "auto"))
		options->cuda = RVP_CUDA_AUTO;
	else if (rvp_part_is(value, "full"))
		options->cuda = RVP_CUDA_FULL;
	else
		return false;
	return true;
}
/* "3", "3%", "0.5": per cent, to a tenth. */
static bool read_CUDA_BUDGET(struct rvp_options *options, struct rvp_part value)
{
	struct rvp_part rest = {"", 0};
	uint64_t whole, tenths = 0;
	const char *point;

	if (value.length && value.text[value.length - 1] == '%')
		value.length--;
	point = memchr(value.text, '.', value.length);
	if (point) {
		rest = (struct rvp_part){point + 1, (size_t)(value.text + value.length - point - 1)};
		value.length = (size_t)(point - value.text);
	}
	if (!rvp_part_number(value, 100, &whole) || (point && !rvp_part_number(rest, 9, &tenths)))
		return false;
	if (whole * 10 + tenths > 1000)
		return false;
	options->cuda_budget_milli = (uint32_t)(whole * 10 + tenths);
	return true;
}
static bool read_ROWS(struct rvp_options *options, struct rvp_part value)
{
	return value.length > 0 && read_flag(&options->rows, value);
}

static bool read_SYNC_STEPS(struct rvp_options *options, struct rvp_part value)
{
	return read_flag(&options->sync_steps, value);
}
static const struct {
	const char *name;
	uint64_t ns;
} time_units[] = {
    {"", 1000000000u}, {"s", 1000000000u}, {"ms", 1000000u}, {"us", 1000u}, {"m", 60000000000u}, {"min", 60000000000u},
    {"h", 3600000000000u},
};

/* To 9 digits behind the point. */
static bool read_fraction(struct rvp_part digits, uint64_t unit_ns, uint64_t *ns)
{
	uint64_t number, scale = 1;

	if (digits.length > 9 || !rvp_part_number(digits, 999999999u, &number))
		return false;
	for (size_t i = 0; i < digits.length; i++)
		scale *= 10;
	*ns = (uint64_t)((unsigned __int128)number * unit_ns / scale);
	return true;
}

bool rvp_time_read(const char *text, size_t length, uint64_t *ns)
{
	struct rvp_part whole = {text, 0}, fraction = {NULL, 0}, unit;
	uint64_t number, more = 0;
	size_t at;

	while (whole.length < length && text[whole.length] >= '0' && text[whole.length] <= '9')
		whole.length++;
	at = whole.length;
	if (at < length && text[at] == '.') {
		fraction = (struct rvp_part){text + at + 1, 0};
		while (at + 1 < length && text[at + 1] >= '0' && text[at + 1] <= '9')
			at++, fraction.length++;
		at++;
	}
	unit = (struct rvp_part){text + at, length - at};
	for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
		if (!rvp_part_is(unit, time_units[i].name))
			continue;
		if (!rvp_part_number(whole, 100 * 365 * 24 * 3600000000000u / time_units[i].ns, &number) ||
		    (fraction.text && !read_fraction(fraction, time_units[i].ns, &more)))
			return false;
		*ns = number * time_units[i].ns + more;
		return true;
	}
	return false;
}
static bool read_SCHEDULE(struct rvp_options *options, struct rvp_part value)
{
	if (!rvp_schedule_read(&options->schedule, value.text, value.length, NULL, 0))
		return false;
	options->has_schedule = true;
	return true;
}
/* As a schedule: A steps are skipped, and one cycle has the rest. */
static bool read_STEPS(struct rvp_options *options, struct rvp_part value)
{
	const char *colon = memchr(value.text, ':', value.length);
	uint64_t first = 0, end = RVP_SCHEDULE_MOST;
	struct rvp_part from, to;

	if (!colon || value.length == 1)
		return false;
	from = (struct rvp_part){value.text, (size_t)(colon - value.text)};
	to = (struct rvp_part){colon + 1, value.length - from.length - 1};
	if ((from.length && !rvp_part_number(from, RVP_SCHEDULE_MOST - 1, &first)) ||
	    (to.length && !rvp_part_number(to, RVP_SCHEDULE_MOST, &end)) || first >= end)
		return false;
	options->has_steps = true;
	if (!options->has_schedule)
		options->schedule = (struct rvp_schedule){.skip_first = first, .active = end - first, .repeat = 1};
	return true;
}
static bool read_DELAY(struct rvp_options *options, struct rvp_part value)
{
	return rvp_time_read(value.text, value.length, &options->delay_ns);
}
static bool read_DURATION(struct rvp_options *options, struct rvp_part value)
{
	uint64_t ns;

	if (!rvp_time_read(value.text, value.length, &ns) || !ns)
		return false;
	options->duration_ns = ns;
	return true;
}
static bool read_CAPTURE(struct rvp_options *options, struct rvp_part value)
{
	if (rvp_part_is(value, "all"))
		options->capture = RVP_CAPTURE_ALL;
	else if (rvp_part_is(value, "program"))
		options->capture = RVP_CAPTURE_PROGRAM;
	else if (rvp_part_is(value, "cuda"))
		options->capture = RVP_CAPTURE_CUDA;
	else
		return false;
	return true;
}
static bool read_FORCE(struct rvp_options *options, struct rvp_part value)
{
	return read_flag(&options->force, value);
}
static bool read_QUIET(struct rvp_options *options, struct rvp_part value)
{
	return read_flag(&options->quiet, value);
}
static bool read_COLOR(struct rvp_options *options, struct rvp_part value)
{
	if (rvp_part_is(value, "auto"))
		options->color = RVP_WANTS_COLOR_AUTO;
	else if (rvp_part_is(value, "always"))
		options->color = RVP_WANTS_COLOR_ALWAYS;
	else if (rvp_part_is(value, "never"))
		options->color = RVP_WANTS_COLOR_NEVER;
	else
		return false;
	return true;
}
static bool read_POWER(struct rvp_options *options, struct rvp_part value)
{
	return value.length > 0 && read_text(options->power, value);
}
static bool read_RULES(struct rvp_options *options, struct rvp_part value)
{
	(void)options; /* the reader of the run folder's own matter: it is recorded with the environment */
	return value.length > 0;
}
static bool read_FINALIZE(struct rvp_options *options, struct rvp_part value)
{
	return read_flag(&options->finalize, value);
}
static bool read_EXIT_WAIT(struct rvp_options *options, struct rvp_part value)
{
	uint64_t seconds;

	if (!rvp_part_number(value, UINT32_MAX, &seconds))
		return false;
	options->exit_wait_s = (uint32_t)seconds;
	return true;
}
static bool read_DISABLE(struct rvp_options *options, struct rvp_part value)
{
	return read_flag(&options->disable, value);
}
bool rvp_is_fingerprint(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
			return false;
	return length == 64;
}

static bool read_CONFIG_FINGERPRINT(struct rvp_options *options, struct rvp_part value)
{
	(void)options; /* it is in the log's environment, where the report finds it */
	return rvp_is_fingerprint(value.text, value.length);
}
static bool read_NVTX_FORWARD(struct rvp_options *options, struct rvp_part value)
{
	(void)options, (void)value; /* librvprof_nvtx.so's own matter */
	return true;
}
static bool read_CUDA_FORWARD(struct rvp_options *options, struct rvp_part value)
{
	(void)options, (void)value; /* librvprof_cupti.so's own matter */
	return true;
}
static bool read_RUN_DIR(struct rvp_options *options, struct rvp_part value)
{
	return read_text(options->run_dir, value);
}

/* Every name of options.def. `read` is NULL for what is not in this version, and for OPTIONS itself. */
struct option_row {
	const char *name, *argument;
	bool is_option; /* of `run`, hence also a word of RVPROF_OPTIONS */
	read_value *read;
};
#define READER_1(id)                  read_##id
#define READER_0(id)                  NULL
#define OPTION_ROW(name, argument, r) {name, argument, true, r},

static const struct option_row rows[] = {
#define RVP_OPTION(id, name, argument, since, help) OPTION_ROW(name, argument, READER_##since(id))
#define RVP_VARIABLE(name, help)
#include "record/options.def"
    {"options", "", false, NULL},
    {"finalize", "0|1", false, read_FINALIZE},
    {"exit-wait", "SECONDS", false, read_EXIT_WAIT},
    {"disable", "0|1", false, read_DISABLE},
    {"config-fingerprint", "64 of 0-9 and a-f, as `rvprof fingerprint` prints them", false, read_CONFIG_FINGERPRINT},
    {"run-dir", "DIR", false, read_RUN_DIR},
    {"nvtx-forward", "PATH", false, read_NVTX_FORWARD},
    {"cuda-forward", "PATH", false, read_CUDA_FORWARD},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

#define RVP_OPTION(id, name, argument, since, help) +1
#define RVP_VARIABLE(name, help)                    +1
_Static_assert(ROW_COUNT == 0
#include "record/options.def"
	       ,
	       "every variable of options.def has a row here");

static char as_in_table(char letter)
{
	if (letter == '_')
		return '-';
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static const struct option_row *row_of(struct rvp_part name)
{
	for (int i = 0; i < ROW_COUNT; i++) {
		size_t at = 0;

		while (at < name.length && rows[i].name[at] == as_in_table(name.text[at]))
			at++;
		if (at == name.length && !rows[i].name[at])
			return &rows[i];
	}
	return NULL;
}

static const struct option_row *nearest_row(struct rvp_part name, bool variables_too)
{
	const struct option_row *best = NULL;
	unsigned least = RVP_NEAREST_NAME_BYTES;

	for (int i = 0; i < ROW_COUNT; i++) {
		unsigned apart = rvp_letters_apart(name.text, name.length, rows[i].name);

		if (apart < least && (variables_too || rows[i].is_option)) {
			least = apart;
			best = &rows[i];
		}
	}
	return rvp_is_a_slip(least, name.length) ? best : NULL;
}

/* "RVPROF_MAX_LOG" for a variable, "max-log" for an option. */
static void add_name(struct rvp_line *line, struct rvp_part name, bool as_variable)
{
	if (as_variable)
		rvp_line_add(line, PREFIX);
	for (size_t i = 0; i < name.length; i++) {
		char letter = as_in_table(name.text[i]);

		if (as_variable && letter == '-')
			letter = '_';
		else if (as_variable && letter >= 'a' && letter <= 'z')
			letter = (char)(letter - 'a' + 'A');
		rvp_line_add_part(line, (struct rvp_part){&letter, 1});
	}
}

static void complain_of_name(struct rvp_line line, struct rvp_part name, bool as_variable)
{
	const struct option_row *near = nearest_row(name, as_variable);

	rvp_line_add(&line, "unknown ");
	rvp_line_add(&line, as_variable ? "variable " : "option '");
	if (as_variable)
		rvp_line_add(&line, PREFIX);
	rvp_line_add_part(&line, name);
	rvp_line_add(&line, as_variable ? "" : "'");
	if (!near)
		return;
	rvp_line_add(&line, as_variable ? " (did you mean " : " (did you mean '");
	add_name(&line, rvp_part_of(near->name), as_variable);
	rvp_line_add(&line, as_variable ? "?)" : "'?)");
}

static void complain_of_value(struct rvp_line line, const struct option_row *row, struct rvp_part value,
			      bool as_variable)
{
	struct rvp_part name = rvp_part_of(row->name);

	if (!row->read) {
		rvp_line_add(&line, "'");
		add_name(&line, name, as_variable);
		rvp_line_add(&line, "' is not in this version");
		return;
	}
	if (row->read == read_SCHEDULE) {
		struct rvp_schedule none;

		rvp_line_add(&line, as_variable ? PREFIX "SCHEDULE: " : "");
		rvp_schedule_read(&none, value.text, value.length, line.at, line.left);
		return;
	}
	add_name(&line, name, as_variable);
	rvp_line_add(&line, " can not be '");
	rvp_line_add_part(&line, value);
	rvp_line_add(&line, "': ");
	rvp_line_add(&line, row->argument[0] ? row->argument : "0|1");
	if (!strcmp(row->argument, "SIZE"))
		rvp_line_add(&line, ", as in 64MiB, 1G or 4096");
	if (!strcmp(row->argument, "TIME"))
		rvp_line_add(&line, ", as in 10, 2.5s, 300ms or 2m");
	if (row->read == read_STEPS)
		rvp_line_add(&line, ", as in 80:84 (four steps), 80: or :4");
}

static bool set(struct rvp_options *options, struct rvp_part name, struct rvp_part value, bool as_variable,
		struct rvp_line line)
{
	const struct option_row *row = row_of(name);

	if (!row || (!as_variable && !row->is_option))
		complain_of_name(line, name, as_variable);
	else if (!row->read || !row->read(options, value))
		complain_of_value(line, row, value, as_variable);
	else
		return true;
	return false;
}

bool rvp_options_set(struct rvp_options *options, const char *name, size_t name_length, const char *value,
		     size_t value_length, char *complaint, size_t complaint_bytes)
{
	return set(options, (struct rvp_part){name, name_length}, (struct rvp_part){value, value_length}, false,
		   (struct rvp_line){complaint, complaint_bytes});
}

const char *rvp_options_contradiction(const struct rvp_options *options)
{
	if (options->has_schedule && options->has_steps)
		return "schedule and steps both say which steps are recorded: give one of them";
	if (options->capture == RVP_CAPTURE_CUDA && options->cuda == RVP_CUDA_OFF)
		return "capture=cuda waits for cudaProfilerStart, and with cuda=off nobody hears it: leave out one of them";
	return NULL;
}

void rvp_options_defaults(struct rvp_options *options)
{
	memset(options, 0, sizeof *options);
	options->python = options->follow = options->finalize = options->adapters = true;
	options->exit_wait_s = 10;
	options->cuda_budget_milli = 30;
	options->max_log_bytes = 1ull << 30;
}

/* name[=value],name[=value].. */
static bool set_several(struct rvp_options *options, const char *text, struct rvp_line line)
{
	bool good = true;

	while (*text) {
		size_t length = strcspn(text, ","), name = strcspn(text, "=");
		struct rvp_part value = {"", 0};

		if (name < length)
			value = (struct rvp_part){text + name + 1, length - name - 1};
		else
			name = length;
		if (name && !set(options, (struct rvp_part){text, name}, value, false, line)) {
			good = false;
			line.left = 0;
		}
		text += length + (text[length] == ',');
	}
	return good;
}

/* The rest of `variable` behind RVPROF_, or NULL for another one. */
static const char *our_variable(const char *variable)
{
	return strncmp(variable, PREFIX, sizeof PREFIX - 1) ? NULL : variable + sizeof PREFIX - 1;
}

bool rvp_options_read(struct rvp_options *options, char *const *environment, char *complaint,
		      size_t complaint_bytes)
{
	struct rvp_line line = {complaint, complaint_bytes};
	bool good = true;

	rvp_options_defaults(options);
	for (int several = 1; several >= 0; several--) {
		for (char *const *at = environment; at && *at; at++) {
			const char *name = our_variable(*at), *value = name ? strchr(name, '=') : NULL;

			if (!value || several != rvp_part_is((struct rvp_part){name, (size_t)(value - name)}, "OPTIONS"))
				continue;
			if (several ? set_several(options, value + 1, line)
				    : set(options, (struct rvp_part){name, (size_t)(value - name)},
					  rvp_part_of(value + 1), true, line))
				continue;
			good = false;
			line.left = 0;
		}
	}
	if (rvp_options_contradiction(options)) {
		rvp_line_add(&line, good ? rvp_options_contradiction(options) : "");
		good = false;
	}
	return good;
}
