/* SPDX-License-Identifier: MIT */
/* torch_rows.h: PyTorch's operators as they begin and end, while a window is open: SCOPE records of kind
 * operator, with shapes and types of their tensors as args where they are asked for.
 *
 * PyTorch has an interface for observers of operators (at::addGlobalCallback, which its own profiler uses),
 * exported from libtorch_cpu: the backward's threads and operators called from C++ are seen too. Of the
 * objects behind it only what exported functions say is taken for granted; where in them inputs, sizes and
 * types lie is learned from tensors that are made for it (rvprof_rows.py), and what is not found so is not
 * told.
 *
 *   args: `[[32,128],[128,64],[]] ["float","float",""]`: sizes, then types, an entry an input, empty for no
 * tensor.
 */
#ifndef RVP_TORCH_ROWS_H
#define RVP_TORCH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Takes out of *kinds what can't be, and says why in *why. In phase OUTSIDE. */
void rvp_torch_rows_open(uint32_t *kinds, const char **why);
void rvp_torch_rows_close(void);

/* Calls of the text, see there. The tensors that were made: addresses of their implementations. */
enum { RVP_TORCH_SAMPLES = 4 };
void rvp_torch_learn_begin(const uint64_t samples[RVP_TORCH_SAMPLES]);
bool rvp_torch_learn_end(void);

#endif
