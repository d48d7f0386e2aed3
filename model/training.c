/* SPDX-License-Identifier: MIT */
/* training.c: see training.h. */
#include "model/training.h"

#include "model/exact.h"

#include <strings.h>

static const struct rvp_optimizer optimizers[] = {
#define RVP_OPTIMIZER(name, states) {name, states},
#include "model/optimizers.def"
};

struct rvp_status rvp_optimizer_of(const char *name, struct rvp_optimizer *optimizer)
{
	for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
		if (!strcasecmp(name, optimizers[i].name)) {
			*optimizer = optimizers[i];
			return RVP_OK;
		}
	return rvp_fail_with("use optimizer", name,
			     "it is none of sgd, momentum, adagrad, rmsprop, lion, adam, adamw");
}

struct rvp_status rvp_training_of(uint64_t parameters, struct rvp_number_type type,
				  struct rvp_optimizer optimizer, struct rvp_training *training)
{
	training->weights_bytes = training->gradient_bytes = rvp_bytes_of_values(type, parameters);
	training->optimizer_bytes = rvp_times(training->weights_bytes, optimizer.states);
	training->total_bytes = rvp_plus(rvp_times(2, training->weights_bytes), training->optimizer_bytes);
	if (training->total_bytes == UINT64_MAX)
		return rvp_fail_with("count", "the memory of training", "it is more than 64 bits can count");
	return RVP_OK;
}
