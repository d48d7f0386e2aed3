/* SPDX-License-Identifier: MIT */
/* syscall.h (x86-64): system calls without libc: no errno, no cancellation point, no interposition.
 * Each returns the kernel's answer: a value, or -errno in [-4095, -1]. */
#ifndef RVP_ARCH_SYSCALL_H
#define RVP_ARCH_SYSCALL_H

static inline long rvp_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
