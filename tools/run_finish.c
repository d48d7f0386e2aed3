/* SPDX-License-Identifier: MIT */
/* run_finish.c: see run_finish.h. The numbers are those of summary.json, so that they agree with every other
 * output; when it could not be written, what the watcher saw. */
#include "tools/run_finish.h"

#include "record/pattern.h"
#include "report/compress.h"
#include "report/finalize.h"
#include "report/text_numbers.h"
#include "report/text_style.h"
#include "tools/commands.h"
#include "tools/doctor.h"
#include "tools/summary_verdicts.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

static const char *const outputs[] = {"summary.json", "memory.csv", "categories.csv", "latency.csv",
				      "kernels.csv", "power.csv", "trace.json", "run.json"};

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

static void say_peak(const json_t *summary, const struct rvp_run_end *end, const struct rvp_style *style)
{
	char resident[RVP_NUMBER_TEXT_BYTES], live[RVP_NUMBER_TEXT_BYTES];
	uint64_t rss_bytes = number(json_object_get(summary, "host"), "peak_rss_bytes");
	const json_t *totals = json_object_get(summary, "totals");
	const char *on = rvp_style_on(style, RVP_INK_NUMBER), *off = rvp_style_off(style, RVP_INK_NUMBER);

	if (!rss_bytes)
		rss_bytes = end->watched.peak_rss_bytes;
	if (!rss_bytes) /* it was over before anybody looked */
		return;
	rvp_text_bytes(rss_bytes, resident);
	rvp_text_bytes(number(totals, "peak_live_bytes"), live);
	if (json_object_get(totals, "peak_live_bytes"))
		rvp_say_in_color("peak: %s%s%s resident (RSS), %s%s%s in live heap blocks", on, resident, off, on,
				 live, off);
	else
		rvp_say_in_color("peak: %s%s%s resident (RSS)", on, resident, off);
}

static void say_energy(const json_t *summary)
{
	const json_t *energy = json_object_get(summary, "energy"), *joules = json_object_get(energy, "total_joules");

	if (!joules)
		return;
	rvp_complain("energy: %.4g J, mean %.4g W (%s%s)", json_number_value(joules),
		     json_number_value(json_object_get(energy, "mean_watts")),
		     json_string_value(json_object_get(energy, "source")),
		     json_is_true(json_object_get(energy, "is_mock")) ? "; a mock is made up, not measured" : "");
}

static void say_what(const json_t *summary)
{
	const json_t *run = json_object_get(summary, "run"), *totals = json_object_get(summary, "totals");
	char allocs[RVP_NUMBER_TEXT_BYTES], frees[RVP_NUMBER_TEXT_BYTES], processes[RVP_NUMBER_TEXT_BYTES];
	const char *mode = json_string_value(json_object_get(run, "mode"));
	uint64_t count = number(run, "processes"), born = number(totals, "alloc_count"), freed = number(totals, "free_count");

	if (!totals)
		return;
	rvp_complain("%s alloc%s and %s free%s of %s process%s in %.1f s (%s mode)", rvp_text_count(born, allocs),
		     born == 1 ? "" : "s", rvp_text_count(freed, frees), freed == 1 ? "" : "s",
		     rvp_text_count(count, processes), count == 1 ? "" : "es", json_number_value(json_object_get(run, "duration_s")),
		     mode ? mode : "?");
}

static void say_lost(const json_t *summary, const struct rvp_style *style)
{
	const json_t *lost = json_object_get(summary, "lost");
	char text[LINE_BYTES] = "";
	const char *name;
	json_t *count;

	if (!number(lost, "records"))
		return;
	json_object_foreach(json_object_get(lost, "reasons"), name, count)
	{
		size_t length = strlen(text);

		snprintf(text + length, sizeof text - length, "%s%s %" PRIu64, length ? ", " : "", name,
			 (uint64_t)json_integer_value(count));
	}
	rvp_say_in_color("%slost: %" PRIu64 " records (%s)%s", rvp_style_on(style, RVP_INK_BAD),
			 number(lost, "records"), text, rvp_style_off(style, RVP_INK_BAD));
}

static void say_cut(const json_t *summary)
{
	const json_t *kernels = json_object_get(summary, "kernels");
	uint64_t rows = number(kernels, "csv_rows"), cut = number(kernels, "csv_cut_rows");

	if (cut)
		rvp_complain("kernels.csv has the first %" PRIu64 " of %" PRIu64 " kernels; `rvprof export csv` writes all",
			     rows, rows + cut);
}

static void say_windows(const json_t *summary)
{
	const char *text = json_string_value(json_object_get(json_object_get(summary, "windows"), "text"));

	if (text)
		rvp_complain("%s", text);
}

static void say_where(const char *path)
{
	char file[RVP_FOLDER_BYTES + 64], text[LINE_BYTES] = "";
	struct stat info;

	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
		size_t length = strlen(text);

		snprintf(file, sizeof file, "%s/%s", path, outputs[i]);
		if (stat(file, &info) == 0)
			snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "", outputs[i]);
	}
	rvp_complain("%s/ has %s", rvp_path_from_here(path),
		     *text ? text : "the records; the outputs are not written yet");
}

static json_t *read_summary(const char *folder)
{
	char path[RVP_FOLDER_BYTES + 64];

	snprintf(path, sizeof path, "%s/summary.json", folder);
	return json_load_file(path, 0, NULL);
}

static void say_verdicts(const char *folder)
{
	struct rvp_verdicts verdicts;

	rvp_summary_verdicts(&verdicts, folder);
	for (size_t i = 0; i < verdicts.count; i++)
		rvp_complain("%s", verdicts.sentences[i].text);
}

static void say_summary(const struct rvp_run_place *place, const struct rvp_run_end *end,
			enum rvp_color_choice color)
{
	struct rvp_style style = rvp_style_for(STDERR_FILENO, color);
	json_t *summary = read_summary(place->path);
	const char *path = rvp_path_from_here(place->path);

	say_peak(summary, end, &style);
	say_verdicts(place->path);
	say_what(summary);
	say_energy(summary);
	say_windows(summary);
	say_lost(summary, &style);
	say_cut(summary);
	say_where(place->path);
	rvp_complain("look:  rvprof report %s", path);
	rvp_complain("       rvprof info %s", path);
	json_decref(summary);
}

static const char *reason_in(const struct rvp_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->rows[i].level == RVP_FINDING_NO)
			return findings->rows[i].text;
	return NULL;
}

/* The library never came to life in the program. */
static void say_unseen(const struct rvp_run_settings *settings, const struct rvp_run_end *end)
{
	static struct rvp_findings findings;
	const char *name = settings->program[0], *reason;

	if (settings->options.only[0] && !rvp_pattern_matches(settings->options.only, rvp_folder_exe(name))) {
		rvp_complain("nothing was recorded: no program matched --only '%s'", settings->options.only);
		return;
	}
	rvp_doctor_program(&findings, end->program_path);
	reason = reason_in(&findings);
	if (reason)
		rvp_complain("nothing inside '%s' was recorded: %s", name, reason);
	else
		rvp_complain("nothing inside '%s' was recorded; `rvprof doctor %s` tells more", name, name);
}

static enum rvp_color_choice color_of(enum rvp_wants_color wanted)
{
	return wanted == RVP_WANTS_COLOR_ALWAYS  ? RVP_COLOR_ALWAYS
	       : wanted == RVP_WANTS_COLOR_NEVER ? RVP_COLOR_NEVER
						 : RVP_COLOR_AUTO;
}

static void write_outputs(const struct rvp_run_place *place)
{
	struct rvp_status status = rvp_finalize(place->path);

	if (!rvp_failed(status))
		return;
	rvp_complain_of(&status);
	rvp_complain("the records are safe; `rvprof report %s` tries again", rvp_path_from_here(place->path));
}

void rvp_run_finish(const struct rvp_run_settings *settings, const struct rvp_run_place *place,
		    const struct rvp_run_end *end)
{
	bool unseen = atomic_load(&place->tree->next_entry) == 0 && !settings->options.disable;

	if (settings->options.finalize)
		write_outputs(place);
	if (unseen)
		say_unseen(settings, end);
	if (!settings->options.quiet)
		say_summary(place, end, color_of(settings->options.color));
	if (settings->options.finalize)
		rvp_compress_in_background(place->path);
}
