/* SPDX-License-Identifier: MIT */
/* purpose.c: see purpose.h. */
#include "report/purpose.h"

#include <stdlib.h>
#include <string.h>

enum { SUB_KIND_MAX = 40 };

void rvp_purposes_open(struct rvp_purposes *purposes)
{
	memset(purposes, 0, sizeof *purposes);
	for (uint16_t i = 0; i < RVP_CATEGORY_COUNT; i++)
		purposes->categories[i] = i;
	purposes->count = RVP_CATEGORY_COUNT;
}

void rvp_purposes_free(struct rvp_purposes *purposes)
{
	for (uint32_t i = RVP_CATEGORY_COUNT; i < purposes->count; i++)
		free(purposes->names[i]);
	memset(purposes, 0, sizeof *purposes);
}

static uint16_t category_of(const char *text, size_t length)
{
	for (uint16_t i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (strlen(rvp_category_names[i]) == length &&
		    memcmp(rvp_category_names[i], text, length) == 0)
			return i;
	return RVP_PURPOSE_NONE;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-';
}

/* "category/sub" with an allowed sub-kind into `name`. */
static void spell(char *name, uint16_t category, const char *sub, size_t length)
{
	char *at = stpcpy(name, rvp_category_names[category]);

	*at++ = '/';
	for (size_t i = 0; i < length && i < SUB_KIND_MAX; i++)
		*at++ = is_plain(sub[i]) ? sub[i] : '_';
	*at = 0;
}

static uint16_t add(struct rvp_purposes *purposes, uint16_t category, const char *name)
{
	char *copy = purposes->count < RVP_PURPOSES_MAX ? strdup(name) : NULL;

	if (!copy) {
		purposes->dropped++;
		return category;
	}
	purposes->names[purposes->count] = copy;
	purposes->categories[purposes->count] = category;
	return (uint16_t)purposes->count++;
}

uint16_t rvp_purpose_number(struct rvp_purposes *purposes, const char *text, size_t length)
{
	const char *slash = length ? memchr(text, '/', length) : NULL;
	size_t category_length = slash ? (size_t)(slash - text) : length;
	uint16_t category = category_of(text, category_length);
	char name[64 + SUB_KIND_MAX];

	if (category == RVP_PURPOSE_NONE || !slash || category_length + 1 == length)
		return category;
	spell(name, category, slash + 1, length - category_length - 1);
	for (uint16_t i = RVP_CATEGORY_COUNT; i < purposes->count; i++)
		if (strcmp(purposes->names[i], name) == 0)
			return i;
	return add(purposes, category, name);
}

uint16_t rvp_purpose_said(struct rvp_purposes *purposes, const char *text, size_t length,
			  struct rvp_misnamed *misnamed)
{
	uint16_t purpose = rvp_purpose_number(purposes, text, length);

	if (purpose == RVP_PURPOSE_NONE && !misnamed->count++)
		memcpy(misnamed->first, text,
		       length < sizeof misnamed->first ? length : sizeof misnamed->first - 1);
	return purpose;
}

const char *rvp_purpose_name(const struct rvp_purposes *purposes, uint16_t purpose)
{
	if (purpose < RVP_CATEGORY_COUNT)
		return rvp_category_names[purpose];
	return purpose < purposes->count ? purposes->names[purpose]
					 : rvp_category_names[RVP_CATEGORY_UNKNOWN];
}

enum rvp_category rvp_purpose_category(const struct rvp_purposes *purposes, uint16_t purpose)
{
	return purpose < purposes->count ? (enum rvp_category)purposes->categories[purpose]
					 : RVP_CATEGORY_UNKNOWN;
}
