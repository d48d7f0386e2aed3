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
	uint64_t stamp, address, stack, python;
	/* Of compact events alone (event.h); a NODE between two of them does not disturb these. */
	uint64_t freed, given;
	uint32_t event_stack, event_python;
};

/* One row a field, for the decoder, dump and the documentation. */
struct rvp_field {
	char kind; /* U T A S P X R */
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
