/* SPDX-License-Identifier: MIT */
/* fuzz_gguf.c: any bytes behind GGUF's magic.
 *
 *   (F6) A header is either whole, its tensors inside of the file, or has a flaw of one line.
 *   (F7) No more tensors than the file could hold.
 */
#include "report/model_file.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct rvp_model *model, size_t length)
{
	if (model->has_header == (model->flaw[0] != 0) || strchr(model->flaw, '\n'))
		abort();
	if (model->tensor_count > length / 24)
		abort();
	for (size_t i = 0; model->has_header && i < model->tensor_count; i++)
		if (model->tensors[i].bytes && (model->tensors[i].offset > length ||
						model->tensors[i].bytes > length - model->tensors[i].offset))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct rvp_cursor cursor;
	struct rvp_model model;
	uint8_t *file;

	if (length < 8)
		return 0;
	file = malloc(length);
	if (!file)
		abort();
	memcpy(file, bytes, length);
	memcpy(file, "GGUF", 4);
	rvp_cursor_over_memory(&cursor, file, length);
	if (!rvp_model_read(&model, &cursor, "") || model.kind != RVP_MODEL_GGUF)
		abort();
	check(&model, length);
	rvp_model_free(&model);
	free(file);
	return 0;
}
