/* SPDX-License-Identifier: MIT */
/* text_categories.h: what the bytes are for: a table, and a word beside each call stack. */
#ifndef RVP_TEXT_CATEGORIES_H
#define RVP_TEXT_CATEGORIES_H

#include "report/text_report.h"

/* The section: category, at the peak, share, most, at the end, on whose word. Nothing without attribution. */
void rvp_text_categories(const struct rvp_view *view);
/* Its table alone, of the view's answer. */
void rvp_text_category_table(const struct rvp_view *view);

/* ", weights by rule ggml.rules:12 ..." in the line of a call stack; nothing without attribution. */
void rvp_text_purpose(const struct rvp_view *view, const struct rvp_site *site);

const char *rvp_view_purpose_name(const struct rvp_view *view, uint16_t purpose);

#endif
