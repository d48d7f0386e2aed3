/* SPDX-License-Identifier: MIT */
/* kernels_names.c: see kernels_names.h. */
#include "report/kernels_names.h"

#include "report/grow.h"
#include "report/kernels_defs.h"
#include "report/symbols_load.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct of_process { /* by number of DEVICE_NAME: number + 1; 0: not asked for yet */
	uint32_t *numbers;
	size_t count;
};

struct rvp_kernel_names {
	const struct rvp_run *run;
	struct rvp_rule_list rules;
	struct rvp_symbols_library symbols;
	struct of_process *processes;
	struct rvp_kernel_name *names;
	size_t count, room;
	uint32_t *places;   /* a hash table of numbers + 1 */
	size_t place_count; /* a power of 2 */
};

/* ---- rules ---- */

static bool holds(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
		  const char *name, size_t length)
{
	for (uint32_t i = 0; i < condition->count; i++)
		if (rvp_rule_glob(rules->patterns[condition->first + i].name, name, length))
			return !condition->is_negated;
	return condition->is_negated;
}

const struct rvp_rule *rvp_rules_of_kernel(const struct rvp_rule_list *rules, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < rules->count; i++) {
		const struct rvp_rule *rule = &rules->rules[i];
		uint32_t fulfilled = 0;

		if (rule->action != RVP_RULE_KERNEL)
			continue;
		while (fulfilled < rule->count &&
		       holds(rules, &rules->conditions[rule->first + fulfilled], name, length))
			fulfilled++;
		if (fulfilled == rule->count)
			return rule;
	}
	return NULL;
}

/* Complaints are made where blocks are attributed by the same files. */
static void read_recorded(void *context, const char *path)
{
	int errors = 0;

	rvp_rules_read_file(context, path, NULL, NULL, &errors);
}

static void read_rules(struct rvp_kernel_names *names, const char *const *rule_files)
{
	char folder[PATH_MAX];
	int errors = 0;

	for (size_t i = 0; rule_files && rule_files[i]; i++)
		read_recorded(&names->rules, rule_files[i]);
	rvp_rules_recorded(names->run, read_recorded, &names->rules);
	if (rvp_rules_folder(folder, sizeof folder))
		rvp_rules_read_folder(&names->rules, folder, NULL, NULL, &errors);
}

/* ---- names ---- */

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 1469598103934665603u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash ^ hash >> 32;
}

static uint32_t *place_of(struct rvp_kernel_names *names, const char *text)
{
	size_t at = hash_of(text) & (names->place_count - 1);

	while (names->places[at] && strcmp(names->names[names->places[at] - 1].text, text) != 0)
		at = (at + 1) & (names->place_count - 1);
	return &names->places[at];
}

static bool widen(struct rvp_kernel_names *names)
{
	size_t count = names->place_count ? names->place_count * 2 : 256;
	uint32_t *places = calloc(count, sizeof *places);

	if (!places)
		return false;
	free(names->places);
	names->places = places;
	names->place_count = count;
	for (size_t i = 0; i < names->count; i++)
		*place_of(names, names->names[i].text) = (uint32_t)i + 1;
	return true;
}

static enum rvp_kernel_class class_of(const struct rvp_kernel_names *names, const char *text)
{
	const struct rvp_rule *rule = rvp_rules_of_kernel(&names->rules, text);

	return rule ? (enum rvp_kernel_class)rule->phase : RVP_KERNEL_CLASS_OTHER;
}

/* Takes `text`, which is malloc'ed. 0 without memory. */
static uint32_t add(struct rvp_kernel_names *names, char *text)
{
	uint32_t *place;

	if (!text || (names->count * 2 >= names->place_count && !widen(names)) ||
	    !rvp_grow((void **)&names->names, &names->room, names->count + 1, sizeof *names->names)) {
		free(text);
		return 0;
	}
	place = place_of(names, text);
	if (*place) {
		free(text);
		return *place - 1;
	}
	names->names[names->count] = (struct rvp_kernel_name){text, class_of(names, text)};
	*place = (uint32_t)++names->count;
	return *place - 1;
}

/* What a name has that is not printable would break lines of a CSV. */
static void tidy(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = ' ';
}

static char *readable(const struct rvp_kernel_names *names, struct rvp_text raw)
{
	char *text = raw.length ? strndup(raw.bytes, raw.length) : strdup("");
	char *demangled = text && names->symbols.table ? names->symbols.table->demangle(text) : NULL;

	if (demangled) {
		free(text);
		text = demangled;
	}
	if (text)
		tidy(text);
	return text;
}

uint32_t rvp_kernel_name_number(struct rvp_kernel_names *names, uint32_t process, uint32_t device_name)
{
	struct of_process *of = &names->processes[process];

	if (device_name >= of->count)
		return 0;
	if (!of->numbers[device_name])
		of->numbers[device_name] =
		    1 + add(names, readable(names, rvp_device_name_at(
						       rvp_kernel_defs_of(&names->run->processes[process]),
						       device_name)));
	return of->numbers[device_name] - 1;
}

const struct rvp_kernel_name *rvp_kernel_name_at(const struct rvp_kernel_names *names, uint32_t number)
{
	return &names->names[number < names->count ? number : 0];
}

size_t rvp_kernel_name_count(const struct rvp_kernel_names *names)
{
	return names->count;
}

static bool add_processes(struct rvp_kernel_names *names)
{
	const struct rvp_run *run = names->run;

	names->processes = calloc(run->process_count + 1, sizeof *names->processes);
	for (size_t i = 0; names->processes && i < run->process_count; i++) {
		const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&run->processes[i]);

		if (!defs || !defs->name_count)
			continue;
		names->processes[i].numbers = calloc(defs->name_count, sizeof *names->processes[i].numbers);
		if (!names->processes[i].numbers)
			return false;
		names->processes[i].count = defs->name_count;
	}
	return names->processes != NULL;
}

struct rvp_kernel_names *rvp_kernel_names_open(const struct rvp_run *run, const char *const *rule_files)
{
	struct rvp_kernel_names *names = calloc(1, sizeof *names);

	if (!names)
		return NULL;
	names->run = run;
	if (!add_processes(names)) {
		rvp_kernel_names_close(names);
		return NULL;
	}
	rvp_symbols_library_open(&names->symbols, NULL);
	read_rules(names, rule_files);
	add(names, strdup(""));
	if (!names->count) {
		rvp_kernel_names_close(names);
		return NULL;
	}
	return names;
}

void rvp_kernel_names_close(struct rvp_kernel_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; names->processes && i < names->run->process_count; i++)
		free(names->processes[i].numbers);
	for (size_t i = 0; i < names->count; i++)
		free((char *)names->names[i].text);
	free(names->processes);
	free(names->names);
	free(names->places);
	rvp_rules_free(&names->rules);
	rvp_symbols_library_close(&names->symbols);
	free(names);
}

/* ---- functions ---- */

/* Cuts "_v7000" and its like, of four digits and more. */
static size_t without_version(const char *name, size_t length)
{
	size_t digits = 0;

	while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
		digits++;
	if (digits >= 4 && length > digits + 2 && name[length - digits - 1] == 'v' &&
	    name[length - digits - 2] == '_')
		return length - digits - 2;
	return length;
}

static size_t without(const char *name, size_t length, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return length > bytes && !memcmp(name + length - bytes, suffix, bytes) ? length - bytes : length;
}

void rvp_device_function_name(struct rvp_text raw, char *name, size_t name_bytes)
{
	const char *from = raw.bytes;
	size_t length = raw.length;

	while (length > 1 && *from == '_') {
		from++;
		length--;
	}
	length = without_version(from, length);
	length = without(from, without(from, length, "_ptsz"), "_ptds");
	if (length >= name_bytes)
		length = name_bytes - 1;
	if (length)
		memcpy(name, from, length);
	name[length] = 0;
	tidy(name);
}
