/* SPDX-License-Identifier: MIT */
/* stack_room.h: whether a walk may use the stack that we are on. */
#ifndef RVP_STACK_ROOM_H
#define RVP_STACK_ROOM_H

#include "preload/thread.h"

/* True when RVP_WALK_STACK_BYTES below here can be used. What was found good is remembered in thread->stack_low; a
 * stack that is not the thread's own (coroutine, signal stack) is asked each time. */
bool rvp_stack_has_room(struct rvp_thread *thread);

#endif
