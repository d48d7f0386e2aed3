/* SPDX-License-Identifier: MIT */
/* overhead.h: the options of `rvprof overhead`, for its completion too. */
#ifndef RVP_TOOLS_OVERHEAD_H
#define RVP_TOOLS_OVERHEAD_H

#include <getopt.h>

extern const struct option rvp_overhead_options[];

#endif
