/* SPDX-License-Identifier: MIT */
/* cuda_place.h: whether the CUDA driver's library can be found on this machine. */
#ifndef RVP_CUDA_PLACE_H
#define RVP_CUDA_PLACE_H

#include <stdbool.h>

/* By looking at files: nothing is opened that a program without CUDA does not open. By the constructor. */
bool rvp_cuda_is_there(void);

#endif
