/* SPDX-License-Identifier: MIT */
/* generate.c: prints the shape of a program of generated.c from a seed: C source, to be read as shape.h.
 *
 * Usage: generate SEED STYLE
 *   STYLE: realloc copy double paged (the cache grows), tokens transposed ring (it is there from the start,
 * and so are decoys), grown or fixed (one of these, by the seed)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static unsigned draw(unsigned least, unsigned most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return least + (unsigned)(state >> 24) % (most - least + 1);
}

static void one_of(const char *name, const char *const *words, unsigned count)
{
	printf("#define %s_%s 1\n", name, words[draw(0, count - 1)]);
}

#define ONE_OF(name, ...)                                            \
	do {                                                         \
		static const char *const words[] = {__VA_ARGS__};    \
		one_of(name, words, sizeof words / sizeof words[0]); \
	} while (0)

static void number(const char *name, unsigned value)
{
	printf("#define %s %u\n", name, value);
}

/* The order of the tensors of a layer in the file, and of their requests. */
static void order(void)
{
	unsigned places[6] = {0, 1, 2, 3, 4, 5};

	for (unsigned i = 5; i; i--) {
		unsigned j = draw(0, i), kept = places[i];

		places[i] = places[j];
		places[j] = kept;
	}
	printf("#define ORDER {%u, %u, %u, %u, %u, %u}\n", places[0], places[1], places[2], places[3],
	       places[4], places[5]);
}

static const char *style_of(const char *word)
{
	static const char *const grown[] = {"realloc", "copy", "double", "paged"};
	static const char *const fixed[] = {"tokens", "transposed", "ring"};

	if (strcmp(word, "grown") == 0)
		return grown[draw(0, 3)];
	if (strcmp(word, "fixed") == 0)
		return fixed[draw(0, 2)];
	for (int i = 0; i < 7; i++)
		if (strcmp(word, i < 4 ? grown[i] : fixed[i - 4]) == 0)
			return word;
	fprintf(stderr, "generate: no such style: %s\n", word);
	exit(2);
}

static void sizes(void)
{
	unsigned layers = draw(2, 9), width = 16 * draw(9, 22), hidden = 8 * draw(40, 110), steps;

	/* About the same work whatever the shape. */
	steps = 900000000u / (layers * (3 * width * width + 2 * hidden * width) + 1000 * width);
	steps = steps < 70 ? 70 : steps > 320 ? 320 : steps;
	number("LAYERS", layers);
	number("WIDTH", width);
	number("HIDDEN", hidden);
	number("WORDS", draw(300, 2500));
	number("PROMPT", draw(5, 60));
	number("OUTPUT", draw(steps * 3 / 4, steps));
	number("PAGE", draw(4, 20));
	number("ROOM",
	       draw(2, 4)); /* a cache that is there from the start: times the tokens that will come */
	number("HEADER_BYTES", draw(0, 1) * 4 * draw(1, 1200));
	number("PIECE_BYTES", draw(0, 2) ? draw(700, 200000) : 1u << 30);
	number("NOISE", draw(0, 12));
	number("LOG_BYTES", draw(200, 900));
}

int main(int argc, char **argv)
{
	char *end = NULL;
	const char *style;

	if (argc == 3)
		state = strtoull(argv[1], &end, 10) * 2654435761u + 88172645463325252u;
	if (argc != 3 || *end) {
		fputs("usage: generate SEED STYLE\n", stderr);
		return 2;
	}
	for (int i = 0; i < 8; i++)
		draw(0, 1);
	style = style_of(argv[2]);
	printf("/* seed %s */\n#define STYLE_%s 1\n", argv[1], style);
	sizes();
	order();
	ONE_OF("READ", "read", "pread", "fread", "mmap");
	ONE_OF("BLOCKS", "tensor", "layer", "whole");
	ONE_OF("GET", "malloc", "calloc", "aligned");
	ONE_OF("PAIR", "joint", "apart");
	ONE_OF("PREFILL", "batch", "single");
	ONE_OF("KEEP", "all", "last");
	ONE_OF("WORDS", "first", "last");
	ONE_OF("CALLS", "flat", "deep");
	ONE_OF("BOOK", "before", "after", "none");
	return 0;
}
