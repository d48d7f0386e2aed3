/* SPDX-License-Identifier: MIT */
/* injection.h: variables by which other interfaces find a library of ours. */
#ifndef RVP_INJECTION_H
#define RVP_INJECTION_H

/* By the constructor, once rvp_process.library is known. */
void rvp_injection_prepare(void);

#endif
