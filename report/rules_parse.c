/* SPDX-License-Identifier: MIT */
/* rules_parse.c: from a rule file's text to rules.h's lists. A recursive-descent reader over a handful of
 * words; the grammar is in docs/rules.md.
 *
 *   (P1) A rule is in the list only when all of it was understood; what it had put into the other lists stays
 *        unused.
 *   (P2) After an error reading goes on at the next line that begins, in its first column, with a letter.
 */
#include "report/rules.h"

#include "report/grow.h"
#include "report/kernel_class.h"
#include "report/rules_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_CONFIDENCE = 90, GENERIC_CONFIDENCE = 70, UNTESTED_CONFIDENCE = 60, LINKS_OF_ONE = 8 };

const char *const rvp_rule_words[RVP_RULE_ABOUT_COUNT] = {
    [RVP_RULE_BY] = "by",         [RVP_RULE_FRAME] = "frame",   [RVP_RULE_CALLER] = "caller",
    [RVP_RULE_PYTHON] = "python", [RVP_RULE_BYTES] = "bytes",   [RVP_RULE_FILE] = "file",
    [RVP_RULE_THREAD] = "thread", [RVP_RULE_PHASE] = "phase",   [RVP_RULE_SCOPE] = "scope",
    [RVP_RULE_MAPPED] = "mapped", [RVP_RULE_LOADED] = "loaded", [RVP_RULE_MAPS] = "maps",
    [RVP_RULE_NAME_OF_KERNEL] = "kernel",
};

struct reader {
	struct rvp_rule_list *rules;
	struct rvp_rule_text text;
	const char *path, *file;
	rvp_rule_complain *complain;
	void *context;
	int errors;
	bool no_memory;
};

/* Room for one more in an array of `rules`; NULL without memory. */
#define GROW(reader, array, count_of, room_of)                                                               \
	grow(reader, (void **)&(reader)->rules->array, (reader)->rules->count_of, &(reader)->rules->room_of, \
	     sizeof *(reader)->rules->array)

static bool grow(struct reader *reader, void **array, size_t count, size_t *room, size_t bytes)
{
	bool is_done = rvp_grow(array, room, count + 1, bytes);

	reader->no_memory |= !is_done;
	return is_done;
}

static bool expected(struct reader *reader, const char *what)
{
	struct rvp_rule_error error = {reader->path, reader->text.token.line, reader->text.token.column, ""};
	char found[48];

	rvp_rule_token_text(&reader->text.token, found, sizeof found);
	snprintf(error.text, sizeof error.text, "expected %s, found %s", what, found);
	if (reader->complain)
		reader->complain(reader->context, &error);
	reader->errors++;
	return false;
}

static bool is_word(const struct reader *reader, const char *word)
{
	const struct rvp_rule_token *token = &reader->text.token;

	return token->kind == RVP_TOKEN_WORD && strlen(word) == token->length &&
	       !memcmp(token->at, word, token->length);
}

static bool take_word(struct reader *reader, const char *word)
{
	if (!is_word(reader, word))
		return false;
	rvp_rule_text_next(&reader->text);
	return true;
}

static bool take_sign(struct reader *reader, char sign)
{
	if (reader->text.token.kind != RVP_TOKEN_SIGN || *reader->text.token.at != sign)
		return false;
	rvp_rule_text_next(&reader->text);
	return true;
}

/* The text in quotes that comes next, malloc'ed; NULL: there is none, or no memory. */
static char *take_text(struct reader *reader)
{
	char *text;

	if (reader->text.token.kind != RVP_TOKEN_TEXT)
		return NULL;
	text = strndup(reader->text.token.at, reader->text.token.length);
	reader->no_memory |= !text;
	rvp_rule_text_next(&reader->text);
	return text;
}

static char *part(struct reader *reader, const char *at, size_t length)
{
	char *text = length ? strndup(at, length) : NULL;

	reader->no_memory |= length && !text;
	return text;
}

/* Native: NAME, NAME@LIBRARY, @LIBRARY. Python: FUNCTION, FILE:FUNCTION, FILE: */
static struct rvp_rule_pattern split(struct reader *reader, enum rvp_rule_about about, const char *text)
{
	bool is_python = about == RVP_RULE_PYTHON || about == RVP_RULE_CALLER;
	const char *mark = strrchr(text, is_python ? ':' : '@');
	size_t length = strlen(text), first = mark ? (size_t)(mark - text) : 0;

	if (about > RVP_RULE_PYTHON || !mark)
		return (struct rvp_rule_pattern){.name = part(reader, text, length)};
	if (is_python)
		return (struct rvp_rule_pattern){part(reader, mark + 1, length - first - 1),
						 part(reader, text, first)};
	return (struct rvp_rule_pattern){part(reader, text, first),
					 part(reader, mark + 1, length - first - 1)};
}

/* "A" | "B" ..: how many, or 0 after an error. */
static uint32_t read_patterns(struct reader *reader, enum rvp_rule_about about, uint32_t *first)
{
	uint32_t count = 0;

	*first = (uint32_t)reader->rules->pattern_count;
	do {
		char *text = take_text(reader);

		if (!text || !*text) {
			free(text);
			expected(reader, "a pattern in quotes");
			return 0;
		}
		if (GROW(reader, patterns, pattern_count, pattern_room)) {
			reader->rules->patterns[reader->rules->pattern_count++] = split(reader, about, text);
			count++;
		}
		free(text);
	} while (!reader->no_memory && take_sign(reader, '|'));
	return count;
}

static bool add_link(struct reader *reader, bool is_python, struct rvp_rule_link link)
{
	struct rvp_rule_list *rules = reader->rules;

	if (is_python ? !GROW(reader, pythons, python_count, python_room)
		      : !GROW(reader, natives, native_count, native_room))
		return false;
	if (is_python)
		rules->pythons[rules->python_count++] = link;
	else
		rules->natives[rules->native_count++] = link;
	return true;
}

/* "A" from "B" from "C": links innermost first. */
static bool read_chain(struct reader *reader, struct rvp_rule_condition *condition)
{
	bool is_python = condition->about == RVP_RULE_PYTHON || condition->about == RVP_RULE_CALLER;
	bool is_chain = condition->about == RVP_RULE_PYTHON || condition->about == RVP_RULE_FRAME;
	struct rvp_rule_link links[LINKS_OF_ONE];

	do {
		struct rvp_rule_link *link = &links[condition->links];

		if (condition->links == LINKS_OF_ONE)
			return expected(reader, "at most 8 functions in a chain");
		*link = (struct rvp_rule_link){.is_denied = condition->is_negated};
		link->count = read_patterns(reader, condition->about, &link->first);
		if (!link->count)
			return false;
		condition->links++;
	} while (is_chain && take_word(reader, "from"));
	condition->link = (uint32_t)(is_python ? reader->rules->python_count : reader->rules->native_count);
	if (condition->link + condition->links > RVP_RULE_LINKS_MAX)
		return expected(reader, "fewer functions in all rules together");
	links[condition->links - 1].is_outermost = true;
	for (uint32_t i = 0; i < condition->links; i++)
		if (!add_link(reader, is_python, links[i]))
			return false;
	return true;
}

/* 4096, 16K, 1M, 2G. False: none. */
static bool take_size(struct reader *reader, uint64_t *bytes)
{
	bool is_size = rvp_rule_token_size(&reader->text.token, bytes);

	if (is_size)
		rvp_rule_text_next(&reader->text);
	return is_size;
}

/* N, N..M, N.., ..M */
static bool read_bytes(struct reader *reader, struct rvp_rule_condition *condition)
{
	bool has_least = take_size(reader, &condition->least), is_range = take_sign(reader, '.');
	bool has_most = is_range && take_size(reader, &condition->most);

	if (!has_least && !has_most)
		return expected(reader, "a size as 4096, 64K..1M, 1M.. or ..512K");
	if (!is_range)
		condition->most = condition->least;
	else if (!has_most)
		condition->most = UINT64_MAX;
	if (condition->least > condition->most)
		return expected(reader, "a range whose second size is the larger one");
	return true;
}

static bool take_phase(struct reader *reader, uint32_t *phase)
{
	for (uint32_t i = RVP_STEP_PHASE_NONE + 1; i < RVP_STEP_PHASE_COUNT; i++)
		if (take_word(reader, rvp_rule_phases[i])) {
			*phase = i;
			return true;
		}
	return expected(reader, "load, warmup, prefill, decode, forward, backward or update");
}

static bool read_phases(struct reader *reader, struct rvp_rule_condition *condition)
{
	uint32_t phase = RVP_STEP_PHASE_NONE;

	do {
		if (!take_phase(reader, &phase))
			return false;
		condition->phases |= 1u << phase;
	} while (take_sign(reader, '|'));
	return true;
}

static bool read_condition(struct reader *reader, struct rvp_rule_condition *condition)
{
	switch (condition->about) {
	case RVP_RULE_BYTES: return read_bytes(reader, condition);
	case RVP_RULE_PHASE: return read_phases(reader, condition);
	case RVP_RULE_MAPPED: return true;
	case RVP_RULE_FILE:
	case RVP_RULE_THREAD:
	case RVP_RULE_SCOPE:
	case RVP_RULE_LOADED:
	case RVP_RULE_MAPS:
	case RVP_RULE_NAME_OF_KERNEL:
		condition->count = read_patterns(reader, condition->about, &condition->first);
		return condition->count != 0;
	default: return read_chain(reader, condition);
	}
}

/* True: a condition was there, well or ill (*is_good). */
static bool take_condition(struct reader *reader, struct rvp_rule *rule, bool *is_good)
{
	struct rvp_rule_condition condition = {.is_negated = take_word(reader, "not")};

	for (int i = 0; i < RVP_RULE_ABOUT_COUNT; i++) {
		if (!take_word(reader, rvp_rule_words[i]))
			continue;
		condition.about = (enum rvp_rule_about)i;
		*is_good = read_condition(reader, &condition) &&
			   GROW(reader, conditions, condition_count, condition_room);
		if (*is_good) {
			reader->rules->conditions[reader->rules->condition_count++] = condition;
			rule->count++;
		}
		return true;
	}
	if (condition.is_negated)
		*is_good = expected(reader, "a condition behind `not`");
	return condition.is_negated;
}

static bool read_confidence(struct reader *reader, struct rvp_rule *rule)
{
	uint64_t percent;

	if (!rvp_rule_token_size(&reader->text.token, &percent) || percent < 1 || percent > 100)
		return expected(reader, "a percentage from 1 to 100");
	rule->confidence = (uint8_t)percent;
	rvp_rule_text_next(&reader->text);
	return true;
}

/* All between the colon and `because`. */
static bool read_body(struct reader *reader, struct rvp_rule *rule)
{
	while (!is_word(reader, "because")) {
		bool is_good = true;

		if (take_word(reader, "generic"))
			rule->is_generic = true;
		else if (take_word(reader, "untested"))
			rule->is_untested = true;
		else if (take_word(reader, "confidence"))
			is_good = read_confidence(reader, rule);
		else if (!take_condition(reader, rule, &is_good))
			return expected(reader, "a condition, generic, untested, confidence or because");
		if (!is_good || reader->no_memory)
			return false;
	}
	if (!rule->count)
		return expected(reader, "at least one condition");
	rvp_rule_text_next(&reader->text);
	if (reader->text.token.kind != RVP_TOKEN_TEXT || !reader->text.token.length)
		return expected(reader, "what the rule relies on, in quotes");
	rule->because = take_text(reader);
	return rule->because != NULL;
}

/* "kernel/gemm" */
static bool is_kernel(struct rvp_rule *rule)
{
	static const char before[] = "kernel/";

	return !strncmp(rule->purpose, before, strlen(before)) &&
	       rvp_kernel_class_of_word(rule->purpose + strlen(before), &rule->phase);
}

/* kv_cache, weights/copy, leave, step, step/prefill, kernel/gemm */
static bool read_action(struct reader *reader, struct rvp_rule *rule)
{
	const struct rvp_rule_token *token = &reader->text.token;
	size_t length = token->kind == RVP_TOKEN_WORD ? token->length : 0;
	struct rvp_purposes purposes;
	bool is_purpose;

	if (!length || length >= sizeof rule->purpose)
		return expected(reader, "a category, leave or step");
	memcpy(rule->purpose, token->at, length);
	rvp_purposes_open(&purposes);
	is_purpose = rvp_purpose_number(&purposes, rule->purpose, length) != RVP_PURPOSE_NONE;
	rvp_purposes_free(&purposes);
	if (!strcmp(rule->purpose, "leave"))
		rule->action = RVP_RULE_LEAVE;
	else if (!strcmp(rule->purpose, "step") || rvp_rule_step_phase(rule->purpose, &rule->phase))
		rule->action = RVP_RULE_STEP;
	else if (is_kernel(rule))
		rule->action = RVP_RULE_KERNEL;
	else if (!is_purpose)
		return expected(reader, "a category, leave or step");
	rvp_rule_text_next(&reader->text);
	return true;
}

/* A step's only condition is a scope: it is looked for at names, not at blocks; as is a kernel's name. */
static bool check(struct reader *reader, const struct rvp_rule *rule)
{
	const struct rvp_rule_condition *condition = &reader->rules->conditions[rule->first];

	if (rule->action == RVP_RULE_STEP &&
	    (rule->count != 1 || condition->about != RVP_RULE_SCOPE || condition->is_negated))
		return expected(reader, "`scope` as the only condition of a step");
	for (uint32_t i = 0; i < rule->count; i++)
		if ((condition[i].about == RVP_RULE_NAME_OF_KERNEL) != (rule->action == RVP_RULE_KERNEL))
			return expected(reader, rule->action == RVP_RULE_KERNEL
						    ? "`kernel` as the only conditions of a kernel's class"
						    : "no `kernel` in a rule for blocks");
	return true;
}

static void settle_confidence(struct rvp_rule *rule)
{
	if (rule->confidence)
		return;
	rule->confidence = rule->is_generic ? GENERIC_CONFIDENCE : RULE_CONFIDENCE;
	if (rule->is_untested)
		rule->confidence = UNTESTED_CONFIDENCE;
}

static bool read_rule(struct reader *reader)
{
	struct rvp_rule rule = {.file = reader->file,
				.line = reader->text.token.line,
				.first = (uint32_t)reader->rules->condition_count};

	if (reader->rules->count == RVP_RULES_MAX)
		return expected(reader, "fewer rules in all files together");
	if (!read_action(reader, &rule))
		return false;
	rule.title = take_text(reader);
	if (!rule.title && !reader->no_memory)
		rule.title = strdup("");
	if (take_sign(reader, ':') ? read_body(reader, &rule) && check(reader, &rule)
				   : expected(reader, "a title in quotes or a colon")) {
		settle_confidence(&rule);
		if (GROW(reader, rules, count, room)) {
			reader->rules->rules[reader->rules->count++] = rule;
			return true;
		}
	}
	free(rule.title);
	free(rule.because);
	return false;
}

/* The base name that rules of this file point to; NULL without memory. */
static const char *add_file(struct reader *reader, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash ? slash + 1 : path);

	reader->no_memory |= !name;
	if (!name || !GROW(reader, files, file_count, file_room)) {
		free(name);
		return NULL;
	}
	return reader->rules->files[reader->rules->file_count++] = name;
}

int rvp_rules_read_text(struct rvp_rule_list *rules, const char *path, const char *text, size_t length,
			rvp_rule_complain *complain, void *context)
{
	struct reader reader = {.rules = rules, .path = path, .complain = complain, .context = context};

	reader.file = add_file(&reader, path);
	rvp_rule_text_open(&reader.text, text, length);
	while (!reader.no_memory && reader.text.token.kind != RVP_TOKEN_END) {
		const char *begin = reader.text.token.at;

		if (!read_rule(&reader))
			rvp_rule_text_skip(&reader.text, begin);
	}
	return reader.no_memory ? -1 : reader.errors;
}

static char *read_all(FILE *in, size_t *length)
{
	char *text = malloc(RVP_RULES_FILE_BYTES_MAX + 1);

	*length = text ? fread(text, 1, RVP_RULES_FILE_BYTES_MAX + 1, in) : 0;
	return text;
}

struct rvp_status rvp_rules_read_file(struct rvp_rule_list *rules, const char *path,
				      rvp_rule_complain *complain, void *context, int *errors)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t length = 0;
	int error = 0;

	if (!in)
		return rvp_fail("read rules", path, errno);
	errno = 0;
	text = read_all(in, &length);
	if (!text || ferror(in))
		error = errno ? errno : EIO;
	fclose(in);
	if (!error && length <= RVP_RULES_FILE_BYTES_MAX) {
		int found = rvp_rules_read_text(rules, path, text, length, complain, context);

		error = found < 0 ? ENOMEM : 0;
		*errors += found > 0 ? found : 0;
	}
	free(text);
	if (!error && length > RVP_RULES_FILE_BYTES_MAX)
		return rvp_fail_with("read rules", path, "more than 1 MiB is no rule file");
	return error ? rvp_fail("read rules", path, error) : RVP_OK;
}

void rvp_rules_free(struct rvp_rule_list *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->rules[i].title);
		free(rules->rules[i].because);
	}
	for (size_t i = 0; i < rules->pattern_count; i++) {
		free(rules->patterns[i].name);
		free(rules->patterns[i].place);
	}
	for (size_t i = 0; i < rules->file_count; i++)
		free(rules->files[i]);
	free(rules->rules);
	free(rules->conditions);
	free(rules->patterns);
	free(rules->natives);
	free(rules->pythons);
	free(rules->files);
	*rules = (struct rvp_rule_list){0};
}
