/* SPDX-License-Identifier: MIT */
/* writes_kernel.c: see writes_kernel.h. Numbers are from Linux 6.7's include/uapi/linux/userfaultfd.h and
 * include/uapi/linux/fs.h; each says which name it has there.
 *
 * With UFFD_USER_MODE_ONLY an ordinary user may have it too, and writes by the kernel into protected pages
 * (read(2)) work, because WP_ASYNC lets the kernel resolve each fault where it happens: no message, nobody to
 * answer. Holes are not protected: that would need page tables for memory that nobody touched.
 */
#include "preload/writes_kernel.h"

#include "preload/descriptor.h"
#include "preload/procfs.h"
#include "preload/sys.h"

#include <errno.h>
#include <string.h>

#define REQUEST(direction, type, number, bytes) \
	((long)(direction) << 30 | (long)(bytes) << 16 | (type) << 8 | (number))
enum { WRITE = 1, READ = 2 };

enum { USER_MODE_ONLY = 1 };                         /* UFFD_USER_MODE_ONLY */
static const uint64_t api_version = 0xaa;            /* UFFD_API */
static const uint64_t feature_wp_async = 1ull << 15; /* UFFD_FEATURE_WP_ASYNC */
static const uint64_t register_wp = 2;               /* UFFDIO_REGISTER_MODE_WP */

struct api { /* struct uffdio_api */
	uint64_t api, features, ioctls;
};
struct range { /* struct uffdio_range */
	uint64_t start, bytes;
};
struct registration { /* struct uffdio_register */
	struct range range;
	uint64_t mode, ioctls;
};
static const long api_request = REQUEST(READ | WRITE, 0xaa, 0x3f, sizeof(struct api)); /* UFFDIO_API */
static const long register_request =
    REQUEST(READ | WRITE, 0xaa, 0, sizeof(struct registration));                     /* UFFDIO_REGISTER */
static const long unregister_request = REQUEST(READ, 0xaa, 1, sizeof(struct range)); /* UFFDIO_UNREGISTER */

struct scan { /* struct pm_scan_arg */
	uint64_t size, flags, start, end, walk_end, vec, vec_length, max_pages;
	uint64_t inverted, all_of, any_of, returned;
};
enum { IS_WRITTEN = 2, IS_PRESENT = 8, IS_ZERO_PAGE = 32 }; /* PAGE_IS_WRITTEN, _PRESENT, _PFNZERO */
enum { PROTECT_MATCHING = 1, ONLY_REGISTERED = 2 };         /* PM_SCAN_WP_MATCHING, PM_SCAN_CHECK_WPASYNC */
static const long scan_request = REQUEST(READ | WRITE, 'f', 16, sizeof(struct scan)); /* PAGEMAP_SCAN */

static int pagemap(void)
{
	int fd = rvp_descriptor_use(RVP_DESCRIPTOR_PAGEMAP);

	if (fd < 0 && rvp_descriptor_open(RVP_DESCRIPTOR_PAGEMAP, "/proc/self/pagemap", O_RDONLY, 0))
		fd = rvp_descriptor_use(RVP_DESCRIPTOR_PAGEMAP);
	return fd;
}

/* A filter may answer with a signal that ends the program; nobody can ask it without trying. */
static bool has_filter(void)
{
	static char text[4096];
	const char *line;

	if (!rvp_procfs_read("/proc/self/status", text, sizeof text))
		return false;
	line = strstr(text, "\nSeccomp:\t");
	return line && line[sizeof "\nSeccomp:\t" - 1] != '0';
}

static const char *why_refused(long error)
{
	switch (-error) {
	case EPERM: return "userfaultfd was refused (EPERM)";
	case ENOSYS: return "this kernel has no userfaultfd";
	case EINVAL: return "this kernel's userfaultfd is too old (Linux 6.7 has what is needed)";
	case EMFILE:
	case ENFILE: return "there is no file descriptor left";
	case ENOMEM: return "there is no memory for userfaultfd";
	default: return "userfaultfd was refused";
	}
}

/* A scan of nothing: does this kernel know the request? */
static bool can_scan(int fd)
{
	struct scan ask = {.size = sizeof ask, .returned = IS_WRITTEN};

	return rvp_syscall6(SYS_ioctl, fd, scan_request, (long)&ask, 0, 0, 0) >= 0;
}

const char *rvp_writes_turn_on(void)
{
	struct api api = {.api = api_version, .features = feature_wp_async};
	long fd;

	if (has_filter())
		return "a seccomp filter is in force";
	if (pagemap() < 0)
		return "/proc/self/pagemap can't be read";
	if (!can_scan(pagemap()))
		return "this kernel has no PAGEMAP_SCAN (Linux 6.7 has)";
	fd = rvp_syscall6(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY, 0, 0, 0, 0, 0);
	if (fd < 0)
		return why_refused(fd);
	if (rvp_syscall6(SYS_ioctl, fd, api_request, (long)&api, 0, 0, 0) < 0 ||
	    !(api.features & feature_wp_async)) {
		rvp_sys_close((int)fd);
		return "this kernel's userfaultfd has no WP_ASYNC (Linux 6.7 has)";
	}
	return rvp_descriptor_adopt(RVP_DESCRIPTOR_WRITES, (int)fd) ? NULL : "its descriptor can't be kept";
}

void rvp_writes_turn_off(void)
{
	rvp_descriptor_close(RVP_DESCRIPTOR_WRITES);
}

void rvp_writes_forget(void)
{
	rvp_descriptor_close(RVP_DESCRIPTOR_WRITES); /* the child's own copy of the number */
}

bool rvp_writes_register(uint64_t from, uint64_t to)
{
	struct registration ask = {.range = {from, to - from}, .mode = register_wp};
	int fd = rvp_descriptor_use(RVP_DESCRIPTOR_WRITES);

	return fd >= 0 && rvp_syscall6(SYS_ioctl, fd, register_request, (long)&ask, 0, 0, 0) == 0;
}

void rvp_writes_unregister(uint64_t from, uint64_t to)
{
	struct range ask = {from, to - from};
	int fd = rvp_descriptor_use(RVP_DESCRIPTOR_WRITES);

	if (fd >= 0)
		rvp_syscall6(SYS_ioctl, fd, unregister_request, (long)&ask, 0, 0, 0);
}

bool rvp_writes_scan(uint64_t from, uint64_t to, struct rvp_writes_room room,
		     void (*see)(void *, uint64_t from, uint64_t to), void *context)
{
	struct scan ask = {.size = sizeof ask,
			   .flags = PROTECT_MATCHING | ONLY_REGISTERED,
			   .start = from,
			   .end = to,
			   .vec = (uint64_t)room.ranges,
			   .vec_length = room.count,
			   .inverted = IS_ZERO_PAGE,
			   .all_of = IS_WRITTEN | IS_PRESENT | IS_ZERO_PAGE,
			   .returned = IS_WRITTEN};
	int fd = pagemap();

	while (ask.start < to) {
		long count = fd < 0 ? -1 : rvp_syscall6(SYS_ioctl, fd, scan_request, (long)&ask, 0, 0, 0);

		if (count < 0)
			return false;
		for (long i = 0; i < count; i++)
			see(context, room.ranges[i].from, room.ranges[i].to);
		if (ask.walk_end <= ask.start)
			break;
		ask.start = ask.walk_end;
	}
	return true;
}
