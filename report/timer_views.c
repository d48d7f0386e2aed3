/* SPDX-License-Identifier: MIT */
/* timer_views.c: see timer_views.h. */
#include "report/timer_views.h"

#include "report/grow.h"
#include "report/text_style.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_value(struct rvp_timer_mean *mean, double value)
{
	double k = (double)mean->count;

	mean->average = mean->average * (k / (k + 1)) + value / (k + 1);
	mean->last = value;
	mean->count++;
}

static struct rvp_timer *timer_of(struct rvp_timer_views *views, const char *name, size_t length)
{
	uint32_t number = rvp_name_number(&views->names, name, length);

	if (number == UINT32_MAX ||
	    !rvp_grow((void **)&views->timers, &views->room, views->names.count, sizeof *views->timers))
		return NULL;
	return &views->timers[number];
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static bool end_step(struct rvp_timer_views *views, struct rvp_timer *timer)
{
	if (!rvp_grow((void **)&timer->ranks, &timer->rank_room, timer->value_count, sizeof *timer->ranks))
		return false;
	qsort(timer->values, timer->value_count, sizeof *timer->values, compare);
	for (size_t i = 0; i < timer->value_count; i++)
		add_value(&timer->ranks[i], timer->values[i]);
	if (timer->value_count > timer->rank_count)
		timer->rank_count = timer->value_count;
	timer->value_count = 0;
	timer->steps++;
	if (timer->steps > views->step_count)
		views->step_count = timer->steps;
	return true;
}

bool rvp_timer_views_add(struct rvp_timer_views *views, const char *name, size_t length, uint64_t step, uint64_t slot,
			 double value)
{
	struct rvp_timer *timer = timer_of(views, name, length);

	if (!timer || slot >= RVP_TIMER_SLOTS_MAX)
		return false;
	if (timer->value_count && timer->step != step && !end_step(views, timer))
		return false;
	if (!rvp_grow((void **)&timer->slots, &timer->slot_room, slot + 1, sizeof *timer->slots) ||
	    !rvp_grow((void **)&timer->values, &timer->value_room, timer->value_count + 1, sizeof *timer->values))
		return false;
	timer->step = step;
	if (slot >= timer->slot_count)
		timer->slot_count = slot + 1;
	add_value(&timer->slots[slot], value);
	timer->values[timer->value_count++] = value;
	return true;
}

bool rvp_timer_views_end(struct rvp_timer_views *views)
{
	for (size_t i = 0; i < views->names.count && i < views->room; i++)
		if (views->timers[i].value_count && !end_step(views, &views->timers[i]))
			return false;
	return true;
}

/* What a slot, or a rank, has; NULL: nothing. */
static const struct rvp_timer_mean *mean_at(const struct rvp_timer_mean *means, size_t count, size_t at)
{
	return at < count && means[at].count ? &means[at] : NULL;
}

static size_t rows_of(const struct rvp_timer *timer)
{
	return timer->slot_count > timer->rank_count ? timer->slot_count : timer->rank_count;
}

/* With three decimals, or as many digits as it takes. */
static void put_number(const struct rvp_timer_views *views, const struct rvp_timer_mean *mean, bool is_last, FILE *out)
{
	char text[RVP_JSON_DOUBLE_BYTES];
	double value = !mean ? 0 : is_last ? mean->last : mean->average;

	if (mean && views->has_decimals)
		fprintf(out, " %20.3f", value);
	else
		fprintf(out, " %20s", mean ? rvp_json_double_text(value, text) : "-");
}

static void print_row(const struct rvp_timer_views *views, size_t number, size_t slot, FILE *out)
{
	const struct rvp_timer *timer = &views->timers[number];
	const struct rvp_timer_mean *mean = mean_at(timer->slots, timer->slot_count, slot);
	const struct rvp_timer_mean *rank = mean_at(timer->ranks, timer->rank_count, slot);

	if (!mean && !rank)
		return;
	fprintf(out, "%8zu", slot);
	put_number(views, mean, true, out);
	put_number(views, mean, false, out);
	put_number(views, rank, false, out);
	fputs("  ", out);
	rvp_print_safely(out, views->names.names[number], 0);
	fputc('\n', out);
}

void rvp_timer_views_print(const struct rvp_timer_views *views, FILE *out)
{
	fprintf(out, "%8s %20s %20s %20s  %s\n", "slot", "last", "average", "average sorted", "timer");
	for (size_t i = 0; i < views->names.count; i++)
		for (size_t slot = 0; slot < rows_of(&views->timers[i]); slot++)
			print_row(views, i, slot, out);
	fprintf(out, "Number of steps:  %" PRIu64 "\n", views->step_count);
}

static void put_view(struct rvp_json *json, const char *key, const struct rvp_timer_mean *means, size_t count,
		     bool is_last)
{
	rvp_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		if (means[i].count)
			rvp_json_double(json, NULL, is_last ? means[i].last : means[i].average);
	rvp_json_close(json, ']');
}

void rvp_timer_views_json(const struct rvp_timer_views *views, struct rvp_json *json)
{
	rvp_json_open(json, "timers", '[');
	for (size_t i = 0; i < views->names.count; i++) {
		const struct rvp_timer *timer = &views->timers[i];

		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "name", views->names.names[i]);
		rvp_json_open(json, "slots", '[');
		for (size_t slot = 0; slot < timer->slot_count; slot++)
			if (timer->slots[slot].count)
				rvp_json_number(json, NULL, slot);
		rvp_json_close(json, ']');
		put_view(json, "last", timer->slots, timer->slot_count, true);
		put_view(json, "average", timer->slots, timer->slot_count, false);
		put_view(json, "average_sorted", timer->ranks, timer->rank_count, false);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
	rvp_json_number(json, "steps", views->step_count);
}

void rvp_timer_views_free(struct rvp_timer_views *views)
{
	for (size_t i = 0; i < views->names.count && i < views->room; i++) {
		free(views->timers[i].slots);
		free(views->timers[i].ranks);
		free(views->timers[i].values);
	}
	free(views->timers);
	rvp_name_table_free(&views->names);
	*views = (struct rvp_timer_views){0};
}
