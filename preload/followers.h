/* SPDX-License-Identifier: MIT */
/* followers.h: programs that this one starts: whether they are recorded too. */
#ifndef RVP_FOLLOWERS_H
#define RVP_FOLLOWERS_H

#include <stdbool.h>

/* By the constructor: finds our own path, makes LD_PRELOAD's entry for us absolute, sets RVPROF_RUN_DIR; or takes us
 * out of the environment (--no-follow). */
void rvp_followers_prepare(void);

/* Before an exec or spawn with this environment: counts a program that will not be seen. */
void rvp_followers_check(char *const *environment);

/* What our path is; "" when it could not be told. */
const char *rvp_followers_library(void);

#endif
