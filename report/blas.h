/* SPDX-License-Identifier: MIT */
/* blas.h: what a BLAS_CALL is: the function by its row in record/blas.def, and the operations that its shape
 * takes.
 *
 *   operations = multiplication and addition (2; complex 8) x m x n x k x count
 * whatever alpha and beta are: the product itself. As a double: exact up to 2^53.
 *
 *   least bytes = (m k + k n + m n) x bytes of an element x count
 * each operand and the result moved once: what has to be moved even by a cache that keeps everything. Not measured.
 */
#ifndef RVP_REPORT_BLAS_H
#define RVP_REPORT_BLAS_H

#include "record/schema.h"

enum rvp_blas_class { RVP_BLAS_GEMM, RVP_BLAS_GEMV, RVP_BLAS_CLASSES };
extern const char *const rvp_blas_class_names[RVP_BLAS_CLASSES];

enum rvp_blas_type { RVP_BLAS_F32, RVP_BLAS_F64, RVP_BLAS_C64, RVP_BLAS_C128, RVP_BLAS_BF16, RVP_BLAS_TYPES };
extern const char *const rvp_blas_type_names[RVP_BLAS_TYPES];

struct rvp_blas {
	const char *name, *type; /* type: f32, f64, c64, c128, bf16 */
	enum rvp_blas_class class;
	unsigned operations;
};

/* NULL: a function that this version does not know. */
const struct rvp_blas *rvp_blas_at(uint64_t function);

/* 0 for a function that is not known. */
double rvp_blas_flops(const struct rvp_record_BLAS_CALL *call);
double rvp_blas_least_bytes(const struct rvp_record_BLAS_CALL *call);

enum rvp_blas_type rvp_blas_type_of(const struct rvp_blas *function);

#endif
