/* SPDX-License-Identifier: MIT */
/* shadow.h: a program's own count of its allocations, kept where a kill cannot take it: the referee of ours.
 *
 * A program that links shadow.c has malloc and its family in its own executable, which the dynamic linker
 * prefers to any preload. They count and hand on to the next definition (ours, or libc's). So every call that
 * any code of the process makes through a symbol is counted, libc's own included, and nothing that a profiler
 * does.
 *
 * Counts go to the file $RVP_SHADOW (struct shadow_file), a record a process image. Each number is there
 * twice: `begun` rises before the call, `done` after it; a truth lies between them, and with quiet threads
 * they are equal.
 *
 * What a block was asked for stands behind its end, in bytes that are asked for too, so that a free knows it
 * without a table: no lock, no memory but the block's own. A block of 0 bytes has room for it anyway.
 */
#ifndef RVP_TESTS_SHADOW_H
#define RVP_TESTS_SHADOW_H

#include <stdatomic.h>
#include <stdint.h>

enum { SHADOW_RECORDS = 8192 };

struct shadow_counts {
	_Atomic uint64_t allocs, frees, alloc_bytes, alloc_usable_bytes, free_usable_bytes;
	_Atomic uint64_t
	    free_bytes; /* of blocks that were counted when they were given out, here or in a parent */
	_Atomic uint64_t unknown_frees; /* of blocks that were not: they came from elsewhere */
	_Atomic uint64_t
	    own_free_bytes; /* of those that this record counted: live are alloc_bytes less these */
};

struct shadow_record {
	_Atomic uint32_t pid; /* as the process sees it */
	uint32_t is_fork;
	char program[64]; /* basename of argv[0] */
	struct shadow_counts begun, done;
};

struct shadow_file {
	_Atomic uint32_t next;
	uint32_t reserved[15];
	struct shadow_record records[SHADOW_RECORDS];
};

/* This process's record, made if need be; NULL without $RVP_SHADOW. A child that shall be known although it
 * may not allocate calls it first. */
struct shadow_record *shadow_mine(void);

#endif
