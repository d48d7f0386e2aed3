/* SPDX-License-Identifier: MIT */
/* driver_fronts.c: see driver_fronts.h.
 *
 * Rules
 *   (F1) The real function is called exactly once, with the caller's arguments, outside of our phase: what
 * the driver allocates on the host is the program's as without us. Its result goes back untouched. (F2) An
 * alloc is recorded behind the real call, a free before it; a free that fails is taken back (DEVICE_UNFREE).
 *   (F3) A front that is called inside another one on the same thread (a driver that calls itself by its
 * exported names) records nothing: the outermost counts. (F4) What else is asked of the driver is asked by
 * its own functions, looked up beside the first real one: which device is current, and how much memory it has
 * when it refuses. They take no memory and start nothing.
 */
#include "preload/driver_fronts.h"

#include "preload/driver.h"
#include "preload/elf_image.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/events.h"
#include "preload/own.h"
#include "preload/recorder.h"
#include "preload/walk.h"
#include "preload/window.h"
#include "record/device.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

typedef int result; /* CUresult */
enum { SUCCESS = 0, OUT_OF_MEMORY = 2 };
enum { LOCATION_DEVICE = 1 };

static void *_Atomic reals[RVP_DRIVER_COUNT];
static _Atomic bool is_silent;
static _Atomic uint64_t launches;
static _Atomic uint32_t is_told;
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

/* The driver's own, for rule F4. */
static result (*_Atomic current_device)(int *device);
static result (*_Atomic memory_info)(size_t *free_bytes, size_t *total_bytes);

void rvp_driver_yield(bool is_told_by_cupti)
{
	atomic_store(&is_silent, is_told_by_cupti);
}

uint64_t rvp_driver_launches(void)
{
	return atomic_load_explicit(&launches, memory_order_relaxed);
}

static bool begin(void)
{
	if (is_inside || atomic_load_explicit(&is_silent, memory_order_relaxed))
		return false;
	return is_inside = true;
}

static uint64_t device_now(void)
{
	result (*ask)(int *) = atomic_load_explicit(&current_device, memory_order_relaxed);
	int device = 0;

	return ask && ask(&device) == SUCCESS && device > 0 ? (uint64_t)device : 0;
}

/* Once a process: that it is this that tells. The plugin says the same with its reason, if it is there. */
static void tell_source(struct rvp_thread *thread)
{
	static const char reason[] =
	    "CUPTI is not used: memory and launches as the driver's functions are called";
	uint32_t untold = 0;

	if (atomic_compare_exchange_strong(&is_told, &untold, 1))
		RVP_EMIT(thread, DEVICE_TRACER, sizeof reason - 1, .stamp = rvp_event_stamp(thread),
			 .source = RVP_DEVICE_SOURCE_DRIVER, .tier = RVP_DEVICE_TIER_MEMORY,
			 .kinds = 1 << RVP_DEVICE_BIT_MEMORY | 1 << RVP_DEVICE_BIT_LAUNCH_COUNT,
			 .reason = {reason, sizeof reason - 1});
}

/* NULL: there is nobody to tell. */
static struct rvp_thread *enter(void)
{
	struct rvp_thread *thread = rvp_enter();

	if (thread && atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed)) {
		rvp_lose(RVP_LOSS_LOG_BOUND, 1);
		rvp_leave(thread);
		return NULL;
	}
	if (thread)
		tell_source(thread);
	return thread;
}

struct asked {
	enum rvp_device_memory kind;
	uint64_t bytes, pool;
	int device; /* -1: the current one */
};

static void tell_refused(struct asked asked, uint64_t device, struct rvp_caller caller)
{
	result (*ask)(size_t *, size_t *) = atomic_load_explicit(&memory_info, memory_order_relaxed);
	size_t free_bytes = 0, total_bytes = 0;
	struct rvp_thread *thread;
	struct rvp_path path;
	uint64_t stamp;

	/* It tells of the current device. */
	if (!ask || device != device_now() || ask(&free_bytes, &total_bytes) != SUCCESS)
		free_bytes = total_bytes = 0;
	thread = enter();
	if (!thread)
		return;
	stamp = rvp_event_stamp(thread);
	path = rvp_event_path(thread, caller);
	RVP_EMIT(thread, DEVICE_REFUSED, 0, .stamp = stamp, .device = device, .bytes = asked.bytes,
		 .kind = asked.kind, .error = OUT_OF_MEMORY, .total_bytes = total_bytes,
		 .free_bytes = free_bytes, .stack = path.stack, .python = path.python);
	rvp_leave(thread);
}

/* Ends what `begin` began; the answer is success, or that there is no memory. */
static result end_alloc(result answer, struct asked asked, uint64_t address, struct rvp_caller caller)
{
	uint64_t device = asked.device < 0 ? device_now() : (uint64_t)asked.device;
	struct rvp_thread *thread = answer == SUCCESS ? enter() : NULL;

	if (answer != SUCCESS)
		tell_refused(asked, device, caller);
	if (thread) {
		uint64_t stamp = rvp_event_stamp(thread);
		struct rvp_path path = rvp_event_path(thread, caller);

		RVP_EMIT(thread, DEVICE_ALLOC, 0, .stamp = stamp, .address = address, .bytes = asked.bytes,
			 .stack = path.stack, .python = path.python, .kind = asked.kind, .device = device,
			 .pool = asked.pool);
		rvp_leave(thread);
	}
	is_inside = false;
	return answer;
}

static void begin_free(enum rvp_device_memory kind, uint64_t address)
{
	struct rvp_thread *thread = address ? enter() : NULL;

	if (!thread)
		return;
	RVP_EMIT(thread, DEVICE_FREE, 0, .stamp = rvp_event_stamp(thread), .address = address, .kind = kind);
	rvp_leave(thread);
}

static result end_free(result answer, uint64_t address)
{
	struct rvp_thread *thread = answer != SUCCESS && address ? enter() : NULL;

	if (thread) {
		RVP_EMIT(thread, DEVICE_UNFREE, 0, .stamp = rvp_event_stamp(thread), .address = address);
		rvp_leave(thread);
	}
	is_inside = false;
	return answer;
}

/* The real function, with the type of the front that calls it. */
#define REAL(name) \
	((__typeof__(front_##name) *)atomic_load_explicit(&reals[RVP_DRIVER_##name], memory_order_relaxed))

/* PARAMETERS and ARGUMENTS in brackets; ASKED: what was asked for; ADDRESS: where the answer is. */
#define ALLOC_FRONT(name, PARAMETERS, ARGUMENTS, ASKED, ADDRESS)                                           \
	static result front_##name PARAMETERS                                                              \
	{                                                                                                  \
		result answer;                                                                             \
                                                                                                           \
		if (!begin())                                                                              \
			return REAL(name) ARGUMENTS;                                                       \
		answer = REAL(name) ARGUMENTS;                                                             \
		if (answer != SUCCESS && answer != OUT_OF_MEMORY) {                                        \
			is_inside = false;                                                                 \
			return answer;                                                                     \
		}                                                                                          \
		return end_alloc(answer, (struct asked)ASKED, answer == SUCCESS ? (uint64_t)(ADDRESS) : 0, \
				 RVP_CALLER());                                                            \
	}
#define FREE_FRONT(name, PARAMETERS, ARGUMENTS, KIND, ADDRESS)              \
	static result front_##name PARAMETERS                               \
	{                                                                   \
		if (!begin())                                               \
			return REAL(name) ARGUMENTS;                        \
		begin_free(KIND, (uint64_t)(ADDRESS));                      \
		return end_free(REAL(name) ARGUMENTS, (uint64_t)(ADDRESS)); \
	}
#define SET(...)            \
	{                   \
		__VA_ARGS__ \
	}

ALLOC_FRONT(cuMemAlloc_v2, (uint64_t * address, size_t bytes), (address, bytes),
	    SET(RVP_DEVICE_MEMORY_PLAIN, bytes, 0, -1), *address)
ALLOC_FRONT(cuMemAllocPitch_v2,
	    (uint64_t * address, size_t *pitch, size_t width, size_t height, unsigned element),
	    (address, pitch, width, height, element),
	    SET(RVP_DEVICE_MEMORY_PLAIN, (answer == SUCCESS ? *pitch : width) * height, 0, -1), *address)
ALLOC_FRONT(cuMemAllocManaged, (uint64_t * address, size_t bytes, unsigned flags), (address, bytes, flags),
	    SET(RVP_DEVICE_MEMORY_MANAGED, bytes, 0, -1), *address)
ALLOC_FRONT(cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes),
	    SET(RVP_DEVICE_MEMORY_PINNED, bytes, 0, -1), *address)
ALLOC_FRONT(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags), (address, bytes, flags),
	    SET(RVP_DEVICE_MEMORY_PINNED, bytes, 0, -1), *address)
ALLOC_FRONT(cuMemAllocAsync, (uint64_t * address, size_t bytes, void *stream), (address, bytes, stream),
	    SET(RVP_DEVICE_MEMORY_ORDERED, bytes, 0, -1), *address)
ALLOC_FRONT(cuMemAllocAsync_ptsz, (uint64_t * address, size_t bytes, void *stream), (address, bytes, stream),
	    SET(RVP_DEVICE_MEMORY_ORDERED, bytes, 0, -1), *address)
ALLOC_FRONT(cuMemAllocFromPoolAsync, (uint64_t * address, size_t bytes, void *pool, void *stream),
	    (address, bytes, pool, stream), SET(RVP_DEVICE_MEMORY_ORDERED, bytes, (uint64_t)pool, -1),
	    *address)
ALLOC_FRONT(cuMemAllocFromPoolAsync_ptsz, (uint64_t * address, size_t bytes, void *pool, void *stream),
	    (address, bytes, pool, stream), SET(RVP_DEVICE_MEMORY_ORDERED, bytes, (uint64_t)pool, -1),
	    *address)
FREE_FRONT(cuMemFree_v2, (uint64_t address), (address), RVP_DEVICE_MEMORY_PLAIN, address)
FREE_FRONT(cuMemFreeHost, (void *address), (address), RVP_DEVICE_MEMORY_PINNED, address)
FREE_FRONT(cuMemFreeAsync, (uint64_t address, void *stream), (address, stream), RVP_DEVICE_MEMORY_ORDERED,
	   address)
FREE_FRONT(cuMemFreeAsync_ptsz, (uint64_t address, void *stream), (address, stream),
	   RVP_DEVICE_MEMORY_ORDERED, address)
FREE_FRONT(cuMemRelease, (uint64_t handle), (handle), RVP_DEVICE_MEMORY_PHYSICAL, handle)

/* cuda.h: CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR. */
struct shape {
	size_t width, height;
	uint32_t format, channels;
};
struct shape_3d {
	size_t width, height, depth;
	uint32_t format, channels, flags;
};

static uint64_t bytes_of(const struct shape *shape)
{
	return rvp_device_array_bytes(shape->format, shape->channels, shape->width, shape->height, 1, 1);
}

static uint64_t bytes_of_3d(const struct shape_3d *shape, unsigned levels)
{
	return rvp_device_array_bytes(shape->format, shape->channels, shape->width, shape->height,
				      shape->depth, levels);
}

ALLOC_FRONT(cuArrayCreate_v2, (void **array, const struct shape *shape), (array, shape),
	    SET(RVP_DEVICE_MEMORY_ARRAY, bytes_of(shape), 0, -1), *array)
ALLOC_FRONT(cuArray3DCreate_v2, (void **array, const struct shape_3d *shape), (array, shape),
	    SET(RVP_DEVICE_MEMORY_ARRAY, bytes_of_3d(shape, 1), 0, -1), *array)
ALLOC_FRONT(cuMipmappedArrayCreate, (void **array, const struct shape_3d *shape, unsigned levels),
	    (array, shape, levels), SET(RVP_DEVICE_MEMORY_ARRAY, bytes_of_3d(shape, levels), 0, -1), *array)
FREE_FRONT(cuArrayDestroy, (void *array), (array), RVP_DEVICE_MEMORY_ARRAY, array)
FREE_FRONT(cuMipmappedArrayDestroy, (void *array), (array), RVP_DEVICE_MEMORY_ARRAY, array)

/* cuda.h, CUmemAllocationProp: its beginning. */
struct properties {
	uint32_t type, handle_types, location_type;
	int32_t location;
};

/* Physical memory on the host (a NUMA node) is none of a device's. */
static result front_cuMemCreate(uint64_t *handle, size_t bytes, const struct properties *properties,
				unsigned long long flags)
{
	struct asked asked = {RVP_DEVICE_MEMORY_PHYSICAL, bytes, 0, -1};
	result answer;

	if (!properties || properties->location_type != LOCATION_DEVICE || !begin())
		return REAL(cuMemCreate)(handle, bytes, properties, flags);
	asked.device = properties->location;
	answer = REAL(cuMemCreate)(handle, bytes, properties, flags);
	if (answer != SUCCESS && answer != OUT_OF_MEMORY) {
		is_inside = false;
		return answer;
	}
	return end_alloc(answer, asked, answer == SUCCESS ? *handle : 0, RVP_CALLER());
}

static result front_cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
			     unsigned long long flags)
{
	struct rvp_thread *thread;
	result answer;

	if (!begin())
		return REAL(cuMemMap)(address, bytes, offset, handle, flags);
	answer = REAL(cuMemMap)(address, bytes, offset, handle, flags);
	thread = answer == SUCCESS ? enter() : NULL;
	if (thread) {
		uint64_t stamp = rvp_event_stamp(thread);
		struct rvp_path path = rvp_event_path(thread, RVP_CALLER());

		RVP_EMIT(thread, DEVICE_MAP, 0, .stamp = stamp, .address = address, .bytes = bytes,
			 .handle = handle, .offset = offset, .stack = path.stack, .python = path.python);
		rvp_leave(thread);
	}
	is_inside = false;
	return answer;
}

/* A failed one is told as a mapping that is there again. */
static result front_cuMemUnmap(uint64_t address, size_t bytes)
{
	struct rvp_thread *thread;
	result answer;

	if (!begin())
		return REAL(cuMemUnmap)(address, bytes);
	thread = enter();
	if (thread) {
		RVP_EMIT(thread, DEVICE_UNMAP, 0, .stamp = rvp_event_stamp(thread), .address = address,
			 .bytes = bytes);
		rvp_leave(thread);
	}
	answer = REAL(cuMemUnmap)(address, bytes);
	return end_free(answer, address);
}

#define LAUNCH_FRONT(name, PARAMETERS, ARGUMENTS)                                      \
	static result front_##name PARAMETERS                                          \
	{                                                                              \
		if (!atomic_load_explicit(&is_silent, memory_order_relaxed))           \
			atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed); \
		return REAL(name) ARGUMENTS;                                           \
	}

#define GRID       unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared
#define GRID_WORDS gx, gy, gz, bx, by, bz, shared
LAUNCH_FRONT(cuLaunchKernel, (void *function, GRID, void *stream, void **words, void **extra),
	     (function, GRID_WORDS, stream, words, extra))
LAUNCH_FRONT(cuLaunchKernel_ptsz, (void *function, GRID, void *stream, void **words, void **extra),
	     (function, GRID_WORDS, stream, words, extra))
LAUNCH_FRONT(cuLaunchKernelEx, (const void *how, void *function, void **words, void **extra),
	     (how, function, words, extra))
LAUNCH_FRONT(cuLaunchKernelEx_ptsz, (const void *how, void *function, void **words, void **extra),
	     (how, function, words, extra))
LAUNCH_FRONT(cuLaunchCooperativeKernel, (void *function, GRID, void *stream, void **words),
	     (function, GRID_WORDS, stream, words))
LAUNCH_FRONT(cuLaunchCooperativeKernel_ptsz, (void *function, GRID, void *stream, void **words),
	     (function, GRID_WORDS, stream, words))
LAUNCH_FRONT(cuGraphLaunch, (void *graph, void *stream), (graph, stream))
LAUNCH_FRONT(cuGraphLaunch_ptsz, (void *graph, void *stream), (graph, stream))

/* With --capture=cuda these open and close the window; never silent: CUPTI's plugin does not tell of them. */
static result front_cuProfilerStart(void)
{
	rvp_window_cuda(true);
	return REAL(cuProfilerStart)();
}

static result front_cuProfilerStop(void)
{
	result answer = REAL(cuProfilerStop)();

	rvp_window_cuda(false);
	return answer;
}

static result front_cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	result answer = REAL(cuGetProcAddress)(name, function, version, flags);

	if (answer == SUCCESS && function)
		*function = rvp_driver_front_for(name, version, flags, *function);
	return answer;
}

static result front_cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
					void *status)
{
	result answer = REAL(cuGetProcAddress_v2)(name, function, version, flags, status);

	if (answer == SUCCESS && function)
		*function = rvp_driver_front_for(name, version, flags, *function);
	return answer;
}

static void *const fronts[RVP_DRIVER_COUNT] = {
#define RVP_DRIVER(name, base, since, per_thread) [RVP_DRIVER_##name] = (void *)front_##name,
#include "preload/driver.def"
};

/* Rule F4, once: in the library that holds this function. By its tables: this runs inside dl_iterate_phdr
 * too. */
static void find_helpers(void *real)
{
	struct rvp_object object;

	if (atomic_load(&current_device) || !rvp_object_find((uint64_t)real, &object))
		return;
	memory_info = (result(*)(size_t *, size_t *))rvp_elf_symbol(&object, "cuMemGetInfo_v2");
	current_device = (result(*)(int *))rvp_elf_symbol(&object, "cuCtxGetDevice");
}

/* A slot whose function is not known yet (another thread is just loading that module), or that leads here already: a front
 * of nothing would be its own real one, and never return. */
void *rvp_driver_front_of(enum rvp_driver_call call, void *real)
{
	void *none = NULL;

	if (!real || real == fronts[call])
		return NULL;
	find_helpers(real);
	if (!atomic_compare_exchange_strong(&reals[call], &none, real) && none != real)
		return NULL;
	return fronts[call];
}
