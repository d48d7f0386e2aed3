/* SPDX-License-Identifier: MIT */
/* descriptor.h: the descriptors that we keep in the program: the log, of /proc/self statm, maps and pagemap,
 * and for a while a userfaultfd (writes_kernel.c).
 *
 * They sit as high as the soft limit allows, close on exec. Nobody gave us the right to them for ever: a daemon
 * closes everything, a raw system call knows no hook, and the number may then belong to a client's socket. So the
 * file behind a number is compared (device, inode) before each write; what is not ours any more is forgotten, never
 * closed, and the file is opened again by its path.
 */
#ifndef RVP_DESCRIPTOR_H
#define RVP_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

enum rvp_descriptor {
	RVP_DESCRIPTOR_LOG = 0,
	RVP_DESCRIPTOR_STATM = 1,
	RVP_DESCRIPTOR_MAPS = 2,
	RVP_DESCRIPTOR_PAGEMAP = 3,
	RVP_DESCRIPTOR_WRITES = 4,
	RVP_DESCRIPTOR_COUNT = 5,
};

/* Opens `path` and moves the descriptor up. False: not opened (errno untouched). */
bool rvp_descriptor_open(enum rvp_descriptor which, const char *path, int flags, unsigned mode);

/* Takes one that has no path: gone, it is not opened again. False: it was closed. */
bool rvp_descriptor_adopt(enum rvp_descriptor which, int fd);

/* Its number when the file behind it is still ours, opened again if it can be; -1 when there is none. */
int rvp_descriptor_use(enum rvp_descriptor which);

/* Forgets without closing (a child by fork shares the parent's file offset, but not its log). */
void rvp_descriptor_forget(enum rvp_descriptor which);

/* Closes and forgets. */
void rvp_descriptor_close(enum rvp_descriptor which);

/* Whether `fd` is one of ours now. */
bool rvp_descriptor_is_ours(int fd);

/* The numbers that are ours now, rising; how many. */
int rvp_descriptor_numbers(int numbers[RVP_DESCRIPTOR_COUNT]);

/* Moves ours away from `fd`, which the program wants to have (dup2). */
void rvp_descriptor_make_way(int fd);

#endif
