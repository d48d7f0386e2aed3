/* SPDX-License-Identifier: MIT */
/* abi.h: what has to be known of CUPTI to be its client: numbers and layouts, not NVIDIA's headers.
 *
 * Origin of each number: the public headers of CUDA 13.0 Update 1 (cupti_version.h: CUPTI_API_VERSION 130001), the
 * file is named at each. They hold for 64-bit Linux on every processor. tests/unit/check_abi_headers.c compares this
 * page with the headers where they are installed. The driver's side is in abi_driver.h, callbacks in abi_callbacks.h.
 *
 * Rules
 *   1. Records are walked by cuptiActivityGetNextRecord alone: a record is as long as the running library makes it.
 *   2. A field is read where the running library's version has it (`from` at the field: cuptiGetVersion's number);
 * what lies behind the library's own record is the next record. A record of ours is the newest that is known; newer
 * libraries have longer ones with the same beginning.
 *   3. Nothing is read that is not in the oldest supported record: RVP_CUPTI_OLDEST.
 */
#ifndef RVP_CUPTI_ABI_H
#define RVP_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* cupti_version.h: 17 is CUDA 11.6; 19 12.0; 20 12.2; 26 12.8; 27 12.9; 28 12.9 Update 1; 130000 13.0; then xxyyzz. */
enum {
	RVP_CUPTI_OLDEST = 17,
	RVP_CUPTI_12_0 = 19,
	RVP_CUPTI_12_2 = 20,
	RVP_CUPTI_12_8 = 26,
	RVP_CUPTI_12_9 = 27,
	RVP_CUPTI_13_0 = 130000,
	RVP_CUPTI_HEADERS = 130001
};

/* cupti_result.h, CUptiResult */
enum rvp_cupti_result {
	RVP_CUPTI_SUCCESS = 0,
	RVP_CUPTI_INVALID_PARAMETER = 1,
	RVP_CUPTI_INVALID_OPERATION = 7,
	RVP_CUPTI_OUT_OF_MEMORY = 8,
	RVP_CUPTI_MAX_LIMIT_REACHED = 12, /* GetNextRecord: the end of the buffer */
	RVP_CUPTI_NOT_READY = 13,
	RVP_CUPTI_NOT_COMPATIBLE = 14,
	RVP_CUPTI_NOT_INITIALIZED = 15,
	RVP_CUPTI_INVALID_KIND = 21, /* GetNextRecord: a kind that the library does not know */
	RVP_CUPTI_NOT_SUPPORTED = 27,
	RVP_CUPTI_VIRTUALIZED_DEVICE = 33,
	RVP_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	RVP_CUPTI_OLD_PROFILER_API = 36,
	RVP_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	RVP_CUPTI_VIRTUALIZED_PRIVILEGES = 40,
	RVP_CUPTI_CONFIDENTIAL_COMPUTING = 41,
	RVP_CUPTI_CMP_DEVICE = 42,
	RVP_CUPTI_MIG_DEVICE = 43,
	RVP_CUPTI_SLI_DEVICE = 44,
	RVP_CUPTI_WSL_DEVICE = 45,
	RVP_CUPTI_UNKNOWN = 999 /* also: there is no usable driver */
};

/* cupti_activity.h, CUpti_ActivityKind */
enum rvp_cupti_kind {
	RVP_CUPTI_MEMCPY = 1,
	RVP_CUPTI_MEMSET = 2,
	RVP_CUPTI_KERNEL = 3, /* serialises kernels: never enabled */
	RVP_CUPTI_DRIVER = 4,
	RVP_CUPTI_RUNTIME = 5,
	RVP_CUPTI_DEVICE = 8,
	RVP_CUPTI_CONTEXT = 9,
	RVP_CUPTI_CONCURRENT_KERNEL = 10,
	RVP_CUPTI_NAME = 11,
	RVP_CUPTI_MARKER = 12,
	RVP_CUPTI_MARKER_DATA = 13,
	RVP_CUPTI_OVERHEAD = 17,
	RVP_CUPTI_MEMCPY_PEER = 22, /* MEMCPY2 */
	RVP_CUPTI_CUDA_EVENT = 36,
	RVP_CUPTI_STREAM = 37,
	RVP_CUPTI_SYNCHRONIZATION = 38,
	RVP_CUPTI_EXTERNAL_CORRELATION = 39,
	RVP_CUPTI_MEMORY = 45,
	RVP_CUPTI_INTERNAL_LAUNCH_API = 48,
	RVP_CUPTI_MEMORY2 = 49,
	RVP_CUPTI_MEMORY_POOL = 50,
	RVP_CUPTI_GRAPH_TRACE = 51,
	RVP_CUPTI_DEVICE_GRAPH_TRACE = 53
};

/* cupti_activity.h, CUpti_ActivityAttribute: what cuptiActivitySetAttribute sets */
enum rvp_cupti_attribute {
	RVP_CUPTI_DEVICE_BUFFER_BYTES = 0,     /* size_t; before cuInit */
	RVP_CUPTI_DEVICE_BUFFER_LIMIT = 2,     /* size_t; buffers of a context */
	RVP_CUPTI_ZEROED_BUFFERS = 5,          /* uint8_t: buffers come zeroed from us */
	RVP_CUPTI_DEVICE_BUFFER_PREALLOCATE = 6 /* size_t */
};

/* cupti_activity.h: CUpti_ActivityThreadIdType, flags of cuptiActivityFlushAll */
enum { RVP_CUPTI_THREAD_ID_DEFAULT = 0, RVP_CUPTI_THREAD_ID_SYSTEM = 1, RVP_CUPTI_FLUSH_FORCED = 1 };

/* cupti_activity.h, CUpti_ActivityMemcpyKind: 1 HtoD 2 DtoH 3 HtoA 4 AtoH 5 AtoA 6 AtoD 7 DtoA 8 DtoD 9 HtoH 10 PtoP */
/* cupti_activity.h, CUpti_ActivityMemoryKind */
enum rvp_cupti_memory_kind {
	RVP_CUPTI_MEMORY_UNKNOWN = 0,
	RVP_CUPTI_MEMORY_PAGEABLE = 1,
	RVP_CUPTI_MEMORY_PINNED = 2,
	RVP_CUPTI_MEMORY_DEVICE = 3,
	RVP_CUPTI_MEMORY_ARRAY = 4,
	RVP_CUPTI_MEMORY_MANAGED = 5,
	RVP_CUPTI_MEMORY_DEVICE_STATIC = 6,
	RVP_CUPTI_MEMORY_MANAGED_STATIC = 7
};
/* cupti_activity.h: CUpti_ActivityMemoryOperationType, CUpti_ActivityMemoryPoolOperationType, ..PoolType */
enum { RVP_CUPTI_MEMORY_ALLOCATION = 1, RVP_CUPTI_MEMORY_RELEASE = 2 };
enum { RVP_CUPTI_POOL_CREATED = 1, RVP_CUPTI_POOL_DESTROYED = 2, RVP_CUPTI_POOL_TRIMMED = 3 };
enum { RVP_CUPTI_POOL_LOCAL = 1, RVP_CUPTI_POOL_IMPORTED = 2 };
/* cupti_activity.h, CUpti_ActivityStreamFlag */
enum { RVP_CUPTI_STREAM_DEFAULT = 1, RVP_CUPTI_STREAM_NON_BLOCKING = 2, RVP_CUPTI_STREAM_NULL = 3 };
/* cupti_activity.h, CUpti_ActivityObjectKind */
enum { RVP_CUPTI_OBJECT_PROCESS = 1, RVP_CUPTI_OBJECT_THREAD = 2, RVP_CUPTI_OBJECT_CONTEXT = 4, RVP_CUPTI_OBJECT_STREAM = 5 };
/* cupti_activity.h, CUpti_ActivityOverheadKind */
enum {
	RVP_CUPTI_OVERHEAD_COMPILER = 1,
	RVP_CUPTI_OVERHEAD_FLUSH = 1 << 16,
	RVP_CUPTI_OVERHEAD_INSTRUMENTATION = 2 << 16,
	RVP_CUPTI_OVERHEAD_RESOURCE = 3 << 16,
	RVP_CUPTI_OVERHEAD_MODULE_LOADING = 4 << 16,
	RVP_CUPTI_OVERHEAD_LAZY_LOADING = 5 << 16,
	RVP_CUPTI_OVERHEAD_COMMAND_BUFFER = 6 << 16,
	RVP_CUPTI_OVERHEAD_BUFFER_REQUEST = 7 << 16
};

#define RVP_CUPTI_LAYOUT __attribute__((packed, aligned(8)))

/* The records: cupti_activity.h, CUpti_Activity<name> as said at each. `from`: in libraries of that version and newer. */

/* Kernel10; of Kernel7 (176 bytes) on; 13.1 and newer have more behind */
struct rvp_cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t global_cache_requested, global_cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid_x, grid_y, grid_z, block_x, block_y, block_z;
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total; /* bytes */
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted; /* 0: not collected */
	uint8_t launch_type;        /* 0 regular, 1 cooperative, 2 cooperative on several devices */
	uint8_t carveout_requested, carveout_percent, pad;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
	void *access_policy;
	uint32_t channel, channel_type;
	uint32_t cluster_x, cluster_y, cluster_z, cluster_scheduling; /* from 18 */
	uint64_t local_total_wide;                                    /* from 18 */
	uint32_t cluster_potential, cluster_active;                   /* from 19 */
	uint8_t is_device_launched;                                   /* from 130000 */
	uint8_t pad2[7];
} RVP_CUPTI_LAYOUT;

/* Memcpy6; of Memcpy5 (88 bytes) on */
struct rvp_cupti_copy {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags; /* flags 1: asynchronous */
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint8_t is_device_launched; /* from 26 */
	uint8_t pad2[3];
	uint64_t copy_count; /* from 26 */
} RVP_CUPTI_LAYOUT;

/* MemcpyPtoP4 */
struct rvp_cupti_copy_peer {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context, correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint32_t pad;
} RVP_CUPTI_LAYOUT;

/* Memset4 */
struct rvp_cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint8_t is_device_launched; /* from 26 */
	uint8_t pad2[3];
} RVP_CUPTI_LAYOUT;

/* Memory4, kind MEMORY2; of Memory2 (112 bytes) on */
struct rvp_cupti_memory {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t is_async, pad;
	uint32_t pool_type, pad2;
	uint64_t pool, pool_keep, pool_bytes;
	uint64_t pool_used;  /* of Memory3 on */
	const char *source;  /* of Memory4 on */
} RVP_CUPTI_LAYOUT;

/* MemoryPool3; of MemoryPool (64 bytes) on */
struct rvp_cupti_pool {
	uint32_t kind, operation, pool_type, correlation, process, device;
	uint64_t trim_to;
	uint64_t address, bytes, keep, time;
	uint64_t used;       /* of MemoryPool2 on */
	uint8_t is_managed;  /* from 130000 */
	uint8_t pad[7];
} RVP_CUPTI_LAYOUT;

/* API: kinds DRIVER, RUNTIME, INTERNAL_LAUNCH_API */
struct rvp_cupti_call {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
} RVP_CUPTI_LAYOUT;

/* Overhead3; of Overhead (40 bytes) on */
struct rvp_cupti_overhead {
	uint32_t kind, overhead_kind, object_kind;
	uint32_t process, thread, object_rest; /* of CUpti_ActivityObjectKindId; process and thread with OBJECT_THREAD */
	uint64_t start, end;
	uint32_t correlation, reserved; /* from 20 */
	void *data;                     /* from 26: the client frees it */
} RVP_CUPTI_LAYOUT;

/* Synchronization2; of Synchronization (40 bytes) on */
struct rvp_cupti_sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event; /* stream, event: UINT32_MAX where there is none */
	uint64_t event_sync;                          /* from 26 */
	uint32_t result, pad;                         /* from 26 */
} RVP_CUPTI_LAYOUT;

/* GraphTrace2; of GraphTrace (48 bytes) on */
struct rvp_cupti_graph_run {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream; /* device INT32_MAX: its first node is on the host */
	void *reserved;
	uint32_t end_device, end_context;
} RVP_CUPTI_LAYOUT;

/* DeviceGraphTrace */
struct rvp_cupti_device_graph_run {
	uint32_t kind, device;
	uint64_t start, end;
	uint32_t graph, launcher, mode, context;
	uint64_t stream;
	void *reserved;
} RVP_CUPTI_LAYOUT;

/* Context3; of Context (16 bytes) on */
struct rvp_cupti_context {
	uint32_t kind, context, device;
	uint16_t api, null_stream;
	uint32_t parent;
	uint8_t is_green, pad;
	uint16_t multiprocessors;
	uint32_t cig_mode, pad2;
} RVP_CUPTI_LAYOUT;

/* Stream */
struct rvp_cupti_stream {
	uint32_t kind, context, stream, priority, flag, correlation;
} RVP_CUPTI_LAYOUT;

/* Name */
struct rvp_cupti_name {
	uint32_t kind, object_kind;
	uint32_t process, thread, object_rest, pad;
	const char *name;
} RVP_CUPTI_LAYOUT;

/* ExternalCorrelation */
struct rvp_cupti_external {
	uint32_t kind, external_kind;
	uint64_t external;
	uint32_t correlation, reserved;
} RVP_CUPTI_LAYOUT;

/* Device5; of Device4 (176 bytes) on */
struct rvp_cupti_device {
	uint32_t kind, flags;
	uint64_t memory_bandwidth; /* kbytes a second */
	uint64_t memory_bytes;
	uint32_t constant_bytes, l2_bytes, warp_threads, clock_khz, copy_engines, multiprocessors, ipc;
	uint32_t warps, blocks, shared_bytes, registers; /* of a multiprocessor */
	uint32_t block_registers, block_shared, block_threads;
	uint32_t block_x, block_y, block_z, grid_x, grid_y, grid_z;
	uint32_t compute_major, compute_minor, id, ecc;
	uint8_t uuid[16];
	const char *name;
	uint8_t is_visible, is_mig, reserved[6];
	uint32_t gpu_instance, compute_instance;
	uint8_t mig_uuid[16];
	uint32_t is_numa, numa;
} RVP_CUPTI_LAYOUT;

/* Bytes of a record of the running library, by its version: what a simulated library makes, and what the tests say;
 * the plugin needs them only to know which fields are there. R(kind, from version, bytes), oldest first. The rows of
 * kernels of 130100 and 130300 are not from headers: 13.1 adds a priority, 13.3 something more; lengths are guessed. */
#define RVP_CUPTI_RECORD_BYTES(R)                                                                             \
	R(MEMCPY, 17, 88) R(MEMCPY, 26, 96) R(MEMSET, 17, 88) R(DRIVER, 17, 40) R(RUNTIME, 17, 40)            \
	R(DEVICE, 17, 176) R(DEVICE, 26, 184) R(CONTEXT, 17, 16) R(CONTEXT, 26, 24) R(CONTEXT, 130000, 32)    \
	R(CONCURRENT_KERNEL, 17, 176) R(CONCURRENT_KERNEL, 18, 200) R(CONCURRENT_KERNEL, 19, 208)             \
	R(CONCURRENT_KERNEL, 130000, 216) R(CONCURRENT_KERNEL, 130100, 224) R(CONCURRENT_KERNEL, 130300, 232) \
	R(NAME, 17, 32) R(OVERHEAD, 17, 40) R(OVERHEAD, 20, 48) R(OVERHEAD, 26, 56) R(MEMCPY_PEER, 17, 96)    \
	R(STREAM, 17, 24) R(SYNCHRONIZATION, 17, 40) R(SYNCHRONIZATION, 26, 56) R(EXTERNAL_CORRELATION, 17, 24) \
	R(MEMORY2, 17, 112) R(MEMORY2, 18, 120) R(MEMORY2, 26, 128) R(MEMORY_POOL, 17, 64)                    \
	R(MEMORY_POOL, 18, 72) R(MEMORY_POOL, 130000, 80) R(GRAPH_TRACE, 17, 48) R(GRAPH_TRACE, 26, 56)       \
	R(DEVICE_GRAPH_TRACE, 17, 56) R(INTERNAL_LAUNCH_API, 17, 40)

/* Bytes of a record of `kind` in a library of `version`; 0: not known. */
static inline uint32_t rvp_cupti_record_bytes(uint32_t kind, uint32_t version)
{
	uint32_t bytes = 0;

#define RVP_CUPTI_ROW(NAME, FROM, BYTES)                         \
	if (kind == RVP_CUPTI_##NAME && version >= (FROM)) \
		bytes = (BYTES);
	RVP_CUPTI_RECORD_BYTES(RVP_CUPTI_ROW)
#undef RVP_CUPTI_ROW
	return bytes;
}

/* cupti_activity.h: the functions' types */
typedef void (*rvp_cupti_request)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*rvp_cupti_complete)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

#endif
