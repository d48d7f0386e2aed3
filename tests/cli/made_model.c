/* SPDX-License-Identifier: MIT */
/* made_model.c: made_model FILE [f16|q4_0|moe|tied]: writes a llama of 8 blocks, 512 features, 8 heads, 4 KV
 * heads, 1408 hidden and 4096 tokens: the GGUF whose weights are known to be 55,609,344 bytes in f16. */
#include "tests/unit/model_maker.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct llama_wish wish = {8, 512, 8, 4, 1408, 4096, 1, 1, 2, 0, 0, 0};
	const char *kind = argc > 2 ? argv[2] : "f16";
	struct model_bytes made;
	FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
	int is_bad;

	if (!file)
		return 2;
	if (!strcmp(kind, "q4_0"))
		wish.type = 2, wish.block = 32, wish.block_bytes = 18;
	if (!strcmp(kind, "moe"))
		wish.blocks = 2, wish.experts = 8, wish.experts_used = 2, wish.hidden = 64;
	wish.has_no_output = !strcmp(kind, "tied");
	make_llama(&made, wish);
	is_bad = fwrite(made.bytes, 1, made.length, file) != made.length;
	is_bad |= fclose(file);
	model_bytes_free(&made);
	return is_bad;
}
