/* SPDX-License-Identifier: MIT */
/* reasons.h: what a result of CUPTI's means to the user: what is missing, and how to mend it. */
#ifndef RVP_CUPTI_REASONS_H
#define RVP_CUPTI_REASONS_H

#include <stddef.h>

/* One line; of results that are not known their number. */
const char *rvp_reason_of(int result, char *into, size_t bytes);

#endif
