/* SPDX-License-Identifier: MIT */
/* schedule.c: see schedule.h. The table of keys is the one place that knows what a specification may say. */
#include "record/schedule.h"

#include "record/line.h"
#include "record/nearest.h"

static const struct key {
	const char *name;
	size_t at;
} keys[] = {
    {"wait", offsetof(struct rvp_schedule, wait)},
    {"warmup", offsetof(struct rvp_schedule, warmup)},
    {"active", offsetof(struct rvp_schedule, active)},
    {"repeat", offsetof(struct rvp_schedule, repeat)},
    {"skip_first", offsetof(struct rvp_schedule, skip_first)},
    {"skip_first_wait", offsetof(struct rvp_schedule, skip_first_wait)},
};
enum { KEYS = sizeof keys / sizeof *keys };
static const char example[] = "as in wait=80,warmup=3,active=1,repeat=1";

enum rvp_action rvp_schedule_action(const struct rvp_schedule *schedule, uint64_t step)
{
	uint64_t cycle = schedule->wait + schedule->warmup + schedule->active, within;

	if (step < schedule->skip_first)
		return RVP_ACTION_NONE;
	step -= schedule->skip_first;
	if (schedule->skip_first_wait)
		step += schedule->wait;
	if (schedule->repeat && step / cycle >= schedule->repeat)
		return RVP_ACTION_NONE;
	within = step % cycle;
	if (within < schedule->wait)
		return RVP_ACTION_NONE;
	if (within < schedule->wait + schedule->warmup)
		return RVP_ACTION_WARMUP;
	return within < cycle - 1 ? RVP_ACTION_RECORD : RVP_ACTION_RECORD_AND_SAVE;
}

const char *rvp_action_name(enum rvp_action action)
{
	static const char *const names[] = {"NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"};

	return names[action];
}

/* ---- what a specification says ---- */

struct reading {
	struct rvp_schedule *schedule;
	unsigned seen; /* a bit a key */
	struct rvp_line line;
};

static bool complain(struct reading *reading, const char *before, struct rvp_part what, const char *after)
{
	rvp_line_add(&reading->line, "schedule: ");
	rvp_line_add(&reading->line, before);
	rvp_line_add_part(&reading->line, what);
	rvp_line_add(&reading->line, after);
	return false;
}

static bool complain_of_key(struct reading *reading, struct rvp_part name)
{
	unsigned least = RVP_NEAREST_NAME_BYTES, nearest = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		unsigned apart = rvp_letters_apart(name.text, name.length, keys[i].name);

		if (apart < least) {
			least = apart;
			nearest = i;
		}
	}
	complain(reading, "there is no '", name, "'");
	if (rvp_is_a_slip(least, name.length)) {
		rvp_line_add(&reading->line, " (did you mean '");
		rvp_line_add(&reading->line, keys[nearest].name);
		rvp_line_add(&reading->line, "'?)");
	} else {
		rvp_line_add(&reading->line, "; there are wait, warmup, active, repeat, skip_first, skip_first_wait");
	}
	return false;
}

static bool complain_of_value(struct reading *reading, unsigned key, struct rvp_part value)
{
	const char *is = " is '";

	if (!value.length)
		return complain(reading, keys[key].name, rvp_part_of(" has no number; "), example);
	complain(reading, keys[key].name, rvp_part_of(is), "");
	rvp_line_add_part(&reading->line, value);
	rvp_line_add(&reading->line, value.text[0] == '-' ? "', but no number here can be below 0"
							   : "', not a whole number up to 10^15");
	return false;
}

static uint64_t *place_of(struct rvp_schedule *schedule, unsigned key)
{
	return (uint64_t *)((char *)schedule + keys[key].at);
}

static bool read_pair(struct reading *reading, struct rvp_part name, struct rvp_part value)
{
	unsigned key = 0;

	while (key < KEYS && !rvp_part_is(name, keys[key].name))
		key++;
	if (key == KEYS)
		return complain_of_key(reading, name);
	if (reading->seen & 1u << key)
		return complain(reading, "", name, " is said twice");
	reading->seen |= 1u << key;
	if (!rvp_part_number(value, RVP_SCHEDULE_MOST, place_of(reading->schedule, key)))
		return complain_of_value(reading, key, value);
	return true;
}

static bool read_word(struct reading *reading, struct rvp_part word)
{
	const char *equals = memchr(word.text, '=', word.length);
	size_t name = equals ? (size_t)(equals - word.text) : word.length;

	if (!word.length)
		return complain(reading, "there is nothing before or behind a comma; ", rvp_part_of(example), "");
	if (!equals) {
		complain(reading, "'", word, "' has no '='; ");
		rvp_line_add(&reading->line, example);
		return false;
	}
	return read_pair(reading, (struct rvp_part){word.text, name},
			 (struct rvp_part){equals + 1, word.length - name - 1});
}

/* In RVPROF_OPTIONS a comma ends the option, so a colon may stand for it. */
static size_t word_length(struct rvp_part rest)
{
	size_t length = 0;

	while (length < rest.length && rest.text[length] != ',' && rest.text[length] != ':')
		length++;
	return length;
}

static bool read_words(struct reading *reading, struct rvp_part rest)
{
	for (;;) {
		size_t length = word_length(rest);

		if (!read_word(reading, (struct rvp_part){rest.text, length}))
			return false;
		if (length == rest.length)
			return true;
		rest = (struct rvp_part){rest.text + length + 1, rest.length - length - 1};
	}
}

static bool agrees_with_itself(struct reading *reading)
{
	const struct rvp_schedule *schedule = reading->schedule;

	if (!(reading->seen & 1u << 2))
		return complain(reading, "active is missing: how many steps each cycle records; ", rvp_part_of(example), "");
	if (schedule->active < 1)
		return complain(reading, "active is 0, so no step would ever be recorded; it is 1 or more", rvp_part_of(""), "");
	return true;
}

bool rvp_schedule_read(struct rvp_schedule *schedule, const char *text, size_t length, char *complaint,
		       size_t complaint_bytes)
{
	struct rvp_schedule read = {0};
	struct reading reading = {&read, 0, {complaint, complaint_bytes}};

	if (!length)
		return complain(&reading, "it is empty; ", rvp_part_of(example), "");
	if (!read_words(&reading, (struct rvp_part){text, length}) || !agrees_with_itself(&reading))
		return false;
	*schedule = read;
	return true;
}
