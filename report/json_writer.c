/* SPDX-License-Identifier: MIT */
/* json_writer.c: see json_writer.h. Objects down to the third level take a line an item; deeper ones one
 * line. */
#include "report/json_writer.h"

#include "report/text_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LINES_TO_DEPTH = 2 };

static void new_line(struct rvp_json *json)
{
	if (json->is_compact || json->depth > LINES_TO_DEPTH)
		return;
	fprintf(json->out, "\n%*s", (int)json->depth * 2, "");
}

static void begin_item(struct rvp_json *json, const char *key)
{
	bool is_first = !(json->has_items & 1u << json->depth);

	json->has_items |= 1u << json->depth;
	if (!is_first)
		fputs(json->is_compact || json->depth <= LINES_TO_DEPTH ? "," : ", ", json->out);
	if (json->depth)
		new_line(json);
	if (key)
		fprintf(json->out, json->is_compact ? "\"%s\":" : "\"%s\": ", key);
}

void rvp_json_open(struct rvp_json *json, const char *key, char bracket)
{
	begin_item(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->has_items &= ~(1u << json->depth);
}

void rvp_json_close(struct rvp_json *json, char bracket)
{
	bool is_empty = !(json->has_items & 1u << json->depth);
	bool had_lines = json->depth <= LINES_TO_DEPTH;

	json->depth--;
	if (!is_empty && had_lines)
		new_line(json);
	fputc(bracket, json->out);
}

void rvp_json_number(struct rvp_json *json, const char *key, uint64_t value)
{
	begin_item(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void rvp_json_signed(struct rvp_json *json, const char *key, int64_t value)
{
	begin_item(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void rvp_json_decimal(struct rvp_json *json, const char *key, double value, int decimals)
{
	begin_item(json, key);
	fprintf(json->out, "%.*f", decimals, isfinite(value) ? value : 0);
}

void rvp_json_figure(struct rvp_json *json, const char *key, double value)
{
	begin_item(json, key);
	fprintf(json->out, "%.12g", isfinite(value) ? value : 0);
}

const char *rvp_json_double_text(double value, char text[RVP_JSON_DOUBLE_BYTES])
{
	if (!isfinite(value))
		value = 0;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, RVP_JSON_DOUBLE_BYTES, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

void rvp_json_double(struct rvp_json *json, const char *key, double value)
{
	char text[RVP_JSON_DOUBLE_BYTES];

	begin_item(json, key);
	fputs(rvp_json_double_text(value, text), json->out);
}

void rvp_json_bool(struct rvp_json *json, const char *key, bool value)
{
	begin_item(json, key);
	fputs(value ? "true" : "false", json->out);
}

void rvp_json_string(struct rvp_json *json, const char *key, const char *value)
{
	begin_item(json, key);
	rvp_json_text(json->out, value);
}
