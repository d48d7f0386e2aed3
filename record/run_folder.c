/* SPDX-License-Identifier: MIT */
/* run_folder.c: see run_folder.h. */
#include "record/run_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERS_TRIED = 10000 };

/* Text that grows; `full` once something did not fit. */
struct text {
	char *start;
	size_t length, room;
	bool full;
};

static void add_bytes(struct text *text, const char *bytes, size_t length)
{
	if (text->full || length >= text->room - text->length) {
		text->full = true;
		return;
	}
	memcpy(text->start + text->length, bytes, length);
	text->length += length;
	text->start[text->length] = 0;
}

static void add(struct text *text, const char *more)
{
	add_bytes(text, more, strlen(more));
}

static void add_number(struct text *text, uint64_t number, unsigned least_digits)
{
	char digits[20];
	unsigned count = 0;

	for (; number || count < least_digits; number /= 10)
		digits[sizeof digits - ++count] = (char)('0' + number % 10);
	add_bytes(text, digits + sizeof digits - count, count);
}

/* 20261121T130135Z; days to a date as in Howard Hinnant's days_from_civil, with years that begin in March. */
static void add_time(struct text *text, uint64_t unix_s)
{
	uint64_t days = unix_s / 86400 + 719468, second = unix_s % 86400, era = days / 146097,
		 day = days % 146097;
	uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint64_t in_year = day - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;

	add_number(text, era * 400 + year + (month >= 10), 4);
	add_number(text, month < 10 ? month + 3 : month - 9, 2);
	add_number(text, in_year - (153 * month + 2) / 5 + 1, 2);
	add(text, "T");
	add_number(text, second / 3600, 2);
	add_number(text, second / 60 % 60, 2);
	add_number(text, second % 60, 2);
	add(text, "Z");
}

static const char *value_of(char *const *environment, const char *name, size_t length)
{
	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

const char *rvp_environment_value(char *const *environment, const char *name)
{
	return value_of(environment, name, strlen(name));
}

const char *rvp_environment_rank(char *const *environment)
{
	static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = rvp_environment_value(environment, names[i]);

		if (value && *value)
			return value;
	}
	return "";
}

/* %q{NAME} at `letter` (the q): adds its value, returns the closing brace, or NULL when it is not of that
 * form. */
static const char *add_variable(struct text *text, const char *letter, char *const *environment)
{
	const char *name = letter + 2, *end = letter[1] == '{' ? strchr(name, '}') : NULL;
	const char *value = end ? value_of(environment, name, (size_t)(end - name)) : NULL;

	if (value)
		add(text, value);
	return end;
}

/* What stands for the letter at `letter`; returns its last byte, or NULL for a letter that is none. */
static const char *add_letter(struct text *text, const char *letter, const struct rvp_folder_facts *facts)
{
	switch (*letter) {
	case 'p': add_number(text, facts->pid, 1); break;
	case 'h': add(text, facts->host); break;
	case 'r': add(text, rvp_environment_rank(facts->environment)); break;
	case 'e': add(text, facts->exe); break;
	case 't': add_time(text, facts->start_unix_s); break;
	case '%': add(text, "%"); break;
	case 'q': return add_variable(text, letter, facts->environment);
	default: return NULL;
	}
	return letter;
}

int rvp_folder_name(char *into, size_t bytes, const char *template, const struct rvp_folder_facts *facts)
{
	struct text text = {into, 0, bytes, false};

	*into = 0;
	for (const char *at = template; *at; at++) {
		if (*at != '%') {
			add_bytes(&text, at, 1);
			continue;
		}
		at = add_letter(&text, at + 1, facts);
		if (!at)
			return EINVAL;
	}
	return text.full ? ENAMETOOLONG : text.length ? 0 : EINVAL;
}

int rvp_folder_make_parents(char *path, unsigned mode)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = 0;
		failed = mkdir(path, mode) && errno != EEXIST && errno != EROFS ? errno : 0;
		*slash = '/';
		if (failed && slash[1])
			return failed;
	}
	return 0;
}

int rvp_folder_make(const char *path)
{
	char copy[RVP_FOLDER_BYTES];
	size_t length = strlen(path);
	int failed;

	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno != ENOENT)
		return errno;
	if (length >= sizeof copy)
		return ENAMETOOLONG;
	memcpy(copy, path, length + 1);
	failed = rvp_folder_make_parents(copy, 0777);
	if (failed)
		return failed;
	return mkdir(path, 0700) ? errno : 0;
}

static bool is_absolute(const char *template)
{
	return template[0] == '/';
}

/* `path` = `base`/name; name alone when it is absolute. `base` NULL: the current folder. */
static int name_below(char *path, const char *base, const char *template,
		      const struct rvp_folder_facts *facts)
{
	char expanded[RVP_FOLDER_BYTES];
	struct text text = {path, 0, RVP_FOLDER_BYTES, false};
	int failed = rvp_folder_name(expanded, sizeof expanded, template, facts);

	*path = 0;
	if (failed)
		return failed;
	if (is_absolute(expanded)) {
		add(&text, expanded);
	} else {
		if (base)
			add(&text, base);
		else if (getcwd(path, RVP_FOLDER_BYTES))
			text.length = strlen(path);
		else
			return errno;
		if (!text.length || path[text.length - 1] != '/')
			add(&text, "/");
		add(&text, expanded);
	}
	while (text.length > 1 && path[text.length - 1] == '/')
		path[--text.length] = 0;
	return text.full ? ENAMETOOLONG : 0;
}

static int make_numbered(char *path)
{
	size_t length = strlen(path);
	int failed = EEXIST;

	for (uint64_t number = 1; failed == EEXIST && number < NUMBERS_TRIED; number++) {
		struct text text = {path, length, RVP_FOLDER_BYTES, false};

		add(&text, ".");
		add_number(&text, number, 1);
		failed = text.full ? ENAMETOOLONG : rvp_folder_make(path);
	}
	return failed;
}

static int place_below(char *path, const char *base, const char *template,
		       const struct rvp_folder_facts *facts, bool numbered)
{
	int failed = name_below(path, base, template, facts);

	if (!failed)
		failed = rvp_folder_make(path);
	return failed == EEXIST && numbered ? make_numbered(path) : failed;
}

int rvp_folder_place(char *path, const char *template, const struct rvp_folder_facts *facts, bool numbered,
		     bool *moved)
{
	const char *temporary = rvp_environment_value(facts->environment, "TMPDIR");
	const char *elsewhere[] = {temporary && is_absolute(temporary) ? temporary : NULL, "/tmp"};
	int failed = place_below(path, NULL, *template ? template : RVP_FOLDER_TEMPLATE, facts, numbered);

	*moved = false;
	for (int i = 0; i < 2 && failed && failed != EEXIST && !*template; i++) {
		if (!elsewhere[i])
			continue;
		failed = place_below(path, elsewhere[i], RVP_FOLDER_TEMPLATE, facts, numbered);
		*moved = !failed;
	}
	return failed;
}

const char *rvp_folder_exe(const char *typed)
{
	const char *slash = strrchr(typed, '/'), *name = slash ? slash + 1 : typed;

	return *name ? name : "program";
}
