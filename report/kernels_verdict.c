/* SPDX-License-Identifier: MIT */
/* kernels_verdict.c: see kernels_verdict.h. */
#include "report/kernels_verdict.h"

#include "report/text_numbers.h"

#include <stdio.h>
#include <string.h>

enum {
	BOUND_PERCENT = 90, /* the rest is what lies between kernels of a full queue */
	COMM_PERCENT = 20,
	IDLE_PERCENT = 20, /* a fifth of a device is worth a look */
	LEAST_MS = 10,
	LEAST_PIECES = 100,
};

const char *rvp_idle_text(enum rvp_idle idle)
{
	static const char *const texts[RVP_IDLE_COUNT] = {
	    [RVP_IDLE_INPUT] = "waiting for input: the next work is a copy from the host",
	    [RVP_IDLE_LAUNCH] = "launch-bound: the host launches slower than the device runs",
	    [RVP_IDLE_SYNC] = "the host waited for the device and then had to launch anew",
	    [RVP_IDLE_COMMUNICATION] = "waiting for communication",
	    [RVP_IDLE_QUEUE] = "work was launched and waited for other streams, events or the device itself",
	    [RVP_IDLE_LATENCY] = "on the way from launch to start",
	    [RVP_IDLE_NOTHING_ASKED] = "the host asked for nothing",
	    [RVP_IDLE_UNKNOWN] = "why is not known: launches were not recorded at this tier",
	};

	return texts[idle];
}

static uint64_t span_ns(const struct rvp_kernel_device *device)
{
	return device->last_ns - device->first_ns;
}

static uint64_t pieces(const struct rvp_kernel_device *device)
{
	return device->sum.count + device->gaps.count;
}

static bool is_percent(uint64_t part, uint64_t whole, unsigned percent)
{
	return (double)part * 100 >= (double)whole * percent;
}

enum rvp_idle rvp_kernel_largest_idle(const struct rvp_kernel_device *device)
{
	enum rvp_idle largest = RVP_IDLE_INPUT;

	for (int i = 0; i < RVP_IDLE_COUNT; i++)
		if (device->idle_ns[i] > device->idle_ns[largest])
			largest = (enum rvp_idle)i;
	return largest;
}

const char *rvp_kernel_bound(const struct rvp_kernel_device *device)
{
	uint64_t span = span_ns(device);

	if (span < LEAST_MS * 1000000u || pieces(device) < LEAST_PIECES)
		return "";
	if (is_percent(rvp_kernel_exposed_comm_ns(device) + device->idle_ns[RVP_IDLE_COMMUNICATION], span,
		       COMM_PERCENT))
		return "communication";
	if (is_percent(device->all.ns, span, BOUND_PERCENT))
		return "device";
	if (is_percent(rvp_kernel_device_idle_ns(device), span, IDLE_PERCENT))
		return "host";
	return "";
}

static const struct rvp_kernel_device *busiest(const struct rvp_kernels *kernels)
{
	const struct rvp_kernel_device *best = NULL;

	for (size_t i = 0; i < kernels->device_count; i++)
		if (!best || kernels->devices[i].all.ns > best->all.ns)
			best = &kernels->devices[i];
	return best;
}

static void say_host(const struct rvp_kernel_device *device, struct rvp_sentence *sentence)
{
	enum rvp_idle why = rvp_kernel_largest_idle(device);
	char idle[RVP_NUMBER_TEXT_BYTES], span[RVP_NUMBER_TEXT_BYTES], part[RVP_NUMBER_TEXT_BYTES];

	snprintf(sentence->text, sizeof sentence->text, "cuda:%u stood idle for %s of %s; %s of it: %s",
		 device->called, rvp_text_share(rvp_kernel_device_idle_ns(device), span_ns(device), idle),
		 rvp_text_duration(span_ns(device), span),
		 rvp_text_share(device->idle_ns[why], rvp_kernel_device_idle_ns(device), part),
		 rvp_idle_text(why));
}

bool rvp_kernels_sentence(const struct rvp_kernels *kernels, struct rvp_sentence *sentence)
{
	const struct rvp_kernel_device *device = busiest(kernels);
	const char *bound = device ? rvp_kernel_bound(device) : "";
	char share[RVP_NUMBER_TEXT_BYTES], span[RVP_NUMBER_TEXT_BYTES], waited[RVP_NUMBER_TEXT_BYTES];

	if (!*bound)
		return false;
	*sentence = (struct rvp_sentence){.id = "host_bound"};
	rvp_text_duration(span_ns(device), span);
	if (!strcmp(bound, "host")) {
		say_host(device, sentence);
	} else if (!strcmp(bound, "device")) {
		sentence->id = "device_bound";
		snprintf(sentence->text, sizeof sentence->text,
			 "the device is the bound: cuda:%u was busy for %s of the %s between its first and "
			 "last work",
			 device->called, rvp_text_share(device->all.ns, span_ns(device), share), span);
	} else {
		sentence->id = "communication_bound";
		snprintf(sentence->text, sizeof sentence->text,
			 "cuda:%u had nothing but communication for %s of %s, and stood idle for it for %s",
			 device->called,
			 rvp_text_share(rvp_kernel_exposed_comm_ns(device), span_ns(device), share), span,
			 rvp_text_share(device->idle_ns[RVP_IDLE_COMMUNICATION], span_ns(device), waited));
	}
	return true;
}

void rvp_verdicts_add_kernels(struct rvp_verdicts *verdicts, const struct rvp_kernels *kernels)
{
	if (verdicts->count < RVP_SENTENCES_MAX &&
	    rvp_kernels_sentence(kernels, &verdicts->sentences[verdicts->count]))
		verdicts->count++;
}
