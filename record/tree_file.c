/* SPDX-License-Identifier: MIT */
/* tree_file.c: see tree_file.h. */
#include "record/tree_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

/* A store into a hole of a full disk is SIGBUS, so every byte is allocated now. */
static int allocate(int fd, size_t bytes)
{
	struct rlimit most;
	int failed;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && most.rlim_cur < bytes)
		return EFBIG;
	do
		failed = posix_fallocate(fd, 0, (off_t)bytes);
	while (failed == EINTR);
	return failed;
}

static void make_run_id(char *hex)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[16];

	if (getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random)
		memset(random, 0, sizeof random);
	for (size_t i = 0; i < sizeof random; i++) {
		hex[2 * i] = digits[random[i] >> 4];
		hex[2 * i + 1] = digits[random[i] & 15];
	}
}

static void read_boot_id(char *into, size_t bytes)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, into, bytes - 1);

	if (fd >= 0)
		close(fd);
	while (got > 0 && into[got - 1] == '\n')
		into[--got] = 0;
}

static void fill(struct rvp_tree *tree, const struct rvp_tree_facts *facts)
{
	size_t command = facts->command_bytes, exe = strnlen(facts->exe, sizeof tree->exe - 1);

	tree->entry_count = RVP_TREE_ENTRY_COUNT;
	tree->maker = facts->maker;
	tree->mode = facts->mode;
	tree->root_pidns = facts->root_pidns;
	tree->max_log_bytes = facts->max_log_bytes;
	if (command > sizeof tree->command) {
		command = sizeof tree->command;
		tree->command_is_cut = 1;
	}
	memcpy(tree->command, facts->command, command);
	tree->command_bytes = (uint32_t)command;
	memcpy(tree->exe, facts->exe, exe);
	make_run_id(tree->run_id);
	read_boot_id(tree->boot_id, sizeof tree->boot_id);
	tree->file.begin_realtime_ns = facts->begin_realtime_ns;
	rvp_tree_set_root(tree, facts->root_pid, facts->root_start_ticks);
}

void rvp_tree_set_root(struct rvp_tree *tree, uint32_t pid, uint64_t start_ticks)
{
	tree->file.pid = pid;
	tree->file.start_ticks = start_ticks;
	rvp_file_header_seal(&tree->file, RVP_TREE_MAGIC);
	atomic_store(&tree->root_start_ticks, start_ticks);
	atomic_store(&tree->root_pid, pid);
}

int rvp_tree_make(const char *path, const struct rvp_tree_facts *facts, struct rvp_tree **tree)
{
	size_t bytes = rvp_tree_bytes(RVP_TREE_ENTRY_COUNT);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *map = MAP_FAILED;
	int failed;

	if (fd < 0)
		return errno;
	failed = allocate(fd, bytes);
	if (!failed) {
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		failed = map == MAP_FAILED ? errno : 0;
	}
	close(fd);
	/* Else a first touch makes the kernel read or clear megabytes of it ahead: 2.5 ms of a short process. */
	if (!failed)
		(void)madvise(map, bytes, MADV_RANDOM);
	if (failed) {
		unlink(path);
		return failed;
	}
	*tree = map;
	fill(*tree, facts);
	return 0;
}
