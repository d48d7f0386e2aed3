/* SPDX-License-Identifier: MIT */
/* text_ledger.h: the ledger as text: what resident memory consisted of, row by row, and what no row explains.
 */
#ifndef RVP_TEXT_LEDGER_H
#define RVP_TEXT_LEDGER_H

#include "report/ledger.h"
#include "report/text_report.h"

/* A table for the peak, the end and each mark; the control group's. */
void rvp_text_ledger(const struct rvp_view *view, const struct rvp_ledger *ledger);

/* One line on what the allocator keeps; nothing where that is not known or little. */
void rvp_text_allocator(const struct rvp_view *view, const struct rvp_ledger *ledger);

#endif
