/* SPDX-License-Identifier: MIT */
/* windows.h: when a process records: its windows, and the orders that come from outside (`rvprof ctl`). Both sides' words
 * in the process's entry of the tree (tree.h).
 *
 * Blocks are recorded while nobody holds the recording back: `held` is 0. Each reason has its bit, and each its own way
 * to go: a program's stop does not end a schedule's wait, nor the other way round.
 *
 * An order is one word, `order`: a number that goes up, what to do, and a level. The process takes it at one of the looks
 * that its hooks make anyway (preload/window.c), and writes the same word to `answer` when it is done, with the result in
 * the lowest byte. Who gives the order writes a new number by compare-and-swap, so that two at once are told apart.
 */
#ifndef RVP_WINDOWS_H
#define RVP_WINDOWS_H

#include <stdint.h>

enum rvp_hold {
	RVP_HELD_BY_SCHEDULE = 1, /* --schedule, --steps: this step is none of those */
	RVP_HELD_BY_TIME = 2,     /* --delay, --duration */
	RVP_HELD_BY_PROGRAM = 4,  /* rvprof_stop, cudaProfilerStop, ctl stop, or never started (--capture) */
};

/* What opened or closed a window. */
enum rvp_window_cause {
	RVP_WINDOW_SCHEDULE = 0,
	RVP_WINDOW_TIME = 1,
	RVP_WINDOW_PROGRAM = 2, /* rvprof_start, rvprof_stop */
	RVP_WINDOW_CUDA = 3,    /* cudaProfilerStart, cudaProfilerStop */
	RVP_WINDOW_ORDER = 4,   /* ctl start, ctl stop */
	RVP_WINDOW_END = 5,     /* the process's */
	RVP_WINDOW_CAUSE_COUNT
};

/* --capture: what begins the recording; ALL: it is on from the start. */
enum rvp_capture { RVP_CAPTURE_ALL = 0, RVP_CAPTURE_PROGRAM = 1, RVP_CAPTURE_CUDA = 2 };

enum rvp_ctl_verb {
	RVP_CTL_NONE = 0,
	RVP_CTL_START = 1,
	RVP_CTL_STOP = 2,
	RVP_CTL_CLEAR = 3,
	RVP_CTL_SNAPSHOT = 4,
	RVP_CTL_VERB_COUNT
};
enum rvp_ctl_result { RVP_CTL_DONE = 1, RVP_CTL_WAS_SO = 2, RVP_CTL_UNKNOWN = 3 };

/* number | verb (8 bits) | level (8) | result (8) */
static inline uint64_t rvp_ctl_word(uint64_t number, enum rvp_ctl_verb verb, unsigned level)
{
	return number << 24 | (uint64_t)verb << 16 | (uint64_t)(level & 0xff) << 8;
}
static inline uint64_t rvp_ctl_number(uint64_t word)
{
	return word >> 24;
}
static inline unsigned rvp_ctl_verb_of(uint64_t word)
{
	return word >> 16 & 0xff;
}
static inline unsigned rvp_ctl_level(uint64_t word)
{
	return word >> 8 & 0xff;
}
static inline unsigned rvp_ctl_result_of(uint64_t word)
{
	return word & 0xff;
}

#endif
