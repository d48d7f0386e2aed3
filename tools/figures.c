/* SPDX-License-Identifier: MIT */
/* figures.c: see figures.h. */
#include "tools/figures.h"

#include "report/text_numbers.h"
#include "report/text_style.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { KEY_COLUMNS = 34, PLAIN_KEY_COLUMNS = 16 };

void rvp_figures_open(struct rvp_figures *figures, bool is_json, const char *schema)
{
	*figures = (struct rvp_figures){.json = {.out = stdout}, .is_json = is_json};
	if (!is_json)
		return;
	rvp_json_open(&figures->json, NULL, '{');
	if (schema)
		rvp_json_string(&figures->json, "schema", schema);
}

void rvp_figures_close(struct rvp_figures *figures)
{
	if (!figures->is_json)
		return;
	rvp_json_close(&figures->json, '}');
	fputc('\n', stdout);
}

void rvp_figures_group(struct rvp_figures *figures, const char *key, const char *title)
{
	if (figures->is_json)
		rvp_json_open(&figures->json, key, '{');
	else
		printf("%s%s\n", figures->has_text ? "\n" : "", title);
	figures->has_text = true;
}

void rvp_figures_end(struct rvp_figures *figures)
{
	if (figures->is_json)
		rvp_json_close(&figures->json, '}');
}

static void begin_line(struct rvp_figures *figures, const char *key)
{
	if (figures->is_plain)
		printf("%-*s ", PLAIN_KEY_COLUMNS, key);
	else
		printf("  %-*s ", KEY_COLUMNS, key);
	figures->has_text = true;
}

void rvp_figure_whole(struct rvp_figures *figures, const char *key, uint64_t value)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	if (figures->is_json) {
		rvp_json_number(&figures->json, key, value);
		return;
	}
	begin_line(figures, key);
	if (figures->is_plain)
		printf("%" PRIu64 "\n", value);
	else
		puts(rvp_text_count(value, text));
}

void rvp_figure_bytes(struct rvp_figures *figures, const char *key, uint64_t bytes)
{
	char text[RVP_NUMBER_TEXT_BYTES], exact[RVP_NUMBER_TEXT_BYTES];

	if (figures->is_json) {
		rvp_json_number(&figures->json, key, bytes);
		return;
	}
	begin_line(figures, key);
	printf("%s (%s)\n", rvp_text_count(bytes, exact), rvp_text_bytes(bytes, text));
}

void rvp_figure_double(struct rvp_figures *figures, const char *key, double value)
{
	char text[RVP_JSON_DOUBLE_BYTES];

	if (isnan(value))
		return;
	if (figures->is_json) {
		rvp_json_double(&figures->json, key, value);
		return;
	}
	begin_line(figures, key);
	if (figures->is_plain)
		puts(rvp_json_double_text(value, text));
	else
		printf("%.10g\n", value);
}

void rvp_figure_bool(struct rvp_figures *figures, const char *key, bool value)
{
	if (figures->is_json) {
		rvp_json_bool(&figures->json, key, value);
		return;
	}
	begin_line(figures, key);
	puts(value ? "yes" : "no");
}

void rvp_figure_text(struct rvp_figures *figures, const char *key, const char *value)
{
	if (figures->is_json) {
		rvp_json_string(&figures->json, key, value);
		return;
	}
	begin_line(figures, key);
	rvp_print_safely(stdout, value, 0);
	fputc('\n', stdout);
}
