/* SPDX-License-Identifier: MIT */
/* jump.h (x86-64): a front of dlsym that is not there for its callee: it hands names that begin with "cu" to `look`, and
 * jumps into `real` with everything else, whose caller is then who called the front (RTLD_NEXT, RTLD_DEFAULT: handles -1
 * and 0 always go there). */
#ifndef RVP_ARCH_JUMP_H
#define RVP_ARCH_JUMP_H

#define RVP_MACHINE_DLSYM_FRONT(front, look, real)                                                           \
	static void *(*const front##_look)(void *, const char *) __attribute__((used)) = look;               \
	static void *(*const front##_real)(void *, const char *) __attribute__((used)) = real;               \
	__asm__(".pushsection .text\n"                                                                       \
		".hidden " #front "\n.globl " #front "\n.type " #front ", @function\n" #front ":\n"          \
		"	.cfi_startproc\n"                                                                    \
		"	endbr64\n"                                                                           \
		"	leaq 1(%rdi), %rax\n"                                                                \
		"	cmpq $1, %rax\n"                                                                     \
		"	jbe 1f\n"                                                                            \
		"	testq %rsi, %rsi\n"                                                                  \
		"	je 1f\n"                                                                             \
		"	cmpb $'c', (%rsi)\n"                                                                 \
		"	jne 1f\n"                                                                            \
		"	cmpb $'u', 1(%rsi)\n"                                                                \
		"	jne 1f\n"                                                                            \
		"	jmp *" #front "_look(%rip)\n"                                                        \
		"1:	jmp *" #front "_real(%rip)\n"                                                        \
		"	.cfi_endproc\n"                                                                      \
		".size " #front ", .-" #front "\n.popsection\n");

#endif
