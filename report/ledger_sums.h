/* SPDX-License-Identifier: MIT */
/* ledger_sums.h: what resident memory consisted of at one moment, in parts that do not overlap. */
#ifndef RVP_REPORT_LEDGER_SUMS_H
#define RVP_REPORT_LEDGER_SUMS_H

#include "report/purpose.h"

/* Rows behind the categories of blocks; RVP_PART_NONE is what nothing explains. */
#define RVP_LEDGER_PARTS(X)                                                                                 \
	X(ROUNDING, "rounding", "what the allocator gave beyond what was asked for; counted")               \
	X(FREE, "free-or-fragmented",                                                                       \
	  "given back and kept by the allocator, or between its blocks; derived")                           \
	X(INHERITED, "inherited-or-free", "heap of a child by fork: its parent's blocks, or free; derived") \
	X(RESERVED, "reservations", "in use inside of address space that the program reserved")             \
	X(FILE, "file", "mapped files that are not weights")                                                \
	X(STACK, "stack", "stacks of threads")                                                              \
	X(CODE, "code", "programs, libraries and their static data")                                        \
	X(SHMEM, "shmem", "shared memory")                                                                  \
	X(OWN, "rvprof", "the profiler's own")                                                              \
	X(SILENT, "without-records", "processes of the tree that recorded nothing; not looked into")

enum rvp_ledger_part {
#define X(id, name, what) RVP_PART_##id,
	RVP_LEDGER_PARTS(X)
#undef X
	    RVP_PART_COUNT
};
extern const char *const rvp_ledger_part_names[RVP_PART_COUNT];
extern const char *const rvp_ledger_part_texts[RVP_PART_COUNT];

struct rvp_ledger_amount {
	uint64_t bytes, resident_bytes;
};

enum { RVP_LEDGER_FILES_MAX = 24, RVP_LEDGER_NAME_BYTES = 160 };
struct rvp_ledger_file {
	char name[RVP_LEDGER_NAME_BYTES]; /* the end of a longer one */
	struct rvp_ledger_amount amount;
	uint64_t start, end; /* where it was, of one look */
};

struct rvp_ledger_sums {
	char other_allocator[40]; /* the file of a malloc that is not glibc's; empty: none is known */
	uint64_t rss_bytes, swap_bytes, pss_bytes;
	struct rvp_ledger_amount by_purpose[RVP_PURPOSES_MAX]; /* requested; resident */
	struct rvp_ledger_amount parts[RVP_PART_COUNT];        /* mapped or held; resident */
	struct rvp_ledger_file files[RVP_LEDGER_FILES_MAX];    /* of PART_FILE, largest resident first */
	uint32_t file_count;
	uint64_t more_files;      /* beyond these */
	uint64_t allocator_bytes; /* resident in the allocator's regions, blocks in them included */
	uint64_t live_usable_bytes, live_count;
};

/* `start`: its first byte in the process; 0: not told. */
void rvp_ledger_add_file(struct rvp_ledger_sums *sums, const char *name, size_t length,
			 struct rvp_ledger_amount amount, uint64_t start);
/* So much of the file at `address` is in another row. */
void rvp_ledger_take_from_file(struct rvp_ledger_sums *sums, uint64_t address, uint64_t resident_bytes);
/* After that: the list in order again, without what is empty. */
void rvp_ledger_order_files(struct rvp_ledger_sums *sums);
void rvp_ledger_add_sums(struct rvp_ledger_sums *to, const struct rvp_ledger_sums *from);

/* RSS less all rows; negative where rows hold more. */
int64_t rvp_ledger_unexplained(const struct rvp_ledger_sums *sums);

#endif
