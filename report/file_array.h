/* SPDX-License-Identifier: MIT */
/* file_array.h: arrays that may become larger than memory should be asked for: the steps of a day.
 *
 *   - Up to RVP_FILE_ARRAY_BYTES one is memory like any other. A larger one lies in a file without a name, in $TMPDIR, /var/tmp or
 *     /tmp, whose pages the kernel may write out and drop; growing it says that it may.
 *   - The file's room is taken from the disk before it is used. Where that can't be had (a full disk, a limit of files' sizes) the
 *     array stays in memory.
 *   - free() must not be called on one.
 */
#ifndef RVP_REPORT_FILE_ARRAY_H
#define RVP_REPORT_FILE_ARRAY_H

#include <stddef.h>

#define RVP_FILE_ARRAY_BYTES ((size_t)8 << 20)

/* `array` (NULL: none yet) with room for `bytes`, what is new is zero. It may move. NULL without memory: then the old one
 * is as it was. */
void *rvp_file_array(void *array, size_t bytes);
void rvp_file_array_free(void *array);

#endif
