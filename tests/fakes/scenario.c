/* SPDX-License-Identifier: MIT */
/* scenario.c: reads the scenario language (scenario.h).
 *
 *   devices 2                    memory 8GiB                  others 1GiB (taken by other processes, of each
 * device) context 256MiB               model "Simulated GPU"        driver 13000          cupti 130001 seed 7
 * latency 5us                  copy 12GB             clock 250ms (ahead of the host's) kernel gemm* 120us
 * kernel * 1us..20us           (the first that matches decides; without one 2us..40us) nvml
 * plain|absent|container|no-processes fault subscriber "nsys"      fault unusable               fault
 * subscribe CODE  fault callbacks CODE  fault enable KIND|all CODE fault null-buffers           fault reentrant              fault
 * late-completion fault dropped N fault zero-times after N     fault backward after N       fault
 * unknown-kind after N fault clock-step -1s after N fault init CODE              fault lost CODE after N
 *   fault out-of-memory at N     fault out-of-memory every N  fault out-of-memory above 1GiB
 */
#include "tests/fakes/scenario.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 16384, WORDS = 8 };

struct line {
	char *words[WORDS];
	unsigned int count, at;
	const char *expected, *met;
};

static const char *next(struct line *line, const char *expected)
{
	if (line->at < line->count)
		return line->words[line->at++];
	if (!line->expected)
		line->expected = expected, line->met = "the end of the line";
	return "";
}

static void refuse(struct line *line, const char *met, const char *expected)
{
	if (!line->expected)
		line->expected = expected, line->met = met;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static uint64_t measure(struct line *line, const char *word, const struct unit *units, const char *expected)
{
	char *end = NULL;
	uint64_t number = strtoull(word, &end, 0);

	if (end == word || !isdigit((unsigned char)*word)) {
		refuse(line, word, expected);
		return 0;
	}
	for (const struct unit *unit = units; unit->name; unit++)
		if (strcmp(end, unit->name) == 0)
			return number * unit->factor;
	refuse(line, word, expected);
	return 0;
}

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1},          {"B", 1},           {"KiB", 1 << 10},
				    {"MiB", 1 << 20}, {"GiB", 1 << 30},   {"KB", 1000},
				    {"MB", 1000000},  {"GB", 1000000000}, {NULL, 0}};
static const struct unit times[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

static uint64_t number(struct line *line)
{
	return measure(line, next(line, "a number"), no_units, "a number");
}

static uint64_t size(struct line *line)
{
	return measure(line, next(line, "a size (8GiB, 512MiB, ..)"), sizes, "a size (8GiB, 512MiB, ..)");
}

static uint64_t duration(struct line *line)
{
	return measure(line, next(line, "a time (5us, 2ms, ..)"), times, "a time (5us, 2ms, ..)");
}

static int64_t signed_duration(struct line *line)
{
	const char *word = next(line, "a time (-1s, 250ms, ..)");
	bool minus = *word == '-';
	uint64_t ns = measure(line, word + minus, times, "a time (-1s, 250ms, ..)");

	return minus ? -(int64_t)ns : (int64_t)ns;
}

static uint64_t after(struct line *line)
{
	const char *word = next(line, "`after`");

	if (strcmp(word, "after") != 0)
		refuse(line, word, "`after`");
	return number(line);
}

static void text(struct line *line, char to[SIM_NAME_BYTES])
{
	const char *word = next(line, "a name");

	if (strlen(word) >= SIM_NAME_BYTES)
		refuse(line, word, "a shorter name");
	else
		memcpy(to, word, strlen(word) + 1);
}

static void kernel(struct line *line, struct sim_scenario *s)
{
	struct sim_kernel_rule *rule = &s->rules[s->rule_count];
	char *word, *dots;

	if (s->rule_count == SIM_KERNEL_RULES) {
		refuse(line, "kernel", "no more than 32 rules");
		return;
	}
	text(line, rule->pattern);
	word = strdup(next(line, "a time or a span (1us..20us)"));
	if (!word)
		abort();
	dots = strstr(word, "..");
	if (dots)
		*dots = '\0';
	rule->least_ns = measure(line, word, times, "a time or a span (1us..20us)");
	rule->most_ns = dots ? measure(line, dots + 2, times, "a time after `..`") : rule->least_ns;
	if (rule->most_ns < rule->least_ns)
		refuse(line, dots ? dots + 2 : word, "a span whose end is not before its begin");
	if (!line->expected) /* the complaint points into the word */
		free(word);
	s->rule_count++;
}

static void nvml(struct line *line, struct sim_scenario *s)
{
	static const char *const names[] = {"plain", "absent", "container", "no-processes", "no-energy", "no-power"};
	const char *word = next(line, "plain, absent, container, no-processes, no-energy or no-power");

	for (unsigned int i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(word, names[i]) == 0) {
			s->nvml = (enum sim_nvml)i;
			return;
		}
	refuse(line, word, "plain, absent, container, no-processes, no-energy or no-power");
}

static void out_of_memory(struct line *line, struct sim_scenario *s)
{
	const char *word = next(line, "at, every or above");

	if (strcmp(word, "at") == 0)
		s->oom_at = number(line);
	else if (strcmp(word, "every") == 0)
		s->oom_every = number(line);
	else if (strcmp(word, "above") == 0)
		s->oom_above = size(line);
	else
		refuse(line, word, "at, every or above");
}

static void enable(struct line *line, struct sim_scenario *s)
{
	const char *word = next(line, "a kind's number or `all`");

	s->enable_error_kind =
	    strcmp(word, "all") == 0 ? 0 : measure(line, word, no_units, "a kind's number or `all`");
	s->enable_error = number(line);
}

static void fault(struct line *line, struct sim_scenario *s)
{
	static const char expected[] =
	    "a fault (subscriber, unusable, subscribe, callbacks, enable, null-buffers, reentrant, "
	    "late-completion, dropped, zero-times, backward, unknown-kind, clock-step, init, "
	    "lost, out-of-memory)";
	const char *word = next(line, expected);

#define IS(name) (strcmp(word, name) == 0)
	if (IS("subscriber"))
		text(line, s->subscriber);
	else if (IS("unusable"))
		s->unusable = true;
	else if (IS("subscribe"))
		s->subscribe_error = number(line);
	else if (IS("callbacks"))
		s->callbacks_error = number(line);
	else if (IS("enable"))
		enable(line, s);
	else if (IS("null-buffers"))
		s->null_buffers = true;
	else if (IS("reentrant"))
		s->reentrant = true;
	else if (IS("late-completion"))
		s->late_ns = duration(line);
	else if (IS("dropped"))
		s->dropped = number(line);
	else if (IS("zero-times"))
		s->zero_after = after(line);
	else if (IS("backward"))
		s->backward_after = after(line);
	else if (IS("unknown-kind"))
		s->unknown_after = after(line);
	else if (IS("clock-step"))
		s->step_ns = signed_duration(line), s->step_after = after(line);
	else if (IS("init"))
		s->init_error = number(line);
	else if (IS("lost"))
		s->lost_error = number(line), s->lost_after = after(line);
	else if (IS("out-of-memory"))
		out_of_memory(line, s);
	else
		refuse(line, word, expected);
}

static void statement(struct line *line, struct sim_scenario *s)
{
	static const char expected[] =
	    "devices, memory, others, context, model, driver, cupti, seed, latency, copy, clock, "
	    "kernel, nvml or fault";
	const char *word = next(line, expected);

	if (IS("devices")) {
		s->devices = number(line);
		if (s->devices < 1 || s->devices > SIM_DEVICES)
			refuse(line, line->words[line->at - 1], "1 to 8 devices");
	} else if (IS("memory"))
		s->memory_bytes = size(line);
	else if (IS("others"))
		s->others_bytes = size(line);
	else if (IS("context"))
		s->context_bytes = size(line);
	else if (IS("model"))
		text(line, s->model);
	else if (IS("driver"))
		s->driver = number(line);
	else if (IS("cupti"))
		s->cupti = number(line);
	else if (IS("seed"))
		s->seed = number(line);
	else if (IS("latency"))
		s->latency_ns = duration(line);
	else if (IS("copy"))
		s->copy_rate = size(line);
	else if (IS("clock"))
		s->clock_offset_ns = signed_duration(line);
	else if (IS("kernel"))
		kernel(line, s);
	else if (IS("nvml"))
		nvml(line, s);
	else if (IS("fault"))
		fault(line, s);
	else
		refuse(line, word, expected);
	if (line->at < line->count)
		refuse(line, line->words[line->at], "the end of the statement");
}

/* Splits a statement in place; a word may be in double quotes. */
static void split(struct line *line, char *from)
{
	while (*from) {
		while (isspace((unsigned char)*from))
			from++;
		if (!*from || *from == '#')
			return;
		if (line->count == WORDS) {
			refuse(line, from, "the end of the statement");
			return;
		}
		if (*from == '"') {
			line->words[line->count++] = ++from;
			from += strcspn(from, "\"");
			if (!*from)
				refuse(line, "the end of the line", "a closing quote");
		} else {
			line->words[line->count++] = from;
			from += strcspn(from, " \t\r");
		}
		if (*from)
			*from++ = '\0';
	}
}

static void defaults(struct sim_scenario *s)
{
	*s = (struct sim_scenario){
	    .devices = 1,
	    .memory_bytes = 8ULL << 30,
	    .context_bytes = 256 << 20,
	    .driver = 13000,
	    .seed = 1,
	    .model = "Simulated GPU",
	    .latency_ns = 5000,
	    .copy_rate = 12000000000ULL,
	    .zero_after = UINT64_MAX,
	    .backward_after = UINT64_MAX,
	    .unknown_after = UINT64_MAX,
	    .step_after = UINT64_MAX,
	    .lost_after = UINT64_MAX,
	};
}

bool sim_scenario_read(struct sim_scenario *scenario, const char *origin, const char *from, char *complaint,
		       unsigned int complaint_bytes)
{
	static char copy[TEXT_BYTES];
	unsigned int row = 1;

	defaults(scenario);
	if (strlen(from) >= sizeof copy) {
		snprintf(complaint, complaint_bytes, "scenario %s: expected less than %d bytes", origin,
			 TEXT_BYTES);
		return false;
	}
	memcpy(copy, from, strlen(from) + 1);
	for (char *at = copy; *at;) {
		struct line line = {.count = 0};
		size_t comment = strcspn(at, "#\n;"), length = comment;
		char end;

		if (at[comment] == '#')
			length += strcspn(at + comment, "\n");
		end = at[length];
		at[length] = '\0';
		split(&line, at);
		if (line.count > 0 && !line.expected)
			statement(&line, scenario);
		if (line.expected) {
			snprintf(complaint, complaint_bytes, "scenario %s:%u: expected %s, met \"%s\"",
				 origin, row, line.expected, line.met);
			return false;
		}
		row += end == '\n';
		at += length + (end != '\0');
	}
	return true;
}

static struct sim_scenario ours;

static void complain_and_end(const char *complaint)
{
	dprintf(2, "%s\n", complaint);
	_exit(96);
}

static void read_ours(void)
{
	const char *from = getenv("SIMCUDA");
	char complaint[512];
	static char file[TEXT_BYTES];

	if (from && *from == '@') {
		int fd = open(from + 1, O_RDONLY | O_CLOEXEC);
		ssize_t got = fd < 0 ? -1 : read(fd, file, sizeof file - 1);

		if (got < 0) {
			snprintf(complaint, sizeof complaint, "scenario %s: expected a file that can be read",
				 from + 1);
			complain_and_end(complaint);
		}
		close(fd);
		file[got] = '\0';
	}
	if (!sim_scenario_read(&ours, from && *from == '@' ? from + 1 : "SIMCUDA",
			       !from          ? ""
			       : *from == '@' ? file
					      : from,
			       complaint, sizeof complaint))
		complain_and_end(complaint);
}

const struct sim_scenario *sim_scenario(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_ours);
	return &ours;
}
