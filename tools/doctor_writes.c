/* SPDX-License-Identifier: MIT */
/* doctor_writes.c: whether `--writes window` can work on this machine. The same questions as the library asks
 * (preload/writes_kernel.c, where the numbers are explained), in our own process. */
#include "tools/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct api { /* struct uffdio_api */
	uint64_t api, features, ioctls;
};
struct scan { /* struct pm_scan_arg */
	uint64_t size, flags, start, end, walk_end, vec, vec_length, max_pages;
	uint64_t inverted, all_of, any_of, returned;
};
static const uint64_t wp_async = 1ull << 15; /* UFFD_FEATURE_WP_ASYNC */
enum { USER_MODE_ONLY = 1, IS_WRITTEN = 2 };

static bool can_scan(void)
{
	struct scan ask = {.size = sizeof ask, .returned = IS_WRITTEN};
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	bool can = fd >= 0 && ioctl(fd, _IOWR('f', 16, struct scan), &ask) >= 0;

	if (fd >= 0)
		close(fd);
	return can;
}

/* 0: good; else an errno. */
static int try_userfaultfd(void)
{
	struct api api = {.api = 0xaa, .features = wp_async};
	long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
	int error = fd < 0 ? errno : 0;

	if (fd < 0)
		return error;
	if (ioctl((int)fd, _IOWR(0xaa, 0x3f, struct api), &api) < 0 || !(api.features & wp_async))
		error = ENOSYS;
	close((int)fd);
	return error;
}

void rvp_doctor_writes(struct rvp_findings *findings)
{
	int error = try_userfaultfd();

	if (error)
		rvp_found(
		    findings, RVP_FINDING_NOTE, "writes", "",
		    "--writes window does nothing here: userfaultfd: %s (it needs Linux 6.7, and no filter "
		    "that forbids it)",
		    error == ENOSYS ? "not in this kernel, or without WP_ASYNC" : strerror(error));
	else if (!can_scan())
		rvp_found(findings, RVP_FINDING_NOTE, "writes", "",
			  "--writes window does nothing here: /proc/self/pagemap can't be scanned "
			  "(PAGEMAP_SCAN, Linux "
			  "6.7)");
}
