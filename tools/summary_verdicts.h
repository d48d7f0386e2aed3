/* SPDX-License-Identifier: MIT */
/* summary_verdicts.h: the sentences of a run folder's summary.json, so that every command says the same. */
#ifndef RVP_SUMMARY_VERDICTS_H
#define RVP_SUMMARY_VERDICTS_H

#include "report/verdicts.h"

/* Texts alone; count 0 where there is no summary.json, or one that cannot be read. */
void rvp_summary_verdicts(struct rvp_verdicts *verdicts, const char *folder);

#endif
