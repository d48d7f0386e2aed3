/* SPDX-License-Identifier: MIT */
/* hand_over.h: sizes of the blocks that programs/hand_over.c hands on, by which hand_over_check.c knows them. */
#ifndef RVP_TESTS_HAND_OVER_H
#define RVP_TESTS_HAND_OVER_H

enum { HAND_OVER_THREADS = 4, HAND_OVER_LEAST = 1024, HAND_OVER_CYCLE = 128 };

#endif
