/* SPDX-License-Identifier: MIT */
/* folder_input.h: how a fuzz input becomes the files of a run.
 *
 *   u8 flags | u32 length of tree.rvt | u32 length of log.rvl | u32 length of buffers.rvb | the three, one
 * after another
 *
 * Lengths are little endian and cut to what is there. With FOLDER_SEAL the checksums of file headers and
 * chunk headers are made right first, so that a fuzzer gets behind them; without it the readers' refusals are
 * what is exercised.
 */
#ifndef RVP_TESTS_FUZZ_FOLDER_INPUT_H
#define RVP_TESTS_FUZZ_FOLDER_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum { FOLDER_SEAL = 1, FOLDER_NO_LOG = 2, FOLDER_NO_BUFFERS = 4, FOLDER_NO_TREE = 8 };
enum { FOLDER_HEAD_BYTES = 13 };

struct folder_piece {
	uint8_t *bytes; /* a copy, from malloc */
	size_t length;
};

struct folder_input {
	unsigned flags;
	struct folder_piece tree, log, buffers;
};

/* False when there are not even lengths. */
int folder_input_read(struct folder_input *input, const uint8_t *bytes, size_t length);
void folder_input_free(struct folder_input *input);

#endif
