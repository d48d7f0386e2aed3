/* SPDX-License-Identifier: MIT */
/* made_ledger.c: see made_ledger.h. */
#include "tests/unit/made_ledger.h"

#include <check.h>

void made_ledger_read(struct maker *maker, struct rvp_run **run, struct rvp_ledger *ledger,
		      struct rvp_analysis *answer)
{
	struct rvp_observer *observers[] = {&ledger->observer, NULL};
	struct rvp_status status;

	maker_close(maker);
	status = rvp_run_open(run, maker->folder);
	ck_assert(!rvp_failed(status));
	ck_assert(rvp_ledger_open(ledger, *run));
	status = rvp_analyse(*run, &(struct rvp_question){.observers = observers}, answer);
	ck_assert(!rvp_failed(status));
}

void made_ledger_close(struct maker *maker, struct rvp_run *run, struct rvp_ledger *ledger,
		       struct rvp_analysis *answer)
{
	rvp_ledger_close(ledger);
	rvp_analysis_free(answer);
	rvp_run_close(run);
	maker_remove(maker);
}
