/* SPDX-License-Identifier: MIT */
/* made_ledger.h: the ledger of a run that was made by hand. */
#ifndef RVP_TESTS_UNIT_MADE_LEDGER_H
#define RVP_TESTS_UNIT_MADE_LEDGER_H

#include "report/analysis.h"
#include "report/ledger.h"
#include "tests/unit/run_maker.h"

/* Closes the maker and reads what it made. */
void made_ledger_read(struct maker *maker, struct rvp_run **run, struct rvp_ledger *ledger,
		      struct rvp_analysis *answer);
void made_ledger_close(struct maker *maker, struct rvp_run *run, struct rvp_ledger *ledger,
		       struct rvp_analysis *answer);

#endif
