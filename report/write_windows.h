/* SPDX-License-Identifier: MIT */
/* write_windows.h: when the library followed writes (preload/writes.h). Steps in a window took longer than
 * the program's own: they keep their rows, and it is said how many they are. */
#ifndef RVP_REPORT_WRITE_WINDOWS_H
#define RVP_REPORT_WRITE_WINDOWS_H

#include "report/steps.h"

/* The window of that number, or NULL. */
const struct rvp_write_span *rvp_write_window_at(const struct rvp_process *process, uint64_t number);

/* Steps of the list that ran in a window, even in part. */
uint64_t rvp_steps_in_write_windows(const struct rvp_run *run, const struct rvp_steps *steps);

#endif
