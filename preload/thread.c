/* SPDX-License-Identifier: MIT */
/* thread.c: makes and reuses struct rvp_thread. See thread.h.
 *
 * Nobody tells us that a thread has ended: a key's destructor would run before the last frees, and a thread that is
 * killed runs none. So a new thread looks for a struct whose owner's tid is gone (tgkill with signal 0) and takes it
 * by compare-and-swap, together with its slot; what is left in the slot goes to the log first.
 */
#include "preload/thread.h"

#include "preload/count.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/flush.h"
#include "preload/full.h"
#include "preload/head.h"
#include "preload/order.h"
#include "preload/own.h"
#include "preload/quick.h"
#include "preload/stack_room.h"
#include "preload/sys.h"
#include "preload/threads.h"

#include <string.h>

enum { GROUP = 4, GROUPS_MAX = 1024, PROBES_MAX = 64 };

__thread struct rvp_local rvp_local;

struct pooled {
	_Atomic uint32_t owner; /* tid; 0: free */
	uint64_t self;          /* pthread_self of the owner */
	struct rvp_thread thread;
};

static struct {
	struct pooled *_Atomic group[GROUPS_MAX];
	_Atomic uint32_t count; /* structs that exist */
	_Atomic uint32_t hand;
} pool;

static struct pooled *at(uint32_t number)
{
	struct pooled *group = atomic_load(&pool.group[number / GROUP]);

	return group ? &group[number % GROUP] : NULL;
}

static bool is_gone(uint32_t tid)
{
	return tid == 0 || rvp_sys_tgkill((int)rvp_process.pid, (int)tid, 0) == -3 /* ESRCH */;
}

static struct pooled *take_abandoned(uint32_t tid)
{
	uint32_t count = atomic_load(&pool.count), probes = count < PROBES_MAX ? count : PROBES_MAX;

	for (uint32_t i = 0; i < probes; i++) {
		struct pooled *one = at(atomic_fetch_add(&pool.hand, 1) % count);
		uint32_t owner = one ? atomic_load(&one->owner) : tid + 1;

		/* A struct of our own tid belongs to a dead thread whose number was given to us. */
		if (one && (owner == tid || is_gone(owner)) && atomic_compare_exchange_strong(&one->owner, &owner, tid))
			return one;
	}
	return NULL;
}

static struct pooled *take_new(uint32_t tid)
{
	uint32_t first = atomic_fetch_add(&pool.count, GROUP);
	struct pooled *group = first / GROUP < GROUPS_MAX ? rvp_own_map(sizeof *group * GROUP) : NULL;

	if (!group)
		return NULL;
	atomic_store(&group[0].owner, tid);
	atomic_store(&pool.group[first / GROUP], group);
	return &group[0];
}

static void find_stack(struct rvp_thread *thread)
{
	uint64_t pointer = (uint64_t)__builtin_thread_pointer();

	if (pointer == rvp_process.main_thread_pointer) {
		thread->stack_low = rvp_process.main_stack_low;
		thread->stack_high = rvp_process.main_stack_high;
		return;
	}
	/* glibc puts the thread's own block at the top of its stack; how far it reaches down is found by touch. */
	thread->stack_high = pointer;
	thread->stack_low = pointer & ~4095ull;
}

static void set_up(struct pooled *one, uint32_t tid)
{
	struct rvp_thread *thread = &one->thread;
	uint32_t nobody = 0;
	bool is_first;

	if (thread->slot) {
		if (atomic_load_explicit(&thread->slot->deferred_count, memory_order_relaxed))
			rvp_drain_deferred(thread);
		rvp_flush(thread);
	}
	one->self = (uint64_t)__builtin_thread_pointer();
	thread->tid = tid;
	/* Not that of who had the struct before: in a child by fork, of before it was born. */
	thread->last_stamp = rvp_stamp();
	thread->random = (thread->last_stamp ^ (uint64_t)tid << 32 ^ (uint64_t)rvp_process.pid << 17) | 1;
	thread->sample_left = 0;
	thread->agreed_count = 0;
	thread->moved_bytes = 0;
	thread->events_left = 0;
	find_stack(thread);
	rvp_local.thread = thread;
	rvp_local.counters = NULL;
	is_first = atomic_compare_exchange_strong(&rvp_process.first_taken, &nobody, 1);
	rvp_order_attach(&thread->order, is_first);
	if (is_first)
		rvp_local.counters = &rvp_process.entry->counters;
	else if (thread->slot)
		rvp_local.counters = &thread->slot->counters;
	if (!thread->slot)
		return;
	thread->slot->tid = tid;
	thread->slot->serial = atomic_fetch_add(&rvp_process.buffers->next_serial, 1);
	atomic_store(&thread->slot->owner, tid);
	rvp_head_emit_thread(thread);
}

static struct rvp_thread *set_up_thread(void)
{
	uint32_t tid;
	struct pooled *one;

	if (atomic_load(&rvp_process.locked))
		return NULL;
	tid = (uint32_t)rvp_sys_gettid();
	one = take_abandoned(tid);
	if (!one)
		one = take_new(tid);
	if (!one) {
		rvp_lose(RVP_LOSS_NO_MEMORY, 1);
		return NULL;
	}
	set_up(one, tid);
	return &one->thread;
}

struct rvp_thread *rvp_enter_slow(void)
{
	if (atomic_load(&rvp_process.state) != RVP_READY || rvp_local.phase != RVP_OUTSIDE)
		return NULL;
	rvp_local.phase = RVP_OURS;
	if (!atomic_load_explicit(rvp_alive, memory_order_relaxed) && !rvp_process_reborn()) {
		rvp_local.phase = RVP_OUTSIDE;
		return NULL;
	}
	if (!rvp_local.thread && !set_up_thread()) {
		rvp_local.phase = RVP_OUTSIDE;
		return NULL;
	}
	return rvp_local.thread;
}

void rvp_threads_leave_parent(void)
{
	uint32_t count = atomic_load(&pool.count);

	for (uint32_t i = 0; i < count; i++) {
		struct pooled *one = at(i);

		if (!one)
			continue;
		atomic_store(&one->owner, 0);
		one->thread.slot = NULL;
	}
	rvp_order_after_fork();
	rvp_local.thread = NULL;
	rvp_local.counters = NULL;
	rvp_quick_leave_parent();
	rvp_full_leave_parent();
}

void rvp_threads_part_from_parent(void)
{
	rvp_quick_leave_parent();
	rvp_local.counters = rvp_local.quick;
	rvp_full_leave_parent();
}

uint32_t rvp_threads_tid(uint64_t self)
{
	uint32_t count = atomic_load(&pool.count);

	for (uint32_t i = 0; i < count; i++) {
		struct pooled *one = at(i);

		if (one && one->self == self && atomic_load(&one->owner))
			return atomic_load(&one->owner);
	}
	return 0;
}
