/* SPDX-License-Identifier: MIT */
/* walk: reads the buffers that record_buffers.c wrote with the cuptiActivityGetNextRecord of a given library,
 * in some threads at once, and prints for each record its offset and its kind. The same file walked by
 * NVIDIA's library and by the simulated one must print the same.
 *
 * Usage: walk LIBRARY FILE     status 77: the library cannot be opened */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, MOST_RECORDS = 1 << 16 };

static uint32_t (*next_record)(uint8_t *, size_t, void **);
static uint8_t *buffer;
static size_t valid;

struct walk {
	uint32_t offsets[MOST_RECORDS], kinds[MOST_RECORDS], count, end;
};

static void *walk_one(void *to)
{
	struct walk *walk = to;
	void *record = NULL;

	walk->count = 0;
	while ((walk->end = next_record(buffer, valid, &record)) == 0 && walk->count < MOST_RECORDS) {
		walk->offsets[walk->count] = (uint32_t)((uint8_t *)record - buffer);
		memcpy(&walk->kinds[walk->count++], record, sizeof(uint32_t));
	}
	return NULL;
}

static void print_buffer(unsigned int number)
{
	static struct walk walks[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, walk_one, &walks[i]) != 0)
			exit(2);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (walks[i].count != walks[0].count || walks[i].end != walks[0].end ||
		    memcmp(walks[i].offsets, walks[0].offsets, walks[0].count * sizeof(uint32_t)) != 0) {
			fprintf(stderr, "walk: two threads do not agree on buffer %u\n", number);
			exit(1);
		}
	}
	for (uint32_t i = 0; i < walks[0].count; i++)
		printf("%u %u %u\n", number, walks[0].offsets[i], walks[0].kinds[i]);
	printf("%u end %u\n", number, walks[0].end);
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;
	uint64_t length;

	if (argc == 3 && !library)
		return 77;
	next_record =
	    library ? (uint32_t(*)(uint8_t *, size_t, void **))dlsym(library, "cuptiActivityGetNextRecord")
		    : NULL;
	if (!next_record || !file) {
		fprintf(stderr, "usage: walk LIBRARY FILE\n");
		return 2;
	}
	for (unsigned int number = 0; fread(&length, sizeof length, 1, file) == 1; number++) {
		buffer = aligned_alloc(64, (length + 63) / 64 * 64 + 64);
		if (!buffer || fread(buffer, 1, length, file) != length)
			return 2;
		valid = length;
		print_buffer(number);
		free(buffer);
	}
	fclose(file);
	return 0;
}
