/* SPDX-License-Identifier: MIT */
/* hooks_read.c: the ways of libc to read a file into memory. See reads.h for what becomes of them.
 *
 * The real call runs in phase OUTSIDE and nothing is held around it: it may block, be interrupted, be a
 * cancellation point. Behind it, what is small or failed returns with nothing touched.
 *
 * Not seen: io_uring, raw system calls, what stdio reads into a buffer of its own and hands out by fgets,
 * getc or in pieces below the floor.
 */
#include "preload/reads.h"
#include "preload/real.h"
#include "preload/sys.h"

#include <errno.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#undef fread_unlocked

#pragma GCC visibility push(default) /* what this file defines and exports.map names is the library's face \
				      */

/* Of libc's fortified calls; no header declares them. */
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
size_t __fread_chk(void *to, size_t room, size_t each, size_t count, FILE *stream);
size_t __fread_unlocked_chk(void *to, size_t room, size_t each, size_t count, FILE *stream);

/* Before the real ones are known: as libc would. */
static ssize_t result_of(long result)
{
	if (result >= 0)
		return (ssize_t)result;
	errno = (int)-result;
	return -1;
}

static size_t not_ready(void)
{
	errno = EIO;
	return 0;
}

static inline ssize_t tell(int fd, const void *to, ssize_t got, uint64_t offset, enum rvp_fill how)
{
	if (__builtin_expect(rvp_read_matters(got), 0))
		rvp_on_read((struct rvp_read){.fd = fd, .how = how, .offset = offset}, to, (size_t)got);
	return got;
}

ssize_t read(int fd, void *to, size_t bytes)
{
	if (!rvp_real_ready())
		return result_of(rvp_sys_read(fd, to, bytes));
	return tell(fd, to, rvp_real.read(fd, to, bytes), RVP_FILL_OFFSET_UNKNOWN, RVP_FILL_READ);
}

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room)
{
	if (!rvp_real_ready())
		return result_of(rvp_sys_read(fd, to, bytes < room ? bytes : room));
	return tell(fd, to, rvp_real.__read_chk(fd, to, bytes, room), RVP_FILL_OFFSET_UNKNOWN, RVP_FILL_READ);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
	if (!rvp_real_ready())
		return result_of(rvp_syscall6(SYS_pread64, fd, (long)to, (long)bytes, offset, 0, 0));
	return tell(fd, to, rvp_real.pread(fd, to, bytes, offset), (uint64_t)offset, RVP_FILL_PREAD);
}

ssize_t pread64(int fd, void *to, size_t bytes, off_t offset)
{
	return pread(fd, to, bytes, offset);
}

ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room)
{
	if (!rvp_real_ready())
		return pread(fd, to, bytes < room ? bytes : room, offset);
	return tell(fd, to, rvp_real.__pread_chk(fd, to, bytes, offset, room), (uint64_t)offset,
		    RVP_FILL_PREAD);
}

ssize_t __pread64_chk(int fd, void *to, size_t bytes, off_t offset, size_t room)
{
	return __pread_chk(fd, to, bytes, offset, room);
}

static inline ssize_t tell_parts(int fd, const struct iovec *parts, int count, ssize_t got, uint64_t offset)
{
	if (__builtin_expect(rvp_read_matters(got), 0))
		rvp_on_readv((struct rvp_read){.fd = fd, .how = RVP_FILL_READV, .offset = offset}, parts,
			     count, (size_t)got);
	return got;
}

ssize_t readv(int fd, const struct iovec *parts, int count)
{
	if (!rvp_real_ready())
		return result_of(rvp_syscall6(SYS_readv, fd, (long)parts, count, 0, 0, 0));
	return tell_parts(fd, parts, count, rvp_real.readv(fd, parts, count), RVP_FILL_OFFSET_UNKNOWN);
}

ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
	if (!rvp_real_ready())
		return result_of(rvp_syscall6(SYS_preadv, fd, (long)parts, count, offset, 0, 0));
	return tell_parts(fd, parts, count, rvp_real.preadv(fd, parts, count, offset), (uint64_t)offset);
}

ssize_t preadv64(int fd, const struct iovec *parts, int count, off_t offset)
{
	return preadv(fd, parts, count, offset);
}

/* An offset of -1 is the descriptor's own. */
ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
	if (!rvp_real_ready())
		return result_of(rvp_syscall6(SYS_preadv2, fd, (long)parts, count, offset, 0, flags));
	return tell_parts(fd, parts, count, rvp_real.preadv2(fd, parts, count, offset, flags),
			  (uint64_t)offset);
}

ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
	return preadv2(fd, parts, count, offset, flags);
}

enum {
	BACKED_UP = 0x100,
	WRITING = 0x800
}; /* of FILE's _flags: ungetc was used; the buffer is to be written */

/* What stdio has read and not handed out; looked at, never touched. */
static uint64_t ahead_of(const FILE *stream)
{
	if (stream->_flags & (BACKED_UP | WRITING) || stream->_mode > 0)
		return RVP_FILL_OFFSET_UNKNOWN / 2; /* more than any file: no offset */
	return (uint64_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

static size_t tell_stream(FILE *stream, const void *to, size_t items, size_t each)
{
	int error;

	if (__builtin_expect(!rvp_read_matters((ssize_t)(items * each)), 1))
		return items;
	error = errno;
	rvp_on_read((struct rvp_read){.fd = fileno(stream),
				      .how = RVP_FILL_FREAD,
				      .offset = RVP_FILL_OFFSET_UNKNOWN,
				      .ahead_bytes = ahead_of(stream)},
		    to, items * each);
	errno = error;
	return items;
}

size_t fread(void *to, size_t each, size_t count, FILE *stream)
{
	if (!rvp_real_ready())
		return not_ready();
	return tell_stream(stream, to, rvp_real.fread(to, each, count, stream), each);
}

size_t fread_unlocked(void *to, size_t each, size_t count, FILE *stream)
{
	if (!rvp_real_ready())
		return not_ready();
	return tell_stream(stream, to, rvp_real.fread_unlocked(to, each, count, stream), each);
}

size_t __fread_chk(void *to, size_t room, size_t each, size_t count, FILE *stream)
{
	if (!rvp_real_ready())
		return not_ready();
	return tell_stream(stream, to, rvp_real.__fread_chk(to, room, each, count, stream), each);
}

size_t __fread_unlocked_chk(void *to, size_t room, size_t each, size_t count, FILE *stream)
{
	if (!rvp_real_ready())
		return not_ready();
	return tell_stream(stream, to, rvp_real.__fread_unlocked_chk(to, room, each, count, stream), each);
}

/* libc closes the descriptor by itself. */
int fclose(FILE *stream)
{
	int error = errno;

	if (!rvp_real_ready()) {
		errno = EIO;
		return EOF;
	}
	rvp_reads_forget(fileno(stream));
	errno = error;
	return rvp_real.fclose(stream);
}
