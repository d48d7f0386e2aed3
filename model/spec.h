/* SPDX-License-Identifier: MIT */
/* spec.h: reads a model from words: "linear(128,64) relu linear(64,10)". Layers have blanks, commas or "->"
 * between them; arguments are whole numbers in the order of layers.def, or by name ("conv2d(3,16,3,pad=1)");
 * "*12" behind a layer: twelve of it, one after the other. */
#ifndef RVP_MODEL_SPEC_H
#define RVP_MODEL_SPEC_H

#include "model/layer.h"

enum { RVP_LAYERS_MAX = 10000 };

/* *layers is the caller's to free; NULL and 0 on failure, which says where and what is wrong. */
struct rvp_status rvp_spec_parse(const char *text, struct rvp_layer **layers, size_t *count);

#endif
