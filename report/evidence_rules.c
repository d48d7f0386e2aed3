/* SPDX-License-Identifier: MIT */
/* evidence_rules.c: a block is for what the first rule says that its call path, size, file, thread, scope and
 * phase fulfil (docs/rules.md). The user's files come before the packs.
 *
 *   (E1) What a call path allows is asked once a site. A block's own conditions are asked at its birth, and
 * only where a rule of its site has one. (E2) A mistake in a rule file costs that rule alone, and is told.
 * (E3) Where nothing but the size is asked, an answer is kept for all sizes up to the next limit.
 */
#include "report/evidence.h"

#include "report/attribution.h"
#include "report/rules_sets.h"
#include "report/rules_speak.h"
#include "report/scope_stacks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 8, SCOPES_SEEN_MAX = 64, MAPS_MAX = 1024 };

struct site_rules {
	struct rvp_rule_choice choice;
	bool is_known, has_verdict;
	uint32_t asks;        /* a bit an enum rvp_rule_about that a rule of the choice asks of a block */
	uint64_t least, most; /* `verdict` holds for blocks of such sizes that are no mappings of files */
	struct rvp_verdict verdict;
};
struct maps { /* files that a process mapped, each once, as far as a rule asks */
	const char **paths;
	size_t count, room;
};
struct rules {
	struct rvp_evidence_source source; /* first: the source is the evidence */
	struct rvp_rule_list list;
	struct rvp_rule_matcher *matcher;
	struct site_rules *sites; /* by number */
	size_t site_room;
	struct rvp_scope_stacks scopes;
	uint32_t asks; /* a bit an enum rvp_rule_about that some rule has */
	bool has_scopes;
	struct maps *maps;            /* by process; NULL: no rule asks */
	struct rvp_verdict *verdicts; /* by rule; reason 0: not made yet */
};

/* ---- reading ---- */

static void complain(void *context, const struct rvp_rule_error *error)
{
	rvp_evidence_note(context, "%s:%u:%u: %s; the other rules apply", error->path, error->line,
			  error->column, error->text);
}

static void read_one(struct rules *rules, const char *path, bool is_folder)
{
	struct rvp_attribution *attribution = rules->source.attribution;
	int errors = 0;
	struct rvp_status status =
	    is_folder ? rvp_rules_read_folder(&rules->list, path, complain, attribution, &errors)
		      : rvp_rules_read_file(&rules->list, path, complain, attribution, &errors);
	char line[512];

	if (rvp_failed(status))
		rvp_evidence_note(attribution, "%s", rvp_status_line(&status, line, sizeof line));
}

static void read_recorded(void *context, const char *path)
{
	read_one(context, path, false);
}

static void read_rules(struct rules *rules)
{
	const struct rvp_attribution_settings *settings = rvp_attribution_settings(rules->source.attribution);
	char folder[PATH_MAX];

	for (size_t i = 0; settings->rule_files && settings->rule_files[i]; i++)
		read_one(rules, settings->rule_files[i], false);
	rvp_rules_recorded(rvp_attribution_run(rules->source.attribution), read_recorded, rules);
	if (settings->without_rules)
		return;
	if (rvp_rules_folder(folder, sizeof folder))
		read_one(rules, folder, true);
	else
		rvp_evidence_note(
		    rules->source.attribution,
		    "the rule packs are not beside rvprof nor in ../share/rvprof/rules: frameworks "
		    "are not known by name");
}

/* ---- judging ---- */

static struct rvp_verdict verdict_of(struct rules *rules, const struct rvp_rule *rule)
{
	struct rvp_verdict *verdict = &rules->verdicts[rule - rules->list.rules];
	char name[256];

	if (!verdict->reason)
		*verdict = (struct rvp_verdict){
		    .purpose = rvp_purpose_number(rvp_attribution_purposes(rules->source.attribution),
						  rule->purpose, strlen(rule->purpose)),
		    .evidence = rule->is_generic ? RVP_EVIDENCE_GENERIC : RVP_EVIDENCE_RULE,
		    .confidence = rule->confidence,
		    .reason =
			rvp_reason(rules->source.attribution, "%s", rvp_rule_name(rule, name, sizeof name))};
	return *verdict;
}

/* What the choice asks of a block, and the sizes around `bytes` for which it answers alike. */
static void learn(const struct rules *rules, struct site_rules *site, uint64_t bytes)
{
	site->asks = 0;
	site->least = 0;
	site->most = UINT64_MAX;
	for (size_t i = 0; i < site->choice.count; i++) {
		const struct rvp_rule *rule = &rules->list.rules[site->choice.rules[i]];

		for (uint32_t at = rule->first; at < rule->first + rule->count; at++) {
			const struct rvp_rule_condition *condition = &rules->list.conditions[at];

			if (condition->about > RVP_RULE_PYTHON)
				site->asks |= 1u << condition->about;
			if (condition->about == RVP_RULE_BYTES)
				rvp_narrow_sizes(condition->least, condition->most, bytes, &site->least, &site->most);
		}
	}
}

static bool asks_sizes_alone(const struct site_rules *site)
{
	return !(site->asks & ~(1u << RVP_RULE_BYTES));
}

/* (E3) */
static void settle(struct rules *rules, struct site_rules *site, uint64_t bytes)
{
	const struct rvp_rule *rule;

	learn(rules, site, bytes);
	if (!asks_sizes_alone(site))
		return;
	rule = rvp_rule_speaking(&rules->list, site->choice, &(struct rvp_rule_block){.bytes = bytes});
	site->has_verdict = rule != NULL;
	if (rule)
		site->verdict = verdict_of(rules, rule);
}

/* The call path and the Python path of a birth; a mapping's is its record's too. Of devices a record can be of
 * something else than what is born. */
static void paths_of(const struct rvp_event *birth, uint32_t *stack, uint32_t *python)
{
	const struct rvp_record *record = birth->moment->record;

	*stack = *python = 0;
	if (rvp_block_device(&birth->block) || record->kind == RVP_DEVICE_ALLOC) {
		*stack = birth->stack;
		*python = birth->python;
		return;
	}
	switch (record->kind) {
	case RVP_ALLOC:
	case RVP_SAMPLE:
		*stack = (uint32_t)record->ALLOC.stack;
		*python = (uint32_t)record->ALLOC.python;
		break;
	case RVP_MAP:
		*stack = (uint32_t)record->MAP.stack;
		*python = (uint32_t)record->MAP.python;
		break;
	case RVP_REMAP:
		*stack = (uint32_t)record->REMAP.stack;
		*python = (uint32_t)record->REMAP.python;
		break;
	default: break;
	}
}

static bool make_room(struct rules *rules, uint32_t site)
{
	size_t room = rules->site_room ? rules->site_room : 1024;
	struct site_rules *grown;

	if (site < rules->site_room)
		return true;
	while (room <= site)
		room *= 2;
	grown = reallocarray(rules->sites, room, sizeof *grown);
	if (!grown)
		return false;
	memset(grown + rules->site_room, 0, (room - rules->site_room) * sizeof *grown);
	rules->sites = grown;
	rules->site_room = room;
	return true;
}

static struct site_rules *site_of(struct rules *rules, const struct rvp_event *birth)
{
	struct site_rules *site;
	uint32_t stack, python;

	if (birth->block.site == UINT32_MAX || !make_room(rules, birth->block.site))
		return NULL;
	site = &rules->sites[birth->block.site];
	if (site->is_known)
		return site;
	paths_of(birth, &stack, &python);
	site->choice =
	    rvp_rules_for(rules->matcher, birth->moment->process, stack, python, birth->moment->ns,
			  rvp_block_device(&birth->block) != 0);
	site->is_known = true;
	settle(rules, site, birth->block.bytes);
	return site;
}

static const char *thread_name(const struct rvp_process *process, uint32_t tid)
{
	size_t low = 0, high = process->thread_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (process->threads[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < process->thread_count && process->threads[low].tid == tid ? process->threads[low].name
									       : NULL;
}

/* The path of the mapped file; the latest word on it. */
static const char *file_name(const struct rvp_process *process, const struct rvp_record *record)
{
	if (record->kind != RVP_MAP || !record->MAP.inode)
		return NULL;
	for (size_t i = process->file_count; i-- > 0;)
		if (process->files[i].inode == record->MAP.inode &&
		    process->files[i].device == record->MAP.device)
			return process->files[i].path;
	return NULL;
}

static const struct rvp_rule *rule_for(struct rules *rules, const struct site_rules *site,
				       const struct rvp_event *birth)
{
	const struct rvp_process *process =
	    &rvp_attribution_run(rules->source.attribution)->processes[birth->moment->process];
	struct rvp_text names[SCOPES_SEEN_MAX];
	struct rvp_rule_block block = {.bytes = birth->block.bytes,
				       .is_mapped = birth->block.flags & RVP_BLOCK_MAPPED,
				       .is_file = birth->block.flags & RVP_BLOCK_FILE,
				       .scopes = names,
				       .process = process,
				       .maps = rules->maps ? rules->maps[birth->moment->process].paths : NULL,
				       .map_count =
					   rules->maps ? rules->maps[birth->moment->process].count : 0};
	size_t open = 0;
	const struct rvp_scope *scopes =
	    rules->has_scopes ? rvp_scopes_of(&rules->scopes, birth->moment, &open) : NULL;

	if (site->asks >> RVP_RULE_PHASE & 1)
		block.phase =
		    rvp_phase_at(rvp_attribution_steps(rules->source.attribution), birth->moment->ns);
	if (site->asks >> RVP_RULE_FILE & 1)
		block.file = file_name(process, birth->moment->record);
	if (site->asks >> RVP_RULE_THREAD & 1)
		block.thread = thread_name(process, birth->moment->tid);
	for (; block.scope_count < open && block.scope_count < SCOPES_SEEN_MAX; block.scope_count++)
		names[block.scope_count] = scopes[open - 1 - block.scope_count].name;
	return rvp_rule_speaking(&rules->list, site->choice, &block);
}

static bool judge(struct rvp_evidence_source *source, const struct rvp_event *birth,
		  struct rvp_verdict *verdict)
{
	struct rules *rules = (struct rules *)source;
	struct site_rules *site = rules->list.count ? site_of(rules, birth) : NULL;
	uint64_t bytes = birth->block.bytes;
	const struct rvp_rule *rule;

	if (!site || !site->choice.count)
		return false;
	if (asks_sizes_alone(site)) {
		if (birth->block.flags & RVP_BLOCK_FILE)
			return false; /* no rule of this site speaks of files */
		if (bytes < site->least || bytes > site->most)
			settle(rules, site, bytes);
		*verdict = site->verdict;
		return site->has_verdict;
	}
	rule = rule_for(rules, site, birth);
	if (rule)
		*verdict = verdict_of(rules, rule);
	return rule != NULL;
}

static bool lasts(struct rvp_evidence_source *source, const struct rvp_event *birth, uint64_t *least, uint64_t *most)
{
	struct rules *rules = (struct rules *)source;
	struct site_rules *site = rules->list.count ? site_of(rules, birth) : NULL;
	bool has_phases = rvp_attribution_steps(source->attribution)->span_count > 0;
	uint64_t bytes = birth->block.bytes;

	if (!site || !site->choice.count)
		return true;
	if (site->asks >> RVP_RULE_THREAD & 1 || (site->asks >> RVP_RULE_PHASE & 1 && has_phases))
		return false;
	if (!asks_sizes_alone(site))
		learn(rules, site, bytes);
	if (site->least > *least)
		*least = site->least;
	if (site->most < *most)
		*most = site->most;
	return bytes >= *least && bytes <= *most;
}

/* ---- the rest ---- */

static void begin_pass(struct rvp_evidence_source *source)
{
	rvp_scope_stacks_empty(&((struct rules *)source)->scopes);
}

static void see(struct rvp_evidence_source *source, const struct rvp_event *event)
{
	struct rules *rules = (struct rules *)source;

	if (rules->has_scopes && !rvp_scope_stacks_see(&rules->scopes, event))
		rvp_evidence_note(source->attribution, "no memory for open scopes: rules do not see some");
}

static bool make_room_for_path(struct maps *maps)
{
	size_t room = maps->room ? maps->room * 2 : 16;
	const char **grown;

	if (maps->count < maps->room)
		return true;
	grown = reallocarray(maps->paths, room, sizeof *grown);
	if (!grown)
		return false;
	maps->paths = grown;
	maps->room = room;
	return true;
}

static void note_mapping(struct rules *rules, const struct rvp_event *event)
{
	const struct rvp_run *run = rvp_attribution_run(rules->source.attribution);
	struct maps *maps = &rules->maps[event->moment->process];
	const char *path = file_name(&run->processes[event->moment->process], event->moment->record);

	for (size_t i = 0; path && i < maps->count; i++)
		if (maps->paths[i] == path)
			return;
	if (path && maps->count < MAPS_MAX && make_room_for_path(maps))
		maps->paths[maps->count++] = path;
}

/* Sites are matched here already (their numbers are the same in each pass), so that the notes are whole when
 * the survey ends. */
static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	struct rules *rules = (struct rules *)source;

	(void)state;
	if (event->kind != RVP_EVENT_BORN || !rules->list.count)
		return;
	site_of(rules, event);
	if (rules->maps && event->block.flags & RVP_BLOCK_FILE)
		note_mapping(rules, event);
}

static void survey_end(struct rvp_evidence_source *source, const struct rvp_state *state)
{
	struct rules *rules = (struct rules *)source;
	char notes[NOTES_MAX][256];
	size_t count = rvp_rule_matcher_notes(rules->matcher, notes, NOTES_MAX);

	(void)state;
	for (size_t i = 0; i < count; i++)
		rvp_evidence_note(source->attribution, "%s", notes[i]);
	if (rvp_rule_matcher_failed(rules->matcher))
		rvp_evidence_note(source->attribution, "no memory for rules: some blocks stay unknown");
}

static void close_rules(struct rvp_evidence_source *source)
{
	struct rules *rules = (struct rules *)source;

	if (rules->has_scopes)
		rvp_scope_stacks_free(&rules->scopes);
	rvp_rule_matcher_close(rules->matcher);
	rvp_rules_free(&rules->list);
	free(rules->sites);
	for (size_t i = 0; rules->maps && i < rvp_attribution_run(rules->source.attribution)->process_count;
	     i++)
		free(rules->maps[i].paths);
	free(rules->maps);
	free(rules->verdicts);
	free(rules);
}

static bool open_matcher(struct rules *rules, const struct rvp_run *run)
{
	for (size_t i = 0; i < rules->list.condition_count; i++)
		rules->asks |= 1u << rules->list.conditions[i].about;
	if (rules->asks >> RVP_RULE_SCOPE & 1 &&
	    !rvp_scope_stacks_open(&rules->scopes, run, rvp_attribution_purposes(rules->source.attribution)))
		return false;
	rules->has_scopes = rules->asks >> RVP_RULE_SCOPE & 1;
	if (rules->asks >> RVP_RULE_MAPS & 1 &&
	    !(rules->maps = calloc(run->process_count + 1, sizeof *rules->maps)))
		return false;
	rules->verdicts = calloc(rules->list.count + 1, sizeof *rules->verdicts);
	rules->matcher = rvp_rule_matcher_open(&rules->list, run, NULL);
	return rules->verdicts && rules->matcher;
}

struct rvp_evidence_source *rvp_evidence_rules(struct rvp_attribution *attribution)
{
	struct rules *rules = calloc(1, sizeof *rules);

	if (!rules)
		return NULL;
	rules->source = (struct rvp_evidence_source){.survey = survey,
						     .survey_end = survey_end,
						     .begin_pass = begin_pass,
						     .see = see,
						     .judge = judge,
						     .lasts = lasts,
						     .close = close_rules,
						     .attribution = attribution};
	read_rules(rules);
	if (open_matcher(rules, rvp_attribution_run(attribution)))
		return &rules->source;
	close_rules(&rules->source);
	return NULL;
}
