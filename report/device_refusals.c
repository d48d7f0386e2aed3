/* SPDX-License-Identifier: MIT */
/* device_refusals.c: see device_refusals.h. */
#include "report/device_refusals.h"

#include <string.h>

/* An allocator that empties its cache does so at once; what takes longer is the program's doing. */
static const uint64_t moment_ns = 1000000000;

/* ---- what came of one ---- */

static void keep(struct rvp_device_refusals *refusals, struct rvp_refusal *refusal,
		 enum rvp_refusal_fate fate)
{
	refusal->fate = fate;
	refusals->survived_count += fate == RVP_REFUSAL_SURVIVED;
	refusals->fatal_count += fate == RVP_REFUSAL_FATAL;
	refusals->kept[refusals->kept_count++ % RVP_REFUSALS_KEPT] = *refusal;
}

static void close_one(struct rvp_device_refusals *refusals, uint32_t number)
{
	refusals->open_count--;
	memmove(&refusals->open[number], &refusals->open[number + 1],
		(refusals->open_count - number) * sizeof *refusals->open);
}

static bool is_of_thread(const struct rvp_refusal *refusal, const struct rvp_moment *moment)
{
	return refusal->process == moment->process && refusal->stream == moment->stream &&
	       refusal->thread_serial == moment->thread_serial;
}

/* The thread got memory of this device. */
static void see_alloc(struct rvp_device_refusals *refusals, const struct rvp_event *event)
{
	const struct rvp_moment *moment = event->moment;

	for (uint32_t i = refusals->open_count; i-- > 0;) {
		struct rvp_refusal *refusal = &refusals->open[i];

		if (!is_of_thread(refusal, moment))
			continue;
		refusal->went_on = true;
		if (event->block.bytes != refusal->bytes)
			continue;
		if (refusal->has_given_back && moment->ns - refusal->last_ns <= moment_ns)
			refusals->routine_count++;
		else
			keep(refusals, refusal, RVP_REFUSAL_SURVIVED);
		close_one(refusals, i);
	}
}

static void see_free(struct rvp_device_refusals *refusals, const struct rvp_moment *moment)
{
	for (uint32_t i = 0; i < refusals->open_count; i++)
		if (is_of_thread(&refusals->open[i], moment))
			refusals->open[i].has_given_back = true;
}

static bool ended_badly(const struct rvp_run *run, uint32_t number)
{
	const struct rvp_process *process = &run->processes[number];

	if (number == run->root && run->has_child_end)
		return run->child_how == RVP_ENDING_SIGNAL || run->child_status != 0;
	return process->end == RVP_END_KILLED ||
	       (process->end == RVP_END_EXITED && process->exit_status != 0);
}

static void end_process(struct rvp_device_refusals *refusals, uint32_t process)
{
	bool is_bad = ended_badly(refusals->run, process);

	for (uint32_t i = 0; i < refusals->open_count;) {
		struct rvp_refusal *refusal = &refusals->open[i];

		if (refusal->process != process) {
			i++;
			continue;
		}
		keep(refusals, refusal,
		     is_bad && !refusal->went_on ? RVP_REFUSAL_FATAL : RVP_REFUSAL_SURVIVED);
		close_one(refusals, i);
	}
}

/* ---- a picture ---- */

static void copy_events(const struct rvp_device_refusals *refusals, struct rvp_refusal *refusal)
{
	uint64_t from =
	    refusals->last_count > RVP_REFUSAL_EVENTS ? refusals->last_count - RVP_REFUSAL_EVENTS : 0;

	for (uint64_t i = from; i < refusals->last_count; i++)
		refusal->events[refusal->event_count++] = refusals->last[i % RVP_REFUSAL_EVENTS];
}

static void add(struct rvp_device_refusals *refusals, const struct rvp_event *event,
		const struct rvp_state *state)
{
	const struct rvp_record_DEVICE_REFUSED *record = &event->moment->record->DEVICE_REFUSED;
	struct rvp_refusal *refusal;

	if (refusals->open_count == RVP_REFUSALS_OPEN) { /* the oldest was long ago */
		keep(refusals, &refusals->open[0], RVP_REFUSAL_SURVIVED);
		close_one(refusals, 0);
	}
	refusal = &refusals->open[refusals->open_count++];
	*refusal =
	    (struct rvp_refusal){.ns = event->moment->ns,
				 .last_ns = event->moment->ns,
				 .bytes = record->bytes,
				 .error = record->error,
				 .total_bytes = record->total_bytes,
				 .free_bytes = record->free_bytes,
				 .live_bytes = state->tracked.amount.bytes,
				 .segments = rvp_device_segments(state->devices, refusals->device),
				 .tries = 1,
				 .process = event->moment->process,
				 .stream = event->moment->stream,
				 .thread_serial = event->moment->thread_serial,
				 .stack = record->stack <= UINT32_MAX ? (uint32_t)record->stack : 0,
				 .python = record->python <= UINT32_MAX ? (uint32_t)record->python : 0};
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		refusal->category_bytes[i] = state->by_category[i].amount.bytes;
	copy_events(refusals, refusal);
}

static void take(struct rvp_device_refusals *refusals, const struct rvp_event *event,
		 const struct rvp_state *state)
{
	const struct rvp_record_DEVICE_REFUSED *record = &event->moment->record->DEVICE_REFUSED;

	if (rvp_device_number(&refusals->run->processes[event->moment->process], record->device) !=
	    refusals->device)
		return;
	refusals->count++;
	for (uint32_t i = 0; i < refusals->open_count; i++) {
		struct rvp_refusal *refusal = &refusals->open[i];

		if (is_of_thread(refusal, event->moment) && refusal->bytes == record->bytes &&
		    !refusal->went_on) {
			refusal->tries++;
			refusal->last_ns = event->moment->ns;
			return;
		}
	}
	add(refusals, event, state);
}

/* ---- the pass ---- */

static void note_event(struct rvp_device_refusals *refusals, const struct rvp_event *event,
		       const struct rvp_state *state)
{
	if (event->block.split >= state->site_count)
		return;
	refusals->last[refusals->last_count++ % RVP_REFUSAL_EVENTS] =
	    (struct rvp_refusal_event){.ns = event->moment->ns,
				       .bytes = event->block.bytes,
				       .purpose = state->sites[event->block.split].purpose,
				       .is_death = event->kind == RVP_EVENT_DIED};
}

/* Host memory that is given back makes no room on a device. */
static bool is_of_device(uint64_t kind)
{
	return kind != RVP_DEVICE_MEMORY_PINNED && kind != RVP_DEVICE_MEMORY_REGISTERED;
}

static void see_record(struct rvp_device_refusals *refusals, const struct rvp_event *event,
		       const struct rvp_state *state)
{
	switch (event->moment->record->kind) {
	case RVP_DEVICE_REFUSED: take(refusals, event, state); break;
	case RVP_DEVICE_FREE:
		if (is_of_device(event->moment->record->DEVICE_FREE.kind))
			see_free(refusals, event->moment);
		break;
	case RVP_DEVICE_UNMAP: see_free(refusals, event->moment); break;
	default: break;
	}
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_device_refusals *refusals = (struct rvp_device_refusals *)observer;

	if (event->moment->process == RVP_NO_PROCESS)
		return;
	switch (event->kind) {
	case RVP_EVENT_BORN:
		if (event->moment->record->kind == RVP_DEVICE_ALLOC)
			see_alloc(refusals, event);
		note_event(refusals, event, state);
		break;
	case RVP_EVENT_DIED: note_event(refusals, event, state); break;
	case RVP_EVENT_RECORD: see_record(refusals, event, state); break;
	case RVP_EVENT_END: end_process(refusals, event->moment->process); break;
	default: break;
	}
}

/* Of processes that live on: they did so far. */
static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_device_refusals *refusals = (struct rvp_device_refusals *)observer;

	(void)state;
	for (; refusals->open_count; close_one(refusals, 0))
		keep(refusals, &refusals->open[0], RVP_REFUSAL_SURVIVED);
}

void rvp_device_refusals_open(struct rvp_device_refusals *refusals, const struct rvp_run *run,
			      uint32_t device)
{
	memset(refusals, 0, sizeof *refusals);
	refusals->observer = (struct rvp_observer){.see = see, .finish = finish};
	refusals->run = run;
	refusals->device = device;
}

const struct rvp_refusal *rvp_worst_refusal(const struct rvp_device_refusals *refusals)
{
	const struct rvp_refusal *worst = NULL;

	for (uint64_t i = 0; i < refusals->kept_count && i < RVP_REFUSALS_KEPT; i++) {
		const struct rvp_refusal *refusal = &refusals->kept[i];

		if (!worst || (refusal->fate == RVP_REFUSAL_FATAL && worst->fate != RVP_REFUSAL_FATAL) ||
		    (refusal->fate == worst->fate && refusal->bytes > worst->bytes))
			worst = refusal;
	}
	return worst;
}
