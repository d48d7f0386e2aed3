/* SPDX-License-Identifier: MIT */
/* text_places.h: where the texts of marks stand already in a thread's open chunk, so that a mark whose texts
 * were told before costs a few bytes.
 *
 * A text is looked for by its pointer first, then by its content; what is found is compared with the bytes in
 * the chunk, so a buffer that holds another text by now is another text.
 *
 * Invariants
 *   (X1) A place that is not 0 is that of an R field of the thread's open chunk that holds its text (odd).
 * They are forgotten where a chunk begins: rvp_flush and a new slot. (X2) A record names only texts of its
 * own chunk: whatever is lost or cut, no record is left with a text that no log has. The table is of one
 * size. A text that finds its places taken takes them; the other one is told again in full.
 */
#ifndef RVP_TEXT_PLACES_H
#define RVP_TEXT_PLACES_H

#include "preload/emit.h"

/* A text of the record that is about to be written; `text` empty at first. */
struct rvp_told {
	const char *from;     /* the caller's; NULL: none */
	struct rvp_text text; /* for a field of kind R */
};

/* Says how the texts are to be told and finds room for a record with them; NULL: dropped, and counted. A text
 * that is too long is cut, and that is counted. */
uint8_t *rvp_told_room(struct rvp_thread *thread, struct rvp_told *told, unsigned count);

/* The record with these texts, its last fields and in this order, ends at `end`. */
void rvp_told_note(struct rvp_thread *thread, const struct rvp_told *told, unsigned count,
		   const uint8_t *end);

/* Whether any of them is told in full. */
static inline bool rvp_told_is_new(const struct rvp_told *told, unsigned count)
{
	bool is_new = false;

	for (unsigned i = 0; i < count; i++)
		is_new |= told[i].text.bytes != NULL;
	return is_new;
}

/* As RVP_EMIT; the record's fields may use `told`, its stamp was taken before. */
#define RVP_EMIT_TOLD(thread, ID, told, count, ...)                                                      \
	({                                                                                               \
		uint8_t *rvp_at_ = rvp_told_room(thread, told, count);                                   \
		if (rvp_at_) {                                                                           \
			const struct rvp_record_##ID rvp_record_ = {__VA_ARGS__};                        \
			const uint8_t *rvp_end_ = rvp_put_##ID(rvp_at_, &(thread)->delta, &rvp_record_); \
			rvp_emit_commit(thread, rvp_end_);                                               \
			if (__builtin_expect(rvp_told_is_new(told, count), 0))                           \
				rvp_told_note(thread, told, count, rvp_end_);                            \
		}                                                                                        \
		rvp_at_ != 0;                                                                            \
	})

/* The text as a record may hold it: cut at RVPROF_TEXT_BYTES, at the begin of a character, and that is
 * counted. */
struct rvp_text rvp_text_of(const char *text);

#endif
