/* SPDX-License-Identifier: MIT */
/* line.h: one line of text, put together in a buffer of fixed size and cut at its end; for readers that say what they
 * could not read, where there is no stdio; and what such readers read. */
#ifndef RVP_LINE_H
#define RVP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A text within another. */
struct rvp_part {
	const char *text;
	size_t length;
};

struct rvp_line {
	char *at;
	size_t left;
};

static inline struct rvp_part rvp_part_of(const char *text)
{
	return (struct rvp_part){text, strlen(text)};
}

static inline bool rvp_part_is(struct rvp_part part, const char *text)
{
	return part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

/* A whole number of digits alone, at most `most`. */
static inline bool rvp_part_number(struct rvp_part part, uint64_t most, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < part.length; i++) {
		unsigned digit = (unsigned char)part.text[i] - '0';

		if (digit > 9 || digit > most || *number > (most - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return part.length > 0;
}

static inline void rvp_line_add_part(struct rvp_line *line, struct rvp_part part)
{
	if (line->left == 0)
		return;
	if (part.length >= line->left)
		part.length = line->left - 1;
	memcpy(line->at, part.text, part.length);
	line->at += part.length;
	line->left -= part.length;
	*line->at = 0;
}

static inline void rvp_line_add(struct rvp_line *line, const char *text)
{
	rvp_line_add_part(line, rvp_part_of(text));
}

#endif
