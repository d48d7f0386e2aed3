/* SPDX-License-Identifier: MIT */
/* machine.h: what this machine can be made to do: products a second and bytes a second, as `rvprof calibrate`
 * measured them, kept in ${XDG_CACHE_HOME:-~/.cache}/rvprof/, a file a model of processor and number of
 * threads.
 *
 *   - flops_per_s: the best of OpenBLAS's sgemm over sizes and threads; bytes_per_s: the best triad a = b + s
 * c over arrays that are together four times the last cache, counted as 24 bytes a turn (two read, one
 * written).
 *   - f64_flops_per_s: the best of dgemm over the sizes up to 1024, with as many threads as the best sgemm.
 *   - A file of another processor, another number of threads or another form is not believed.
 */
#ifndef RVP_MODEL_MACHINE_H
#define RVP_MODEL_MACHINE_H

#include "record/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { RVP_PROCESSOR_BYTES = 96 };

struct rvp_machine {
	char processor[RVP_PROCESSOR_BYTES];
	unsigned threads; /* that this process may run on */
	double flops_per_s, bytes_per_s;
	double f64_flops_per_s; /* 0: not measured */
	unsigned gemm_size, gemm_threads, triad_threads;
	uint64_t triad_bytes, measured_unix_s;
	double others_percent; /* of all processors' time that others took meanwhile; NAN: not known */
};

/* Who this is: processor and threads; nothing measured. */
void rvp_machine_name(struct rvp_machine *machine);

/* Measures; `quick`: products up to 1024, one round, few turns. A fifth of the time, and less sure. */
struct rvp_status rvp_machine_measure(struct rvp_machine *machine, bool quick);

/* False: never measured here. */
bool rvp_machine_load(struct rvp_machine *machine);

/* The same of the machine that `processor` and `threads` say. */
bool rvp_machine_load_named(struct rvp_machine *machine);
struct rvp_status rvp_machine_save(const struct rvp_machine *machine);

/* Where it is kept; "" without a home. */
void rvp_machine_path(const struct rvp_machine *machine, char path[PATH_MAX]);

#endif
