/* SPDX-License-Identifier: MIT */
/* framework.h: a library of a framework that we know by its name is met for the first time.
 *
 * What follows from it is decided here: PyTorch's tensor events are listened to (tensor.h), and its adapter
 * is brought into the interpreter (adapter.h).
 */
#ifndef RVP_FRAMEWORK_H
#define RVP_FRAMEWORK_H

#include "preload/thread.h"
#include "preload/unwind_find.h"

/* A module is met for the first time in a walk. In phase OURS. */
void rvp_framework_meet(struct rvp_thread *thread, const struct rvp_object *object);

#endif
