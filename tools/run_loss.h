/* SPDX-License-Identifier: MIT */
/* run_loss.h: an answer that is not the whole report says on stderr when records of its run are gone: a list of what is
 * left looks like a list of all. */
#ifndef RVP_RUN_LOSS_H
#define RVP_RUN_LOSS_H

#include "report/run.h"

/* Nothing where nothing was lost. */
void rvp_say_loss(const struct rvp_run *run);

#endif
