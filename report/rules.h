/* SPDX-License-Identifier: MIT */
/* rules.h: attribution rules as text and as data. docs/rules.md teaches the language; in short
 *
 *     kv_cache "llama_kv_cache's constructor":
 *         by "ggml_aligned_malloc" frame "llama_kv_cache::llama_kv_cache"
 *         because "llama.cpp b4747, src/llama-kv-cache.cpp: ..."
 *
 * Rules
 *   - Rules are kept in the order of files and lines: the first that matches speaks, within its class.
 *   - An error is told with file, line, column and what was expected; reading goes on at the next rule.
 *   - Numbers of links: those of one condition follow each other, innermost first, so that link n + 1 is
 *     what link n was called from (rules_match.h relies on it). Native and Python links are counted apart.
 */
#ifndef RVP_REPORT_RULES_H
#define RVP_REPORT_RULES_H

#include "record/schema.h"
#include "record/status.h"
#include "report/purpose.h"

#include <stdbool.h>
#include <stddef.h>

enum rvp_rule_action {
	RVP_RULE_PURPOSE, /* says what a block is for */
	RVP_RULE_LEAVE,   /* generic: no later generic rule speaks; else: no generic and no later rule does */
	RVP_RULE_STEP,    /* a scope of this name is a step, or a phase of one */
	RVP_RULE_KERNEL,  /* a kernel of this name is of a class: `phase` has its number (kernels_names.h) */
};

enum rvp_rule_about {
	RVP_RULE_BY,     /* the function that asked for the block */
	RVP_RULE_FRAME,  /* a native function anywhere on the stack, or a chain of them */
	RVP_RULE_CALLER, /* the innermost Python function */
	RVP_RULE_PYTHON, /* a Python function anywhere, or a chain of them */
	RVP_RULE_BYTES,
	RVP_RULE_FILE,   /* path of a mapped file */
	RVP_RULE_THREAD, /* name of the thread */
	RVP_RULE_PHASE,
	RVP_RULE_SCOPE, /* name of an open scope or range of the thread */
	RVP_RULE_MAPPED,
	RVP_RULE_LOADED, /* path of a library that the process had, at any time */
	RVP_RULE_MAPS,   /* path of a file that the process mapped, at any time */
	RVP_RULE_NAME_OF_KERNEL, /* all of a kernel's demangled name */
	RVP_RULE_ABOUT_COUNT
};
extern const char *const rvp_rule_words[RVP_RULE_ABOUT_COUNT];

/* Of a native link: function and library; of a Python one: function and file. NULL: any. */
struct rvp_rule_pattern {
	char *name, *place;
};

/* One link of a chain: any of its patterns. */
struct rvp_rule_link {
	uint32_t first, count; /* in rvp_rules.patterns */
	bool is_outermost;     /* the last one of its condition */
	bool is_denied;        /* of a negated condition: (R3) of rules_match.h */
};

struct rvp_rule_condition {
	enum rvp_rule_about about;
	bool is_negated;
	uint32_t link, links;  /* of BY to PYTHON: first one and how many, in native or pythons */
	uint32_t first, count; /* of FILE, THREAD, SCOPE, LOADED, MAPS, NAME_OF_KERNEL: names in
				* rvp_rules.patterns */
	uint64_t least, most;  /* of BYTES */
	uint32_t phases;       /* of PHASE: a bit a phase */
};

struct rvp_rule {
	enum rvp_rule_action action;
	char purpose[64]; /* its text; "leave" and "step" too */
	uint32_t phase;   /* of a step: enum rvp_step_phase; of a kernel: enum rvp_kernel_class */
	const char *file; /* name for reasons: "ggml.rules" */
	uint32_t line;
	char *title, *because; /* title: "" without */
	bool is_generic, is_untested;
	uint8_t confidence;    /* percent */
	uint32_t first, count; /* in rvp_rules.conditions */
};

struct rvp_rule_list {
	struct rvp_rule *rules;
	size_t count, room;
	struct rvp_rule_condition *conditions;
	size_t condition_count, condition_room;
	struct rvp_rule_pattern *patterns;
	size_t pattern_count, pattern_room;
	struct rvp_rule_link *natives, *pythons;
	size_t native_count, native_room, python_count, python_room;
	char **files; /* base names, as rules point to them */
	size_t file_count, file_room;
};

/* A complaint: "FILE:LINE:COLUMN: expected ..., found ...". */
struct rvp_rule_error {
	const char *path; /* as it was given */
	uint32_t line, column;
	char text[160];
};
typedef void rvp_rule_complain(void *context, const struct rvp_rule_error *error);

enum {
	RVP_RULES_FILE_BYTES_MAX = 1 << 20, /* a rule file; more is no rule file */
	RVP_RULES_MAX = 4096,               /* of all files together */
	RVP_RULE_LINKS_MAX = 8192
};

void rvp_rules_free(struct rvp_rule_list *rules);

/* Adds the rules of `text`. `complain` may be NULL. How many errors; -1 without memory. */
int rvp_rules_read_text(struct rvp_rule_list *rules, const char *path, const char *text, size_t length,
			rvp_rule_complain *complain, void *context);

/* Adds the rules of the file. An unreadable file is a failure of status; errors in it are complaints. */
struct rvp_status rvp_rules_read_file(struct rvp_rule_list *rules, const char *path,
				      rvp_rule_complain *complain, void *context, int *errors);

/* rules_places.c: the files that RVPROF_RULES named for the program at the root of the tree, by colons; one
 * that was named from the program's folder is looked for where the run folder is. */
struct rvp_run;
typedef void rvp_rules_found(void *context, const char *path);
void rvp_rules_recorded(const struct rvp_run *run, rvp_rules_found *found, void *context);
/* The folder of the packs that come with rvprof; false where there is none. */
bool rvp_rules_folder(char *path, size_t path_bytes);
/* Adds every *.rules file of `folder` in order of names. */
struct rvp_status rvp_rules_read_folder(struct rvp_rule_list *rules, const char *folder,
					rvp_rule_complain *complain, void *context, int *errors);

/* The first rule for scopes and ranges called `name`: what a block asked for inside is for, or which step it
 * is. NULL: none. Rules with other conditions than `scope` are left out. */
const struct rvp_rule *rvp_rules_of_scope(const struct rvp_rule_list *rules, const char *name, size_t length,
					  enum rvp_rule_action action);

/* `*` any letters, `?` one; the whole of `text`. */
bool rvp_rule_glob(const char *pattern, const char *text, size_t length);
/* The same for the end of `path` from behind a slash on, or all of it. */
bool rvp_rule_path_glob(const char *pattern, const char *path);

/* "ggml.rules:12 llama_kv_cache's constructor" into `text`; returns it. */
char *rvp_rule_name(const struct rvp_rule *rule, char *text, size_t text_bytes);

#endif
