/* SPDX-License-Identifier: MIT */
/* rules_match.c: see rules_match.h. */
#include "report/rules_match.h"

#include "report/rules_names.h"
#include "report/rules_sets.h"
#include "report/symbols.h"
#include "report/symbols_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 4096, WRAPPERS_MAX = 64, PYTHON_QUALIFIED = 0x30b };

/* Who asks for memory: somebody, an allocator's wrapper for its caller, or CUDA's driver and runtime for theirs, where
 * it is a device's: what they ask of the host is their own. */
enum asker { ASKER_SELF, ASKER_WRAPPER, ASKER_WAY_TO_DEVICE };

/* Nodes and their sets: one of natives and one of Pythons a process. Values are numbers plus 1; 0: not asked.
 */
struct tree {
	uint32_t *sets;    /* by node */
	uint32_t *classes; /* by node: the set of links that the node's own function matches */
	size_t count;
};
struct process {
	struct tree native, python;
	uint8_t *askers;             /* by native node: enum asker + 1; 0: not asked */
	struct rvp_number_map codes; /* instruction's address -> class * 4 + enum asker; empty with unloads */
	bool has_unloads;
	size_t *files; /* by module: its number in symbols, plus 1 */
	bool is_ready;
};
/* Everything that is worked out about native links, or Python links. */
struct links {
	struct rvp_sets sets;
	struct rvp_number_map steps; /* caller's set << 32 | class -> set */
	uint64_t *outermost;         /* the links that need no caller */
};
struct rvp_rule_matcher {
	const struct rvp_rule_list *rules;
	const struct rvp_run *run;
	struct rvp_symbols *symbols;
	struct process *processes;
	struct links natives, pythons;
	struct rvp_number_map named;   /* name's and module's address, mixed -> class */
	struct rvp_number_map pairs;   /* two numbers -> one, so that four make one */
	struct rvp_number_map choices; /* number of four sets -> lists[] */
	size_t pair_count;
	struct rvp_rule_choice *lists;
	size_t list_count, list_room;
	uint64_t *scratch;
	uint32_t denied; /* (R3) all native links that a rule denies: of a call path that is not known */
	bool has_failed;
};

static bool open_links(struct links *links, const struct rvp_rule_link *of, size_t count)
{
	if (!rvp_sets_open(&links->sets, count))
		return false;
	links->outermost = calloc(links->sets.word_count, sizeof *links->outermost);
	for (size_t i = 0; links->outermost && i < count; i++)
		if (of[i].is_outermost)
			links->outermost[i / 64] |= (uint64_t)1 << i % 64;
	return links->outermost != NULL;
}

/* The set of all links of negated conditions. */
static bool find_denied(struct rvp_rule_matcher *matcher)
{
	const struct rvp_rule_list *rules = matcher->rules;

	for (size_t i = 0; i < rules->native_count; i++)
		if (rules->natives[i].is_denied)
			matcher->scratch[i / 64] |= (uint64_t)1 << i % 64;
	matcher->denied = rvp_set_number(&matcher->natives.sets, matcher->scratch);
	return matcher->denied != RVP_NO_NUMBER;
}

static void close_links(struct links *links)
{
	rvp_sets_free(&links->sets);
	rvp_number_map_free(&links->steps);
	free(links->outermost);
}

struct rvp_rule_matcher *rvp_rule_matcher_open(const struct rvp_rule_list *rules, const struct rvp_run *run,
					       const char *symbols_path)
{
	struct rvp_rule_matcher *matcher = calloc(1, sizeof *matcher);

	if (!matcher)
		return NULL;
	matcher->rules = rules;
	matcher->run = run;
	matcher->symbols = rvp_symbols_open(symbols_path);
	matcher->processes = calloc(run->process_count + 1, sizeof *matcher->processes);
	matcher->scratch = calloc(2 * (RVP_RULE_LINKS_MAX / 64 + 1), sizeof *matcher->scratch);
	if (matcher->symbols && matcher->processes && matcher->scratch &&
	    open_links(&matcher->natives, rules->natives, rules->native_count) &&
	    open_links(&matcher->pythons, rules->pythons, rules->python_count) && find_denied(matcher))
		return matcher;
	rvp_rule_matcher_close(matcher);
	return NULL;
}

static void close_process(struct process *process)
{
	free(process->native.sets);
	free(process->native.classes);
	free(process->python.sets);
	free(process->python.classes);
	free(process->askers);
	rvp_number_map_free(&process->codes);
	free(process->files);
}

void rvp_rule_matcher_close(struct rvp_rule_matcher *matcher)
{
	if (!matcher)
		return;
	for (size_t i = 0; matcher->processes && i < matcher->run->process_count; i++)
		close_process(&matcher->processes[i]);
	for (size_t i = 0; i < matcher->list_count; i++)
		free((void *)matcher->lists[i].rules);
	rvp_number_map_free(&matcher->named);
	rvp_number_map_free(&matcher->pairs);
	rvp_number_map_free(&matcher->choices);
	close_links(&matcher->natives);
	close_links(&matcher->pythons);
	rvp_symbols_close(matcher->symbols);
	free(matcher->processes);
	free(matcher->lists);
	free(matcher->scratch);
	free(matcher);
}

bool rvp_rule_matcher_failed(const struct rvp_rule_matcher *matcher)
{
	return matcher->has_failed;
}

static bool open_tree(struct tree *tree, size_t count)
{
	tree->count = count;
	tree->sets = calloc(count + 1, sizeof *tree->sets);
	tree->classes = calloc(count + 1, sizeof *tree->classes);
	return tree->sets && tree->classes;
}

static struct process *process_of(struct rvp_rule_matcher *matcher, uint32_t number)
{
	struct process *process = &matcher->processes[number];
	const struct rvp_process *of = &matcher->run->processes[number];

	if (process->is_ready)
		return process;
	process->is_ready =
	    open_tree(&process->native, of->node_count) && open_tree(&process->python, of->python_node_count);
	process->askers = calloc(of->node_count + 1, sizeof *process->askers);
	process->files = calloc(of->module_count + 1, sizeof *process->files);
	for (size_t i = 0; i < of->module_count; i++)
		process->has_unloads |= of->modules[i].unload_ns != RVP_NEVER;
	process->is_ready = process->is_ready && process->askers && process->files;
	if (process->is_ready)
		return process;
	close_process(process);
	*process = (struct process){0};
	matcher->has_failed = true;
	return NULL;
}

/* ---- names ---- */

static const char *native_name(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t node_number,
			       uint64_t ns, const char **module_path, bool *is_hidden)
{
	const struct rvp_process *of = &matcher->run->processes[number];
	const struct rvp_node *node = rvp_node_at(of, node_number);
	const struct rvp_module *module = node ? rvp_module_at(of, node->pc - !node->exact, ns) : NULL;
	struct process *process = process_of(matcher, number);
	const char *name;
	size_t file;

	*module_path = module ? module->path : NULL;
	*is_hidden = false;
	if (!module || !process)
		return NULL;
	file = rvp_stacks_module_file(matcher->symbols, &process->files[module - of->modules], module);
	name = rvp_symbols_name_at(matcher->symbols, file, node->pc - module->bias - !node->exact);
	*is_hidden = !name && !rvp_symbols_has_names(matcher->symbols, file);
	return name;
}

const char *rvp_rule_native_name(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t node,
				 uint64_t ns, const char **module)
{
	bool is_hidden;

	return native_name(matcher, number, node, ns, module, &is_hidden);
}

/* The class of a set of links that a function matches. */
static uint32_t new_class(struct rvp_rule_matcher *matcher, struct links *links)
{
	uint32_t class = rvp_set_number(&links->sets, matcher->scratch);

	matcher->has_failed |= class == RVP_NO_NUMBER;
	return class == RVP_NO_NUMBER ? 0 : class;
}

static void clear_scratch(struct rvp_rule_matcher *matcher, const struct links *links)
{
	memset(matcher->scratch, 0, links->sets.word_count * sizeof *matcher->scratch);
}

static uint32_t name_native(struct rvp_rule_matcher *matcher, const char *function, const char *module)
{
	uint64_t key = (uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)module;
	uint32_t class = rvp_number_of(&matcher->named, key);

	if (class != RVP_NO_NUMBER)
		return class;
	clear_scratch(matcher, &matcher->natives);
	rvp_rule_native_hits(matcher->rules, function, module, matcher->scratch);
	class = new_class(matcher, &matcher->natives);
	matcher->has_failed |= !rvp_number_put(&matcher->named, key, class);
	return class;
}

static bool is_own(const char *module)
{
	return module && strncmp(rvp_symbols_base_name(module), "librvprof", 9) == 0;
}

static enum asker asker_of(const char *module, const char *function)
{
	if (is_own(module) || (function && rvp_function_is_plumbing(function)))
		return ASKER_WRAPPER;
	return module && rvp_module_is_way_to_device(module) ? ASKER_WAY_TO_DEVICE : ASKER_SELF;
}

/* class * 4 + enum asker of a node, by names. */
static uint32_t code_by_name(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t node, uint64_t ns)
{
	bool is_hidden;
	const char *module, *function = native_name(matcher, number, node, ns, &module, &is_hidden);
	enum asker asker = asker_of(module, function);

	if (!function && (!is_hidden || is_own(module)))
		function = "";
	return name_native(matcher, function, module) * 4 + asker;
}

static uint32_t native_class(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t node, uint64_t ns)
{
	struct process *process = process_of(matcher, number);
	const struct rvp_node *at = rvp_node_at(&matcher->run->processes[number], node);
	uint32_t *class, code;
	uint64_t address;

	if (!process || !at)
		return 0;
	class = &process->native.classes[node];
	if (*class)
		return *class - 1;
	address = at->pc - !at->exact;
	code = process->has_unloads ? RVP_NO_NUMBER : rvp_number_of(&process->codes, address);
	if (code == RVP_NO_NUMBER) {
		code = code_by_name(matcher, number, node, ns);
		if (!process->has_unloads)
			matcher->has_failed |= !rvp_number_put(&process->codes, address, code);
	}
	process->askers[node] = (uint8_t)(code % 4 + 1);
	*class = code / 4 + 1;
	return *class - 1;
}

static uint32_t python_class(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t node)
{
	struct process *process = process_of(matcher, number);
	const struct rvp_process *of = &matcher->run->processes[number];
	const struct rvp_python_node *at = rvp_python_node_at(of, node);
	const struct rvp_code *code = at ? rvp_code_at(of, at->code) : NULL;
	uint32_t *class;

	if (!process || !code)
		return 0;
	class = &process->python.classes[node];
	if (!*class) {
		clear_scratch(matcher, &matcher->pythons);
		rvp_rule_python_hits(matcher->rules, code->name, code->file,
				     code->version >= PYTHON_QUALIFIED, matcher->scratch);
		*class = new_class(matcher, &matcher->pythons) + 1;
	}
	return *class - 1;
}

/* ---- sets along a path ---- */

/* (R1): the set behind a step from the caller's set into a function of this class. */
static uint32_t step(struct rvp_rule_matcher *matcher, struct links *links, uint32_t set, uint32_t class)
{
	uint64_t key = (uint64_t)set << 32 | class, *made = matcher->scratch;
	size_t count = links->sets.word_count;
	uint32_t found = rvp_number_of(&links->steps, key);
	const uint64_t *callers, *own;

	if (found != RVP_NO_NUMBER)
		return found;
	callers = rvp_set_words(&links->sets, set);
	own = rvp_set_words(&links->sets, class);
	for (size_t i = 0; i < count; i++) {
		uint64_t next = i + 1 < count ? callers[i + 1] << 63 : 0;
		uint64_t called = (callers[i] >> 1 | next) & ~links->outermost[i];

		made[i] = callers[i] | (own[i] & (links->outermost[i] | called));
	}
	found = new_class(matcher, links);
	matcher->has_failed |= !rvp_number_put(&links->steps, key, found);
	return found;
}

typedef uint32_t parent_of(const struct rvp_process *process, uint32_t node);
typedef uint32_t class_of(struct rvp_rule_matcher *matcher, uint32_t process, uint32_t node, uint64_t ns);

static uint32_t native_parent(const struct rvp_process *process, uint32_t node)
{
	const struct rvp_node *at = rvp_node_at(process, node);

	return at ? at->parent : 0;
}

static uint32_t python_parent(const struct rvp_process *process, uint32_t node)
{
	const struct rvp_python_node *at = rvp_python_node_at(process, node);

	return at ? at->parent : 0;
}

static uint32_t python_class_at(struct rvp_rule_matcher *matcher, uint32_t process, uint32_t node,
				uint64_t ns)
{
	(void)ns;
	return python_class(matcher, process, node);
}

struct way {
	struct links *links;
	struct tree *tree;
	parent_of *parent;
	class_of *class;
};

/* From the outermost node that has no set yet down to `node`. A path that is deeper than any is cut at its
 * outer end. */
static uint32_t set_along(struct rvp_rule_matcher *matcher, struct way way, uint32_t number, uint32_t node,
			  uint64_t ns)
{
	const struct rvp_process *of = &matcher->run->processes[number];
	uint32_t path[DEPTH_MAX], depth = 0, set;

	while (node && node < way.tree->count && !way.tree->sets[node] && depth < DEPTH_MAX) {
		path[depth++] = node;
		node = way.parent(of, node);
	}
	set = node && node < way.tree->count && way.tree->sets[node] ? way.tree->sets[node] - 1 : 0;
	while (depth-- > 0) {
		set = step(matcher, way.links, set, way.class(matcher, number, path[depth], ns));
		way.tree->sets[path[depth]] = set + 1;
	}
	return set;
}

/* What the asking function matches: the innermost one, with the wrappers of allocators before it. */
static uint32_t asking_class(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t node, uint64_t ns,
			     bool on_device)
{
	const struct rvp_process *of = &matcher->run->processes[number];
	struct links *links = &matcher->natives;
	uint64_t *all = matcher->scratch + RVP_RULE_LINKS_MAX / 64 + 1;

	memset(all, 0, links->sets.word_count * sizeof *all);
	for (int i = 0; i < WRAPPERS_MAX && rvp_node_at(of, node); i++) {
		uint32_t class = native_class(matcher, number, node, ns);
		enum asker asker = (enum asker)(matcher->processes[number].askers[node] - 1);
		bool is_passed = on_device && asker == ASKER_WAY_TO_DEVICE; /* it says nothing */

		for (size_t word = 0; word < links->sets.word_count && !is_passed; word++)
			all[word] |= rvp_set_words(&links->sets, class)[word];
		if (asker != ASKER_WRAPPER && !is_passed)
			break;
		node = native_parent(of, node);
	}
	memcpy(matcher->scratch, all, links->sets.word_count * sizeof *all);
	return new_class(matcher, links);
}

/* All that is known of a call path. */
struct path_sets {
	uint32_t by, frames, caller, pythons;
};

static struct path_sets sets_of(struct rvp_rule_matcher *matcher, uint32_t number, uint32_t stack,
				uint32_t python, uint64_t ns, bool on_device)
{
	struct process *process = number < matcher->run->process_count ? process_of(matcher, number) : NULL;
	struct path_sets sets = {.by = matcher->denied, .frames = matcher->denied};

	if (!process)
		return sets;
	if (rvp_node_at(&matcher->run->processes[number], stack)) {
		sets.frames = set_along(
		    matcher, (struct way){&matcher->natives, &process->native, native_parent, native_class},
		    number, stack, ns);
		sets.by = asking_class(matcher, number, stack, ns, on_device);
	}
	sets.pythons = set_along(
	    matcher, (struct way){&matcher->pythons, &process->python, python_parent, python_class_at},
	    number, python, ns);
	sets.caller = rvp_python_node_at(&matcher->run->processes[number], python)
			  ? python_class(matcher, number, python)
			  : 0;
	return sets;
}

static bool holds(const struct rvp_rule_matcher *matcher, const struct rvp_rule_condition *condition,
		  const struct path_sets *sets)
{
	switch (condition->about) {
	case RVP_RULE_BY: return rvp_set_has(&matcher->natives.sets, sets->by, condition->link);
	case RVP_RULE_FRAME: return rvp_set_has(&matcher->natives.sets, sets->frames, condition->link);
	case RVP_RULE_CALLER: return rvp_set_has(&matcher->pythons.sets, sets->caller, condition->link);
	case RVP_RULE_PYTHON: return rvp_set_has(&matcher->pythons.sets, sets->pythons, condition->link);
	default: return !condition->is_negated; /* a block's, not a path's */
	}
}

bool rvp_rule_condition_holds(struct rvp_rule_matcher *matcher, const struct rvp_rule_condition *condition,
			      uint32_t process, uint32_t stack, uint32_t python, uint64_t ns)
{
	struct path_sets sets = sets_of(matcher, process, stack, python, ns, false);

	return holds(matcher, condition, &sets) != condition->is_negated;
}

/* ---- choices ---- */

static bool is_allowed(const struct rvp_rule_matcher *matcher, const struct rvp_rule *rule,
		       const struct path_sets *sets)
{
	if (rule->action == RVP_RULE_STEP || rule->action == RVP_RULE_KERNEL)
		return false;
	for (uint32_t i = 0; i < rule->count; i++) {
		const struct rvp_rule_condition *condition = &matcher->rules->conditions[rule->first + i];

		if (holds(matcher, condition, sets) == condition->is_negated)
			return false;
	}
	return true;
}

/* Whether nothing behind this rule can speak: it asks nothing of the block. */
static bool is_last(const struct rvp_rule_matcher *matcher, const struct rvp_rule *rule)
{
	for (uint32_t i = 0; i < rule->count; i++)
		if (matcher->rules->conditions[rule->first + i].about > RVP_RULE_PYTHON)
			return false;
	return !rule->is_generic;
}

static struct rvp_rule_choice choose(const struct rvp_rule_matcher *matcher, const struct path_sets *sets)
{
	struct rvp_rule_choice choice = {0};
	uint32_t numbers[RVP_RULES_MAX], *kept;

	for (size_t i = 0; i < matcher->rules->count; i++) {
		if (!is_allowed(matcher, &matcher->rules->rules[i], sets))
			continue;
		numbers[choice.count++] = (uint32_t)i;
		if (is_last(matcher, &matcher->rules->rules[i]))
			break;
	}
	kept = malloc((choice.count + 1) * sizeof *kept);
	if (!kept)
		return (struct rvp_rule_choice){0};
	memcpy(kept, numbers, choice.count * sizeof *kept);
	choice.rules = kept;
	return choice;
}

static uint32_t keep_choice(struct rvp_rule_matcher *matcher, struct rvp_rule_choice choice)
{
	if (matcher->list_count == matcher->list_room) {
		size_t room = matcher->list_room ? matcher->list_room * 2 : 64;
		struct rvp_rule_choice *grown = reallocarray(matcher->lists, room, sizeof *grown);

		if (!grown) {
			free((void *)choice.rules);
			return RVP_NO_NUMBER;
		}
		matcher->lists = grown;
		matcher->list_room = room;
	}
	matcher->lists[matcher->list_count] = choice;
	return (uint32_t)matcher->list_count++;
}

/* One number for two. */
static uint32_t pair(struct rvp_rule_matcher *matcher, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t number = rvp_number_of(&matcher->pairs, key);

	if (number != RVP_NO_NUMBER)
		return number;
	matcher->has_failed |= !rvp_number_put(&matcher->pairs, key, (uint32_t)matcher->pair_count);
	return (uint32_t)matcher->pair_count++;
}

struct rvp_rule_choice rvp_rules_for(struct rvp_rule_matcher *matcher, uint32_t process, uint32_t stack,
				     uint32_t python, uint64_t ns, bool on_device)
{
	struct path_sets sets = sets_of(matcher, process, stack, python, ns, on_device);
	uint32_t native = pair(matcher, sets.by, sets.frames),
		 other = pair(matcher, sets.caller, sets.pythons);
	uint64_t key = (uint64_t)native << 32 | other;
	uint32_t number = rvp_number_of(&matcher->choices, key);
	struct rvp_rule_choice choice;

	if (number != RVP_NO_NUMBER)
		return matcher->lists[number];
	choice = choose(matcher, &sets);
	number = choice.rules ? keep_choice(matcher, choice) : RVP_NO_NUMBER;
	if (number == RVP_NO_NUMBER || !rvp_number_put(&matcher->choices, key, number))
		matcher->has_failed = true;
	return number == RVP_NO_NUMBER ? (struct rvp_rule_choice){0} : matcher->lists[number];
}

/* ---- what the user should know ---- */

size_t rvp_rule_matcher_notes(const struct rvp_rule_matcher *matcher, char notes[][256], size_t room)
{
	const char *complaint = rvp_symbols_complaint(matcher->symbols), *path;
	static const char *const why[] = {[RVP_SYMBOLS_REPLACED] = "was replaced since the run",
					  [RVP_SYMBOLS_MISSING] = "is gone since the run"};
	size_t count = 0;

	if (complaint && room)
		snprintf(notes[count++], 256, "rules on native functions can not match: %s", complaint);
	for (int state = RVP_SYMBOLS_REPLACED; state <= RVP_SYMBOLS_MISSING; state++) {
		size_t files =
		    rvp_symbols_files_in_state(matcher->symbols, (enum rvp_symbols_state)state, &path, 1);

		if (files && count < room)
			snprintf(notes[count++], 256, "%.150s%s %s: rules see no names of its functions",
				 path, files > 1 ? " and others" : "", why[state]);
	}
	return count;
}
