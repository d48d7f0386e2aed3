/* SPDX-License-Identifier: MIT */
/* kernels_idle.c: see kernels_idle.h. */
#include "report/kernels_idle.h"

#include "report/kernels_names.h"

enum { SYNC_STREAM_WAITS = 2, COPY_HOST_TO_DEVICE = 1 };

const char *const rvp_idle_names[RVP_IDLE_COUNT] = {
    [RVP_IDLE_INPUT] = "input",     [RVP_IDLE_LAUNCH] = "launch",
    [RVP_IDLE_SYNC] = "sync",       [RVP_IDLE_QUEUE] = "queue",
    [RVP_IDLE_LATENCY] = "latency", [RVP_IDLE_COMMUNICATION] = "communication",
    [RVP_IDLE_UNKNOWN] = "unknown", [RVP_IDLE_NOTHING_ASKED] = "nothing_asked",
};

void rvp_host_wait_see(struct rvp_host_wait *wait, const struct rvp_activity *activity)
{
	uint64_t end_ns = activity->end_ns;

	if (activity->kind != RVP_DEVICE_SYNC || activity->number == SYNC_STREAM_WAITS ||
	    !activity->has_start || activity->flaw || end_ns < wait->end_ns)
		return;
	*wait = (struct rvp_host_wait){activity->start_ns, end_ns};
}

/* When it was asked for; false: not known. */
static bool asked_at(const struct rvp_work *work, uint64_t *ns)
{
	const struct rvp_activity *activity = work->activity;
	uint64_t before_ns = activity->kind == RVP_KERNEL ? activity->queued_ns : 0;

	*ns = work->launch ? work->launch->ns : activity->start_ns - before_ns;
	return work->launch ? !work->is_conflict : before_ns && before_ns < activity->start_ns;
}

static bool is_busy_launcher(const struct rvp_launch *launch)
{
	return launch && launch->since_ns != RVP_NEVER && launch->stands_for &&
	       launch->since_ns / launch->stands_for <= RVP_BUSY_LAUNCHER_NS;
}

/* How far into the gap a wait of the host is to blame, which was on when the device ran dry: to its end and as long as
 * a busy host takes to launch anew. */
static uint64_t after_wait(uint64_t begin_ns, uint64_t asked_ns, const struct rvp_host_wait *wait)
{
	uint64_t until_ns = wait->end_ns + RVP_BUSY_LAUNCHER_NS;

	if (!wait->end_ns || wait->begin_ns > begin_ns || wait->end_ns < begin_ns || wait->end_ns > asked_ns)
		return begin_ns;
	return until_ns < asked_ns ? until_ns : asked_ns;
}

static bool is_input(const struct rvp_activity *activity)
{
	return activity->kind == RVP_DEVICE_COPY && activity->copy_kind == COPY_HOST_TO_DEVICE;
}

static enum rvp_idle until_asked(const struct rvp_work *work)
{
	if (is_input(work->activity))
		return RVP_IDLE_INPUT;
	return is_busy_launcher(work->launch) ? RVP_IDLE_LAUNCH : RVP_IDLE_NOTHING_ASKED;
}

void rvp_idle_add(uint64_t parts_ns[RVP_IDLE_COUNT], uint64_t begin_ns, const struct rvp_work *work,
		  const struct rvp_host_wait *wait, bool is_behind_comm)
{
	uint64_t end_ns = work->activity->start_ns, asked_ns, waited_ns;
	bool is_comm = is_behind_comm || work->class == RVP_KERNEL_CLASS_COMMUNICATION;

	if (!asked_at(work, &asked_ns)) {
		parts_ns[RVP_IDLE_UNKNOWN] += end_ns - begin_ns;
		return;
	}
	if (asked_ns <= begin_ns) {
		parts_ns[is_comm ? RVP_IDLE_COMMUNICATION : RVP_IDLE_QUEUE] += end_ns - begin_ns;
		return;
	}
	asked_ns = asked_ns < end_ns ? asked_ns : end_ns;
	waited_ns = is_input(work->activity) ? begin_ns : after_wait(begin_ns, asked_ns, wait);
	parts_ns[RVP_IDLE_SYNC] += waited_ns - begin_ns;
	parts_ns[until_asked(work)] += asked_ns - waited_ns;
	parts_ns[RVP_IDLE_LATENCY] += end_ns - asked_ns;
}
