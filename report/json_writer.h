/* SPDX-License-Identifier: MIT */
/* json_writer.h: JSON to a file, as it goes. Commas and depth are kept here; keys are literals of ours, texts
 * are escaped and made UTF-8 (text_json.h). A key of NULL: an item of an array. */
#ifndef RVP_REPORT_JSON_WRITER_H
#define RVP_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RVP_JSON_DEPTH_MAX = 30 };

struct rvp_json {
	FILE *out;
	unsigned depth;
	uint32_t has_items; /* bit a depth */
	bool is_compact;    /* no new lines */
};

void rvp_json_open(struct rvp_json *json, const char *key, char bracket); /* '{' or '[' */
void rvp_json_close(struct rvp_json *json, char bracket);                 /* '}' or ']' */
void rvp_json_number(struct rvp_json *json, const char *key, uint64_t value);
void rvp_json_signed(struct rvp_json *json, const char *key, int64_t value);
void rvp_json_decimal(struct rvp_json *json, const char *key, double value, int decimals);
/* To 12 digits, whatever its size. */
void rvp_json_figure(struct rvp_json *json, const char *key, double value);
/* The shortest digits that read back as the same number, without an exponent below 1e15; not a finite one: 0. */
enum { RVP_JSON_DOUBLE_BYTES = 32 };
void rvp_json_double(struct rvp_json *json, const char *key, double value);
const char *rvp_json_double_text(double value, char text[RVP_JSON_DOUBLE_BYTES]);
void rvp_json_bool(struct rvp_json *json, const char *key, bool value);
void rvp_json_string(struct rvp_json *json, const char *key, const char *value);

#endif
