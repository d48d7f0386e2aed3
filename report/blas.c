/* SPDX-License-Identifier: MIT */
/* blas.c: see blas.h. */
#include "report/blas.h"

#include <stddef.h>

const char *const rvp_blas_class_names[RVP_BLAS_CLASSES] = {"gemm", "gemv"};

static const struct rvp_blas functions[] = {
#define RVP_BLAS(name, front, type, class, operations) {#name, type, RVP_BLAS_##class, operations},
#include "record/blas.def"
};

const struct rvp_blas *rvp_blas_at(uint64_t function)
{
	return function < sizeof functions / sizeof *functions ? &functions[function] : NULL;
}

double rvp_blas_flops(const struct rvp_record_BLAS_CALL *call)
{
	const struct rvp_blas *function = rvp_blas_at(call->function);

	if (!function)
		return 0;
	return (double)function->operations * (double)call->m * (double)call->n * (double)call->k *
	       (double)call->count;
}
