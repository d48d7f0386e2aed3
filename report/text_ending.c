/* SPDX-License-Identifier: MIT */
/* text_ending.c: how a process ended, in words. */
#include "report/text_report.h"

#include <inttypes.h>
#include <string.h>

const struct rvp_process *rvp_last_root(const struct rvp_run *run)
{
	const struct rvp_process *root = run->root < run->process_count ? &run->processes[run->root] : NULL;
	const struct rvp_process *last = root;

	for (size_t i = 0; root && i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		if (process->pid == root->pid && process->start_ticks == root->start_ticks &&
		    process->begin_ns > last->begin_ns)
			last = process;
	}
	return last;
}

static void say_ending(uint64_t how, uint64_t status, char *text, size_t text_bytes)
{
	if (how == RVP_ENDING_SIGNAL)
		snprintf(text, text_bytes, "killed by signal %" PRIu64 " (%s)", status,
			 strsignal((int)status));
	else
		snprintf(text, text_bytes, "exit status %" PRIu64, status);
}

void rvp_text_process_ending(const struct rvp_process *process, char *text, size_t text_bytes)
{
	switch (process->end) {
	case RVP_END_ALIVE: snprintf(text, text_bytes, "still running"); break;
	case RVP_END_EXITED: say_ending(process->exit_how, process->exit_status, text, text_bytes); break;
	case RVP_END_REPLACED: snprintf(text, text_bytes, "replaced by exec"); break;
	case RVP_END_KILLED:
		if (process->exit_how == RVP_ENDING_SIGNAL)
			say_ending(process->exit_how, process->exit_status, text, text_bytes);
		else
			snprintf(text, text_bytes, "killed (its exit was never reached)");
		break;
	}
}

void rvp_text_ending(const struct rvp_run *run, char *text, size_t text_bytes)
{
	const struct rvp_process *root = rvp_last_root(run);

	if (run->has_child_end)
		say_ending(run->child_how, run->child_status, text, text_bytes);
	else if (root)
		rvp_text_process_ending(root, text, text_bytes);
	else
		snprintf(text, text_bytes, "no process recorded anything");
}
