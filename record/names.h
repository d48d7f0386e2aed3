/* SPDX-License-Identifier: MIT */
/* names.h: the enums and name tables of the .def files, and the file names of a run folder. */
#ifndef RVP_NAMES_H
#define RVP_NAMES_H

enum rvp_category {
#define RVP_CATEGORY(id, name) RVP_CATEGORY_##id,
#include "record/category.def"
	RVP_CATEGORY_COUNT
};

enum rvp_loss {
#define RVP_LOSS(id, name, whole, what) RVP_LOSS_##id,
#include "record/loss.def"
	RVP_LOSS_COUNT
};

/* Name tables, index by the enum; defined in names.c. */
extern const char *const rvp_category_names[RVP_CATEGORY_COUNT];
extern const char *const rvp_loss_names[RVP_LOSS_COUNT];
extern const char *const rvp_loss_texts[RVP_LOSS_COUNT];
extern const unsigned char rvp_loss_is_whole[RVP_LOSS_COUNT];

/* How a block was given out or back; the number is on disk: append only. */
#define RVP_FAMILIES(X)                                                                                      \
	X(MALLOC, "malloc")                                                                                  \
	X(CALLOC, "calloc")                                                                                  \
	X(REALLOC, "realloc")                                                                                \
	X(REALLOCARRAY, "reallocarray")                                                                      \
	X(ALIGNED_ALLOC, "aligned_alloc")                                                                    \
	X(MEMALIGN, "memalign")                                                                              \
	X(POSIX_MEMALIGN, "posix_memalign")                                                                  \
	X(VALLOC, "valloc")                                                                                  \
	X(PVALLOC, "pvalloc")                                                                                \
	X(FREE, "free")                                                                                      \
	X(FREE_SIZED, "free_sized")                                                                          \
	X(FREE_ALIGNED_SIZED, "free_aligned_sized")                                                          \
	X(NEW, "operator new")                                                                               \
	X(DELETE, "operator delete")                                                                         \
	X(MMAP, "mmap")                                                                                      \
	X(MUNMAP, "munmap")                                                                                  \
	X(MREMAP, "mremap")                                                                                  \
	X(BRK, "brk")                                                                                        \
	X(SBRK, "sbrk")

enum rvp_family {
#define X(id, name) RVP_FAMILY_##id,
	RVP_FAMILIES(X)
#undef X
	    RVP_FAMILY_COUNT
};
extern const char *const rvp_family_names[RVP_FAMILY_COUNT];

/* Files of a run folder; proc.* folders are named by RVP_PROC_FORMAT (pid, number of execs before). */
#define RVP_TREE_FILE    "tree.rvt"    /* the table of processes (tree.h) */
#define RVP_LOCK_FILE    "lock"        /* flock: one finalizer at a time */
#define RVP_WATCH_FILE   "watch.rvl"   /* log of the outside watcher (rvprof run) */
#define RVP_PROC_FORMAT  "proc.%u.%u"
#define RVP_LOG_FILE     "log.rvl"     /* sealed chunks (chunk.h) */
#define RVP_PACKED_FILE  "log.rvz"     /* the same, packed (packed_log.h); one of the two is there */
#define RVP_BUFFER_FILE  "buffers.rvb" /* a slot a thread (slot.h) */

enum rvp_mode { RVP_MODE_SAMPLED = 0, RVP_MODE_FULL = 1 };

/* Of sampled mode. A process that recorded nothing has no PROCESS record to say them. */
enum { RVP_SAMPLE_BYTES = 512 * 1024, RVP_THRESHOLD_BYTES = 16 * 1024 };

#endif
