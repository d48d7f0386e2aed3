/* SPDX-License-Identifier: MIT */
/* device_refusals.h: the moments when a device had no memory (DEVICE_REFUSED), and what came of them. An
 * observer of a pass over that device's memory.
 *
 * What came of a refusal is known later:
 *   routine   its thread gave memory back and then got as much as it had asked for, within MOMENT_NS: what
 * PyTorch's caching allocator does whenever the device is full. It is counted, and no alarm. survived  the
 * thread got as much later, or got other memory, or its process went on to a good end. fatal     its process
 * ended with an error or by a signal, and the thread was given no more memory of this device. Refusals of one
 * thread and size behind each other, with nothing given between them, are one.
 *
 * Of those that were no routine the last RVP_REFUSALS_KEPT are kept as pictures: what was live, what was
 * free, and the last events.
 */
#ifndef RVP_REPORT_DEVICE_REFUSALS_H
#define RVP_REPORT_DEVICE_REFUSALS_H

#include "report/device_blocks.h"
#include "report/observer.h"

enum { RVP_REFUSALS_KEPT = 8, RVP_REFUSAL_EVENTS = 5, RVP_REFUSALS_OPEN = 64 };

enum rvp_refusal_fate { RVP_REFUSAL_OPEN, RVP_REFUSAL_SURVIVED, RVP_REFUSAL_FATAL };

struct rvp_refusal_event {
	uint64_t ns, bytes;
	uint16_t purpose;
	bool is_death;
};

struct rvp_refusal {
	enum rvp_refusal_fate fate;
	uint64_t ns, bytes;               /* of the first; asked for */
	uint64_t error;                   /* CUresult */
	uint64_t total_bytes, free_bytes; /* cuMemGetInfo then; 0: not told */
	uint64_t live_bytes, category_bytes[RVP_CATEGORY_COUNT];
	struct rvp_device_segments segments; /* of a caching allocator */
	uint64_t tries;                      /* refusals that are one */
	uint32_t process, stack, python;
	struct rvp_refusal_event events[RVP_REFUSAL_EVENTS]; /* the last before it, oldest first */
	uint32_t event_count;
	/* While it is open. */
	uint64_t thread_serial, last_ns;
	uint32_t stream;
	bool has_given_back, went_on;
};

struct rvp_device_refusals {
	struct rvp_observer observer;
	uint64_t count;         /* of records */
	uint64_t routine_count; /* of refusals that were routine, each of perhaps several records */
	uint64_t survived_count, fatal_count;
	struct rvp_refusal kept[RVP_REFUSALS_KEPT]; /* a ring of survived and fatal ones */
	uint64_t kept_count;                        /* ever */
	/* While the pass goes on. */
	const struct rvp_run *run;
	uint32_t device;
	struct rvp_refusal open[RVP_REFUSALS_OPEN];
	uint32_t open_count;
	struct rvp_refusal_event last[RVP_REFUSAL_EVENTS]; /* a ring */
	uint64_t last_count;
};

void rvp_device_refusals_open(struct rvp_device_refusals *refusals, const struct rvp_run *run,
			      uint32_t device);

/* The one that matters most: a fatal one before one that was survived, the larger before the smaller; NULL:
 * none. */
const struct rvp_refusal *rvp_worst_refusal(const struct rvp_device_refusals *refusals);

#endif
