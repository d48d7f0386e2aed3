/* SPDX-License-Identifier: MIT */
/* schema.h: structs and enums made from schema.def: `struct rvp_alloc {uint64_t stamp, address, ...}` and so
 * on.
 *
 * A number field is a uint64_t, a text field a struct rvp_text that points into the caller's memory.
 */
#ifndef RVP_SCHEMA_H
#define RVP_SCHEMA_H

#include <stdint.h>

#define RVP_FORMAT_VERSION 1

struct rvp_text {
	const char *bytes; /* not terminated */
	uint64_t length;
};

enum rvp_clock { RVP_CLOCK_TSC = 0, RVP_CLOCK_MONOTONIC = 1 };
enum rvp_snapshot_source { RVP_SNAPSHOT_STATM = 0, RVP_SNAPSHOT_STATUS = 1 };
enum rvp_mark { RVP_MARK_LABEL = 0, RVP_MARK_STEP_BEGIN = 1, RVP_MARK_STEP_END = 2, RVP_MARK_METRIC = 3 };
/* What a range of RESIDENT is: anonymous, the program break's, the main stack, shared memory, of a file. */
enum rvp_range { RVP_RANGE_ANON = 0, RVP_RANGE_HEAP = 1, RVP_RANGE_STACK = 2, RVP_RANGE_SHARED = 3, RVP_RANGE_FILE = 4 };
/* How a file's bytes came to an address. */
enum rvp_fill { RVP_FILL_READ = 0, RVP_FILL_PREAD = 1, RVP_FILL_READV = 2, RVP_FILL_FREAD = 3 };
#define RVP_FILL_OFFSET_UNKNOWN UINT64_MAX

/* Who said it: the program by rvprof.h, NVTX, the program by rvprof.py, an adapter of ours, a known function.
 */
enum rvp_source {
	RVP_SOURCE_API = 0,
	RVP_SOURCE_NVTX = 1,
	RVP_SOURCE_PYTHON = 2,
	RVP_SOURCE_ADAPTER = 3,
	RVP_SOURCE_FUNCTION = 4,
	RVP_SOURCE_COUNT
};
enum rvp_scope_kind {
	RVP_SCOPE_BEGIN = 0,
	RVP_SCOPE_END = 1, /* of the thread's innermost; category, name and args are empty */
	RVP_SCOPE_OPERATOR_BEGIN = 2,
	RVP_SCOPE_OPERATOR_END = 3,
	RVP_SCOPE_RANGE_BEGIN = 4, /* ranges overlap and end on any thread: `args` is the range's number */
	RVP_SCOPE_RANGE_END = 5,
	RVP_SCOPE_KIND_COUNT
};
/* NEXT: begins a step that lasts to the next NEXT or the end. PHASE: the phase changes within the step. */
enum rvp_step_kind { RVP_STEP_NEXT = 0, RVP_STEP_BEGIN = 1, RVP_STEP_END = 2, RVP_STEP_PHASE = 3 };
#define RVP_STEP_FAILED "failed" /* the name of an END of what was no step after all */
enum rvp_step_phase {
	RVP_STEP_PHASE_NONE = 0,
	RVP_STEP_PHASE_LOAD = 1,
	RVP_STEP_PHASE_WARMUP = 2,
	RVP_STEP_PHASE_PREFILL = 3,
	RVP_STEP_PHASE_DECODE = 4,
	RVP_STEP_PHASE_FORWARD = 5,
	RVP_STEP_PHASE_BACKWARD = 6,
	RVP_STEP_PHASE_UPDATE = 7,
	RVP_STEP_PHASE_COUNT
};
/* Which calls are recorded one by one. SHAPES: operators tell what they are called with. */
enum rvp_row_bit { RVP_ROWS_OPERATORS = 1, RVP_ROWS_PYTHON = 2, RVP_ROWS_SHAPES = 4 };
/* OPEN: it was entered before the thread's first record in the window. */
enum rvp_timer_source { RVP_TIMER_THREADS = 0, RVP_TIMER_BLOCKS = 1, RVP_TIMER_EVENTS = 2 };
enum rvp_python_call { RVP_PYTHON_CALL_BEGIN = 0, RVP_PYTHON_CALL_END = 1, RVP_PYTHON_CALL_OPEN = 2 };
enum rvp_adapter_state {
	RVP_ADAPTER_OFF = 0,
	RVP_ADAPTER_ON = 1,
	RVP_ADAPTER_UNTESTED = 2,
	RVP_ADAPTER_FAILED = 3
};
enum rvp_write_window {
	RVP_WRITE_WINDOW_BEGIN = 0,
	RVP_WRITE_WINDOW_END = 1,
	RVP_WRITE_WINDOW_UNAVAILABLE = 2
};
enum rvp_write_beat { RVP_WRITE_BEAT_NONE = 0, RVP_WRITE_BEAT_MARKS = 1, RVP_WRITE_BEAT_TICKS = 2 };
enum rvp_birth { RVP_BIRTH_FORK = 0, RVP_BIRTH_VFORK = 1, RVP_BIRTH_SPAWN = 2, RVP_BIRTH_CLONE = 3 };
/* Who tells of the device: nobody, CUPTI, hooks of the driver's functions. */
enum rvp_device_source { RVP_DEVICE_SOURCE_NONE = 0, RVP_DEVICE_SOURCE_CUPTI = 1, RVP_DEVICE_SOURCE_DRIVER = 2 };
/* What is recorded, from cheap to dear; each with all before it, but NODES replaces GRAPHS. */
enum rvp_device_tier {
	RVP_DEVICE_TIER_OFF = 0,
	RVP_DEVICE_TIER_MEMORY = 1,   /* memory; launches are counted */
	RVP_DEVICE_TIER_GRAPHS = 2,   /* graphs as wholes, copies and memsets outside of graphs */
	RVP_DEVICE_TIER_KERNELS = 3,  /* each kernel, in graphs too */
	RVP_DEVICE_TIER_LAUNCHES = 4, /* launches with their call paths */
	RVP_DEVICE_TIER_FULL = 5,     /* every call of the runtime and the driver, synchronisation */
	RVP_DEVICE_TIER_COUNT
};
enum rvp_device_kind_bit {
	RVP_DEVICE_BIT_MEMORY = 0,
	RVP_DEVICE_BIT_LAUNCH_COUNT = 1,
	RVP_DEVICE_BIT_KERNEL = 2,
	RVP_DEVICE_BIT_COPY = 3,
	RVP_DEVICE_BIT_SET = 4,
	RVP_DEVICE_BIT_SYNC = 5,
	RVP_DEVICE_BIT_GRAPH_RUN = 6,
	RVP_DEVICE_BIT_LAUNCH = 7,
	RVP_DEVICE_BIT_CALL = 8,
	RVP_DEVICE_BIT_OVERHEAD = 9,
	RVP_DEVICE_BIT_GRAPH_NODE = 10,
	RVP_DEVICE_BIT_COUNT
};
/* PHYSICAL: cuMemCreate; its bytes count from there, whether an address leads to it or not. PINNED is host memory. */
enum rvp_device_memory {
	RVP_DEVICE_MEMORY_PLAIN = 0,
	RVP_DEVICE_MEMORY_ORDERED = 1, /* of a pool, cuMemAllocAsync */
	RVP_DEVICE_MEMORY_MANAGED = 2,
	RVP_DEVICE_MEMORY_PINNED = 3,
	RVP_DEVICE_MEMORY_REGISTERED = 4, /* host memory of the program's that was pinned */
	RVP_DEVICE_MEMORY_PHYSICAL = 5,
	RVP_DEVICE_MEMORY_ARRAY = 6,
	RVP_DEVICE_MEMORY_IMPORTED = 7, /* another process's; not this one's bytes */
	RVP_DEVICE_MEMORY_COUNT
};
enum rvp_device_pool {
	RVP_DEVICE_POOL_MADE = 0,
	RVP_DEVICE_POOL_TRIMMED = 1,
	RVP_DEVICE_POOL_DESTROYED = 2,
	RVP_DEVICE_POOL_SEEN = 3
};
enum rvp_device_occasion {
	RVP_DEVICE_OCCASION_START = 0,
	RVP_DEVICE_OCCASION_MOVED = 1, /* much was given out or back since the last */
	RVP_DEVICE_OCCASION_MARK = 2,
	RVP_DEVICE_OCCASION_REFUSED = 3,
	RVP_DEVICE_OCCASION_END = 4
};
/* Kinds of overhead beside CUpti_ActivityOverheadKind's: what --sync-steps waited for the device before a step. */
enum { RVP_DEVICE_OVERHEAD_SYNC_STEP = 1 << 28 };
/* Why a record's times are not to be summed. */
enum rvp_device_flaw {
	RVP_DEVICE_FLAW_NONE = 0,
	RVP_DEVICE_FLAW_ZERO_TIME = 1,   /* begin or end is 0 */
	RVP_DEVICE_FLAW_BACKWARD = 2,    /* it ends before it begins: duration_ns is 0 */
	RVP_DEVICE_FLAW_UNFINISHED = 3,  /* it was told of before it had ended */
	RVP_DEVICE_FLAW_OUT_OF_WINDOW = 4, /* before the tracer was there, or later than now */
	RVP_DEVICE_FLAW_COUNT
};
enum rvp_ending {
	RVP_ENDING_EXIT = 0,
	RVP_ENDING_QUICK_EXIT = 1,
	RVP_ENDING__EXIT = 2,
	RVP_ENDING_SIGNAL = 3
};

enum rvp_kind {
#define RVP_RECORD(ID, number, name, what) RVP_##ID = number,
#include "record/schema.def"
	RVP_KIND_COUNT = 128
};

#define RVP_STRUCT_U(name)                 uint64_t name;
#define RVP_STRUCT_T(name)                 uint64_t name;
#define RVP_STRUCT_A(name)                 uint64_t name;
#define RVP_STRUCT_S(name)                 uint64_t name;
#define RVP_STRUCT_P(name)                 uint64_t name;
#define RVP_STRUCT_D(name)                 uint64_t name;
#define RVP_STRUCT_C(name)                 uint64_t name;
#define RVP_STRUCT_X(name)                 struct rvp_text name;
#define RVP_STRUCT_R(name)                 struct rvp_text name;
#define RVP_STRUCT_FIELD(kind, name, what) RVP_STRUCT_##kind(name)

/* `struct rvp_record_ALLOC` and so on, one a kind. */
#define RVP_RECORD(ID, number, name, what)        \
	struct rvp_record_##ID {                  \
		RVP_FIELDS_##ID(RVP_STRUCT_FIELD) \
	};
#include "record/schema.def"

/* A decoded record of any kind. */
struct rvp_record {
	enum rvp_kind kind;
	union {
#define RVP_RECORD(ID, number, name, what) struct rvp_record_##ID ID;
#include "record/schema.def"
	};
};

/* What the deltas of a chunk count from; all zero at its start. */
struct rvp_delta {
	uint64_t stamp, address, stack, python, device_ns, correlation;
	/* Of compact events alone (event.h); a NODE between two of them does not disturb these. */
	uint64_t freed, given;
	uint32_t event_stack, event_python;
};

/* One row a field, for the decoder, dump and the documentation. */
struct rvp_field {
	char kind; /* U T A S P D C X R */
	const char *name, *what;
	uint16_t offset; /* in the struct */
};
struct rvp_schema {
	const char *name, *what;
	const struct rvp_field *fields;
	unsigned field_count;
};
/* What the decoder hands a record of this kind out as. */
static inline enum rvp_kind rvp_kind_as_read(enum rvp_kind kind)
{
	return kind == RVP_SCOPE_REF ? RVP_SCOPE : kind == RVP_TAG_REF ? RVP_TAG : kind;
}

/* Indexed by kind; `name` is NULL where there is no such kind. */
extern const struct rvp_schema rvp_schemas[RVP_KIND_COUNT];

enum {
	RVP_NUMBER_MAX_BYTES = 10,
	RVP_TEXT_MAX_BYTES = 16384,                          /* the encoder cuts a longer text */
	RVP_EVENT_MAX_BYTES = 1 + 11 * RVP_NUMBER_MAX_BYTES, /* of a record without text */
};

#endif
