/* SPDX-License-Identifier: MIT */
/* free_memory.c: see free_memory.h. */
#include "model/free_memory.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t rvp_free_memory_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[128];

	while (file && !kib && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1)
			kib = 0;
	if (file)
		fclose(file);
	return kib * 1024;
}
