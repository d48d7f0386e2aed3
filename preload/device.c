/* SPDX-License-Identifier: MIT */
/* device.c: the table rvprof_device_1 (record/device.h): records, call paths and memory for librvprof_cupti.so.
 *
 * Rules
 *   - A batch of records is one stay in the recorder, in phase OURS like any hook's; it may begin in phase OWN
 * (device_own.h), to which it returns.
 *   - The process that listens owns the device: in its children by fork nothing is taken, CUDA is of no use there.
 *   - Once the end was told of, what still comes is late, and counted.
 *   - Once the log is folded (--max-log) what comes by the thousand is dropped and counted (log_bound); memory goes on.
 */
#include "preload/device.h"

#include "preload/device_own.h"
#include "preload/driver.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/events.h"
#include "preload/own.h"
#include "preload/walk.h"
#include "record/device.h"

#include <errno.h>
#include <string.h>

enum { FIRST_KIND = RVP_DEVICE, SAID_MAX = 16 };
/* How long the end may take: exit's last hook; _exit, which a signal handler may have called; exec. */
static const uint64_t exit_ns = 10000000000u, sudden_ns = 2000000000u;

static void (*_Atomic on_finish)(uint64_t most_ns);
static void (*_Atomic on_mark)(void), (*_Atomic on_client)(void);
static void (*_Atomic on_window)(int is_open);
static _Atomic uint64_t owner; /* rvp_process.number of the process that listens; 0: nobody does */
static _Atomic uint32_t is_over;

static bool is_owner(void)
{
	uint64_t number = atomic_load_explicit(&owner, memory_order_relaxed);

	return !number || number == rvp_process.number;
}

static bool is_alive(void)
{
	return atomic_load(&rvp_process.state) == RVP_READY && atomic_load_explicit(rvp_alive, memory_order_relaxed) &&
	       is_owner();
}

static int active(void)
{
	return is_alive() && !atomic_load(&is_over);
}

static struct rvp_device_settings settings(void)
{
	return (struct rvp_device_settings){.cuda = rvp_process.options.cuda,
					    .budget_milli = rvp_process.options.cuda_budget_milli,
					    .sync_steps = rvp_process.options.sync_steps,
					    .has_windows = rvp_process.is_windowed};
}

/* A stay in the recorder; `thread` NULL: not now. */
struct stay {
	struct rvp_thread *thread;
	uint32_t outer; /* the phase to go back to */
};

static struct stay enter(void)
{
	uint32_t phase = rvp_local.phase;

	if (!is_alive())
		return (struct stay){NULL, phase};
	if (phase == RVP_OUTSIDE)
		return (struct stay){rvp_enter(), phase};
	if (phase == RVP_OURS || !rvp_local.thread)
		return (struct stay){NULL, phase};
	rvp_local.phase = RVP_OURS;
	return (struct stay){rvp_local.thread, phase};
}

static void leave(struct stay stay)
{
	rvp_leave(stay.thread);
	rvp_local.phase = stay.outer;
}

static struct rvp_device_path path(void)
{
	struct rvp_caller caller = RVP_CALLER();
	struct rvp_path found = {0, 0};
	int error = errno;
	struct stay stay = enter();

	if (stay.thread) {
		found = rvp_event_path(stay.thread, caller);
		leave(stay);
	}
	if (!found.stack)
		rvp_lose(RVP_LOSS_DEVICE_NO_PATH, 1);
	errno = error;
	return (struct rvp_device_path){found.stack, found.python};
}

static uint64_t stamp(void)
{
	struct stay stay = enter();
	uint64_t now;

	if (!stay.thread)
		return rvp_stamp();
	now = rvp_event_stamp(stay.thread);
	leave(stay);
	return now;
}

/* ---- records ---- */

#define TEXT_U(name)
#define TEXT_T(name)
#define TEXT_A(name)
#define TEXT_S(name)
#define TEXT_P(name)
#define TEXT_D(name)
#define TEXT_C(name)
#define TEXT_X(name)                  +record.name.length
#define TEXT_R(name)                  +record.name.length
#define TEXT_FIELD(kind, name, what)  TEXT_##kind(name)

#define STAMP_U(name)
#define STAMP_T(name)                 if (!record.name) record.name = rvp_event_stamp(thread);
#define STAMP_A(name)
#define STAMP_S(name)
#define STAMP_P(name)
#define STAMP_D(name)
#define STAMP_C(name)
#define STAMP_X(name)
#define STAMP_R(name)
#define STAMP_FIELD(kind, name, what) STAMP_##kind(name)

/* put_ALLOC and so on: a stamp where there is none, room, bytes, commit. */
#define RVP_RECORD(ID, number, name, what)                                                           \
	static __attribute__((unused)) bool put_##ID(struct rvp_thread *thread,                      \
						     const struct rvp_record_##ID *given)            \
	{                                                                                            \
		struct rvp_record_##ID record = *given;                                              \
		uint8_t *at;                                                                         \
                                                                                                     \
		RVP_FIELDS_##ID(STAMP_FIELD) at =                                                    \
		    rvp_emit_room(thread, rvp_record_max_bytes(0 RVP_FIELDS_##ID(TEXT_FIELD)));      \
		if (at)                                                                              \
			rvp_emit_commit(thread, rvp_put_##ID(at, &thread->delta, &record));          \
		return at != NULL;                                                                   \
	}
#include "record/schema.def"

static bool is_plenty(enum rvp_kind kind)
{
	return kind == RVP_DEVICE_NAME || (kind >= RVP_LAUNCH && kind <= RVP_GRAPH_RUN) || kind == RVP_DEVICE_OVERHEAD;
}

static bool has_room_for(enum rvp_kind kind)
{
	if (!atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed) || !is_plenty(kind))
		return true;
	rvp_lose(RVP_LOSS_LOG_BOUND, 1);
	return false;
}

static bool put(struct rvp_thread *thread, const struct rvp_record *record)
{
	if (!has_room_for(record->kind))
		return false;
	switch ((int)record->kind) {
#define RVP_RECORD(ID, number, name, what) \
	case number: return number >= FIRST_KIND && put_##ID(thread, &record->ID);
#include "record/schema.def"
	default: return false;
	}
}

static size_t write_records(const struct rvp_record *records, size_t count)
{
	int error = errno;
	struct stay stay = {NULL, RVP_OUTSIDE};
	size_t taken = 0;

	if (!atomic_load_explicit(&is_over, memory_order_relaxed))
		stay = enter();
	if (!stay.thread) {
		if (is_owner())
			rvp_lose(RVP_LOSS_DEVICE_LATE, count);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		taken += put(stay.thread, &records[i]);
	leave(stay);
	errno = error;
	return taken;
}

/* ---- the rest ---- */

static void *take(size_t bytes)
{
	return rvp_own_map(bytes);
}

static void give(void *memory, size_t bytes)
{
	rvp_own_unmap(memory, bytes);
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3u;
	return hash | 1;
}

/* Each text once a process, up to SAID_MAX of them. */
static bool is_new(const char *line)
{
	static _Atomic uint64_t said[SAID_MAX];
	uint64_t hash = hash_of(line);

	for (int i = 0; i < SAID_MAX; i++) {
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&said[i], &there, hash))
			return true;
		if (there == hash)
			return false;
	}
	return false;
}

static void say(const char *line)
{
	int error = errno;

	if (!atomic_load(&rvp_process.locked) && is_owner() && is_new(line))
		rvp_process_say(line);
	errno = error;
}

static void listen(void (*finish)(uint64_t most_ns), void (*mark)(void))
{
	atomic_store(&on_finish, finish);
	atomic_store(&on_mark, mark);
	atomic_store(&owner, finish || mark ? rvp_process.number : 0);
}

void rvp_device_finish(enum rvp_ending how)
{
	void (*finish)(uint64_t);
	int error = errno;

	if (!atomic_load(&on_finish) || !is_alive() || rvp_process_is_vfork_child() || rvp_local.phase != RVP_OUTSIDE ||
	    atomic_load(&rvp_process.locked))
		return;
	finish = atomic_exchange(&on_finish, NULL);
	if (finish)
		finish(how == RVP_ENDING_EXIT || how == RVP_ENDING_QUICK_EXIT ? exit_ns : sudden_ns);
	atomic_store(&is_over, 1);
	errno = error;
}

void rvp_device_goes_on(void)
{
	if (atomic_load(&is_over))
		rvp_driver_yield(false);
}

void rvp_device_mark(void)
{
	void (*mark)(void) = atomic_load_explicit(&on_mark, memory_order_relaxed);

	if (__builtin_expect(mark != NULL, 0) && rvp_local.phase == RVP_OUTSIDE && active())
		mark();
}

static void listen_to_windows(void (*changed)(int is_open))
{
	atomic_store(&on_window, changed);
}

static int window_is_open(void)
{
	return rvp_process.entry && !atomic_load(&rvp_process.entry->held);
}

void rvp_device_window(void)
{
	void (*changed)(int) = atomic_load(&on_window);
	int error = errno;

	if (changed && rvp_local.phase == RVP_OUTSIDE && active())
		changed(window_is_open());
	errno = error;
}

static void make_way(void (*leave_it)(void))
{
	atomic_store(&on_client, leave_it);
}

void rvp_device_make_way(void)
{
	void (*leave_it)(void) = atomic_load(&on_client);
	int error = errno;

	if (leave_it && rvp_local.phase == RVP_OUTSIDE && active())
		leave_it();
	errno = error;
}

static void tells(int is_told)
{
	if (is_owner())
		rvp_driver_yield(is_told != 0);
}

#pragma GCC visibility push(default)
extern const struct rvp_device_api rvprof_device_1;
const struct rvp_device_api rvprof_device_1 = {
    .version = RVP_DEVICE_API_VERSION,
    .bytes = sizeof(struct rvp_device_api),
    .active = active,
    .settings = settings,
    .path = path,
    .stamp = stamp,
    .write = write_records,
    .lose = rvp_lose,
    .begin_own = rvp_own_begin,
    .end_own = rvp_own_end,
    .take = take,
    .give = give,
    .say = say,
    .listen = listen,
    .tells = tells,
    .launches = rvp_driver_launches,
    .make_way = make_way,
    .listen_to_windows = listen_to_windows,
    .window_is_open = window_is_open,
};
#pragma GCC visibility pop
