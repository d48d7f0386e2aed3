/* SPDX-License-Identifier: MIT */
/* shadow_read.c: see shadow_read.h. */
#include "tests/life/shadow_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct shadow_file *shadow_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map =
	    fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct shadow_file), PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	close(fd);
	return map;
}

uint32_t shadow_count(const struct shadow_file *shadow)
{
	return shadow->next < SHADOW_RECORDS ? shadow->next : SHADOW_RECORDS;
}

const struct ledger_process *shadow_process(const struct ledger *ledger, const struct shadow_record *record,
					    bool *taken)
{
	for (size_t i = 0; i < ledger->count; i++) {
		const struct ledger_process *process = &ledger->processes[i];

		if (!taken[i] && process->pid == record->pid && process->is_fork == record->is_fork) {
			taken[i] = true;
			return process;
		}
	}
	return NULL;
}
