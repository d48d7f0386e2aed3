/* SPDX-License-Identifier: MIT */
/* blas.c: see blas.h. */
#include "report/blas.h"

#include <stddef.h>
#include <string.h>

const char *const rvp_blas_class_names[RVP_BLAS_CLASSES] = {"gemm", "gemv"};
const char *const rvp_blas_type_names[RVP_BLAS_TYPES] = {"f32", "f64", "c64", "c128", "bf16"};
static const unsigned type_bytes[RVP_BLAS_TYPES] = {4, 8, 8, 16, 2};

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

/* Each row of blas.def has one of the names. */
enum rvp_blas_type rvp_blas_type_of(const struct rvp_blas *function)
{
	unsigned type = 0;

	while (type + 1 < RVP_BLAS_TYPES && strcmp(rvp_blas_type_names[type], function->type) != 0)
		type++;
	return (enum rvp_blas_type)type;
}

double rvp_blas_least_bytes(const struct rvp_record_BLAS_CALL *call)
{
	const struct rvp_blas *function = rvp_blas_at(call->function);
	double m = (double)call->m, n = (double)call->n, k = (double)call->k;

	if (!function)
		return 0;
	return (m * k + k * n + m * n) * type_bytes[rvp_blas_type_of(function)] * (double)call->count;
}
