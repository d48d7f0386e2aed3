/* SPDX-License-Identifier: MIT */
/* machine.h (x86-64): what the recorder asks of a processor: a stamp, a signal-safe add, the caller's registers. */
#ifndef RVP_ARCH_MACHINE_H
#define RVP_ARCH_MACHINE_H

#include <stdbool.h>
#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

/* A tick that is ordered after every load before it, and before every load behind it: a plain rdtsc was seen to put
 * the receiver of a block before its giver (11,179 of 5 million hand-overs). */
static inline uint64_t rvp_machine_stamp(void)
{
	uint32_t low, high, processor;

	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Takes microseconds on a virtual machine. */
static inline bool rvp_machine_has_lzcnt(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & 1u << 5);
}

static inline void rvp_machine_fence_loads(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/* A tick that may be read some instructions early: half the cost. */
static inline uint64_t rvp_machine_stamp_unordered(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* One instruction, so that a signal handler on the same thread cannot fall between load and store. Not atomic
 * between threads: each counter has one writing thread. */
static inline void rvp_machine_add(uint64_t *counter, uint64_t value)
{
	__asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(value) : "cc");
}

/* The same with a countdown; true while it is above 0. */
static inline bool rvp_machine_take(int64_t *countdown, int64_t value)
{
	bool is_left;

	__asm__ volatile("subq %2, %0" : "+m"(*countdown), "=@ccg"(is_left) : "er"(value));
	return is_left;
}

/* `then` where *word is `value`, else `otherwise`; never by a jump, which would often be foretold wrongly. */
static inline __attribute__((always_inline)) const void *rvp_machine_if_equal(const uint64_t *word, uint64_t value,
									      const void *then, const void *otherwise)
{
	__asm__("cmpq %2, %1\n\tcmoveq %3, %0" : "+r"(otherwise) : "m"(*word), "r"(value), "r"(then) : "cc");
	return otherwise;
}

/* A word of a thread-local variable of the initial-exec model, found anew: its address kept over a call would cost a
 * hook a register more to save. */
#define RVP_MACHINE_LOCAL_WORD(variable, byte)                                                               \
	({                                                                                                   \
		uint64_t rvp_word_;                                                                          \
		__asm__ volatile("movq " #variable "@gottpoff(%%rip), %0\n\tmovq %%fs:%c1(%0), %0"           \
				 : "=&r"(rvp_word_)                                                          \
				 : "i"(byte)                                                                 \
				 : "memory");                                                                \
		rvp_word_;                                                                                   \
	})

/* Where the caller of a hook stands: what an unwinder needs to begin. */
struct rvp_caller {
	uint64_t pc; /* return address into the caller */
	uint64_t sp; /* the caller's stack pointer right after our return */
	uint64_t bp; /* the caller's frame pointer register */
};

/* In a hook function itself (not in an inline callee that was not inlined), built with frame pointers. */
#define RVP_CALLER()                                                                                         \
	((struct rvp_caller){                                                                                \
	    .pc = (uint64_t)__builtin_return_address(0),                                                     \
	    .sp = (uint64_t)__builtin_frame_address(0) + 16,                                                 \
	    .bp = *(uint64_t *)__builtin_frame_address(0),                                                   \
	})

#endif
