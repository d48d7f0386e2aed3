/* SPDX-License-Identifier: MIT */
/* purpose.h: what bytes are for: a category, or a sub-kind of one ("weights/copy"). A purpose is a number:
 * those below RVP_CATEGORY_COUNT are the bare categories by their enum, the others were met in this run.
 *
 * A log can say any text: a text that begins with no category's name is no purpose, and beyond
 * RVP_PURPOSES_MAX a new sub-kind is taken as its bare category (and counted in `dropped`).
 */
#ifndef RVP_REPORT_PURPOSE_H
#define RVP_REPORT_PURPOSE_H

#include "record/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_PURPOSES_MAX = 256, RVP_PURPOSE_NONE = UINT16_MAX };

struct rvp_purposes {
	char *names[RVP_PURPOSES_MAX]; /* from RVP_CATEGORY_COUNT on; "weights/copy" */
	uint16_t categories[RVP_PURPOSES_MAX];
	uint32_t count; /* bare categories included */
	uint64_t dropped;
};

void rvp_purposes_open(struct rvp_purposes *purposes);
void rvp_purposes_free(struct rvp_purposes *purposes);

/* The purpose of a text, `length` bytes of it; RVP_PURPOSE_NONE when no category has that name. A sub-kind is
 * letters, digits, '_' and '-', at most 40; others become '_'. */
uint16_t rvp_purpose_number(struct rvp_purposes *purposes, const char *text, size_t length);

/* What was said for a category and is none. */
struct rvp_misnamed {
	uint64_t count;
	char first[48];
};

/* The same, and what is no purpose is counted. */
uint16_t rvp_purpose_said(struct rvp_purposes *purposes, const char *text, size_t length,
			  struct rvp_misnamed *misnamed);

const char *rvp_purpose_name(const struct rvp_purposes *purposes, uint16_t purpose);
enum rvp_category rvp_purpose_category(const struct rvp_purposes *purposes, uint16_t purpose);

#endif
