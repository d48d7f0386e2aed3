/* SPDX-License-Identifier: MIT */
/* model_profile.h: a forward and a backward pass, told under the names that TinyTorch's profiler gives its
 * figures. */
#ifndef RVP_TOOLS_MODEL_PROFILE_H
#define RVP_TOOLS_MODEL_PROFILE_H

#include "model/profile.h"
#include "tools/figures.h"

void rvp_tell_profile(struct rvp_figures *figures, const struct rvp_profile_base *base);

/* The optimizers' memory alone, of a model of which only the parameters are known. */
void rvp_tell_optimizers(struct rvp_figures *figures, double gradient_mb);

#endif
