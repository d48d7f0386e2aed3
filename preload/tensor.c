/* SPDX-License-Identifier: MIT */
/* tensor.c: see tensor.h. */
#include "preload/tensor.h"

#include "preload/elf_image.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/events.h"
#include "preload/imports.h"
#include "preload/loader_list.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/recorder.h"
#include "preload/walk.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

/* c10::Device, and c10::DeviceType's first values; there are some 20. */
struct device {
	int8_t type, index;
};
enum { CUDA = 1, DEVICE_TYPES_MAX = 64 };

typedef void report_totals(void *block, int64_t bytes, int64_t allocated, int64_t reserved,
			   struct device device);

static report_totals front_totals;
static void *real;
static const char *real_name;
static void *real_front;
static _Atomic uint32_t is_deaf; /* something was told that can't be */
static _Atomic uint32_t is_told; /* the ADAPTER record */
static _Atomic uint64_t seen_adds;

/* The totals' type changed from int64_t to size_t on the way; it is the same register. */
static const struct {
	const char *name;
	void *front;
} known[] = {
    {"_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE", (void *)front_totals}, /* measured: 1.13 */
    {"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", (void *)front_totals}, /* 2.x by its header */
};

static void say(struct rvp_thread *thread, uint64_t state, const char *what)
{
	static const char who[] = "torch tensor events";

	RVP_EMIT(thread, ADAPTER, sizeof who - 1 + strlen(what), .stamp = rvp_last_stamp(thread), .state = state,
		 .name = {who, sizeof who - 1}, .what = {what, strlen(what)});
}

/* User space ends below 2^47, and no allocator holds more than that. */
static bool can_be(const void *block, int64_t bytes, int64_t allocated, int64_t reserved,
		   struct device device)
{
	const int64_t most = (int64_t)1 << 47;

	return ((uint64_t)block >> 47) == 0 && bytes > -most && bytes < most && allocated >= 0 &&
	       allocated < most && reserved >= 0 && reserved < most && device.type >= 0 &&
	       device.type < DEVICE_TYPES_MAX && device.index >= -1;
}

static void go_deaf(struct rvp_thread *thread)
{
	uint32_t hearing = 0;

	thread->last_stamp = rvp_event_stamp(thread);
	if (atomic_compare_exchange_strong(&is_deaf, &hearing, 1))
		say(thread, RVP_ADAPTER_FAILED, "what was told made no sense: off");
}

/* With the call path: nobody else asks for a device's memory at the time when a tensor is wanted. */
static void record_on_device(struct rvp_thread *thread, void *block, int64_t bytes, int64_t allocated,
			     int64_t reserved, struct device device, struct rvp_caller caller)
{
	uint64_t stamp = rvp_event_stamp(thread);
	struct rvp_path path = {0};

	if (bytes > 0)
		path = rvp_event_path(thread, caller);
	RVP_EMIT(thread, DEVICE_TENSOR, 0, .stamp = stamp, .address = (uint64_t)block, .is_free = bytes < 0,
		 .bytes = (uint64_t)(bytes < 0 ? -bytes : bytes), .allocated_bytes = (uint64_t)allocated,
		 .reserved_bytes = (uint64_t)reserved, .device = (uint64_t)(device.index < 0 ? 0 : device.index),
		 .stack = path.stack, .python = path.python);
}

static void record(struct rvp_thread *thread, void *block, int64_t bytes, int64_t allocated, int64_t reserved,
		   struct device device, struct rvp_caller caller)
{
	if (!can_be(block, bytes, allocated, reserved, device))
		go_deaf(thread);
	else if (atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed))
		rvp_lose(RVP_LOSS_LOG_BOUND, 1);
	else if (device.type == CUDA)
		record_on_device(thread, block, bytes, allocated, reserved, device, caller);
	else
		RVP_EMIT(thread, TENSOR, 0, .stamp = rvp_event_stamp(thread), .address = (uint64_t)block,
			 .is_free = bytes < 0, .bytes = (uint64_t)(bytes < 0 ? -bytes : bytes),
			 .allocated_bytes = (uint64_t)allocated, .reserved_bytes = (uint64_t)reserved,
			 .device_type = (uint64_t)device.type,
			 .device = (uint64_t)(device.index < 0 ? 0 : device.index));
}

static void hear(void *block, int64_t bytes, int64_t allocated, int64_t reserved, struct device device,
		 struct rvp_caller caller)
{
	struct rvp_thread *thread;

	if (!block || bytes == 0 || atomic_load_explicit(&is_deaf, memory_order_relaxed))
		return;
	thread = rvp_enter();
	if (!thread)
		return;
	record(thread, block, bytes, allocated, reserved, device, caller);
	rvp_leave(thread);
}

static void front_totals(void *block, int64_t bytes, int64_t allocated, int64_t reserved,
			 struct device device)
{
	hear(block, bytes, allocated, reserved, device, RVP_CALLER());
	((report_totals *)real)(block, bytes, allocated, reserved, device);
}

static const char *file_name(const struct dl_phdr_info *info)
{
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool object_of(const struct dl_phdr_info *info, struct rvp_object *object)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			return rvp_object_find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, object);
	return false;
}

/* libc10 itself: 1 when it is there. */
static int find_real(struct dl_phdr_info *info, size_t size, void *nothing)
{
	struct rvp_object object;

	(void)size, (void)nothing;
	if (!begins(file_name(info), "libc10.so") || !object_of(info, &object))
		return 0;
	for (unsigned i = 0; i < sizeof known / sizeof known[0] && !real; i++) {
		real = (void *)rvp_elf_symbol(&object, known[i].name);
		real_name = known[i].name;
		real_front = known[i].front;
	}
	return 1;
}

static void *front_of(const char *name)
{
	return strcmp(name, real_name) == 0 ? real_front : NULL;
}

/* Who calls it: libc10's own CPU allocator, the CUDA one, and out-of-tree devices by libtorch. */
struct progress {
	uint64_t seen_adds, adds;
};

static int redirect(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct progress *progress = argument;

	(void)size;
	progress->adds = info->dlpi_adds;
	if (progress->adds == progress->seen_adds)
		return 1;
	if (begins(file_name(info), "libc10") || begins(file_name(info), "libtorch_cpu.so") ||
	    begins(file_name(info), "libtorch_cuda"))
		rvp_imports_redirect(info, front_of);
	return 0;
}

void rvp_tensor_meet(struct rvp_thread *thread)
{
	struct progress progress = {.seen_adds = atomic_load(&seen_adds)};
	uint32_t untold = 0;

	if (atomic_load(&rvp_process.locked) || !rvp_process.options.adapters ||
	    (!real && !rvp_loader_list(find_real, NULL)))
		return;
	if (atomic_compare_exchange_strong(&is_told, &untold, 1))
		say(thread, real ? RVP_ADAPTER_ON : RVP_ADAPTER_OFF,
		    real ? real_name : "this libc10 has no reportMemoryUsageToProfiler that we know");
	if (!real)
		return;
	rvp_loader_list(redirect, &progress);
	atomic_store(&seen_adds, progress.adds);
}
