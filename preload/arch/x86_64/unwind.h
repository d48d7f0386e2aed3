/* SPDX-License-Identifier: MIT */
/* unwind.h (x86-64): what the unwinder knows of a processor: DWARF's register numbers, the kernel's signal
 * frame, the few instruction patterns that it recognises. */
#ifndef RVP_ARCH_UNWIND_H
#define RVP_ARCH_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	RVP_REGISTER_BX = 3,
	RVP_REGISTER_BP = 6,
	RVP_REGISTER_SP = 7,
	RVP_REGISTER_RA = 16,
	RVP_REGISTER_COUNT = 17,
};

/* Where the kernel puts the interrupted registers, counted from the stack pointer at a handler's return. */
enum { RVP_SIGNAL_BP_AT = 120, RVP_SIGNAL_SP_AT = 160, RVP_SIGNAL_PC_AT = 168 };

/* User addresses end here; the bits above are free for marks. */
#define RVP_ADDRESS_END ((uint64_t)1 << 47)

/* By DWARF number; bit n of `known` tells whether value[n] holds. */
struct rvp_registers {
	uint64_t value[RVP_REGISTER_COUNT];
	uint32_t known;
};

/* The registers that calls preserve, as they are at this very place; to be inlined where the walk begins. */
static inline __attribute__((always_inline)) void rvp_registers_here(struct rvp_registers *registers)
{
	uint64_t *value = registers->value;

	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 128(%0)\n\t"
			 "movq %%rbx, 24(%0)\n\t"
			 "movq %%rbp, 48(%0)\n\t"
			 "movq %%rsp, 56(%0)\n\t"
			 "movq %%r12, 96(%0)\n\t"
			 "movq %%r13, 104(%0)\n\t"
			 "movq %%r14, 112(%0)\n\t"
			 "movq %%r15, 120(%0)"
			 :
			 : "r"(value)
			 : "rax", "memory");
	registers->known = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12 | 1u << 16;
}

/* The CFA expression of linkers' PLT stubs: sp + 8 + ((pc & 15) >= LIMIT) * 8, LIMIT 11 (plain) or another
 * literal. With pc known it is a constant above sp. False: another expression. */
static inline bool rvp_plt_cfa_offset(const uint8_t *expression, uint64_t length, uint64_t pc,
				      int64_t *offset)
{
	static const uint8_t head[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a}, tail[] = {0x2a, 0x33, 0x24, 0x22};

	if (length != sizeof head + 1 + sizeof tail || memcmp(expression, head, sizeof head) != 0 ||
	    memcmp(expression + sizeof head + 1, tail, sizeof tail) != 0)
		return false;
	*offset = 8 + ((pc & 15) >= (uint64_t)(expression[sizeof head] - 0x30) ? 8 : 0);
	return true;
}

/* Whether `code` (9 readable bytes) is the return from a signal handler: mov $15, %rax; syscall. */
static inline bool rvp_code_is_sigreturn(const uint8_t *code)
{
	static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

	return memcmp(code, sigreturn, sizeof sigreturn) == 0;
}

/* Whether the instruction that ends at `code` (7 readable bytes before it) may be a call. */
static inline bool rvp_code_is_after_call(const uint8_t *code)
{
	if (code[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++)
		if (code[-length] == 0xff && (code[1 - length] & 0x38) == 0x10)
			return true;
	return false;
}

#endif
