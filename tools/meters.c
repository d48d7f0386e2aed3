/* SPDX-License-Identifier: MIT */
/* meters.c: see meters.h: the list of sources, and what of them is written down. */
#include "tools/meters.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[RVP_POWER_KIND_COUNT] = {
#define X(id, name) name,
    RVP_POWER_KINDS(X)
#undef X
};
static const char choices[] = "nvml, rapl, hwmon, hwmon:CHIP, file:PATH and mock:WATTS are";

struct rvp_meter *rvp_meters_add(struct rvp_meters *power, enum rvp_power_unit unit, const char *what)
{
	struct rvp_meter *figure = &power->figures[power->figure_count];

	if (power->figure_count == RVP_POWER_FIGURES_MAX)
		return NULL;
	power->figure_count++;
	*figure = (struct rvp_meter){.source = power->source_count,
					    .kind = power->sources[power->source_count].kind,
					    .unit = unit,
					    .fd = -1};
	snprintf(figure->what, sizeof figure->what, "%s", what);
	return figure;
}

/* ---- mock ---- */

static int read_mock(struct rvp_meter *figure, uint64_t *value)
{
	*value = figure->microwatts;
	return 0;
}

static struct rvp_status open_mock(struct rvp_meters *power, const char *given, const char *watts_text)
{
	struct rvp_meter *figure;
	char *end = NULL;
	double watts = watts_text && isdigit((unsigned char)*watts_text) ? strtod(watts_text, &end) : -1;

	if (!end || *end || watts < 0 || watts > 1e9 || strpbrk(watts_text, "xXpP"))
		return rvp_fail_with("measure power by", given, "mock takes watts, as in mock:75");
	figure = rvp_meters_add(power, RVP_POWER_MICROWATTS, "made up, not measured");
	if (!figure)
		return rvp_fail_with("measure power by", given, "there are too many figures");
	figure->microwatts = (uint64_t)llround(watts * 1e6);
	figure->read = read_mock;
	return RVP_OK;
}

/* ---- the list ---- */

static bool is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	return length > 0 && length <= RVP_POWER_NAME_BYTES;
}

static bool is_taken(const struct rvp_meters *power, const char *name)
{
	for (unsigned i = 0; i < power->source_count; i++)
		if (!strcasecmp(power->sources[i].name, name))
			return true;
	return false;
}

/* "gpu=nvml": the name, or that of the kind and a number where it is taken. */
static struct rvp_status name_source(const struct rvp_meters *power, struct rvp_meter_source *source, const char *word)
{
	const char *equals = strchr(source->given, '=');
	size_t length = equals ? (size_t)(equals - source->given) : 0;

	if (equals && equals < word) {
		if (!is_name(source->given, length))
			return rvp_fail_with("measure power by", source->given,
					     "a name has up to %d letters, digits, - and _", RVP_POWER_NAME_BYTES);
		snprintf(source->name, sizeof source->name, "%.*s", (int)length, source->given);
		if (is_taken(power, source->name))
			return rvp_fail_with("measure power by", source->given, "another source is called so");
		return RVP_OK;
	}
	snprintf(source->name, sizeof source->name, "%s", kind_names[source->kind]);
	for (unsigned i = 2; is_taken(power, source->name); i++)
		snprintf(source->name, sizeof source->name, "%s%u", kind_names[source->kind], i);
	return RVP_OK;
}

static int kind_of(const char *word, const char *colon)
{
	size_t length = colon ? (size_t)(colon - word) : strlen(word);

	for (int i = 0; i < RVP_POWER_KIND_COUNT; i++)
		if (strlen(kind_names[i]) == length && !strncmp(word, kind_names[i], length))
			return i;
	return -1;
}

static struct rvp_status open_kind(struct rvp_meters *power, const char *given, const char *argument)
{
	switch (power->sources[power->source_count].kind) {
	case RVP_POWER_NVML: return rvp_meters_open_nvml(power);
	case RVP_POWER_RAPL: return rvp_meters_open_rapl(power);
	case RVP_POWER_HWMON: return rvp_meters_open_hwmon(power, argument);
	case RVP_POWER_FILE: return rvp_meters_open_file(power, argument);
	default: return open_mock(power, given, argument);
	}
}

/* A name is what stands before the first '=', unless that is a file's. */
static const char *word_of(const char *given)
{
	size_t length = strcspn(given, "=:");

	return given[length] == '=' ? given + length + 1 : given;
}

static struct rvp_status open_source(struct rvp_meters *power, const char *given)
{
	struct rvp_meter_source *source = &power->sources[power->source_count];
	const char *word = word_of(given), *colon = strchr(word, ':');
	int kind = kind_of(word, colon);
	bool takes_no_argument = kind == RVP_POWER_NVML || kind == RVP_POWER_RAPL;
	struct rvp_status status;

	if (power->source_count == RVP_POWER_SOURCES_MAX)
		return rvp_fail_with("measure power by", given, "more than %d sources", RVP_POWER_SOURCES_MAX);
	if (kind < 0)
		return rvp_fail_with("measure power by", given, "there is no such source; %s", choices);
	if (colon && (takes_no_argument || !colon[1]))
		return rvp_fail_with("measure power by", given, takes_no_argument ? "%s takes nothing behind a colon"
										   : "what stands behind %s: is missing",
				     kind_names[kind]);
	*source = (struct rvp_meter_source){.given = given, .kind = (enum rvp_power_kind)kind};
	status = name_source(power, source, word);
	if (!rvp_failed(status))
		status = open_kind(power, given, colon ? colon + 1 : NULL);
	power->source_count += !rvp_failed(status);
	return status;
}

struct rvp_status rvp_meters_open(struct rvp_meters **into, const char *list)
{
	struct rvp_meters *power = calloc(1, sizeof *power);
	struct rvp_status status = power ? RVP_OK : rvp_fail("measure power", NULL, ENOMEM);
	char *rest, *given;

	if (rvp_failed(status))
		return status;
	if (snprintf(power->text, sizeof power->text, "%s", list) >= (int)sizeof power->text)
		status = rvp_fail_with("measure power by", NULL, "the list of sources is too long");
	rest = power->text;
	while (!rvp_failed(status) && (given = strsep(&rest, ",")))
		status = open_source(power, given);
	if (rvp_failed(status)) {
		rvp_meters_close(power);
		power = NULL;
	}
	*into = power;
	return status;
}

void rvp_meters_close(struct rvp_meters *power)
{
	for (unsigned i = 0; power && i < power->figure_count; i++)
		if (power->figures[i].fd >= 0)
			close(power->figures[i].fd);
	free(power); /* NVML's library stays: it has threads in some versions */
}

/* ---- the log ---- */

static struct rvp_text text(const char *bytes)
{
	return (struct rvp_text){bytes, strlen(bytes)};
}

void rvp_meters_tell(const struct rvp_meters *power, struct rvp_log_writer *writer, uint64_t stamp)
{
	for (unsigned i = 0; i < power->figure_count; i++) {
		const struct rvp_meter *figure = &power->figures[i];
		const struct rvp_meter_source *source = &power->sources[figure->source];

		RVP_WRITE(writer, POWER_SOURCE, strlen(source->name) + strlen(source->given) + strlen(figure->what),
			  .stamp = stamp, .number = i, .source = figure->source, .kind = figure->kind,
			  .unit = figure->unit, .range = figure->range, .name = text(source->name),
			  .given = text(source->given), .what = text(figure->what));
	}
}

static void lose(struct rvp_log_writer *writer, uint64_t stamp, enum rvp_loss reason)
{
	RVP_WRITE(writer, LOSS, 0, .stamp = stamp, .reason = reason, .count = 1);
}

static void sample(struct rvp_meter *figure, unsigned number, struct rvp_log_writer *writer, uint64_t stamp)
{
	uint64_t value = 0, energy;
	int error = figure->read(figure, &value);

	RVP_WRITE(writer, POWER, 0, .stamp = stamp, .number = number, .value = error ? 0 : value,
		  .error = (uint64_t)error);
	if (error)
		lose(writer, stamp, RVP_LOSS_POWER_UNREAD);
	else if (figure->unit == RVP_POWER_MICROJOULES && figure->has_last &&
		 !rvp_power_between(figure->last_value, value, figure->range, stamp - figure->last_stamp, &energy))
		lose(writer, stamp, RVP_LOSS_POWER_RESET);
	figure->has_last = !error;
	figure->last_value = value;
	figure->last_stamp = stamp;
}

void rvp_meters_sample(struct rvp_meters *power, struct rvp_log_writer *writer, uint64_t stamp)
{
	for (unsigned i = 0; i < power->figure_count; i++)
		sample(&power->figures[i], i, writer, stamp);
}
