/* SPDX-License-Identifier: MIT */
/* limits.c: programs that have little: of descriptors, file size, address space, system calls, stack. */
#include "tests/life/programs/case.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void limit(int what, rlim_t value)
{
	struct rlimit both = {value, value};

	if (setrlimit(what, &both) != 0)
		_exit(96);
}

/* Where the limit is as low as 64, our two descriptors are below it too: that is told in the manual. The
 * program gets all others, and the error of its own when they are used up. */
static int few_descriptors(void)
{
	int opened = 0;

	limit(RLIMIT_NOFILE, 64);
	churn(3);
	while (open("/dev/null", O_RDONLY) >= 0)
		opened++;
	say("%s descriptors, then %s\n", opened >= 55 ? "enough" : "too few", strerror(errno));
	churn(30);
	return 0;
}

static int few_descriptors_from_birth(void)
{
	limit(RLIMIT_NOFILE, 64);
	execl("/proc/self/exe", "life", "end_by_return", (char *)NULL);
	return 90;
}

static int small_files(void)
{
	limit(RLIMIT_FSIZE, 100000);
	churn(2000);
	say("alive\n");
	return 0;
}

static int small_files_from_birth(void)
{
	limit(RLIMIT_FSIZE, 4096);
	execl("/proc/self/exe", "life", "end_by_return", (char *)NULL);
	return 90;
}

static int no_files_from_birth(void)
{
	limit(RLIMIT_FSIZE, 0);
	execl("/proc/self/exe", "life", "end_by_return", (char *)NULL);
	return 90;
}

/* malloc must fail where it fails without us, and say so. The limit is far above what is in use. */
static int little_address_space(void)
{
	void *block;

	limit(RLIMIT_AS, 256u << 20);
	errno = 0;
	block = malloc(400u << 20);
	say("400 MiB: %s, %s\n", block ? "given" : "refused", strerror(errno));
	free(block);
	churn(50);
	block = malloc(50u << 20);
	say("50 MiB: %s\n", block ? "given" : "refused");
	free(block);
	return 0;
}

static int address_space_used_up(void)
{
	size_t count = 0;
	void *last = NULL;

	limit(RLIMIT_AS, 300u << 20);
	for (void *block; (block = malloc(1 << 20)); count++) {
		*(void **)block = last;
		last = block;
	}
	say("malloc: %s\n", strerror(errno));
	while (last) {
		void *next = *(void **)last;

		free(last);
		last = next;
	}
	churn(30);
	say("again: %d\n", count > 50);
	return 0;
}

static int little_address_space_from_birth(void)
{
	limit(RLIMIT_AS, 48u << 20);
	execl("/proc/self/exe", "life", "end_by_return", (char *)NULL);
	return 90;
}

/* A filter that kills on anything but what churn and the end need. */
static void install_filter(void)
{
	static const int allowed[] = {SYS_write,      SYS_brk,         SYS_mmap,  SYS_munmap,
				      SYS_mremap,     SYS_exit_group,  SYS_futex, SYS_madvise,
				      SYS_newfstatat, SYS_rt_sigreturn};
	enum { ALLOWED = sizeof allowed / sizeof *allowed };
	struct sock_filter code[ALLOWED + 4] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.len = ALLOWED + 3, .filter = code};

	for (int i = 0; i < ALLOWED; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
							   (unsigned char)(ALLOWED - i), 0);
	code[1 + ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[2 + ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(96);
}

static int seccomp_filter(void)
{
	churn(3);
	install_filter();
	churn(1000);
	say("in the sandbox\n");
	_exit(20);
}

static int seccomp_filter_by_syscall(void)
{
	static struct sock_filter allow[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof allow / sizeof *allow, .filter = allow};

	churn(3);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return 96;
	churn(1000);
	say("in the sandbox\n");
	return 21;
}

static void use_the_heap(void)
{
	static void *blocks[64];

	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < 64; i++)
			blocks[i] = malloc(100);
		for (int i = 0; i < 64; i++)
			free(blocks[i]);
	}
}

/* Strict mode: read, write, exit and sigreturn are all there is; one mmap of ours is the end. The heap is
 * large enough before, and stays so. */
static int seccomp_strict(void)
{
	mallopt(M_TOP_PAD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	use_the_heap();
	say("before\n");
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	use_the_heap();
	if (write(1, "strict\n", 7) != 7)
		return 96;
	syscall(SYS_exit, 22);
	return 0;
}

static void *churn_thread(void *rounds)
{
	churn((int)(size_t)rounds);
	return NULL;
}

static int small_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t threads[20];

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, 16384) != 0)
		return 96;
	for (int i = 0; i < 20; i++)
		if (pthread_create(&threads[i], &attributes, churn_thread, (void *)(size_t)20) != 0)
			return 97;
	for (int i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
	say("20 threads\n");
	return 0;
}

const struct life_case limit_cases[] = {
    {"few_descriptors", few_descriptors},
    {"few_descriptors_from_birth", few_descriptors_from_birth},
    {"small_files", small_files},
    {"small_files_from_birth", small_files_from_birth},
    {"no_files_from_birth", no_files_from_birth},
    {"little_address_space", little_address_space},
    {"address_space_used_up", address_space_used_up},
    {"little_address_space_from_birth", little_address_space_from_birth},
    {"seccomp_filter", seccomp_filter},
    {"seccomp_filter_by_syscall", seccomp_filter_by_syscall},
    {"seccomp_strict", seccomp_strict},
    {"small_stacks", small_stacks},
    {0},
};
