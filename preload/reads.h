/* SPDX-License-Identifier: MIT */
/* reads.h: records which bytes of which file were read to which address: FILL records, from which the reader
 * learns what a block was filled with.
 *
 * Recorded is a read of FLOOR_BYTES and more from a regular file of FILE_FLOOR_BYTES and more, once the
 * process has recorded anything at all (a program that only reads files leaves nothing). Not recorded, and no
 * loss:
 *   - what goes to the same place for the third time and more, while the thread has recorded nothing else: a
 *     buffer that is filled again and again is known by then
 *   - anything after seccomp was locked
 * Recorded reads cost log: the floor rises fourfold whenever another 64th of --max-log went to them, and what
 * is below it counts as RVP_LOSS_FILL.
 *
 * Invariant (R1): a FILL names the file that the descriptor had at most TRUSTED reads ago, and a large read
 * (LARGE_BYTES) that which it has now: libc's own close is seen by the hooks of close, dup2, fclose and their
 * kin, a raw system call is not.
 */
#ifndef RVP_READS_H
#define RVP_READS_H

#include "preload/process.h"
#include "record/schema.h"

#include <sys/types.h>
#include <sys/uio.h>

enum { RVP_READ_FLOOR_BYTES = 64 };

/* `offset`: of the first byte in the file; RVP_FILL_OFFSET_UNKNOWN: asked for where that is worth it. */
struct rvp_read {
	int fd;
	enum rvp_fill how;
	uint64_t offset;
	uint64_t ahead_bytes; /* how far the descriptor has been read beyond what the program got (stdio) */
};

/* Whether it is worth a further look. */
static inline bool rvp_read_matters(ssize_t got)
{
	return got >= RVP_READ_FLOOR_BYTES && rvp_process.buffers;
}

/* After the real call, in phase OUTSIDE. Leaves errno alone. */
void rvp_on_read(struct rvp_read read, const void *to, size_t got);
void rvp_on_readv(struct rvp_read read, const struct iovec *parts, int count, size_t got);

/* The descriptor gets, or may get, another file. */
void rvp_reads_forget(int fd);
void rvp_reads_forget_span(unsigned first, unsigned last);

void rvp_reads_after_fork(void);

#endif
