/* SPDX-License-Identifier: MIT */
/* cmd_info.c: `rvprof info [DIR] [--json]`: what a run folder holds: the run, its processes, their records
 * and sizes, and what is damaged or missing. Reads definitions and counters, not the timeline. */
#include "report/json_writer.h"
#include "report/run.h"
#include "tools/commands.h"
#include "tools/folder_arguments.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

static const char help[] =
    "Usage: rvprof info [DIR] [--json]\n"
    "What a run folder holds: the run, its processes, records, sizes, and what is missing.\n"
    "  --json   one JSON object, schema rvprof.info/1\n"
    "  --help   this\n";

static const char *const ends[] = {[RVP_END_ALIVE] = "running",
				   [RVP_END_EXITED] = "exited",
				   [RVP_END_REPLACED] = "replaced by exec",
				   [RVP_END_KILLED] = "killed"};

static void print_time(uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	struct tm local;
	char text[64];

	if (localtime_r(&seconds, &local) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &local))
		printf("%s", text);
}

/* Of a text that a log may have made up: nothing that a terminal would act on. */
static void print_plain(const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stdout);
}

static void print_run(const struct rvp_run *run)
{
	printf("run        %s\n", run->id[0] ? run->id : "(its table of processes is unreadable)");
	printf("command   ");
	for (size_t i = 0; i < run->command_count; i++) {
		fputc(' ', stdout);
		print_plain(run->command[i]);
	}
	printf("%s\nstarted    ", run->command_is_cut ? " ..." : "");
	print_time(run->begin_ns);
	printf("\nlasted     %.3f s%s\n", (double)(run->end_ns - run->begin_ns) / 1e9,
	       run->alive_count ? " so far" : "");
	printf("mode       %s\nlog        %s\n", run->mode == RVP_MODE_FULL ? "full" : "sampled",
	       run->is_folded ? "folded" : "whole");
	printf("processes  %zu, %zu running, %" PRIu64 " not followed\n", run->process_count,
	       run->alive_count, run->unfollowed);
	if (*run->origin.fingerprint)
		printf("fingerprint  %s\n", run->origin.fingerprint);
	if (*run->origin.config_fingerprint)
		printf("config     %s\n", run->origin.config_fingerprint);
	if (run->clock_is_guessed)
		printf("clock      no second anchor: times are guessed, their order is right\n");
	if (run->flaw[0]) {
		printf("flaw       ");
		print_plain(run->flaw);
		printf("\n");
	}
}

static void print_losses(const char *indent, uint64_t lost_records, const uint64_t *loss)
{
	if (lost_records)
		printf("%slost: %" PRIu64 " records\n", indent, lost_records);
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		if (loss[i])
			printf("%s%s: %" PRIu64 " (%s)\n", indent, rvp_loss_names[i], loss[i],
			       rvp_loss_texts[i]);
}

static void print_process(const struct rvp_process *process)
{
	printf("\nprocess %u  ", process->pid);
	print_plain(process->name);
	printf("  %s after %.3f s%s\n", ends[process->end],
	       (double)(process->end_ns - process->begin_ns) / 1e9, process->is_fork ? ", a fork" : "");
	printf("  allocs %" PRIu64 ", frees %" PRIu64 ", %" PRIu64 " bytes given out\n",
	       process->counters.alloc_count, process->counters.free_count, process->counters.alloc_bytes);
	if (process->folder)
		printf("  %s: %" PRIu64 " records, %" PRIu64 " bytes, %zu modules, %zu threads\n",
		       process->folder, process->decoded_records, process->log_bytes, process->module_count,
		       process->thread_count);
	else
		printf("  no log: it recorded nothing but its counters\n");
	if (process->flaw[0]) {
		printf("  flaw: ");
		print_plain(process->flaw);
		printf("\n");
	}
	print_losses("  ", process->lost_records, process->loss);
}

static void json_losses(struct rvp_json *json, uint64_t lost_records, const uint64_t *loss)
{
	rvp_json_open(json, "lost", '{');
	rvp_json_number(json, "records", lost_records);
	rvp_json_open(json, "reasons", '{');
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		if (loss[i])
			rvp_json_number(json, rvp_loss_names[i], loss[i]);
	rvp_json_close(json, '}');
	rvp_json_close(json, '}');
}

static void json_process(struct rvp_json *json, const struct rvp_process *process)
{
	rvp_json_open(json, NULL, '{');
	rvp_json_number(json, "pid", process->pid);
	rvp_json_number(json, "parent_pid", process->parent_pid);
	rvp_json_string(json, "name", process->name);
	rvp_json_string(json, "exe", process->exe);
	rvp_json_string(json, "state", ends[process->end]);
	rvp_json_bool(json, "is_fork", process->is_fork);
	rvp_json_number(json, "begin_unix_us", process->begin_ns / 1000);
	rvp_json_decimal(json, "duration_s", (double)(process->end_ns - process->begin_ns) / 1e9, 6);
	if (process->folder)
		rvp_json_string(json, "folder", process->folder);
	rvp_json_number(json, "records", process->decoded_records);
	rvp_json_number(json, "log_bytes", process->log_bytes);
	rvp_json_number(json, "modules", process->module_count);
	rvp_json_number(json, "threads", process->thread_count);
#define RVP_COUNTER(name, what) rvp_json_number(json, #name, process->counters.name);
#include "record/counters.def"
	if (process->flaw[0])
		rvp_json_string(json, "flaw", process->flaw);
	json_losses(json, process->lost_records, process->loss);
	rvp_json_close(json, '}');
}

static void print_json(const struct rvp_run *run)
{
	struct rvp_json json = {.out = stdout};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.info/1");
	rvp_json_string(&json, "id", run->id);
	rvp_json_open(&json, "command", '[');
	for (size_t i = 0; i < run->command_count; i++)
		rvp_json_string(&json, NULL, run->command[i]);
	rvp_json_close(&json, ']');
	rvp_json_number(&json, "start_unix_us", run->begin_ns / 1000);
	rvp_json_decimal(&json, "duration_s", (double)(run->end_ns - run->begin_ns) / 1e9, 6);
	rvp_json_string(&json, "mode", run->mode == RVP_MODE_FULL ? "full" : "sampled");
	rvp_json_string(&json, "log", run->is_folded ? "folded" : "whole");
	rvp_json_bool(&json, "complete", run->alive_count == 0);
	rvp_json_number(&json, "processes_alive", run->alive_count);
	rvp_json_number(&json, "unfollowed", run->unfollowed);
	if (*run->origin.fingerprint)
		rvp_json_string(&json, "fingerprint", run->origin.fingerprint);
	if (*run->origin.config_fingerprint)
		rvp_json_string(&json, "config_fingerprint", run->origin.config_fingerprint);
	rvp_json_bool(&json, "clock_is_guessed", run->clock_is_guessed);
	if (run->flaw[0])
		rvp_json_string(&json, "flaw", run->flaw);
	json_losses(&json, run->lost_records, run->loss);
	rvp_json_open(&json, "processes", '[');
	for (size_t i = 0; i < run->process_count; i++)
		json_process(&json, &run->processes[i]);
	rvp_json_close(&json, ']');
	rvp_json_close(&json, '}');
	fputc('\n', stdout);
}

static int inform(const char *folder, bool is_json)
{
	struct rvp_run *run;
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	rvp_origin_make(run, NULL);
	if (is_json) {
		print_json(run);
	} else {
		print_run(run);
		print_losses("", run->lost_records, run->loss);
		for (size_t i = 0; i < run->process_count; i++)
			print_process(&run->processes[i]);
	}
	rvp_run_close(run);
	return RVP_EXIT_DONE;
}

int rvp_cmd_info(int argc, char **argv)
{
	struct rvp_folder_arguments arguments;
	char path[PATH_MAX];
	int status;

	if (!rvp_folder_arguments_read(argc, argv, help, path, &arguments, &status))
		return status;
	return inform(arguments.folder, arguments.is_json);
}
