/* SPDX-License-Identifier: MIT */
/* head.h: the records that say what a log is about. */
#ifndef RVP_HEAD_H
#define RVP_HEAD_H

#include "preload/thread.h"

/* Copies what is wanted of the environment; by the constructor. */
void rvp_head_keep_environment(char *const *environment);

/* PROCESS, ARGUMENT, ENVIRONMENT, MACHINE, ANCHOR: first in the log. */
void rvp_head_emit(struct rvp_thread *thread);

/* THREAD and THREAD_NAME of the calling thread. */
void rvp_head_emit_thread(struct rvp_thread *thread);

#endif
