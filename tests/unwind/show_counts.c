/* SPDX-License-Identifier: MIT */
/* show_counts.c: says in one line what the referee found.
 *
 *     unwind_show NAME FILE LEAST     status 1: a difference, or fewer than LEAST compared
 */
#include "tests/unwind/counts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const cut_texts[] = {
#define CUT(name, text) text,
    UNWIND_CUTS(CUT)
#undef CUT
};
static const char *const hook_names[] = {
#define HOOK(name) #name,
    UNWIND_HOOKS(HOOK)
#undef HOOK
	"operator new and others",
};

static void print_hooks(const struct unwind_counts *counts)
{
	const char *between = " (";

	for (int i = 0; i < UNWIND_HOOK_COUNT; i++, between = ", ")
		printf("%s%s %lu", between, hook_names[i], counts->by_hook[i]);
	printf(")");
}

static uint64_t print_cuts(const struct unwind_counts *counts)
{
	uint64_t sum = counts->referee_stops;

	for (int i = 0; i < UNWIND_CUT_COUNT; i++) {
		sum += counts->cut[i];
		if (counts->cut[i])
			printf("; cut %lu %s", counts->cut[i], cut_texts[i]);
	}
	if (counts->referee_stops)
		printf("; %lu on which libunwind stops first, at code without unwind information",
		       counts->referee_stops);
	return sum;
}

static int show(const char *name, const struct unwind_counts *counts, uint64_t least)
{
	uint64_t others, compared = counts->compared;

	printf("%s: %lu events, %lu compared", name, counts->events, compared);
	print_hooks(counts);
	printf(", %lu through a signal frame, %.1f frames deep, %lu at most; equal %lu",
	       counts->through_signal, compared ? (double)counts->frames / (double)compared : 0,
	       counts->deepest, counts->equal);
	others = print_cuts(counts);
	printf("; different %lu\n", counts->different);
	if (counts->equal + others + counts->different != compared) {
		printf("%s: the figures do not add up: a process ended within a comparison\n", name);
		return 0;
	}
	if (compared < least)
		printf("%s: fewer than %lu were compared\n", name, least);
	return counts->different || compared < least || !counts->equal;
}

int main(int count, char **words)
{
	struct unwind_counts counts;
	int fd = count == 4 ? open(words[2], O_RDONLY) : -1;

	if (fd < 0 || read(fd, &counts, sizeof counts) != sizeof counts) {
		fprintf(stderr, "usage: unwind_show NAME FILE LEAST\n");
		return 2;
	}
	return show(words[1], &counts, strtoull(words[3], NULL, 10));
}
