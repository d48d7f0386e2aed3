/* SPDX-License-Identifier: MIT */
/* hooks_process.c: how processes begin and end: fork, exec, spawn, _exit; and what changes names, code and
 * rights: pthread_setname_np, prctl, syscall, dlclose.
 *
 * vfork is never wrapped: its child returns through our frame. A child of vfork is recorded as its parent
 * (process.h, P2), so its exec must not end the parent's records.
 */
#include "preload/device.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/finish.h"
#include "preload/folder.h"
#include "preload/followers.h"
#include "preload/order.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "preload/snapshot.h"
#include "preload/stamp.h"
#include "preload/sys.h"
#include "preload/threads.h"
#include "preload/walk.h"
#include "preload/writes.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* what this file defines and exports.map names is the library's face \
				      */

/* Tells the log of a child, if there is a log. The stamp is from before the call: later events of the parent
 * are no matter of the child's. */
static void tell_fork(uint64_t stamp, pid_t child)
{
	struct rvp_thread *thread = rvp_enter();

	if (!thread)
		return;
	if (stamp < thread->last_stamp)
		stamp = thread->last_stamp;
	if (rvp_process.buffers && rvp_folder_give_slot(thread))
		RVP_EMIT(thread, FORK, 0, .stamp = stamp, .child_pid = (uint64_t)child,
			 .how = RVP_BIRTH_FORK);
	thread->order.stamp_at = 0; /* what the parent does now is behind the fork */
	rvp_leave(thread);
}

/* The child takes its place in the table of processes now: its parent may end, and must not seem to be the
 * last. */
static void make_at_home(void)
{
	struct rvp_thread *thread;

	if (rvp_local.phase != RVP_OUTSIDE) {
		/* By a signal handler inside a hook, which ends first. */
		rvp_folder_part_from_parent();
		rvp_threads_part_from_parent();
		return;
	}
	thread = rvp_enter();
	if (thread)
		rvp_leave(thread);
}

/* What it holds is held twice from now on, while it may do nothing but wait. */
static void look_before_child(void)
{
	struct rvp_thread *thread = rvp_enter();

	if (!thread)
		return;
	rvp_snapshot_before_child(thread);
	rvp_leave(thread);
}

static pid_t make_child(pid_t (*real)(void))
{
	uint64_t stamp;
	pid_t child;
	int error;

	if (!real)
		return (pid_t)rvp_syscall6(SYS_fork, 0, 0, 0, 0, 0, 0);
	look_before_child();
	stamp = rvp_stamp();
	rvp_order_mark();
	child = real();
	error = errno;
	if (child > 0)
		tell_fork(stamp, child);
	if (child == 0)
		make_at_home();
	errno = error;
	return child;
}

pid_t fork(void)
{
	return make_child(rvp_real_ready() ? rvp_real.fork : NULL);
}

/* libc's for signal handlers, which runs nobody's fork handlers. Its own fork does not come by here. */
pid_t _Fork(void)
{
	return make_child(rvp_real_ready() ? rvp_real._Fork : NULL);
}

/* A child by fork that called no hook yet has nothing to tell before its exec. */
static bool has_something_to_tell(void)
{
	return atomic_load(&rvp_process.state) == RVP_READY && atomic_load(rvp_alive) &&
	       !rvp_process_is_vfork_child();
}

/* vfork itself is not seen: here is the last moment at which its parent's memory is, who waits from now on and may do
 * nothing else until it ends. */
static void look_from_vfork_child(void)
{
	bool is_one = atomic_load(&rvp_process.state) == RVP_READY && rvp_process_is_vfork_child();
	struct rvp_thread *thread = is_one ? rvp_enter() : NULL;

	if (!thread)
		return;
	rvp_snapshot_from_vfork_child(thread);
	rvp_leave(thread);
}

static void before_exec(const char *path, char *const *environment)
{
	struct rvp_thread *thread;
	int error = errno;

	rvp_followers_check(environment);
	look_from_vfork_child();
	if (path && has_something_to_tell())
		rvp_device_finish(RVP_ENDING__EXIT);
	thread = path && has_something_to_tell() ? rvp_enter() : NULL;
	if (thread) {
		rvp_writes_end(thread, "the program was replaced");
		if (thread->slot)
			RVP_EMIT(thread, EXEC, strlen(path), .stamp = rvp_event_stamp(thread),
				 .path = {.bytes = path, .length = strlen(path)});
		rvp_finish_replaced(true);
		rvp_leave(thread);
	}
	errno = error;
}

static int after_exec(int result)
{
	struct rvp_thread *thread;
	int error = errno;

	thread = has_something_to_tell() ? rvp_enter() : NULL;
	rvp_device_goes_on();
	if (thread) {
		rvp_finish_replaced(false);
		if (thread->slot)
			RVP_EMIT(thread, EXEC_FAILED, 0, .stamp = rvp_event_stamp(thread),
				 .error = (uint64_t)error);
		rvp_leave(thread);
	}
	errno = error;
	return result;
}

static int no_real(void)
{
	errno = ENOSYS;
	return -1;
}

#define REPLACE(path, environment, call)        \
	do {                                    \
		if (!rvp_real_ready())          \
			return no_real();       \
		before_exec(path, environment); \
		return after_exec(call);        \
	} while (0)

int execve(const char *path, char *const *arguments, char *const *environment)
{
	REPLACE(path, environment, rvp_real.execve(path, arguments, environment));
}

int execv(const char *path, char *const *arguments)
{
	REPLACE(path, environ, rvp_real.execv(path, arguments));
}

int execvp(const char *file, char *const *arguments)
{
	REPLACE(file, environ, rvp_real.execvp(file, arguments));
}

int execvpe(const char *file, char *const *arguments, char *const *environment)
{
	REPLACE(file, environment, rvp_real.execvpe(file, arguments, environment));
}

int fexecve(int fd, char *const *arguments, char *const *environment)
{
	REPLACE("(descriptor)", environment, rvp_real.fexecve(fd, arguments, environment));
}

static size_t count_words(va_list words)
{
	size_t count = 1;

	while (va_arg(words, char *))
		count++;
	return count;
}

/* The words of execl and its kin as an array on this stack, and `rest` behind them. */
#define COLLECT(first, vector)                                                                    \
	va_list words, again;                                                                     \
	va_start(words, first);                                                                   \
	va_copy(again, words);                                                                    \
	const char *first_word = first;                                                           \
	__asm__("" : "+r"(first_word)); /* declared non-null by libc, and yet NULL in the wild */ \
	size_t count = first_word ? count_words(again) : 0;                                       \
	va_end(again);                                                                            \
	char *vector[count + 1];                                                                  \
	vector[0] = (char *)(uintptr_t)first_word;                                                \
	for (size_t i = 1; i <= count; i++)                                                       \
	vector[i] = va_arg(words, char *)

int execl(const char *path, const char *first, ...)
{
	COLLECT(first, vector);
	va_end(words);
	return execv(path, vector);
}

int execlp(const char *file, const char *first, ...)
{
	COLLECT(first, vector);
	va_end(words);
	return execvp(file, vector);
}

int execle(const char *path, const char *first, ...)
{
	COLLECT(first, vector);
	char **environment = va_arg(words, char **);

	va_end(words);
	return execve(path, vector, environment);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	if (!rvp_real_ready())
		return ENOSYS;
	rvp_followers_check(environment ? environment : environ);
	look_before_child();
	return rvp_real.posix_spawn(pid, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	if (!rvp_real_ready())
		return ENOSYS;
	rvp_followers_check(environment ? environment : environ);
	look_before_child();
	return rvp_real.posix_spawnp(pid, file, actions, attributes, arguments, environment);
}

static _Noreturn void leave_process(int status)
{
	rvp_finish(RVP_ENDING__EXIT, status);
	for (;;)
		rvp_syscall6(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

void _exit(int status)
{
	leave_process(status);
}

void _Exit(int status)
{
	leave_process(status);
}

int pthread_setname_np(pthread_t self, const char *name)
{
	struct rvp_thread *thread;
	int result;

	if (!rvp_real_ready())
		return ENOSYS;
	result = rvp_real.pthread_setname_np(self, name);
	thread = result == 0 && rvp_process.buffers ? rvp_enter() : NULL;
	if (thread) {
		uint32_t tid = rvp_threads_tid((uint64_t)self);

		if (tid && thread->slot)
			RVP_EMIT(thread, THREAD_NAME, strlen(name), .stamp = rvp_event_stamp(thread),
				 .tid = tid, .name = {.bytes = name, .length = strlen(name)});
		rvp_leave(thread);
	}
	return result;
}

static void tell_name(const char *name)
{
	struct rvp_thread *thread = rvp_process.buffers ? rvp_enter() : NULL;
	size_t length = strnlen(name, 15);

	if (!thread)
		return;
	if (thread->slot)
		RVP_EMIT(thread, THREAD_NAME, length, .stamp = rvp_event_stamp(thread), .tid = thread->tid,
			 .name = {.bytes = name, .length = length});
	rvp_leave(thread);
}

/* From here on: stores only. */
static void lock_in(bool strictly)
{
	struct rvp_thread *thread = has_something_to_tell() ? rvp_enter() : NULL;

	if (thread) {
		rvp_writes_end(thread, "the program locked itself in (seccomp)");
		rvp_leave(thread);
	}
	if (strictly)
		rvp_stamp_freeze();
	atomic_store(&rvp_process.locked, 1);
}

int prctl(int option, ...)
{
	unsigned long a, b, c, d;
	va_list more;
	int result, error;

	va_start(more, option);
	a = va_arg(more, unsigned long);
	b = va_arg(more, unsigned long);
	c = va_arg(more, unsigned long);
	d = va_arg(more, unsigned long);
	va_end(more);
	if (!rvp_real_ready())
		return no_real();
	if (option == PR_SET_SECCOMP)
		lock_in(a == SECCOMP_MODE_STRICT);
	result = rvp_real.prctl(option, a, b, c, d);
	error = errno;
	if (option == PR_SET_NAME && result == 0)
		tell_name((const char *)a);
	errno = error;
	return result;
}

/* Called by `syscall` below for the first call, and for those that may install a filter. */
__attribute__((used)) static void look_at_syscall(long number, long first, long second)
{
	rvp_real_ready();
	if (number == SYS_seccomp)
		lock_in(first == SECCOMP_SET_MODE_STRICT);
	if (number == SYS_prctl && first == PR_SET_SECCOMP)
		lock_in(second == SECCOMP_MODE_STRICT);
}

/* A jump, not a call: a clone or vfork by this way returns twice, the second time over any frame of ours. */
__attribute__((naked)) long syscall(long number __attribute__((unused)), ...)
{
	__asm__("movq %c0+rvp_real(%%rip), %%rax\n\t"
		"testq %%rax, %%rax\n\t"
		"je 1f\n\t"
		"cmpq %1, %%rdi\n\t"
		"je 1f\n\t"
		"cmpq %2, %%rdi\n\t"
		"je 1f\n\t"
		"jmp *%%rax\n"
		"1:\n\t"
		"pushq %%rdi\n\t"
		"pushq %%rsi\n\t"
		"pushq %%rdx\n\t"
		"pushq %%rcx\n\t"
		"pushq %%r8\n\t"
		"pushq %%r9\n\t"
		"subq $8, %%rsp\n\t"
		"call look_at_syscall\n\t"
		"addq $8, %%rsp\n\t"
		"popq %%r9\n\t"
		"popq %%r8\n\t"
		"popq %%rcx\n\t"
		"popq %%rdx\n\t"
		"popq %%rsi\n\t"
		"popq %%rdi\n\t"
		"movq %c0+rvp_real(%%rip), %%rax\n\t"
		"jmp *%%rax"
		:
		: "i"(offsetof(struct rvp_real, syscall)), "i"(SYS_seccomp), "i"(SYS_prctl));
}

int dlclose(void *handle)
{
	struct rvp_thread *thread;
	int result, error;

	if (!rvp_real_ready())
		return no_real();
	thread = rvp_enter();
	if (thread) {
		rvp_walk_forget_code();
		rvp_leave(thread);
	}
	result = rvp_real.dlclose(handle);
	error = errno;
	thread = rvp_enter();
	if (thread) {
		if (thread->slot)
			rvp_walk_modules_changed(thread);
		rvp_leave(thread);
	}
	errno = error;
	return result;
}
