/* SPDX-License-Identifier: MIT */
/* cmd_report.c: `rvprof report [OPTION..] [DIR]`: what was recorded, as text or JSON; also while the program
 * runs.
 *
 * Order: the folder is found, its outputs are written where they are missing or older than the records, the
 * run is opened and analysed in one pass (two when a moment is called "peak"), stacks are named, the answer
 * is printed.
 */
#include "tools/commands.h"

#include "report/attribution.h"
#include "report/blas_work.h"
#include "report/compress.h"
#include "report/finalize.h"
#include "report/run_tables.h"
#include "report/text_categories.h"
#include "report/text_device.h"
#include "report/text_json.h"
#include "report/text_latency.h"
#include "report/text_ledger.h"
#include "report/text_times.h"
#include "report/write_device.h"
#include "report/write_ledger.h"
#include "tools/newest_run.h"
#include "tools/report_kernels.h"
#include "tools/report_questions.h"
#include "tools/report_roofline.h"
#include "tools/report_settings.h"
#include "tools/run_loss.h"
#include "tools/stats_tables.h"
#include "tools/summary_verdicts.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOP_DEFAULT = 10, MORE_DEFAULT = 5, FRAMES_DEFAULT = 5, COPY_BYTES = 65536 };

/* What is open while the answer is made. */
struct report {
	struct rvp_report_settings settings;
	struct rvp_view view;
	struct rvp_run *run;
	struct rvp_verdicts verdicts;
	struct rvp_analysis answer;
	struct rvp_attribution *attribution;
	struct rvp_ledger ledger;
	struct rvp_blas_work work;
	uint32_t device; /* number of the one that was asked about; 0: the host */
	struct rvp_device_answers devices; /* that one, else all */
	struct rvp_symbols *symbols;
	struct rvp_stacks *stacks;
	struct rvp_groups groups;
	bool grows_to_end;
};

/* ---- moments ---- */

static bool is_peak(const char *text)
{
	return text && !strcmp(text, "peak");
}

/* When the peak was; a pass of its own, so only where it is asked for. */
static struct rvp_status find_peak(struct rvp_run *run, uint32_t device, uint64_t *peak_ns)
{
	struct rvp_analysis answer;
	struct rvp_status status = rvp_analyse(run, &(struct rvp_question){.device = device}, &answer);

	if (rvp_failed(status))
		return status;
	*peak_ns = answer.tracked_peak_ns;
	rvp_analysis_free(&answer);
	return RVP_OK;
}

static struct rvp_status take_moment(struct report *report, const char *text, uint64_t peak_ns)
{
	struct rvp_asked_moment *moment = &report->view.moments[report->view.moment_count];
	struct rvp_status status = rvp_time_of(report->run, text, peak_ns, &moment->ns);

	moment->text = text;
	report->view.moment_count += !rvp_failed(status);
	return status;
}

/* Whether moment `number` is the end: there the end of each process counts, not what is left when all are
 * gone. */
static bool is_end(const struct report *report, size_t number)
{
	return report->view.moments[number].ns >= report->run->end_ns;
}

static struct rvp_status find_at(struct report *report, uint64_t peak_ns)
{
	struct rvp_status status = take_moment(report, report->settings.at, peak_ns);

	if (!rvp_failed(status) && is_end(report, 0)) {
		report->view.moment_count = 0;
		report->settings.measure = RVP_AT_END;
		report->settings.by = "end";
	}
	return status;
}

static struct rvp_status find_growth(struct report *report, const char *from, const char *to,
				     uint64_t peak_ns)
{
	struct rvp_status status = take_moment(report, from, peak_ns);

	if (!rvp_failed(status))
		status = take_moment(report, to, peak_ns);
	if (rvp_failed(status))
		return status;
	if (is_end(report, 0) || report->view.moments[0].ns > report->view.moments[1].ns)
		return rvp_fail_with("report growth", NULL, "%s is not before %s", from, to);
	report->grows_to_end = is_end(report, 1);
	return RVP_OK;
}

static struct rvp_status find_moments(struct report *report)
{
	const struct rvp_report_settings *settings = &report->settings;
	uint64_t peak_ns = RVP_NEVER;
	struct rvp_status status = RVP_OK;

	if (is_peak(settings->at) || is_peak(settings->from) || is_peak(settings->to))
		status = find_peak(report->run, report->device, &peak_ns);
	if (!rvp_failed(status) && settings->at)
		status = find_at(report, peak_ns);
	else if (!rvp_failed(status) && (settings->from || settings->to))
		status = find_growth(report, settings->from ? settings->from : "0s",
				     settings->to ? settings->to : "end", peak_ns);
	return status;
}

/* ---- the answer ---- */

static struct rvp_attribution_settings rules_of(const struct rvp_report_settings *settings)
{
	return (struct rvp_attribution_settings){.rule_files = settings->rule_files};
}

/* Where nothing but the host was asked about, devices are a section of the whole report. */
static bool wants_devices(const struct rvp_report_settings *settings)
{
	return settings->ledger || (!settings->json && !settings->at && !settings->from && !settings->to && !settings->by);
}

static struct rvp_status analyse_device(struct report *report, const uint64_t *moments_ns)
{
	struct rvp_status status =
	    rvp_device_answers_make(&report->devices, report->run, report->attribution, report->device, moments_ns,
				    report->view.moment_count, false);

	if (!rvp_failed(status))
		report->view.answer = &report->devices.items[0].analysis;
	return status;
}

static struct rvp_status analyse_host(struct report *report, const uint64_t *moments_ns)
{
	struct rvp_observer *observers[] = {&report->ledger.observer, &report->work.observer, NULL};
	struct rvp_question question = {.moments_ns = moments_ns,
					.moment_count = report->view.moment_count,
					.observers = observers,
					.attribution = report->attribution};
	struct rvp_status status = RVP_OK;

	if (!rvp_ledger_open(&report->ledger, report->run) ||
	    !rvp_blas_work_open(&report->work, report->run, rvp_attribution_steps(report->attribution)))
		return rvp_fail("keep the ledger", NULL, ENOMEM);
	if (wants_devices(&report->settings))
		status = rvp_device_answers_make(&report->devices, report->run, report->attribution, 0, NULL, 0, false);
	if (!rvp_failed(status))
		status = rvp_analyse(report->run, &question, &report->answer);
	report->view.answer = rvp_failed(status) ? NULL : &report->answer;
	report->view.work = &report->work;
	return status;
}

static struct rvp_status analyse(struct report *report)
{
	uint64_t moments_ns[2] = {report->view.moments[0].ns, report->view.moments[1].ns};
	struct rvp_attribution_settings rules = rules_of(&report->settings);
	struct rvp_status status = rvp_attribute(report->run, &rules, &report->attribution);

	if (rvp_failed(status))
		return status;
	report->view.attribution = report->attribution;
	return report->device ? analyse_device(report, moments_ns) : analyse_host(report, moments_ns);
}

static struct rvp_status name_stacks(struct report *report)
{
	struct rvp_view *view = &report->view;
	struct rvp_status status;

	report->symbols = rvp_symbols_open(NULL);
	report->stacks = report->symbols ? rvp_stacks_open(report->symbols, report->run) : NULL;
	if (!report->stacks)
		return rvp_fail("name the call stacks", NULL, ENOMEM);
	status = rvp_groups_make(&report->groups, report->stacks, view->answer, view->moment_count);
	report->groups.grows_to_end = report->grows_to_end;
	view->groups = rvp_failed(status) ? NULL : &report->groups;
	view->symbols = report->symbols;
	return status;
}

static enum rvp_measure measure_asked(const struct report *report)
{
	if (report->view.moment_count)
		return report->view.moment_count == 1 ? RVP_AT_MOMENT : RVP_GROWTH;
	return report->settings.measure;
}

static void print_ledger(struct report *report)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(report->attribution);

	if (report->settings.json) {
		rvp_ledgers_write_json(stdout, report->run, report->device ? NULL : &report->ledger, &report->answer,
				       &report->devices, purposes);
		return;
	}
	rvp_text_run(&report->view);
	if (!report->device)
		rvp_text_ledger(&report->view, &report->ledger);
	rvp_text_device_ledgers(&report->view, &report->devices);
	rvp_text_lost(&report->view);
}

static void print_device(const struct report *report)
{
	rvp_text_run(&report->view);
	rvp_text_device_totals(&report->view, &report->devices.items[0]);
	rvp_text_steps(&report->view);
	rvp_text_categories(&report->view);
	rvp_text_lists(&report->view);
	rvp_text_lost(&report->view);
	rvp_text_names(&report->view);
}

/* Everything, the host's first; devices where there are any. */
static struct rvp_status print_report(struct report *report)
{
	struct rvp_status status;

	if (report->device) {
		print_device(report);
		return RVP_OK;
	}
	rvp_text_host(&report->view);
	status = rvp_text_devices(&report->view, &report->devices, report->stacks);
	if (!rvp_failed(status))
		status = rvp_report_kernels_section(&report->view, report->settings.rule_files);
	rvp_text_rest(&report->view);
	rvp_text_allocator(&report->view, &report->ledger);
	return status;
}

static struct rvp_status print(struct report *report)
{
	size_t rows = report->settings.has_top ? report->settings.top_count : SIZE_MAX;

	if (report->settings.ledger) {
		print_ledger(report);
		return RVP_OK;
	}
	if (report->settings.json)
		return rvp_json_sites(&report->view, measure_asked(report), rows);
	if (report->settings.by) {
		rvp_text_run(&report->view);
		rvp_text_sites(&report->view, report->settings.measure, report->view.top_count);
		rvp_text_lost(&report->view);
		rvp_text_names(&report->view);
		return RVP_OK;
	}
	return print_report(report);
}

static struct rvp_status inquire(struct report *report)
{
	const struct rvp_report_settings *settings = &report->settings;
	const struct rvp_question_words *words = &settings->words;

	return rvp_inquire(report->run, &report->view,
			   &(struct rvp_question_asked){
			       .what = words->what,
			       .text = words->text,
			       .step = words->step,
			       .versus_step = words->versus_step,
			       .fit_bytes = words->fit_bytes,
			       .device = report->device,
			       .json = settings->json,
			       .row_count = settings->has_top ? settings->top_count : SIZE_MAX,
			       .rule_files = settings->rule_files,
			       .aside = stderr,
			   });
}

static struct rvp_status find_device(struct report *report)
{
	struct rvp_status status = RVP_OK;

	if (report->settings.device)
		status = rvp_device_find(report->run, report->settings.device, &report->device);
	if (report->device)
		report->view.device = &report->run->devices[report->device - 1];
	return status;
}

static struct rvp_status kernels(struct report *report)
{
	const struct rvp_report_settings *settings = &report->settings;

	return rvp_report_kernels(report->run, &report->view,
				  &(struct rvp_kernels_asked){
							      .has_step = settings->words.what == RVP_ASKED_STEPS,
							      .step = settings->words.step,
							      .by = settings->kernels_by,
							      .json = settings->json,
							      .row_count = settings->has_top ? settings->top_count : SIZE_MAX,
							      .rule_files = settings->rule_files});
}

static struct rvp_status print_table(const struct report *report)
{
	const struct rvp_report_settings *settings = &report->settings;
	struct rvp_kernel_table table;
	struct rvp_status status;

	if (!settings->query)
		return rvp_run_table_print(report->run, settings->table, settings->json, stdout);
	status = rvp_run_table_groups(report->run, settings->table, &table);
	if (!rvp_failed(status))
		status = rvp_print_kernel_query(&table, &(struct rvp_table_asked){.query = settings->query,
										  .is_json = settings->json,
										  .out = stdout});
	rvp_kernel_table_free(&table);
	return status;
}

/* Not the report itself, which has a list of what was lost. */
static bool is_question(const struct rvp_report_settings *settings)
{
	return settings->has_table || settings->kernels || settings->latency || settings->roofline || settings->words.what;
}

static struct rvp_status answer(struct report *report, const char *folder)
{
	struct rvp_status status = rvp_run_open(&report->run, folder);

	if (rvp_failed(status)) {
		report->run = NULL;
		return status;
	}
	status = find_device(report);
	if (rvp_failed(status))
		return status;
	report->view.run = report->run;
	if (is_question(&report->settings))
		rvp_say_loss(report->run);
	if (report->settings.has_table)
		return print_table(report);
	if (report->settings.kernels)
		return kernels(report);
	if (report->settings.latency)
		return rvp_report_latency(&report->view, report->settings.json);
	if (report->settings.roofline)
		return rvp_report_roofline(report->run, &report->view, report->settings.json);
	if (report->settings.words.what)
		return inquire(report);
	status = find_moments(report);
	if (!rvp_failed(status))
		status = analyse(report);
	if (!rvp_failed(status) && !report->settings.ledger)
		status = name_stacks(report);
	return rvp_failed(status) ? status : print(report);
}

static void close_report(struct report *report)
{
	if (report->view.groups)
		rvp_groups_free(&report->groups);
	rvp_stacks_close(report->stacks);
	rvp_symbols_close(report->symbols);
	if (report->view.answer && !report->device)
		rvp_analysis_free(&report->answer);
	rvp_device_answers_free(&report->devices);
	if (!report->device) {
		rvp_ledger_close(&report->ledger);
		rvp_blas_work_close(&report->work);
	}
	rvp_attribution_close(report->attribution);
	if (report->run)
		rvp_run_close(report->run);
}

/* ---- summary.json ---- */

static struct rvp_status print_summary(const char *folder)
{
	char path[PATH_MAX + 32], bytes[COPY_BYTES];
	FILE *file;
	size_t got;

	snprintf(path, sizeof path, "%s/summary.json", folder);
	file = fopen(path, "re");
	if (!file)
		return rvp_fail("read", path, errno);
	while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
		fwrite(bytes, 1, got, stdout);
	got = (size_t)ferror(file);
	fclose(file);
	return got ? rvp_fail("read", path, EIO) : RVP_OK;
}

static bool wants_summary(const struct rvp_report_settings *settings)
{
	return settings->json && !settings->words.what && !settings->at && !settings->from && !settings->to &&
	       !settings->by && !settings->ledger && !settings->device &&
	       !settings->kernels && !settings->latency && !settings->roofline && !settings->has_table;
}

/* 2 after a complaint; a pipe that nobody reads is no failure of ours. */
static int finish(struct rvp_status status)
{
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	if (fflush(stdout) == 0 || errno == EPIPE)
		return RVP_EXIT_DONE;
	rvp_complain("cannot write the report: %s", strerror(errno));
	return RVP_EXIT_USAGE;
}

/* Outputs that cannot be written (a read-only folder) do not keep the text from being right; one line says
 * so. */
static int report_on(struct report *report, const char *folder)
{
	struct rvp_attribution_settings rules = rules_of(&report->settings);
	struct rvp_status finalized =
	    report->settings.rule_count ? rvp_finalize_with(folder, &rules) : rvp_finalize_if_stale(folder);
	struct rvp_status status = finalized;

	rvp_summary_verdicts(&report->verdicts, folder);
	report->view.verdicts = report->settings.words.what || report->settings.kernels || report->settings.latency ||
				 report->settings.roofline || report->settings.has_table
			     ? NULL
			     : &report->verdicts;
	if (!wants_summary(&report->settings)) {
		status = answer(report, folder);
		if (!rvp_failed(status) && rvp_failed(finalized))
			rvp_complain_of(&finalized);
	} else if (!rvp_failed(status)) {
		status = print_summary(folder);
	}
	close_report(report);
	if (!rvp_failed(finalized))
		rvp_compress_in_background(folder);
	return finish(status);
}

static struct rvp_view view_of(const struct rvp_report_settings *settings, const char *here)
{
	return (struct rvp_view){.out = stdout,
				 .style = rvp_style_for(STDOUT_FILENO, settings->color),
				 .here = here,
				 .top_count = settings->top_count,
				 .more_count = settings->has_top ? settings->top_count : MORE_DEFAULT,
				 .frame_count = settings->frame_count};
}

int rvp_cmd_report(int argc, char **argv)
{
	struct report report = {.settings = {.top_count = TOP_DEFAULT, .frame_count = FRAMES_DEFAULT}};
	bool wants_help = false;
	char path[PATH_MAX], here[PATH_MAX];
	const char *folder;

	if (!rvp_report_settings_take(&report.settings, argc, argv, &wants_help))
		return RVP_EXIT_USAGE;
	if (wants_help) {
		fputs(rvp_report_help, stdout);
		return finish(RVP_OK);
	}
	folder = rvp_run_folder_of("report", argc - optind, argv + optind, path);
	if (!folder)
		return RVP_EXIT_USAGE;
	report.view = view_of(&report.settings, getcwd(here, sizeof here) ? here : "");
	return report_on(&report, folder);
}
