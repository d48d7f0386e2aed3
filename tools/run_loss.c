/* SPDX-License-Identifier: MIT */
/* run_loss.c: see run_loss.h. */
#include "tools/run_loss.h"

#include "report/text_numbers.h"
#include "tools/commands.h"

/* The first stands for all: a tree of a thousand processes on a full disk has a thousand. */
static void say_flaws(const struct rvp_run *run)
{
	const char *first = *run->flaw ? run->flaw : NULL;
	size_t count = first != NULL;

	for (size_t i = 0; i < run->process_count; i++)
		if (*run->processes[i].flaw) {
			first = first ? first : run->processes[i].flaw;
			count++;
		}
	if (count == 1)
		rvp_complain("%s: what it held is not in this", first);
	else if (count)
		rvp_complain("%s, and %zu more: what they held is not in this", first, count - 1);
}

void rvp_say_loss(const struct rvp_run *run)
{
	uint64_t lost = run->lost_records;
	char count[RVP_NUMBER_TEXT_BYTES];

	say_flaws(run);
	for (size_t i = 0; i < run->process_count; i++)
		lost += run->processes[i].lost_records;
	if (lost)
		rvp_complain("%s record%s of this run %s lost, so there may be more than this: `rvprof report` says which",
			     rvp_text_count(lost, count), lost == 1 ? "" : "s", lost == 1 ? "was" : "were");
}
