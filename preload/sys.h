/* SPDX-License-Identifier: MIT */
/* sys.h: the system calls that the recorder makes, by name. Each returns -errno on failure and leaves errno alone.
 * This list is what a sandbox must allow (docs/traps.md says on which path each is used). */
#ifndef RVP_SYS_H
#define RVP_SYS_H

#include "preload/arch/x86_64/syscall.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static inline long rvp_sys_openat(const char *path, int flags, unsigned mode)
{
	return rvp_syscall6(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}
static inline long rvp_sys_close(int fd)
{
	return rvp_syscall6(SYS_close, fd, 0, 0, 0, 0, 0);
}
static inline long rvp_sys_read(int fd, void *to, size_t bytes)
{
	return rvp_syscall6(SYS_read, fd, (long)to, (long)bytes, 0, 0, 0);
}
static inline long rvp_sys_write(int fd, const void *from, size_t bytes)
{
	return rvp_syscall6(SYS_write, fd, (long)from, (long)bytes, 0, 0, 0);
}
static inline long rvp_sys_pwrite(int fd, const void *from, size_t bytes, uint64_t at)
{
	return rvp_syscall6(SYS_pwrite64, fd, (long)from, (long)bytes, (long)at, 0, 0);
}
static inline long rvp_sys_fallocate(int fd, uint64_t at, uint64_t bytes)
{
	return rvp_syscall6(SYS_fallocate, fd, 0, (long)at, (long)bytes, 0, 0);
}
static inline long rvp_sys_mkdir(const char *path, unsigned mode)
{
	return rvp_syscall6(SYS_mkdir, (long)path, mode, 0, 0, 0, 0);
}
static inline long rvp_sys_fstat(int fd, struct stat *to)
{
	return rvp_syscall6(SYS_fstat, fd, (long)to, 0, 0, 0, 0);
}
static inline long rvp_sys_readlink(const char *path, char *to, size_t bytes)
{
	return rvp_syscall6(SYS_readlink, (long)path, (long)to, (long)bytes, 0, 0, 0);
}
static inline long rvp_sys_mmap(void *at, size_t bytes, int protection, int flags, int fd, uint64_t offset)
{
	return rvp_syscall6(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, (long)offset);
}
static inline long rvp_sys_munmap(void *at, size_t bytes)
{
	return rvp_syscall6(SYS_munmap, (long)at, (long)bytes, 0, 0, 0, 0);
}
static inline long rvp_sys_madvise(void *at, size_t bytes, int advice)
{
	return rvp_syscall6(SYS_madvise, (long)at, (long)bytes, advice, 0, 0, 0);
}
static inline long rvp_sys_fcntl(int fd, int command, long argument)
{
	return rvp_syscall6(SYS_fcntl, fd, command, argument, 0, 0, 0);
}
static inline int rvp_sys_getpid(void)
{
	return (int)rvp_syscall6(SYS_getpid, 0, 0, 0, 0, 0, 0);
}
static inline int rvp_sys_gettid(void)
{
	return (int)rvp_syscall6(SYS_gettid, 0, 0, 0, 0, 0, 0);
}
static inline long rvp_sys_tgkill(int pid, int tid, int signal)
{
	return rvp_syscall6(SYS_tgkill, pid, tid, signal, 0, 0, 0);
}
static inline void rvp_sys_yield(void)
{
	rvp_syscall6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
/* prlimit of ourselves: {soft, hard} of `resource`. */
static inline long rvp_sys_getrlimit(int resource, uint64_t limit[2])
{
	return rvp_syscall6(SYS_prlimit64, 0, resource, 0, (long)limit, 0, 0);
}
/* Blocks (SIG_SETMASK) `mask` and stores the old one; 8-byte kernel sets. */
static inline long rvp_sys_sigmask(const uint64_t *mask, uint64_t *old)
{
	return rvp_syscall6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)mask, (long)old, 8, 0, 0);
}
static inline long rvp_sys_sigtake(const uint64_t *mask)
{
	struct timespec none = {0, 0};

	return rvp_syscall6(SYS_rt_sigtimedwait, (long)mask, 0, (long)&none, 8, 0, 0);
}
/* Reads bytes of our own memory that may not be there: -EFAULT and never a fault. */
static inline long rvp_sys_peek(int pid, const void *from, void *to, size_t bytes)
{
	struct {
		void *base;
		size_t length;
	} local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};

	return rvp_syscall6(SYS_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1, 0);
}

#endif
