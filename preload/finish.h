/* SPDX-License-Identifier: MIT */
/* finish.h: the end of a process, as far as it can be seen from inside. */
#ifndef RVP_FINISH_H
#define RVP_FINISH_H

#include "record/schema.h"

#include <stdbool.h>

/* By the constructor: our handler is the first in exit's list, so it runs last, after every destructor. */
void rvp_finish_prepare(void);

/* Writes EXIT and a last snapshot, marks the entry, and, where it falls to this process, has the outputs written and
 * waits for them a bounded time. Once a process; nothing in a child of vfork. */
void rvp_finish(enum rvp_ending how, int status);

/* The process is about to be replaced by exec (true), or was not after all (false). */
void rvp_finish_replaced(bool replaced);

#endif
