/* SPDX-License-Identifier: MIT */
/* stack_room.c: see stack_room.h.
 *
 * pthread_getattr_np would tell, but it allocates, and takes a lock that its caller may hold. So the stack is asked
 * by touch: a page that can be read by process_vm_readv can be used, a guard page cannot. The main thread's stack
 * grows as it is used; its bound is RLIMIT_STACK.
 */
#include "preload/stack_room.h"

#include "preload/process.h"
#include "preload/sys.h"

enum { LOOK_AHEAD = 48 * 1024 };

static bool can_read(uint64_t address)
{
	char byte;

	return rvp_sys_peek((int)rvp_process.pid, (void *)address, &byte, 1) == 1;
}

static bool find_low(struct rvp_thread *thread, uint64_t here, bool is_own)
{
	uint64_t need = here - RVP_WALK_STACK_BYTES;

	if (rvp_process_is_vfork_child() || !can_read(need) || !can_read(here - RVP_WALK_STACK_BYTES / 2))
		return false;
	if (is_own)
		thread->stack_low = can_read(need - LOOK_AHEAD) && can_read(need - LOOK_AHEAD / 2) ? need - LOOK_AHEAD
												  : need;
	return true;
}

bool rvp_stack_has_room(struct rvp_thread *thread)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	bool is_own = here < thread->stack_high && here + (1u << 30) > thread->stack_high;

	if (is_own && here >= thread->stack_low + RVP_WALK_STACK_BYTES)
		return true;
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return false;
	if (thread->stack_high == rvp_process.main_stack_high && is_own)
		return false;
	return find_low(thread, here, is_own);
}
