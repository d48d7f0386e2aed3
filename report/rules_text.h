/* SPDX-License-Identifier: MIT */
/* rules_text.h: the words of a rule file: words, texts in quotes, sizes, signs; `#` begins a comment. */
#ifndef RVP_REPORT_RULES_TEXT_H
#define RVP_REPORT_RULES_TEXT_H

#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_token_kind {
	RVP_TOKEN_END,
	RVP_TOKEN_WORD,       /* letters, digits, _ - / */
	RVP_TOKEN_TEXT,       /* without its quotes; nothing is special in it, and it ends on its line */
	RVP_TOKEN_SIGN,       /* one of : | and `..`, whose sign is '.' */
	RVP_TOKEN_ODD,        /* what can't begin anything */
	RVP_TOKEN_UNFINISHED, /* a text without its second quote */
};
struct rvp_rule_token {
	enum rvp_token_kind kind;
	const char *at;
	size_t length;
	uint32_t line, column; /* from 1; columns are bytes */
};
struct rvp_rule_text {
	const char *at, *end, *line_begin;
	uint32_t line;
	struct rvp_rule_token token; /* the present one */
};

/* Names of enum rvp_step_phase; [0] is "". */
extern const char *const rvp_rule_phases[RVP_STEP_PHASE_COUNT];

void rvp_rule_text_open(struct rvp_rule_text *text, const char *bytes, size_t length);
void rvp_rule_text_next(struct rvp_rule_text *text);

/* To the next word in a line's first column; the one at `begin`, where the ill rule began, is none. */
void rvp_rule_text_skip(struct rvp_rule_text *text, const char *begin);

/* As people read it: `kv_cache`, the end of the file, an unfinished text. */
void rvp_rule_token_text(const struct rvp_rule_token *token, char *text, size_t text_bytes);

/* 4096, 16K, 1M, 2G. */
bool rvp_rule_token_size(const struct rvp_rule_token *token, uint64_t *bytes);

/* The phase of "step/prefill". */
bool rvp_rule_step_phase(const char *purpose, uint32_t *phase);

#endif
