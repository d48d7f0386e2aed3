/* SPDX-License-Identifier: MIT */
/* device_answer.c: see device_answer.h. */
#include "report/device_answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_status answer_one(struct rvp_device_answer *item, struct rvp_run *run,
				    const struct rvp_question *asked, bool wants_rows)
{
	struct rvp_observer *observers[] = {&item->ledger.observer, &item->refusals.observer,
					    wants_rows ? &item->rows.observer : NULL, NULL};
	struct rvp_question question = *asked;
	struct rvp_status status;

	if (!rvp_device_ledger_open(&item->ledger, run, question.device))
		return rvp_fail("keep a device's ledger", NULL, ENOMEM);
	rvp_device_refusals_open(&item->refusals, run, question.device);
	if (wants_rows && !rvp_device_rows_open(&item->rows))
		return rvp_fail("make", "a file for a device's rows", errno);
	question.observers = observers;
	status = rvp_analyse(run, &question, &item->analysis);
	if (!rvp_failed(status) && wants_rows && !rvp_device_rows_rewind(&item->rows))
		return rvp_fail("write", "a device's rows", errno ? errno : EIO);
	return status;
}

struct rvp_status rvp_device_answers_make(struct rvp_device_answers *answers, struct rvp_run *run,
					  struct rvp_attribution *attribution, uint32_t only,
					  const uint64_t *moments_ns, size_t moment_count, bool wants_rows)
{
	struct rvp_question question = {
	    .attribution = attribution, .moments_ns = moments_ns, .moment_count = moment_count};
	struct rvp_status status = RVP_OK;

	*answers =
	    (struct rvp_device_answers){.items = calloc(run->device_count + 1, sizeof *answers->items)};
	if (!answers->items)
		return rvp_fail("answer for devices", NULL, ENOMEM);
	for (uint32_t i = 0; i < run->device_count && !rvp_failed(status); i++) {
		if (only ? only != i + 1 : !run->devices[i].has_memory)
			continue;
		answers->items[answers->count].device = &run->devices[i];
		question.device = i + 1;
		status = answer_one(&answers->items[answers->count++], run, &question, wants_rows);
	}
	if (rvp_failed(status))
		rvp_device_answers_free(answers);
	return status;
}

void rvp_device_answers_free(struct rvp_device_answers *answers)
{
	for (size_t i = 0; i < answers->count; i++) {
		rvp_analysis_free(&answers->items[i].analysis);
		rvp_device_ledger_close(&answers->items[i].ledger);
		rvp_device_rows_close(&answers->items[i].rows);
	}
	free(answers->items);
	*answers = (struct rvp_device_answers){0};
}

static uint32_t number_of(const struct rvp_run *run, const char *name)
{
	for (uint32_t i = 0; i < run->device_count; i++)
		if (strcmp(run->devices[i].name, name) == 0 ||
		    strcmp(run->devices[i].name + strlen("cuda:"), name) == 0)
			return i + 1;
	return 0;
}

struct rvp_status rvp_device_find(const struct rvp_run *run, const char *name, uint32_t *number)
{
	char list[256] = "no device was recorded in it";
	size_t length = 0;

	*number = number_of(run, name);
	if (*number)
		return RVP_OK;
	for (size_t i = 0; i < run->device_count && length < sizeof list; i++)
		length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "it has ",
					   run->devices[i].name);
	return rvp_fail_with("report on device", name, "%s", list);
}
