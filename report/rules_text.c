/* SPDX-License-Identifier: MIT */
/* rules_text.c: see rules_text.h. No byte is special in a text but the quote that ends it: symbols have many
 * signs of their own. */
#include "report/rules_text.h"

#include <stdio.h>
#include <string.h>

const char *const rvp_rule_phases[RVP_STEP_PHASE_COUNT] = {
    "", "load", "warmup", "prefill", "decode", "forward", "backward", "update",
};

static bool is_word_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '-' || byte == '/';
}

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/* To the next byte that means something. */
static void skip_blanks(struct rvp_rule_text *text)
{
	for (; text->at < text->end; text->at++) {
		if (*text->at == '#') {
			while (text->at + 1 < text->end && text->at[1] != '\n')
				text->at++;
		} else if (*text->at == '\n') {
			text->line++;
			text->line_begin = text->at + 1;
		} else if (*text->at != ' ' && *text->at != '\t' && *text->at != '\r') {
			return;
		}
	}
}

static void take_quoted(struct rvp_rule_text *text, struct rvp_rule_token *token)
{
	const char *end = text->at + 1;

	while (end < text->end && *end != '"' && *end != '\n' && *end)
		end++;
	token->at = text->at + 1;
	token->length = (size_t)(end - token->at);
	token->kind = end < text->end && *end == '"' ? RVP_TOKEN_TEXT : RVP_TOKEN_UNFINISHED;
	text->at = token->kind == RVP_TOKEN_TEXT ? end + 1 : end;
}

static void take_word(struct rvp_rule_text *text, struct rvp_rule_token *token)
{
	while (text->at < text->end && is_word_byte(*text->at))
		text->at++;
	token->kind = RVP_TOKEN_WORD;
	token->length = (size_t)(text->at - token->at);
}

static void take_sign(struct rvp_rule_text *text, struct rvp_rule_token *token)
{
	bool is_range = *text->at == '.' && text->at + 1 < text->end && text->at[1] == '.';
	bool is_sign = *text->at == ':' || *text->at == '|';

	token->kind = is_range || is_sign ? RVP_TOKEN_SIGN : RVP_TOKEN_ODD;
	token->length = is_range ? 2 : 1;
	text->at += token->length;
}

void rvp_rule_text_next(struct rvp_rule_text *text)
{
	struct rvp_rule_token *token = &text->token;

	skip_blanks(text);
	*token = (struct rvp_rule_token){.kind = RVP_TOKEN_END,
					 .at = text->at,
					 .line = text->line,
					 .column = (uint32_t)(text->at - text->line_begin) + 1};
	if (text->at == text->end)
		return;
	if (*text->at == '"')
		take_quoted(text, token);
	else if (is_word_byte(*text->at))
		take_word(text, token);
	else
		take_sign(text, token);
}

void rvp_rule_text_open(struct rvp_rule_text *text, const char *bytes, size_t length)
{
	*text = (struct rvp_rule_text){bytes, bytes + length, bytes, 1, {0}};
	rvp_rule_text_next(text);
}

void rvp_rule_text_skip(struct rvp_rule_text *text, const char *begin)
{
	const struct rvp_rule_token *token = &text->token;

	while (token->kind != RVP_TOKEN_END && (token->at == begin || token->kind != RVP_TOKEN_WORD ||
						token->column != 1 || !is_letter(*token->at)))
		rvp_rule_text_next(text);
}

void rvp_rule_token_text(const struct rvp_rule_token *token, char *text, size_t text_bytes)
{
	int shown = token->length < 24 ? (int)token->length : 24;

	if (token->kind == RVP_TOKEN_END)
		snprintf(text, text_bytes, "the end of the file");
	else if (token->kind == RVP_TOKEN_UNFINISHED)
		snprintf(text, text_bytes, "a text without its second quote");
	else if (token->kind == RVP_TOKEN_TEXT)
		snprintf(text, text_bytes, "\"%.*s\"", shown, token->at);
	else
		snprintf(text, text_bytes, "`%.*s`", shown, token->at);
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

bool rvp_rule_token_size(const struct rvp_rule_token *token, uint64_t *bytes)
{
	size_t digits = 0, rest;
	uint64_t number = 0;
	unsigned shift = 0;

	if (token->kind != RVP_TOKEN_WORD)
		return false;
	for (; digits < token->length && token->at[digits] >= '0' && token->at[digits] <= '9'; digits++) {
		if (number > UINT32_MAX)
			return false;
		number = number * 10 + (uint64_t)(token->at[digits] - '0');
	}
	rest = token->length - digits;
	if (rest == 1)
		shift = token->at[digits] == 'K' ? 10 : token->at[digits] == 'M' ? 20 : 30;
	if (!digits || rest > 1 || (rest && !strchr("KMG", token->at[digits])) || number >> (64 - 30))
		return false;
	*bytes = number << shift;
	return true;
}

bool rvp_rule_step_phase(const char *purpose, uint32_t *phase)
{
	if (strncmp(purpose, "step/", 5) != 0)
		return false;
	for (uint32_t i = RVP_STEP_PHASE_NONE + 1; i < RVP_STEP_PHASE_COUNT; i++)
		if (!strcmp(purpose + 5, rvp_rule_phases[i])) {
			*phase = i;
			return true;
		}
	return false;
}
