/* SPDX-License-Identifier: MIT */
/* steps_said.c: see steps_said.h.
 *
 * A lane is (process, thread, source); the NEXT marks of a process have one of their own. Within a lane steps
 * nest, and the outermost counts. A known function's front tells of outermost calls only, so there a begin
 * ends what is open: that one was left by an exception.
 *
 * A log can be hostile: lanes are bounded, an end without its begin is nothing, a depth is a number.
 */
#include "report/steps_said.h"

#include "record/step_name.h"
#include "report/file_array.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LANES = 4096, GROWTH = 1 << 18, NAME_BYTES = 200, LANE_OF_NEXT = RVP_SOURCE_COUNT };
#define NO_STEP SIZE_MAX

struct rvp_said_lane {
	uint32_t process, tid;
	uint32_t source; /* enum rvp_source; + LANE_OF_NEXT: the lane of NEXT marks */
	bool is_used;
	uint64_t depth;      /* of open begins; of an NVTX lane: of open ranges */
	uint64_t step_depth; /* of an NVTX lane: at which the step began */
	size_t open;         /* in steps; NO_STEP: none */
};

static const struct {
	const char *name;
	uint16_t rank;
} functions[] = {
#define RVP_FUNCTION(name, shape, rank, confidence) {#name, rank},
#include "record/functions.def"
};

bool rvp_said_open(struct rvp_said *said, const struct rvp_run *run, struct rvp_arena *arena)
{
	*said = (struct rvp_said){.run = run, .arena = arena};
	said->lanes = calloc(LANES, sizeof *said->lanes);
	return said->lanes != NULL;
}

void rvp_said_free(struct rvp_said *said)
{
	free(said->lanes);
	rvp_file_array_free(said->steps);
	free(said->phases);
	*said = (struct rvp_said){0};
}

/* NULL: there are too many. */
static struct rvp_said_lane *lane_of(struct rvp_said *said, uint32_t process, uint32_t tid, uint32_t source)
{
	uint32_t at = (process * 2654435761u + tid * 40503u + source) % LANES;

	for (;; at = (at + 1) % LANES) {
		struct rvp_said_lane *lane = &said->lanes[at];

		if (lane->is_used && lane->process == process && lane->tid == tid && lane->source == source)
			return lane;
		if (lane->is_used)
			continue;
		if (said->lane_count > LANES * 3 / 4)
			return NULL;
		*lane = (struct rvp_said_lane){
		    .process = process, .tid = tid, .source = source, .is_used = true, .open = NO_STEP};
		said->lane_count++;
		return lane;
	}
}

static uint16_t rank_of(struct rvp_text name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strlen(functions[i].name) == name.length &&
		    !memcmp(functions[i].name, name.bytes, name.length))
			return functions[i].rank;
	return UINT16_MAX;
}

/* Where a name is looked for among the last ones: the few that steps take turns with are kept once. */
static unsigned name_place(const char *bytes, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
	return hash % RVP_SAID_NAMES;
}

static const char *keep_name(struct rvp_said *said, struct rvp_text name)
{
	size_t length = name.length < NAME_BYTES ? name.length : NAME_BYTES;
	const char **kept;

	if (!length)
		return "";
	kept = &said->names[name_place(name.bytes, length)];
	if (!*kept || strlen(*kept) != length || memcmp(*kept, name.bytes, length) != 0)
		*kept = rvp_arena_text(said->arena, name.bytes, length);
	return *kept;
}

uint32_t rvp_phase_of_name(const char *name)
{
	static const struct {
		const char *name;
		uint32_t phase;
	} rows[] = {
	    {"warmup", RVP_STEP_PHASE_WARMUP},  {"warm-up", RVP_STEP_PHASE_WARMUP},
	    {"warm_up", RVP_STEP_PHASE_WARMUP}, {"prefill", RVP_STEP_PHASE_PREFILL},
	    {"prompt", RVP_STEP_PHASE_PREFILL}, {"decode", RVP_STEP_PHASE_DECODE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcasecmp(rows[i].name, name))
			return rows[i].phase;
	return RVP_STEP_PHASE_NONE;
}

static size_t begin_step(struct rvp_said *said, const struct rvp_moment *moment,
			 const struct rvp_record_STEP *record)
{
	struct rvp_said_step *step;

	if (said->count == said->room) {
		size_t room = said->room ? said->room + (said->room < GROWTH ? said->room : GROWTH) : 256;
		struct rvp_said_step *more = rvp_file_array(said->steps, room * sizeof *more);

		if (!more) {
			said->has_failed = true;
			return NO_STEP;
		}
		said->steps = more;
		said->room = room;
	}
	step = &said->steps[said->count];
	*step =
	    (struct rvp_said_step){.source = (uint32_t)record->source,
				   .rank = record->source == RVP_SOURCE_FUNCTION ? rank_of(record->name) : 0,
				   .is_next = record->kind == RVP_STEP_NEXT};
	step->step = (struct rvp_step){.begin_ns = moment->ns,
				       .seq_len = record->seq_len,
				       .tokens = record->tokens,
				       .process = moment->process,
				       .tid = moment->tid,
				       .phase = record->phase < RVP_STEP_PHASE_COUNT ? (uint32_t)record->phase
										     : RVP_STEP_PHASE_NONE,
				       .is_open = true,
				       .name = keep_name(said, record->name)};
	if (!step->step.phase)
		step->step.phase = rvp_phase_of_name(step->step.name);
	return said->count++;
}

static void end_step(struct rvp_said *said, struct rvp_said_lane *lane, uint64_t ns, bool is_open)
{
	if (lane->open != NO_STEP) {
		said->steps[lane->open].step.end_ns = ns;
		said->steps[lane->open].step.is_open = is_open;
	}
	lane->open = NO_STEP;
}

static void take_next(struct rvp_said *said, const struct rvp_moment *moment)
{
	const struct rvp_record_STEP *record = &moment->record->STEP;
	struct rvp_said_lane *lane =
	    lane_of(said, moment->process, 0, (uint32_t)record->source + LANE_OF_NEXT);

	if (!lane)
		return;
	end_step(said, lane, moment->ns, false);
	lane->open = begin_step(said, moment, record);
}

static void take_begin(struct rvp_said *said, const struct rvp_moment *moment, struct rvp_said_lane *lane)
{
	const struct rvp_record_STEP *record = &moment->record->STEP;

	if (record->source == RVP_SOURCE_FUNCTION) {
		end_step(said, lane, moment->ns, true);
		lane->depth = 0;
	}
	if (!lane->depth++)
		lane->open = begin_step(said, moment, record);
}

static void take_end(struct rvp_said *said, const struct rvp_moment *moment, struct rvp_said_lane *lane)
{
	const struct rvp_record_STEP *record = &moment->record->STEP;

	if (!lane->depth || --lane->depth)
		return;
	if (lane->open != NO_STEP) {
		struct rvp_said_step *step = &said->steps[lane->open];

		step->is_void = record->name.length == strlen(RVP_STEP_FAILED) &&
				!memcmp(record->name.bytes, RVP_STEP_FAILED, record->name.length);
		if (record->seq_len)
			step->step.seq_len = record->seq_len;
		if (record->tokens)
			step->step.tokens = record->tokens;
	}
	end_step(said, lane, moment->ns, false);
}

/* Where a step is open: a NEXT, else a begin. */
static size_t open_step(struct rvp_said *said, const struct rvp_moment *moment)
{
	uint32_t source = (uint32_t)moment->record->STEP.source;
	struct rvp_said_lane *lane = lane_of(said, moment->process, 0, source + LANE_OF_NEXT);

	if (lane && lane->open != NO_STEP)
		return lane->open;
	lane = lane_of(said, moment->process, moment->tid, source);
	return lane ? lane->open : NO_STEP;
}

static void take_phase(struct rvp_said *said, const struct rvp_moment *moment)
{
	uint64_t phase = moment->record->STEP.phase;
	size_t open = open_step(said, moment);

	if (open == NO_STEP || phase >= RVP_STEP_PHASE_COUNT)
		return;
	if (!said->steps[open].step.phase && phase <= RVP_STEP_PHASE_DECODE)
		said->steps[open].step.phase = (uint32_t)phase;
	if (said->phase_count == said->phase_room) {
		size_t room = said->phase_room ? said->phase_room * 2 : 256;
		struct rvp_said_phase *more = realloc(said->phases, room * sizeof *more);

		if (!more) {
			said->has_failed = true;
			return;
		}
		said->phases = more;
		said->phase_room = room;
	}
	said->phases[said->phase_count++] = (struct rvp_said_phase){open, moment->ns, (uint32_t)phase};
}

static void take_step(struct rvp_said *said, const struct rvp_moment *moment)
{
	const struct rvp_record_STEP *record = &moment->record->STEP;
	struct rvp_said_lane *lane;

	if (record->source >= RVP_SOURCE_COUNT)
		return;
	if (record->kind == RVP_STEP_NEXT)
		take_next(said, moment);
	if (record->kind == RVP_STEP_PHASE)
		take_phase(said, moment);
	if (record->kind != RVP_STEP_BEGIN && record->kind != RVP_STEP_END)
		return;
	lane = lane_of(said, moment->process, moment->tid, (uint32_t)record->source);
	if (lane && record->kind == RVP_STEP_BEGIN)
		take_begin(said, moment, lane);
	if (lane && record->kind == RVP_STEP_END)
		take_end(said, moment, lane);
}

static void take_range_begin(struct rvp_said *said, const struct rvp_moment *moment,
			     struct rvp_said_lane *lane)
{
	struct rvp_text name = moment->record->SCOPE.name;
	struct rvp_record_STEP step = {.kind = RVP_STEP_BEGIN, .source = RVP_SOURCE_NVTX, .name = name};

	lane->depth++;
	if (lane->open != NO_STEP || !rvp_is_step_name(name.bytes, name.length))
		return;
	lane->open = begin_step(said, moment, &step);
	lane->step_depth = lane->depth;
}

/* The ranges of a thread nest, whatever their names. */
static void take_range(struct rvp_said *said, const struct rvp_moment *moment)
{
	const struct rvp_record_SCOPE *record = &moment->record->SCOPE;
	struct rvp_said_lane *lane;

	if (record->source != RVP_SOURCE_NVTX)
		return;
	lane = lane_of(said, moment->process, moment->tid, RVP_SOURCE_NVTX);
	if (!lane)
		return;
	if (record->kind == RVP_SCOPE_BEGIN)
		take_range_begin(said, moment, lane);
	if (record->kind != RVP_SCOPE_END || !lane->depth)
		return;
	if (lane->open != NO_STEP && lane->step_depth == lane->depth)
		end_step(said, lane, moment->ns, false);
	lane->depth--;
}

void rvp_said_take(struct rvp_said *said, const struct rvp_moment *moment)
{
	if (moment->kind != RVP_MOMENT_RECORD || moment->process == RVP_NO_PROCESS)
		return;
	if (moment->record->kind == RVP_STEP)
		take_step(said, moment);
	if (moment->record->kind == RVP_SCOPE)
		take_range(said, moment);
}

void rvp_said_close(struct rvp_said *said)
{
	for (uint32_t i = 0; i < LANES; i++) {
		struct rvp_said_lane *lane = &said->lanes[i];

		if (lane->is_used && lane->open != NO_STEP)
			end_step(said, lane, said->run->processes[lane->process].end_ns,
				 !said->steps[lane->open].is_next);
	}
}
