/* SPDX-License-Identifier: MIT */
/* power.c: see power.h. */
#include "report/power.h"

#include "record/decode.h"
#include "report/arena.h"
#include "report/run_source.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A source in a round; in microwatts. */
struct part {
	double instant, counted;
	unsigned seen;
	bool is_missing;
	bool waits; /* a counter of it was read for the first time */
};

struct round {
	bool is_open;
	uint64_t stamp;
	struct part parts[RVP_POWER_SOURCES_MAX];
};

struct reading {
	const struct rvp_run *run;
	const struct rvp_power_list *list;
	struct rvp_power_answer *answer;
	struct rvp_power_sink *sink;
	struct rvp_clock_segment segment;
	struct {
		bool has_last;
		uint64_t value, stamp;
	} last[RVP_POWER_FIGURES_MAX];
	struct round now, first; /* first: held until the second is whole */
	bool has_rounds;
	/* The sum's last row, and the step that it is in. */
	const struct rvp_steps *steps;
	size_t step;
	double in_step_joules, row_watts;
	uint64_t row_ns, first_row_ns;
};

/* ---- sources ---- */

/* It becomes a file's: what a log says is not believed. */
static bool is_name(struct rvp_text name)
{
	for (uint64_t i = 0; i < name.length; i++)
		if (!isalnum((unsigned char)name.bytes[i]) && name.bytes[i] != '_' && name.bytes[i] != '-')
			return false;
	return name.length > 0 && name.length <= RVP_POWER_NAME_BYTES;
}

/* One that is there already has figures of the same source alone; a new one is the next. */
static bool fits(const struct rvp_power_list *list, const struct rvp_record_POWER_SOURCE *record)
{
	unsigned count = list ? list->source_count : 0;

	if (record->number != (list ? list->figure_count : 0) || record->number >= RVP_POWER_FIGURES_MAX ||
	    record->source >= RVP_POWER_SOURCES_MAX || record->kind >= RVP_POWER_KIND_COUNT || !is_name(record->name))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (strlen(list->sources[i].name) == record->name.length &&
		    !memcmp(list->sources[i].name, record->name.bytes, record->name.length))
			return record->source == i;
	return record->source == count;
}

bool rvp_power_take_source(struct rvp_power_list **into, struct rvp_arena *arena,
			   const struct rvp_record_POWER_SOURCE *record)
{
	struct rvp_power_list *list = *into;
	struct rvp_power_source *source;

	if (!fits(list, record))
		return true; /* of a newer version, or damaged */
	if (!list) {
		list = *into = rvp_arena_get(arena, sizeof *list);
		if (!list)
			return false;
		memset(list, 0, sizeof *list);
		for (unsigned i = 0; i < RVP_POWER_SOURCES_MAX; i++)
			list->sources[i].name = list->sources[i].given = list->sources[i].what = "";
	}
	source = &list->sources[record->source];
	list->figures[list->figure_count++] = *record;
	if (list->source_count <= record->source)
		list->source_count = (unsigned)record->source + 1;
	source->kind = (enum rvp_power_kind)record->kind;
	source->has_counter |= record->unit == RVP_POWER_MICROJOULES;
	if (source->figure_count++)
		return true;
	source->name = rvp_arena_copy(arena, record->name);
	source->given = rvp_arena_copy(arena, record->given);
	source->what = rvp_arena_copy(arena, record->what);
	return source->name && source->given && source->what;
}

/* ---- steps ---- */

static double watts_at(const struct reading *reading, uint64_t ns, uint64_t end_ns, double end_watts)
{
	double part = (double)(ns - reading->row_ns) / (double)(end_ns - reading->row_ns);

	return reading->row_watts + part * (end_watts - reading->row_watts);
}

static void end_step(struct reading *reading, const struct rvp_step *step)
{
	struct rvp_power_answer *answer = reading->answer;

	answer->step_count++;
	answer->step_joules += reading->in_step_joules;
	if (step->phase == RVP_STEP_PHASE_DECODE) {
		answer->token_count += step->tokens ? step->tokens : 1;
		answer->decode_joules += reading->in_step_joules;
	}
	if (reading->sink && reading->sink->end_step)
		reading->sink->end_step(reading->sink, reading->step, reading->in_step_joules);
	reading->in_step_joules = 0;
}

/* The trapezoid from the last row to this one, cut at the begins and ends of steps. */
static void share_out(struct reading *reading, uint64_t end_ns, double end_watts)
{
	const struct rvp_steps *steps = reading->steps;

	for (; steps && reading->step < steps->count; reading->step++) {
		const struct rvp_step *step = &steps->steps[reading->step];
		uint64_t from = step->begin_ns > reading->row_ns ? step->begin_ns : reading->row_ns;
		uint64_t to = step->end_ns < end_ns ? step->end_ns : end_ns;

		if (step->begin_ns < reading->first_row_ns)
			continue;
		if (step->begin_ns >= end_ns)
			return;
		if (to > from)
			reading->in_step_joules += (watts_at(reading, from, end_ns, end_watts) +
						    watts_at(reading, to, end_ns, end_watts)) /
						   2 * (double)(to - from) / 1e9;
		if (step->end_ns > end_ns)
			return;
		end_step(reading, step);
	}
}

/* ---- rounds ---- */

static bool is_whole(const struct reading *reading, const struct round *round, unsigned source)
{
	const struct part *part = &round->parts[source];

	return !part->is_missing && !part->waits && part->seen == reading->list->sources[source].figure_count;
}

static void take_sum(struct reading *reading, uint64_t ns, double watts)
{
	bool is_first = !reading->answer->sum.energy.sample_count;

	if (is_first)
		reading->first_row_ns = ns;
	else if (ns > reading->row_ns)
		share_out(reading, ns, watts);
	rvp_energy_add(&reading->answer->sum.energy, ns / 1000, watts);
	reading->row_ns = ns;
	reading->row_watts = watts;
}

static void put(struct reading *reading, const struct round *round)
{
	uint64_t ns = rvp_clock_ns_in(&reading->segment, &reading->run->source->clock, reading->run->source->watch_clock,
				      round->stamp);
	double watts[RVP_POWER_SOURCES_MAX], sum_microwatts = 0;

	for (unsigned i = 0; i < reading->list->source_count; i++) {
		double microwatts = nearbyint(round->parts[i].instant + round->parts[i].counted);

		watts[i] = is_whole(reading, round, i) ? microwatts / 1e6 : NAN;
		sum_microwatts += isnan(watts[i]) ? NAN : microwatts;
		if (!isnan(watts[i]))
			rvp_energy_add(&reading->answer->sources[i].energy, ns / 1000, watts[i]);
	}
	if (!isnan(sum_microwatts))
		take_sum(reading, ns, sum_microwatts / 1e6);
	if (reading->sink)
		reading->sink->take(reading->sink, ns, watts, sum_microwatts / 1e6);
}

/* The counters of the first round say nothing before the second. */
static void end_first(struct reading *reading, const struct round *second)
{
	for (unsigned i = 0; second && i < reading->list->source_count; i++) {
		struct part *part = &reading->first.parts[i];

		if (!part->waits || !is_whole(reading, second, i))
			continue;
		part->counted = second->parts[i].counted;
		part->waits = false;
	}
	put(reading, &reading->first);
	reading->first.is_open = false;
}

static void end_round(struct reading *reading)
{
	struct round *now = &reading->now;
	bool waits = false;

	if (!now->is_open)
		return;
	if (reading->first.is_open)
		end_first(reading, now);
	for (unsigned i = 0; i < reading->list->source_count; i++)
		waits |= now->parts[i].waits;
	if (waits && !reading->has_rounds)
		reading->first = *now;
	else
		put(reading, now);
	reading->has_rounds = true;
	now->is_open = false;
}

static void take_counter(struct reading *reading, const struct rvp_record_POWER *record,
			 const struct rvp_record_POWER_SOURCE *figure, struct part *part)
{
	struct rvp_power_sums *sums = &reading->answer->sources[figure->source];
	uint64_t ns = record->stamp - reading->last[record->number].stamp, energy = 0;

	if (!reading->last[record->number].has_last) {
		part->waits = true;
	} else if (!ns || !rvp_power_between(reading->last[record->number].value, record->value, figure->range, ns,
					     &energy)) {
		part->is_missing = true;
		sums->resets += ns != 0;
	} else {
		part->counted += (double)energy * 1e9 / (double)ns;
		sums->counted_joules += (double)energy / 1e6;
	}
	reading->last[record->number].has_last = true;
	reading->last[record->number].value = record->value;
	reading->last[record->number].stamp = record->stamp;
}

static void take(struct reading *reading, const struct rvp_record_POWER *record)
{
	const struct rvp_record_POWER_SOURCE *figure;
	struct part *part;

	if (record->number >= reading->list->figure_count)
		return;
	if (!reading->now.is_open || reading->now.stamp != record->stamp) {
		end_round(reading);
		reading->now = (struct round){.is_open = true, .stamp = record->stamp};
	}
	figure = &reading->list->figures[record->number];
	part = &reading->now.parts[figure->source];
	part->seen++;
	if (record->error) {
		part->is_missing = true;
		reading->last[record->number].has_last = false;
		reading->answer->sources[figure->source].unread++;
	} else if (figure->unit == RVP_POWER_MICROJOULES) {
		take_counter(reading, record, figure, part);
	} else {
		part->instant += (double)record->value;
	}
}

void rvp_power_read(struct rvp_power_answer *answer, const struct rvp_run *run, const struct rvp_steps *steps,
		    struct rvp_power_sink *sink)
{
	struct reading reading = {.run = run, .list = run->power, .answer = answer, .sink = sink, .steps = steps};
	const struct rvp_log *log = &run->source->watch;

	memset(answer, 0, sizeof *answer);
	answer->list = run->power;
	for (size_t i = 0; run->power && i < log->chunk_count; i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
		struct rvp_record record;

		while (rvp_decode_next(&decoder, &record))
			if (record.kind == RVP_POWER)
				take(&reading, &record.POWER);
	}
	end_round(&reading);
	if (reading.first.is_open)
		end_first(&reading, NULL);
	for (unsigned i = 0; run->power && i < run->power->source_count; i++) {
		answer->sum.unread += answer->sources[i].unread;
		answer->sum.resets += answer->sources[i].resets;
	}
}

/* ---- words ---- */

void rvp_power_name_sources(const struct rvp_power_list *list, char *text, size_t bytes)
{
	size_t length = 0;

	*text = '\0';
	for (unsigned i = 0; i < list->source_count && length < bytes; i++)
		length += (size_t)snprintf(text + length, bytes - length, "%s%s", i ? "," : "", list->sources[i].given);
}

bool rvp_power_is_mock(const struct rvp_power_list *list)
{
	for (unsigned i = 0; i < list->source_count; i++)
		if (list->sources[i].kind == RVP_POWER_MOCK)
			return true;
	return false;
}

static void write_sums(struct rvp_json *json, const struct rvp_power_sums *sums)
{
	if (sums->energy.sample_count) {
		rvp_json_double(json, "total_joules", sums->energy.total_joules);
		rvp_json_double(json, "mean_watts", rvp_energy_mean_watts(&sums->energy));
		rvp_json_double(json, "peak_watts", sums->energy.peak_watts);
		rvp_json_double(json, "duration_s", rvp_energy_duration_s(&sums->energy));
	}
	rvp_json_number(json, "samples", sums->energy.sample_count);
	if (sums->unread)
		rvp_json_number(json, "unread_samples", sums->unread);
	if (sums->resets)
		rvp_json_number(json, "counter_resets", sums->resets);
}

static void write_source(struct rvp_json *json, const struct rvp_power_answer *answer, unsigned number)
{
	static const char *const kinds[RVP_POWER_KIND_COUNT] = {
#define X(id, name) name,
	    RVP_POWER_KINDS(X)
#undef X
	};
	const struct rvp_power_source *source = &answer->list->sources[number];

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", source->name);
	rvp_json_string(json, "kind", kinds[source->kind]);
	rvp_json_string(json, "reads", source->what);
	write_sums(json, &answer->sources[number]);
	if (source->has_counter)
		rvp_json_double(json, "counted_joules", answer->sources[number].counted_joules);
	rvp_json_close(json, '}');
}

static void write_shares(struct rvp_json *json, const struct rvp_power_answer *answer)
{
	if (answer->step_count) {
		rvp_json_double(json, "joules_per_step", answer->step_joules / (double)answer->step_count);
		rvp_json_number(json, "steps", answer->step_count);
	}
	if (answer->token_count) {
		rvp_json_double(json, "joules_per_token", answer->decode_joules / (double)answer->token_count);
		rvp_json_number(json, "tokens", answer->token_count);
	}
}

void rvp_power_write_json(struct rvp_json *json, const struct rvp_power_answer *answer)
{
	char text[1024];

	if (!answer->list)
		return;
	rvp_power_name_sources(answer->list, text, sizeof text);
	rvp_json_open(json, "energy", '{');
	rvp_json_string(json, "source", text);
	if (rvp_power_is_mock(answer->list))
		rvp_json_bool(json, "is_mock", true);
	write_sums(json, &answer->sum);
	write_shares(json, answer);
	rvp_json_open(json, "sources", '[');
	for (unsigned i = 0; i < answer->list->source_count; i++)
		write_source(json, answer, i);
	rvp_json_close(json, ']');
	rvp_json_close(json, '}');
}

bool rvp_power_was_in_vain(const struct rvp_run *run)
{
	const struct rvp_process *root = run->root == RVP_NO_PROCESS ? NULL : &run->processes[run->root];
	bool is_asked = false;

	for (size_t i = 0; root && i < root->environment_count; i++) {
		const char *variable = root->environment[i];

		is_asked |= !strncmp(variable, "RVPROF_POWER=", 13) ||
			    (!strncmp(variable, "RVPROF_OPTIONS=", 15) && strstr(variable, "power="));
	}
	return is_asked && !run->power;
}
