/* SPDX-License-Identifier: MIT */
/* injection.h: variables by which other interfaces find a library of ours. */
#ifndef RVP_INJECTION_H
#define RVP_INJECTION_H

#include <stdbool.h>

/* By the constructor, once rvp_process.library is known. */
void rvp_injection_prepare(void);

/* After it: whether a CUDA driver is on this machine, and is to be followed. */
bool rvp_injection_follows_cuda(void);

#endif
