/* SPDX-License-Identifier: MIT */
/* prompt.h: made-up prompts whose attention has a structure: a few topics one after the other, a page or two
 * between them that belong to both, and questions that are mostly about the latest topic. Everything follows
 * from (seed, sample), page by page, so that a page that was thrown away can be made again for comparison. */
#ifndef ATTN_PROMPT_H
#define ATTN_PROMPT_H

#include "numbers.h"

enum { WIDTH = 64, PAGE_TOKENS = 32, CLASSES = 16, TOPICS = 4, ROUNDS = 4, QUESTIONS = 16 };

struct prompt {
	uint64_t seed, sample;
	size_t tokens, pages;
	size_t begin[TOPICS + 1]; /* topic t has pages begin[t] to begin[t + 1] - 1 */
	float bridge[TOPICS];     /* how much the last page of topic t belongs to the next one, 0 to 1 */
	float reach;              /* share of questions that are about any earlier page */
};

void prompt_make(struct prompt *prompt, uint64_t seed, uint64_t sample, size_t tokens);

/* Keys and values of a page, PAGE_TOKENS rows of WIDTH each. */
void prompt_page(const struct prompt *prompt, size_t page, float *keys, float *values);

/* The questions of a round, when `pages` pages are there: rows of WIDTH, and the class that is the right
 * answer. */
void prompt_questions(const struct prompt *prompt, size_t round, size_t pages, float *questions,
		      unsigned *answers);

/* The class of a token's value. */
unsigned prompt_class(const struct prompt *prompt, size_t token);

#endif
