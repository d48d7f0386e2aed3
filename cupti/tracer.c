/* SPDX-License-Identifier: MIT */
/* tracer.c: see tracer.h.
 *
 * What is recorded (kinds.h) follows from the tier; it changes in a callback of ours, on a thread of the program's that is
 * in a call of CUDA's, about once a second, and one thread at a time does that (`is_at_work`), while others go on. At the
 * same occasions what CUPTI has complete is asked for, clocks are compared, drops are counted.
 *
 * Invariants
 *   (T1) The subscription, once had, is kept, until another client of CUPTI's begins in this process (rvp_tracer_leave): its
 * result is the program's. cuptiFinalize is never called: that is what breaks programs.
 *   (T2) In a child by fork a callback returns at once, and nothing of CUPTI is called.
 */
#include "cupti/tracer.h"

#include "cupti/activity.h"
#include "cupti/attributes.h"
#include "cupti/buffers.h"
#include "cupti/captures.h"
#include "cupti/device_memory.h"
#include "cupti/device_time.h"
#include "cupti/end.h"
#include "cupti/follower.h"
#include "cupti/graphs.h"
#include "cupti/interned.h"
#include "cupti/kinds.h"
#include "cupti/launches.h"
#include "cupti/library.h"
#include "cupti/memory_calls.h"
#include "cupti/places.h"
#include "cupti/reasons.h"
#include "cupti/tiers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REASON_BYTES = 320, LAST_MOMENTS = 300 };
static const struct timespec moment = {.tv_nsec = 1000000};
static const uint64_t window_ns = 1000000000u;

static struct {
	void *subscriber;
	bool is_auto, has_windows, is_closed;
	bool was_open; /* a window: what ran in it may be told of behind it */
	enum rvp_device_tier open_tier; /* of a window */
	struct rvp_tiers tiers;
	struct rvp_tier_window begun; /* sums at the begin of the window */
	uint64_t begun_ns, launch_ns;
} state;
static bool is_started;
static _Atomic uint32_t is_at_work, is_ended;
static _Atomic uint64_t next_look_ns;

static void tell(const char *reason)
{
	RVP_TELL(DEVICE_TRACER, .source = RVP_DEVICE_SOURCE_CUPTI, .tier = state.tiers.tier, .is_auto = state.is_auto,
		 .driver_version = rvp_driver.version, .tracer_version = rvp_cupti.version,
		 .launches = rvp_launches_count(), .launch_ns = state.launch_ns,
		 .cost_ns = state.launch_ns ? rvp_tiers_cost_ns(&state.tiers, state.tiers.tier) : 0,
		 .kinds = rvp_kinds_on(), .reason = rvp_text_of_string(reason));
}

void rvp_tracer_none(const char *reason)
{
	char line[REASON_BYTES];

	RVP_TELL(DEVICE_TRACER, .source = RVP_DEVICE_SOURCE_DRIVER, .tier = RVP_DEVICE_TIER_MEMORY,
		 .driver_version = rvp_driver.version, .tracer_version = rvp_cupti.version,
		 .launches = rvp_recorder->launches(),
		 .kinds = 1 << RVP_DEVICE_BIT_MEMORY | 1 << RVP_DEVICE_BIT_LAUNCH_COUNT,
		 .reason = rvp_text_of_string(reason));
	snprintf(line, sizeof line, "CUDA: memory and launches are recorded, kernels are not: %s", reason);
	rvp_recorder->say(line);
}

/* CUPTI may have records. */
static bool has_records(void)
{
	return rvp_kinds_has_activity() || state.was_open;
}

/* ---- tiers ---- */

static void enter_tier(enum rvp_device_tier tier, const char *reason)
{
	int failed;
	char text[64], line[REASON_BYTES];

	failed = rvp_kinds_set(rvp_kinds_of(tier), state.subscriber);
	rvp_launches_how(tier == RVP_DEVICE_TIER_FULL       ? RVP_LAUNCHES_ALL
			 : tier == RVP_DEVICE_TIER_LAUNCHES ? RVP_LAUNCHES_SAMPLED
							    : RVP_LAUNCHES_COUNTED);
	if (tier >= RVP_DEVICE_TIER_GRAPHS)
		rvp_device_memory_tracer_has_buffers();
	snprintf(line, sizeof line, "%s%s%s", reason, failed ? "; not all of it: " : "",
		 failed ? rvp_reason_of(failed, text, sizeof text) : "");
	tell(line);
	if (failed) {
		snprintf(line, sizeof line, "CUDA: not all of tier %d is recorded: %s", (int)tier,
			 rvp_reason_of(failed, text, sizeof text));
		rvp_recorder->say(line);
	}
}

/* The sums so far. */
static struct rvp_tier_window sums(void)
{
	struct rvp_tier_window now = {.ns = rvp_now_ns(), .launches = rvp_launches_count()};
	uint64_t walked;

	now.graph_nodes = rvp_launches_graph_count();
	rvp_buffers_cost(&walked, &now.walk_ns);
	rvp_activity_flaws(&now.records, &now.flawed);
	return now;
}

static struct rvp_tier_window window(void)
{
	struct rvp_tier_window now = sums(), then = state.begun;

	state.begun = now;
	state.launch_ns = rvp_launches_typical_ns();
	return (struct rvp_tier_window){
	    .ns = now.ns - then.ns,
	    .launches = now.launches - then.launches,
	    .graph_nodes = (now.graph_nodes - then.graph_nodes) * rvp_graphs_mean_nodes(),
	    .launch_ns = state.launch_ns,
	    .walk_ns = now.walk_ns - then.walk_ns,
	    .records = now.records - then.records,
	    .flawed = now.flawed - then.flawed,
	};
}

/* Of a program that has windows: what runs on devices is followed while one is open, then at once and whatever it costs. */
static void take_window(bool is_open)
{
	if (!state.has_windows || is_open != state.is_closed)
		return;
	state.is_closed = !is_open;
	if (!is_open && has_records())
		rvp_cupti.ActivityFlushAll(0);
	state.was_open |= is_open;
	state.tiers.tier = is_open ? state.open_tier : RVP_DEVICE_TIER_MEMORY;
	enter_tier(state.tiers.tier, is_open ? "a window is open" : "the window is closed");
}

static void decide(void)
{
	struct rvp_tier_window last = window();
	enum rvp_device_tier before = state.tiers.tier, now;
	char reason[RVP_TIERS_REASON_BYTES] = "";

	take_window(rvp_recorder->window_is_open());
	if (!state.is_auto || state.has_windows)
		return;
	now = rvp_tiers_decide(&state.tiers, &last, reason);
	if (now != before)
		enter_tier(now, reason);
}

/* ---- now and then ---- */

static void count_drops(void)
{
	size_t dropped = 0;

	if (rvp_cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) == RVP_CUPTI_SUCCESS && dropped)
		rvp_recorder->lose(RVP_LOSS_DEVICE_DROPPED, dropped);
}

static void look(uint32_t device)
{
	if (has_records()) {
		rvp_cupti.ActivityFlushAll(0);
		count_drops();
	}
	rvp_device_time_tell();
	decide();
	rvp_device_memory_now_and_then(device);
}

/* At the exit of a call of the program's. */
static void now_and_then(uint32_t device)
{
	uint64_t now = rvp_coarse_ns();

	if (now < atomic_load_explicit(&next_look_ns, memory_order_relaxed) || atomic_load(&is_ended) ||
	    atomic_exchange(&is_at_work, 1))
		return;
	rvp_recorder->begin_own();
	rvp_end_prepare_again();
	if (!rvp_is_capturing()) {
		look(device);
		atomic_store(&next_look_ns, rvp_coarse_ns() + window_ns);
	}
	rvp_recorder->end_own();
	atomic_store(&is_at_work, 0);
}

/* ---- callbacks ---- */

static void on_resource(uint32_t cbid, const struct rvp_cupti_resource_data *data)
{
	switch (cbid) {
	case RVP_CUPTI_CONTEXT_DESTROY:
		rvp_capture_context_ends(data->context);
		rvp_places_end_context(data->context, 0);
		return;
	case RVP_CUPTI_STREAM_CREATED: rvp_places_stream_made(data->context, data->stream); return;
	case RVP_CUPTI_STREAM_DESTROY:
		rvp_capture_stream_ends(data->stream);
		rvp_places_stream_ends(data->context, data->stream);
		return;
	default: rvp_graphs_take(cbid, data);
	}
}

static void on_call(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	bool is_launch = rvp_launches_take(domain, cbid, data);
	struct rvp_place_context context;

	if (!is_launch && (domain != RVP_CUPTI_DOMAIN_DRIVER || !rvp_memory_calls_take(cbid, data)))
		return;
	if (data->site != RVP_CUPTI_EXIT || domain != RVP_CUPTI_DOMAIN_DRIVER)
		return;
	if (!rvp_places_meet(data->context, data->context_number, &context))
		return;
	rvp_places_look(&context);
	now_and_then(context.device);
}

static void on_state(const struct rvp_cupti_state_data *data)
{
	char line[REASON_BYTES];

	snprintf(line, sizeof line, "CUPTI says: %s", data->message ? data->message : "an error");
	rvp_recorder->say(line);
}

static void on_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	if (!data || !rvp_follower_is_active())
		return;
	if (domain == RVP_CUPTI_DOMAIN_DRIVER || domain == RVP_CUPTI_DOMAIN_RUNTIME)
		on_call(domain, cbid, data);
	else if (domain == RVP_CUPTI_DOMAIN_RESOURCE)
		on_resource(cbid, data);
	else if (domain == RVP_CUPTI_DOMAIN_STATE && cbid == RVP_CUPTI_STATE_FATAL)
		on_state(data);
}

/* ---- start ---- */

/* Who is there already, by the function that tells it. */
static void name_of_other(char name[RVP_CUPTI_OLD_NAME_BYTES])
{
	struct rvp_cupti_subscriber ours = {.struct_bytes = sizeof ours,
					    .name = "rvprof",
					    .old_name = name,
					    .old_bytes = RVP_CUPTI_OLD_NAME_BYTES};
	void *subscriber = NULL;

	if (rvp_cupti.Subscribe_v2 && rvp_cupti.Subscribe_v2(&subscriber, on_callback, NULL, &ours) == RVP_CUPTI_SUCCESS)
		rvp_cupti.Unsubscribe(subscriber);
}

static bool subscribe(char reason[REASON_BYTES])
{
	char other[RVP_CUPTI_OLD_NAME_BYTES + 1] = "", text[64];
	int result = rvp_cupti.Subscribe(&state.subscriber, on_callback, NULL);

	if (result == RVP_CUPTI_SUCCESS)
		return true;
	state.subscriber = NULL;
	if (result == RVP_CUPTI_MULTIPLE_SUBSCRIBERS)
		name_of_other(other);
	snprintf(reason, REASON_BYTES, "%s%s%s%s", rvp_reason_of(result, text, sizeof text), other[0] ? " (" : "", other,
		 other[0] ? ")" : "");
	return false;
}

static int call_back(uint32_t domain, uint32_t cbid)
{
	return rvp_cupti.EnableCallback(1, state.subscriber, domain, cbid);
}

/* The result for the first function that gives out memory, which every version knows: of others one may not. */
static int enable_callbacks(void)
{
	int result = call_back(RVP_CUPTI_DOMAIN_DRIVER, rvp_memory_calls_function(0));
	uint32_t function;

	if (result != RVP_CUPTI_SUCCESS)
		return result;
	for (unsigned i = 0; (function = rvp_memory_calls_function(i)); i++)
		call_back(RVP_CUPTI_DOMAIN_DRIVER, function);
	for (unsigned i = 0; (function = rvp_launches_function(RVP_CUPTI_DOMAIN_DRIVER, i)); i++)
		call_back(RVP_CUPTI_DOMAIN_DRIVER, function);
	for (unsigned i = 0; (function = rvp_graphs_function(i)); i++)
		call_back(RVP_CUPTI_DOMAIN_RESOURCE, function);
	call_back(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_CONTEXT_DESTROY);
	call_back(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_STREAM_CREATED);
	call_back(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_STREAM_DESTROY);
	call_back(RVP_CUPTI_DOMAIN_STATE, RVP_CUPTI_STATE_FATAL);
	return result;
}

/* False: `reason` says why there is nothing to follow by. */
static bool attach(bool is_full, char reason[REASON_BYTES])
{
	const char *why;
	char text[64];
	int result;

	rvp_driver_find();
	if (!rvp_cupti_find(&why)) {
		snprintf(reason, REASON_BYTES, "%s", why);
		return false;
	}
	if (!rvp_interned_start()) {
		snprintf(reason, REASON_BYTES, "there is no memory for its tables");
		return false;
	}
	if (!subscribe(reason))
		return false;
	rvp_attributes_set(is_full);
	result = rvp_cupti.ActivityRegisterCallbacks(rvp_buffer_request, rvp_buffer_complete);
	if (result == RVP_CUPTI_SUCCESS)
		result = enable_callbacks();
	if (result == RVP_CUPTI_SUCCESS)
		return true;
	snprintf(reason, REASON_BYTES, "%s", rvp_reason_of(result, text, sizeof text));
	rvp_cupti.Unsubscribe(state.subscriber);
	state.subscriber = NULL;
	return false;
}

/* With --cuda full and CUPTI 13.0.0, which may hang when kernels are turned off again, they stay on between windows. */
static void begin_windows(const struct rvp_device_settings *settings)
{
	state.has_windows = settings->has_windows && (state.is_auto || rvp_cupti.version != RVP_CUPTI_13_0);
	if (!state.has_windows)
		return;
	state.open_tier = state.is_auto ? state.tiers.ceiling : RVP_DEVICE_TIER_FULL;
	state.was_open = rvp_recorder->window_is_open();
	state.is_closed = !state.was_open;
	state.tiers.tier = state.is_closed ? RVP_DEVICE_TIER_MEMORY : state.open_tier;
}

void rvp_tracer_start(void)
{
	struct rvp_device_settings settings = rvp_recorder->settings();
	bool is_full = settings.cuda == RVP_CUDA_FULL;
	char reason[REASON_BYTES] = "";

	rvp_recorder->begin_own();
	state.is_auto = !is_full;
	state.tiers = (struct rvp_tiers){.tier = is_full ? RVP_DEVICE_TIER_FULL : RVP_DEVICE_TIER_MEMORY,
					 .ceiling = RVP_DEVICE_TIER_LAUNCHES,
					 .budget_milli = settings.budget_milli};
	if (!attach(is_full, reason)) {
		rvp_tracer_none(reason);
		rvp_recorder->end_own();
		return;
	}
	is_started = true;
	rvp_recorder->tells(1);
	if (rvp_cupti.version == RVP_CUPTI_13_0)
		state.tiers.ceiling = RVP_DEVICE_TIER_GRAPHS;
	begin_windows(&settings);
	enter_tier(state.tiers.tier, state.is_closed	  ? "the window is closed"
				     : state.has_windows ? "a window is open"
				     : is_full ? "asked for"
				     : state.tiers.ceiling == RVP_DEVICE_TIER_LAUNCHES
					 ? "the begin"
					 : "the begin; up to graphs alone, as CUPTI 13.0.0 may hang when kernels are turned off again");
	rvp_device_time_tell();
	state.begun = sums();
	atomic_store(&next_look_ns, rvp_coarse_ns() + window_ns);
	rvp_end_prepare();
	rvp_recorder->listen(rvp_end_now, settings.sync_steps ? rvp_tracer_sync : NULL);
	rvp_recorder->make_way(rvp_tracer_leave);
	rvp_recorder->listen_to_windows(state.has_windows ? rvp_tracer_window : NULL);
	rvp_recorder->end_own();
}

/* ---- the end ---- */

/* Buffers that a thread of CUPTI's is still to hand over are waited for a moment; what does not come is lost. */
static void wait_for_buffers(void)
{
	for (int i = 0; i < LAST_MOMENTS && rvp_buffers_unreturned(); i++)
		nanosleep(&moment, NULL);
}

/* Waits for a look that is at work on another thread; false: it does not end, since it may be below this very call. */
static bool take_work(void)
{
	for (int i = 0; i < LAST_MOMENTS; i++) {
		if (!atomic_exchange(&is_at_work, 1))
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

void rvp_tracer_window(int is_open)
{
	if (atomic_load(&is_ended) || rvp_is_capturing() || !take_work())
		return;
	rvp_recorder->begin_own();
	take_window(is_open != 0);
	rvp_recorder->end_own();
	atomic_store(&is_at_work, 0);
}

/* All that CUPTI still has, what has not ended included. */
static void take_the_rest(void)
{
	rvp_cupti.ActivityFlushAll(0);
	rvp_buffers_last(true);
	rvp_cupti.ActivityFlushAll(RVP_CUPTI_FLUSH_FORCED);
	wait_for_buffers();
	count_drops();
}

/* With a look at work on another thread, kinds stay as they are: CUPTI is not to be told by two at a time. */
void rvp_tracer_end(void)
{
	bool is_alone;

	if (!is_started || atomic_exchange(&is_ended, 1))
		return;
	is_alone = !state.subscriber || take_work();
	rvp_recorder->begin_own();
	if (has_records()) {
		take_the_rest();
		rvp_recorder->lose(RVP_LOSS_DEVICE_LATE, rvp_buffers_unreturned());
		if (is_alone)
			rvp_kinds_set(rvp_kinds_of(RVP_DEVICE_TIER_MEMORY), state.subscriber);
	}
	rvp_device_time_tell();
	rvp_device_memory_look_at_all(RVP_DEVICE_OCCASION_END);
	if (state.subscriber) {
		window();
		tell("the end");
	}
	rvp_recorder->end_own();
}

/* ---- giving it up ---- */

static void stay(const char *why)
{
	char line[REASON_BYTES];

	snprintf(line, sizeof line, "CUDA: another client of CUPTI's begins and finds it taken, since %s", why);
	rvp_recorder->say(line);
}

/* Off, with all records here; false: CUPTI can't be left as it is. */
static bool put_down(void)
{
	if (!has_records())
		return true;
	if (!rvp_kinds_can_be_left()) {
		stay("this version of it (13.0.0) may hang when kernels are no longer recorded");
		return false;
	}
	rvp_kinds_set(rvp_kinds_of(RVP_DEVICE_TIER_MEMORY), state.subscriber);
	take_the_rest();
	if (!rvp_buffers_unreturned())
		return true;
	rvp_buffers_last(false);
	enter_tier(state.tiers.tier, "buffers did not come back for another client of CUPTI's");
	stay("it did not give back our buffers");
	return false;
}

static void hand_over(void)
{
	if (!put_down())
		return;
	rvp_attributes_put_back();
	if (rvp_cupti.Unsubscribe(state.subscriber) != RVP_CUPTI_SUCCESS) {
		stay("it does not let go of the subscription");
		return;
	}
	state.subscriber = NULL;
	rvp_recorder->tells(0);
	rvp_device_time_tell();
	rvp_tracer_none("another client of CUPTI's (torch.profiler?) has begun in this process and has it from here on");
}

/* The look's place stays taken: there is none from here on. */
void rvp_tracer_leave(void)
{
	if (!rvp_follower_is_active() || atomic_load(&is_ended) || !take_work())
		return;
	rvp_recorder->begin_own();
	if (state.subscriber)
		hand_over();
	rvp_recorder->end_own();
	if (state.subscriber)
		atomic_store(&is_at_work, 0);
	else
		rvp_recorder->make_way(NULL);
}

/* Of the calling thread's context, or where it has none of all. */
static void wait_for_device(void)
{
	struct rvp_place_context context;
	void *current = NULL;

	if (rvp_driver.cuCtxGetCurrent && rvp_driver.cuCtxGetCurrent(&current) == RVP_CU_SUCCESS && current) {
		rvp_driver.cuCtxSynchronize();
		return;
	}
	for (unsigned i = 0; rvp_driver.cuCtxPushCurrent_v2 && rvp_driver.cuCtxPopCurrent_v2 && rvp_places_context(i, &context);
	     i++)
		if (rvp_driver.cuCtxPushCurrent_v2(context.context) == RVP_CU_SUCCESS) {
			rvp_driver.cuCtxSynchronize();
			rvp_driver.cuCtxPopCurrent_v2(&current);
		}
}

void rvp_tracer_sync(void)
{
	uint64_t begin, now;

	/* A wait would end a capture. */
	if (atomic_load(&is_ended) || !rvp_driver.cuCtxSynchronize || !rvp_places_context_count() ||
	    rvp_is_capturing())
		return;
	rvp_recorder->begin_own();
	begin = rvp_device_time_now();
	wait_for_device();
	now = rvp_device_time_now();
	RVP_TELL(DEVICE_OVERHEAD, .start_ns = begin, .duration_ns = now > begin ? now - begin : 0,
		 .kind = RVP_DEVICE_OVERHEAD_SYNC_STEP);
	rvp_recorder->end_own();
}
