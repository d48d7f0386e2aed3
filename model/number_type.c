/* SPDX-License-Identifier: MIT */
/* number_type.c: see number_type.h. */
#include "model/number_type.h"

#include "model/exact.h"

#include <strings.h>

static const struct rvp_number_type types[] = {
#define RVP_TENSOR_TYPE(number, name, values, bytes) {name, values, bytes},
#define RVP_SAFE_TYPE(dtype, name, bytes)            {name, 1, bytes},
#include "report/tensor_types.def"
};

/* As frameworks call them. */
static const struct {
	const char *name, *ours;
} other_names[] = {{"float32", "f32"}, {"fp32", "f32"}, {"float", "f32"},     {"float16", "f16"},
		   {"fp16", "f16"},    {"half", "f16"}, {"bfloat16", "bf16"}, {"float64", "f64"},
		   {"double", "f64"},  {"int8", "i8"},  {"fp8", "f8_e4m3"}};

struct rvp_status rvp_number_type_of(const char *name, struct rvp_number_type *type)
{
	const char *ours = name;

	for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
		if (!strcasecmp(name, other_names[i].name))
			ours = other_names[i].ours;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcasecmp(ours, types[i].name)) {
			*type = types[i];
			return RVP_OK;
		}
	return rvp_fail_with("use type", name,
			     "it is none of f64, f32, f16, bf16, f8_e4m3, i8, or ggml's, like q8_0 and q4_k");
}

uint64_t rvp_bytes_of_values(struct rvp_number_type type, uint64_t values)
{
	return rvp_times(values / type.values + (values % type.values != 0), type.bytes);
}
