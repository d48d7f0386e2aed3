/* SPDX-License-Identifier: MIT */
/* step_name.h: which names people give to the range around a step: "step 12", "decode", "ProfilerStep#3". */
#ifndef RVP_STEP_NAME_H
#define RVP_STEP_NAME_H

#include <stdbool.h>
#include <stddef.h>

bool rvp_is_step_name(const char *text, size_t length);

#endif
