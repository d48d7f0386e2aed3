/* SPDX-License-Identifier: MIT */
/* rules_names.c: patterns against names.
 *
 * A pattern of a native function without a round bracket is held against the plain name, one with a bracket
 * against the whole name. A Python function's pattern without a dot is held against the last part of the
 * qualified name, and so is any pattern where the interpreter says no qualified names. A path matches when
 * the pattern matches its end from behind a slash, or all of it.
 */
#include "report/rules_names.h"

#include <string.h>

bool rvp_rule_glob(const char *pattern, const char *text, size_t length)
{
	const char *end = text + length, *star = NULL, *tried = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			tried = text;
		} else if (*pattern == *text || *pattern == '?') {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++tried;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool begins(const char *at, const char *with)
{
	return strncmp(at, with, strlen(with)) == 0;
}

/* Behind an operator's sign: "operator()", "operator<<", "operator->". */
static const char *behind_operator(const char *at)
{
	at += strlen("operator");
	if (begins(at, "()"))
		return at + 2;
	while (*at && strchr("<>=+-*/%^&|!~,[]", *at))
		at++;
	return at;
}

static bool is_name_byte(char byte)
{
	return byte == '_' || byte == '$' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z');
}

static bool is_operator(const char *function, const char *at)
{
	return begins(at, "operator") && !is_name_byte(at[strlen("operator")]) &&
	       (at == function || !is_name_byte(at[-1]));
}

/* Without ".constprop.0" and its like; "[abi:cxx11]" stands at the end too. */
static size_t without_suffix(const char *plain, size_t length)
{
	const char *dot = memchr(plain, '.', length), *abi = memchr(plain, '[', length);

	if (abi && begins(abi, "[abi:"))
		length = (size_t)(abi - plain);
	if (dot && dot > plain && dot < plain + length)
		length = (size_t)(dot - plain);
	return length;
}

size_t rvp_plain_name(const char *function, const char **plain)
{
	const char *at = function, *name = function;
	int depth = 0;

	while (*at) {
		if (begins(at, "(anonymous namespace)")) {
			at += strlen("(anonymous namespace)");
			continue;
		}
		if (depth == 0 && is_operator(function, at)) {
			at = behind_operator(at);
			if (*at == ' ') /* a conversion: operator int() */
				at += strcspn(at, "(");
			continue;
		}
		if (depth == 0 && *at == '(')
			break;
		if (depth == 0 && *at == ' ' && at[1] == '[')
			break;
		depth += *at == '<' || *at == '{' || *at == '(';
		depth -= *at == '>' || *at == '}' || *at == ')';
		if (depth == 0 && *at == ' ')
			name = at + 1;
		at++;
	}
	*plain = name;
	return without_suffix(name, (size_t)(at - name));
}

bool rvp_rule_path_glob(const char *pattern, const char *path)
{
	const char *at = path;

	while (!rvp_rule_glob(pattern, at, strlen(at))) {
		at = strchr(at, '/');
		if (!at)
			return false;
		at++;
	}
	return true;
}

struct name {
	const char *whole, *plain; /* plain: of a Python function the part behind the last dot */
	size_t whole_length, plain_length;
	const char *place;
	bool is_python, is_qualified;
	bool is_hidden; /* it may have any name */
};

static bool name_matches(const char *pattern, const struct name *name)
{
	const char *dot = name->is_python ? strrchr(pattern, '.') : NULL;
	bool is_plain = name->is_python ? !dot || !name->is_qualified : !strchr(pattern, '(');

	if (!name->whole_length)
		return false;
	if (is_plain)
		return rvp_rule_glob(dot ? dot + 1 : pattern, name->plain, name->plain_length);
	return rvp_rule_glob(pattern, name->whole, name->whole_length);
}

static bool pattern_matches(const struct rvp_rule_pattern *pattern, const struct name *name)
{
	if (pattern->place && (!name->place || !rvp_rule_path_glob(pattern->place, name->place)))
		return false;
	return !pattern->name || name_matches(pattern->name, name);
}

/* As far as is known. */
static bool could_match(const struct rvp_rule_pattern *pattern, const struct name *name)
{
	return pattern->name && (!pattern->place || rvp_rule_path_glob(pattern->place, name->place));
}

static bool is_hit(const struct rvp_rule_list *rules, const struct rvp_rule_link *link,
		   const struct name *name)
{
	bool is_doubted = link->is_denied && name->is_hidden;

	for (uint32_t at = link->first; at < link->first + link->count; at++)
		if (pattern_matches(&rules->patterns[at], name) ||
		    (is_doubted && could_match(&rules->patterns[at], name)))
			return true;
	return false;
}

static void find_hits(const struct rvp_rule_list *rules, const struct rvp_rule_link *links, size_t count,
		      const struct name *name, uint64_t *words)
{
	for (size_t i = 0; i < count; i++)
		if (is_hit(rules, &links[i], name))
			words[i / 64] |= (uint64_t)1 << i % 64;
}

void rvp_rule_native_hits(const struct rvp_rule_list *rules, const char *function, const char *module,
			  uint64_t *words)
{
	struct name name = {.whole = function, .place = module, .is_hidden = !function && module};

	if (function) {
		name.whole_length = strlen(function);
		name.plain_length = rvp_plain_name(function, &name.plain);
	}
	find_hits(rules, rules->natives, rules->native_count, &name, words);
}

void rvp_rule_python_hits(const struct rvp_rule_list *rules, const char *function, const char *file,
			  bool is_qualified, uint64_t *words)
{
	const char *dot = strrchr(function, '.');
	struct name name = {.whole = function,
			    .whole_length = strlen(function),
			    .plain = dot ? dot + 1 : function,
			    .place = file,
			    .is_python = true,
			    .is_qualified = is_qualified};

	name.plain_length = strlen(name.plain);
	find_hits(rules, rules->pythons, rules->python_count, &name, words);
}
