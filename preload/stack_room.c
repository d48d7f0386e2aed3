/* SPDX-License-Identifier: MIT */
/* stack_room.c: see stack_room.h.
 *
 * pthread_getattr_np would tell, but it allocates, and takes a lock that its caller may hold. So the stack is
 * asked by touch: a page that can be read by process_vm_readv can be used, a guard page cannot. The main
 * thread's stack grows as it is used; its bound is RLIMIT_STACK.
 */
#include "preload/stack_room.h"

#include "preload/process.h"
#include "preload/sys.h"

enum { PAGE_BYTES = 4096, GAP_MAX_BYTES = 1 << 20 };

static bool can_read(uint64_t address)
{
	char byte;

	return rvp_sys_peek(rvp_sys_getpid(), (void *)address, &byte, 1) == 1;
}

/* Whether every page of [low, high) can be read. */
static bool can_read_all(uint64_t low, uint64_t high)
{
	for (uint64_t page = low & ~(uint64_t)(PAGE_BYTES - 1); page < high; page += PAGE_BYTES)
		if (!can_read(page))
			return false;
	return true;
}

/* Whether the stack that is known to be the thread's own reaches down to `need` without a gap: a coroutine's
 * stack may lie below it, with a guard page between. What was found is kept. */
static bool reach_down(struct rvp_thread *thread, uint64_t need)
{
	if (need >= thread->stack_low || thread->stack_low - need > GAP_MAX_BYTES ||
	    !can_read_all(need, thread->stack_low))
		return false;
	thread->stack_low = need & ~(uint64_t)(PAGE_BYTES - 1);
	return true;
}

bool rvp_stack_has_room(struct rvp_thread *thread)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0), need = here - RVP_WALK_STACK_BYTES;
	bool is_above_low = here < thread->stack_high && here >= thread->stack_low;

	if (is_above_low && need >= thread->stack_low)
		return true;
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return false;
	if (thread->stack_high == rvp_process.main_stack_high && is_above_low)
		return false; /* the main thread's lowest page by its limit, not by touch */
	if (here < thread->stack_high && reach_down(thread, need))
		return true;
	return can_read_all(need, here);
}
