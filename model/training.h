/* SPDX-License-Identifier: MIT */
/* training.h: memory that a training step keeps beside its activations: a gradient a parameter, and what the
 * optimizer keeps, all of the parameters' type. */
#ifndef RVP_MODEL_TRAINING_H
#define RVP_MODEL_TRAINING_H

#include "model/number_type.h"

struct rvp_optimizer {
	const char *name;
	unsigned states; /* values a parameter */
};

struct rvp_status rvp_optimizer_of(const char *name, struct rvp_optimizer *optimizer);

struct rvp_training {
	uint64_t weights_bytes, gradient_bytes, optimizer_bytes, total_bytes;
};

/* Fails where 64 bits can't hold a sum. */
struct rvp_status rvp_training_of(uint64_t parameters, struct rvp_number_type type,
				  struct rvp_optimizer optimizer, struct rvp_training *training);

#endif
