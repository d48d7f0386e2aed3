/* SPDX-License-Identifier: MIT */
/* fuzz_safetensors.c: any bytes as the header's text, the last sixteenth as data; and as a file as they are,
 * of any kind and content.
 *
 *   (F8) A header is either whole, its tensors inside of the file, or has a flaw of one line.
 */
#include "report/file_content.h"
#include "report/model_file.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static struct rvp_cursor cursor;

static void read_header(const uint8_t *bytes, size_t length)
{
	uint64_t header_bytes = length - length / 16;
	uint8_t *file = malloc(length + 9);
	struct rvp_model model;

	if (!file)
		abort();
	memcpy(file, &header_bytes, 8);
	memcpy(file + 8, bytes, length);
	file[8] = '{';
	file[length + 8] = 0;
	rvp_cursor_over_memory(&cursor, file, length + 9);
	if (!rvp_model_read(&model, &cursor, "x.safetensors"))
		abort();
	if (model.kind == RVP_MODEL_SAFETENSORS &&
	    (model.has_header == (model.flaw[0] != 0) || strchr(model.flaw, '\n')))
		abort();
	for (size_t i = 0; model.has_header && i < model.tensor_count; i++)
		if (model.tensors[i].offset + model.tensors[i].bytes > length + 9)
			abort();
	rvp_model_free(&model);
	free(file);
}

static void read_as_it_is(const uint8_t *bytes, size_t length)
{
	struct rvp_model model;

	rvp_cursor_over_memory(&cursor, bytes, length);
	if (!rvp_model_read(&model, &cursor, "x.onnx"))
		abort();
	rvp_model_free(&model);
	rvp_cursor_over_memory(&cursor, bytes, length);
	rvp_content_of(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (length >= 16)
		read_header(bytes, length);
	read_as_it_is(bytes, length);
	return 0;
}
