/* SPDX-License-Identifier: MIT */
/* fold.h: sums by call path, where a log has met its bound (RVP_FOLD_FILE in a process's folder).
 *
 * A file header (64 bytes, magic RVP_FOLD_MAGIC), then RVP_FOLD_ENTRIES entries, mapped shared: all threads add by
 * locked instructions, so the sums outlive a SIGKILL. Entry 0 takes what found no place.
 */
#ifndef RVP_FOLD_H
#define RVP_FOLD_H

#include "record/chunk.h"

#include <stdatomic.h>

#define RVP_FOLD_FILE  "folds.rvf"
#define RVP_FOLD_MAGIC "RVPFOLD\n"

enum { RVP_FOLD_ENTRIES = 32768 };

struct rvp_fold {
	_Atomic uint64_t key; /* (stack << 32 | python) + 1; 0: empty. Entry 0 has no key */
	_Atomic uint64_t alloc_count, alloc_bytes;
	uint64_t reserved;
};
_Static_assert(sizeof(struct rvp_fold) == 32, "a fold is 32 bytes on disk");

struct rvp_fold_table {
	struct rvp_file_header file;
	struct rvp_fold entry[RVP_FOLD_ENTRIES];
};

static inline uint64_t rvp_fold_key(uint32_t stack, uint32_t python)
{
	return ((uint64_t)stack << 32 | python) + 1;
}

#endif
