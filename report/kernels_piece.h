/* SPDX-License-Identifier: MIT */
/* kernels_piece.h: the records of work of one chunk, as pieces with their time and their key in the order of
 * kernels_stream.h. */
#ifndef RVP_REPORT_KERNELS_PIECE_H
#define RVP_REPORT_KERNELS_PIECE_H

#include "record/decode.h"
#include "record/log_reader.h"
#include "report/kernels_stream.h"

/* How times of a process's records become UNIX ns. */
struct rvp_piece_clock {
	const struct rvp_run *run;
	const struct rvp_kernel_defs *defs; /* NULL: it has none */
	uint64_t first_device_ns;           /* of an untied clock: what counts as the run's begin */
	bool is_tied;
};

struct rvp_piece_span {
	uint64_t first_key, last_key; /* of pieces with a time; first > last: none */
};

struct rvp_piece_reader {
	struct rvp_decoder decoder;
	const struct rvp_piece_clock *clock;
	uint32_t process, tid;
	size_t device_hint;
	struct rvp_record record;
};

struct rvp_piece_clock rvp_piece_clock_of(const struct rvp_run *run, uint32_t process);

/* No piece of the place has a key outside of it. */
struct rvp_piece_span rvp_piece_span(const struct rvp_piece_clock *clock, uint32_t process,
				     const struct rvp_kernel_place *place);

struct rvp_piece_reader rvp_piece_reader_over(uint32_t process, const struct rvp_chunk *chunk,
					      const struct rvp_piece_clock *clock);

/* False at the end. The key of a piece without a time is UINT64_MAX. */
bool rvp_piece_next(struct rvp_piece_reader *reader, struct rvp_activity *piece, uint64_t *key);

#endif
