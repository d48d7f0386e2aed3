/* SPDX-License-Identifier: MIT */
/* follower.h: what the files of this library share: the recorder, and whether there is still something to follow.
 *
 * Rules of every file here
 *   - Nothing of the program's is allocated, no lock is taken, no thread-local storage is used (it may allocate).
 *   - A call into CUPTI or the driver stands between begin_own and end_own of the recorder.
 *   - A callback does what is to do and returns; an error of ours ends our part and never the program's call.
 */
#ifndef RVP_CUPTI_FOLLOWER_H
#define RVP_CUPTI_FOLLOWER_H

#include "record/device.h"

/* Set once, before anything of this library runs but its entry. */
extern const struct rvp_device_api *rvp_recorder;

static inline bool rvp_follower_is_active(void)
{
	return rvp_recorder->active() != 0;
}

/* One record, of those that come one by one. */
#define RVP_TELL(ID, ...)                                                                                 \
	({                                                                                                \
		const struct rvp_record rvp_told_ = {.kind = RVP_##ID, .ID = {__VA_ARGS__}};              \
		rvp_recorder->write(&rvp_told_, 1) == 1;                                                  \
	})

static inline struct rvp_text rvp_text_of_string(const char *text)
{
	return (struct rvp_text){.bytes = text, .length = text ? __builtin_strlen(text) : 0};
}

/* Monotonic ns. */
uint64_t rvp_now_ns(void);
/* The same to a few milliseconds, for a fifth of the cost. */
uint64_t rvp_coarse_ns(void);

#endif
