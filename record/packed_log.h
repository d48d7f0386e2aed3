/* SPDX-License-Identifier: MIT */
/* packed_log.h: a log in a third of its bytes, once its process is gone: RVP_PACKED_FILE beside RVP_LOG_FILE, of which
 * only one is there as a rule. Unpacking gives back each byte of the log, so that nobody but these functions and the log
 * reader knows of it.
 *
 * A file header (magic RVP_PACKED_MAGIC; pid, start and begin as in the log's own), then pieces at offsets that are
 * multiples of 64: a header of 64 bytes, then bytes of zstd. Inside are the lengths of the columns (columns.h), u32
 * each, and the columns. Pieces are of whole chunks and in order of their place in the log; each can be read alone.
 *
 *   0      4       6       8           16          24         28        32              40                48   56
 *   +------+-------+-------+-----------+-----------+----------+---------+---------------+-----------------+----+--------+
 *   |magic |version|header |place in   |bytes of   |bytes     |columns  |checksum of    |checksum of      | 0  |header  |
 *   |"RVPZ"|       | bytes |the log    |the log    |in zstd   |         |the log's bytes|the zstd's bytes |    |checksum|
 *   +------+-------+-------+-----------+-----------+----------+---------+---------------+-----------------+----+--------+
 *
 * Invariant (K1): the log goes only when the packed file is whole on the disk, under its name, and was unpacked again
 * from there to the very bytes of the log. A kill at any moment leaves the log, or both, or the packed file.
 */
#ifndef RVP_PACKED_LOG_H
#define RVP_PACKED_LOG_H

#include "record/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RVP_PACKED_MAGIC       "RVPPACK\n"
#define RVP_PACKED_PIECE_MAGIC 0x5a505652u /* "RVPZ" */

/* Packs folder/RVP_LOG_FILE, whose process must be gone for good, and removes it. Not an error, and nothing happens:
 * the log is shorter than `least_bytes`, has a hole, is not there, or someone else is at it. `stop` (may be NULL) is
 * asked now and then: true gives up. On failure the log is as it was. */
struct rvp_status rvp_pack_log(const char *folder, uint64_t least_bytes, bool (*stop)(void));

struct rvp_unpacked {
	void *map; /* the log's bytes, munmap; zeros where a piece is damaged */
	size_t bytes;
	bool is_of_file; /* its pages can be had again */
	uint64_t packed_bytes;
	uint64_t damaged_pieces;
};

/* The packed log in `folder`, through a file without a name there, in $TMPDIR or /var/tmp, or else in memory. */
struct rvp_status rvp_unpack_log(const char *folder, struct rvp_unpacked *unpacked);

#endif
