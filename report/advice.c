/* SPDX-License-Identifier: MIT */
/* advice.c: see advice.h. Shares are those of the formats' own sizes: q8_0 keeps 32 values in 34 bytes, f16
 * in 64; 8-bit optimizers keep a value of 4 bytes in one. */
#include "report/advice.h"

#define HALF 0.5
#define ALL  1.0

const struct rvp_advice rvp_advice[] = {
    {RVP_CATEGORY_KV_CACHE, NULL, HALF, false, "half the context, or half as many sequences at once"},
    {RVP_CATEGORY_KV_CACHE, NULL, 1 - 34.0 / 64, true,
     "keys and values as q8_0 if they are f16 now (--cache-type-k q8_0 --cache-type-v q8_0)"},
    {RVP_CATEGORY_KV_CACHE, "prompt_cache", ALL, true,
     "no cache of prompts (llama-server --cache-ram 0): prompts seen before are computed again"},
    {RVP_CATEGORY_KV_CACHE, "checkpoint", ALL, true,
     "no context checkpoints (llama-server --ctx-checkpoints 0)"},
    {RVP_CATEGORY_WEIGHTS, NULL, HALF, false, "weights in half as many bits (f32 to bf16, f16 to 8 bits)"},
    {RVP_CATEGORY_WEIGHTS, "copy", ALL, true,
     "no second, repacked copy of the weights (--no-repack): slower on some CPUs"},
    {RVP_CATEGORY_WEIGHTS, "copy", ALL, false,
     "no second copy of the weights: mapped, or the first one freed when it is made"},
    {RVP_CATEGORY_GRADIENT, NULL, HALF, false, "gradients in bf16 if they are f32 now"},
    {RVP_CATEGORY_OPTIMIZER, NULL, 0.75, false, "8-bit optimizer states if they are f32 now"},
    {RVP_CATEGORY_OPTIMIZER, NULL, HALF, false,
     "one state a parameter in place of two (SGD with momentum for Adam)"},
    {RVP_CATEGORY_ACTIVATION, NULL, HALF, false,
     "half the batch (of llama.cpp: --ubatch-size), or checkpointing of half the layers"},
    {RVP_CATEGORY_WORKSPACE, NULL, HALF, false, "half the threads, where each has a workspace of its own"},
    {RVP_CATEGORY_TEMP, NULL, HALF, false, "half the batch: what lives between operators shrinks with it"},
    {RVP_CATEGORY_INPUT, NULL, HALF, false, "half the batch, or half as many batches fetched ahead"},
};
const size_t rvp_advice_count = sizeof rvp_advice / sizeof rvp_advice[0];
