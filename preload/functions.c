/* SPDX-License-Identifier: MIT */
/* functions.c: see functions.h.
 *
 * A front writes one STEP record before the real call and one behind it, when it is the outermost of these on
 * its thread; then the real function's result goes back untouched.
 *
 *   - llama_batch goes by value, on the stack. Its first member counts the tokens in every version; the
 * layout up to `logits` (56 bytes) is the one of all versions that have llama_sampler_chain_init, and is
 * looked at only there. Three further members ended it until the end of 2024: they are passed on in any case.
 *   - An exception or a longjmp out of the real function leaves no end behind: the next outermost call on
 * that thread, known by its higher frame, begins a new step, and the reader closes the old one there.
 *   - A call that failed (a result other than 0) is ended by the name RVP_STEP_FAILED: it is no step.
 *   - A call by an address from dlsym has no import slot, and is not seen.
 */
#include "preload/functions.h"

#include "preload/elf_image.h"
#include "preload/emit.h"
#include "preload/front_names.h"
#include "preload/mark_stamp.h"
#include "preload/recorder.h"
#include "preload/window.h"
#include "preload/writes.h"

#include <errno.h>
#include <string.h>

enum number {
#define RVP_FUNCTION(name, shape, rank, confidence) NUMBER_##name,
#include "record/functions.def"
	FUNCTIONS
};

static const char *const names[] = {
#define RVP_FUNCTION(name, shape, rank, confidence) #name,
#include "record/functions.def"
    "llama_set_warmup",
};
enum { WARMUP = FUNCTIONS, NAMES = sizeof names / sizeof *names };

static const unsigned ranks[] = {
#define RVP_FUNCTION(name, shape, rank, confidence) rank,
#include "record/functions.def"
};

struct batch {
	int32_t token_count;
	const int32_t *token;
	const float *embedding;
	const int32_t *position;
	const int32_t *sequence_count;
	const int32_t *const *sequence;
	const int8_t *is_output;
	uint64_t further[2];
};

typedef uintptr_t batch_function(void *context, struct batch batch);
typedef uintptr_t plain_function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
				 uintptr_t f);

static _Atomic uintptr_t reals[NAMES];
static _Atomic bool layout_is_known[NAMES];
static _Atomic bool is_warming_up;
/* Where the outermost front of this thread stands; 0: none does. */
static __thread uintptr_t outermost __attribute__((tls_model("initial-exec")));

static void tell(enum number number, enum rvp_step_kind kind, const char *name, enum rvp_step_phase phase,
		 uint64_t tokens, uint64_t seq_len)
{
	struct rvp_thread *thread = rvp_enter_for_mark();
	struct rvp_text text = {name, strlen(name)};

	if (!thread)
		return;
	rvp_window_before_mark(thread, RVP_SOURCE_FUNCTION, ranks[number], kind);
	RVP_EMIT(thread, STEP, text.length, .stamp = rvp_event_stamp(thread), .kind = kind,
		 .source = RVP_SOURCE_FUNCTION, .phase = phase, .seq_len = seq_len, .tokens = tokens,
		 .name = text);
	rvp_writes_mark(thread, RVP_SOURCE_FUNCTION, kind);
	rvp_window_after_mark(thread, RVP_SOURCE_FUNCTION, ranks[number], kind, &text);
	rvp_leave(thread);
	rvp_window_outside();
}

/* True: it is the outermost, and `frame` is remembered. */
static bool step_in(uintptr_t frame)
{
	if (outermost && frame < outermost)
		return false;
	outermost = frame;
	return true;
}

static void step_out(enum number number, bool is_outermost, uintptr_t result)
{
	int error = errno;

	if (!is_outermost)
		return;
	outermost = 0;
	tell(number, RVP_STEP_END, (int32_t)result ? RVP_STEP_FAILED : "", RVP_STEP_PHASE_NONE, 0, 0);
	errno = error;
}

/* Whether some sequence has more than one token here. Ends at the first such: at most as many turns as there
 * are bits. */
static bool has_sequence_twice(const struct batch *batch)
{
	uint64_t seen = 0;

	if (!batch->sequence || !batch->sequence_count || batch->token_count > 64)
		return true;
	for (int32_t i = 0; i < batch->token_count; i++) {
		int32_t number;

		if (batch->sequence_count[i] < 1 || !batch->sequence[i])
			return true;
		number = batch->sequence[i][0];
		if (number < 0 || number > 63 || (seen & 1ull << number))
			return true;
		seen |= 1ull << number;
	}
	return false;
}

static enum rvp_step_phase phase_of(const struct batch *batch, bool is_known)
{
	if (atomic_load_explicit(&is_warming_up, memory_order_relaxed))
		return RVP_STEP_PHASE_WARMUP;
	if (batch->token_count == 1)
		return RVP_STEP_PHASE_DECODE;
	if (!is_known)
		return RVP_STEP_PHASE_NONE;
	return has_sequence_twice(batch) ? RVP_STEP_PHASE_PREFILL : RVP_STEP_PHASE_DECODE;
}

/* The KV length behind the step, by the highest position that is said. */
static uint64_t length_of(const struct batch *batch, bool is_known)
{
	int32_t highest = -1;

	if (!is_known || !batch->position)
		return 0;
	for (int32_t i = 0; i < batch->token_count; i++)
		if (batch->position[i] > highest)
			highest = batch->position[i];
	return (uint64_t)((int64_t)highest + 1);
}

static bool step_in_with(enum number number, const struct batch *batch, uintptr_t frame)
{
	bool is_known = atomic_load_explicit(&layout_is_known[number], memory_order_relaxed);
	int error = errno;

	if (!step_in(frame))
		return false;
	tell(number, RVP_STEP_BEGIN, names[number], phase_of(batch, is_known),
	     batch->token_count > 0 ? (uint64_t)batch->token_count : 0, length_of(batch, is_known));
	errno = error;
	return true;
}

static bool step_in_plain(enum number number, uintptr_t frame)
{
	int error = errno;

	if (!step_in(frame))
		return false;
	tell(number, RVP_STEP_BEGIN, names[number], RVP_STEP_PHASE_NONE, 0, 0);
	errno = error;
	return true;
}

#define FRAME()            ((uintptr_t)__builtin_frame_address(0))
#define REAL(number, type) ((type *)atomic_load_explicit(&reals[number], memory_order_acquire))

#define BATCH(name)                                                                     \
	static uintptr_t front_##name(void *context, struct batch batch)                \
	{                                                                               \
		bool is_outermost = step_in_with(NUMBER_##name, &batch, FRAME());       \
		uintptr_t result = REAL(NUMBER_##name, batch_function)(context, batch); \
                                                                                        \
		step_out(NUMBER_##name, is_outermost, result);                                         \
		return result;                                                          \
	}
#define PLAIN(name)                                                                                    \
	static uintptr_t front_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
				      uintptr_t f)                                                     \
	{                                                                                              \
		bool is_outermost = step_in_plain(NUMBER_##name, FRAME());                             \
		uintptr_t result = REAL(NUMBER_##name, plain_function)(a, b, c, d, e, f);              \
                                                                                                       \
		step_out(NUMBER_##name, is_outermost, result);                                                        \
		return result;                                                                         \
	}
#define RVP_FUNCTION(name, shape, rank, confidence) shape(name)
#include "record/functions.def"

/* llama.cpp says by this that the next decode is not for its result. */
static uintptr_t front_llama_set_warmup(uintptr_t context, uintptr_t is_warmup)
{
	atomic_store_explicit(&is_warming_up, (is_warmup & 0xff) != 0, memory_order_relaxed);
	return REAL(WARMUP, plain_function)(context, is_warmup, 0, 0, 0, 0);
}

static void *const fronts[] = {
#define RVP_FUNCTION(name, shape, rank, confidence) (void *)front_##name,
#include "record/functions.def"
    (void *)front_llama_set_warmup,
};

const char *rvp_functions_name(size_t number)
{
	return number < NAMES ? names[number] : NULL;
}

static size_t number_of(const char *name)
{
	return rvp_front_number(name, names, NAMES);
}

bool rvp_functions_known(const char *name)
{
	return (name[0] == 'l' || name[0] == 'g') && number_of(name) < NAMES;
}

bool rvp_functions_is_at(const char *name, uintptr_t address)
{
	struct rvp_object object;

	return address && rvp_object_find(address, &object) && rvp_elf_symbol(&object, name) == address;
}

void *rvp_functions_front(const char *name, uintptr_t real)
{
	size_t number = number_of(name);
	uintptr_t present = atomic_load(&reals[number]);
	struct rvp_object object;

	if (real == (uintptr_t)fronts[number] || !real)
		return NULL;
	if (present && present != real && rvp_functions_is_at(name, present))
		return NULL;
	atomic_store(&layout_is_known[number],
		     rvp_object_find(real, &object) && rvp_elf_symbol(&object, "llama_sampler_chain_init"));
	atomic_store_explicit(&reals[number], real, memory_order_release);
	return fronts[number];
}
