/* SPDX-License-Identifier: MIT */
/* text_json.h: the JSON of an answer: {"schema", "rows": [{"bytes", "count", "category", "stack": []}],
 * "total_bytes"}. */
#ifndef RVP_TEXT_JSON_H
#define RVP_TEXT_JSON_H

#include "report/text_report.h"

/* Writes `text` as a JSON string with its quotes. What is no UTF-8 becomes U+FFFD. */
void rvp_json_text(FILE *out, const char *text);

/* The groups by `measure`, the first `row_count` of them; total_bytes is that of all. Fails only without
 * memory, and then nothing was written. */
struct rvp_status rvp_json_sites(const struct rvp_view *view, enum rvp_measure measure, size_t row_count);

#endif
