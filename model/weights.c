/* SPDX-License-Identifier: MIT */
/* weights.c: see weights.h. Absolute values that are not negative have the order of their bits, so they are
 * sorted as whole numbers, eleven bits a pass. Doubles are rounded to float32 first. */
#include "model/weights.h"

#include "model/free_memory.h"
#include "report/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW_VALUES = 65536, PASS_BITS = 11, PASSES = 3, BUCKETS = 1 << PASS_BITS };

/* ---- numbers ---- */

static float of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float of_half(uint16_t half)
{
	uint32_t exponent = half >> 10 & 31, fraction = half & 1023;

	if (!exponent)
		return (float)fraction / 16777216;
	return of_bits((exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

/* The absolute value of number `i` of so many bytes each. */
static float value_at(const unsigned char *bytes, size_t i, unsigned width, bool is_bf16)
{
	uint16_t two;
	uint32_t four;
	double eight;

	switch (width) {
	case 2:
		memcpy(&two, bytes + 2 * i, 2);
		return is_bf16 ? of_bits((uint32_t)(two & 0x7fff) << 16) : of_half(two & 0x7fff);
	case 4: memcpy(&four, bytes + 4 * i, 4); return of_bits(four & 0x7fffffff);
	default: memcpy(&eight, bytes + 8 * i, 8); return (float)fabs(eight);
	}
}

static unsigned width_of(const char *type)
{
	static const struct {
		const char *type;
		unsigned width;
	} widths[] = {{"f32", 4}, {"f16", 2}, {"bf16", 2}, {"f64", 8}};

	for (size_t i = 0; type && i < sizeof widths / sizeof *widths; i++)
		if (strcmp(type, widths[i].type) == 0)
			return widths[i].width;
	return 0;
}

/* ---- values ---- */

struct values {
	uint32_t *bits, *other;
	uint64_t count, room;
};

static struct rvp_status read_tensor(int file, const char *path, const struct rvp_model_tensor *tensor,
				     struct values *values, struct rvp_weights *weights)
{
	static unsigned char window[WINDOW_VALUES * 8];
	unsigned width = width_of(tensor->type);
	bool is_bf16 = strcmp(tensor->type, "bf16") == 0;

	for (uint64_t done = 0; done < tensor->values;) {
		uint64_t left = tensor->values - done, part = left < WINDOW_VALUES ? left : WINDOW_VALUES;
		ssize_t got = pread(file, window, part * width, (off_t)(tensor->offset + done * width));

		if (got != (ssize_t)(part * width))
			return rvp_fail_with("read", path, "its data end early");
		for (uint64_t i = 0; i < part; i++) {
			float value = value_at(window, i, width, is_bf16);

			if (isfinite(value))
				values->bits[values->count++] = bits_of(value);
			else
				weights->not_finite++;
		}
		done += part;
	}
	return RVP_OK;
}

static void sort(struct values *values)
{
	for (unsigned pass = 0; pass < PASSES; pass++) {
		uint64_t begins[BUCKETS] = {0}, sum = 0;
		unsigned shift = pass * PASS_BITS;
		uint32_t *swap = values->bits;

		for (uint64_t i = 0; i < values->count; i++)
			begins[values->bits[i] >> shift & (BUCKETS - 1)]++;
		for (unsigned i = 0; i < BUCKETS; i++) {
			uint64_t count = begins[i];

			begins[i] = sum;
			sum += count;
		}
		for (uint64_t i = 0; i < values->count; i++)
			values->other[begins[values->bits[i] >> shift & (BUCKETS - 1)]++] = values->bits[i];
		values->bits = values->other;
		values->other = swap;
	}
}

static double percentile(const struct values *values, double percent)
{
	double at = percent / 100 * (double)(values->count - 1);
	uint64_t low = (uint64_t)at, high = low + 1 < values->count ? low + 1 : low;
	double below = of_bits(values->bits[low]), above = of_bits(values->bits[high]);

	return below + (above - below) * (at - (double)low);
}

/* How many are less. */
static uint64_t count_below(const struct values *values, double threshold)
{
	uint64_t low = 0, high = values->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (of_bits(values->bits[middle]) < threshold)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sum_up(const struct values *values, struct rvp_weights *weights)
{
	static const double percents[] = {10, 25, 50, 75, 90}, thresholds[] = {0.001, 0.01, 0.1};
	double count = (double)values->count, squares = 0;

	weights->count = values->count;
	for (uint64_t i = 0; i < values->count; i++)
		weights->mean += of_bits(values->bits[i]);
	weights->mean /= count;
	for (uint64_t i = 0; i < values->count; i++) {
		double off = of_bits(values->bits[i]) - weights->mean;

		squares += off * off;
	}
	weights->std = sqrt(squares / count);
	weights->min = of_bits(values->bits[0]);
	weights->max = of_bits(values->bits[values->count - 1]);
	for (int i = 0; i < RVP_WEIGHT_PERCENTILES; i++)
		weights->percentile[i] = percentile(values, percents[i]);
	for (int i = 0; i < RVP_WEIGHT_THRESHOLDS; i++)
		weights->below_percent[i] = (double)count_below(values, thresholds[i]) / count * 100;
}

/* ---- the file ---- */

static struct rvp_status make_room(const struct rvp_model *model, const char *path, struct values *values,
				   struct rvp_weights *weights)
{
	uint64_t free_bytes = rvp_free_memory_bytes();

	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct rvp_model_tensor *tensor = &model->tensors[i];
		unsigned width = width_of(tensor->type);

		if (width && tensor->values * width != tensor->bytes)
			return rvp_fail_with("read", path,
					     "the bytes of tensor %zu are not those of its shape and type",
					     i + 1);
		weights->tensors_left_out += !width;
		values->room += width ? tensor->values : 0;
	}
	if (!values->room)
		return rvp_fail_with("look at", path, "no weights found: no tensor is f32, f16, bf16 or f64");
	if (free_bytes && values->room > free_bytes / 10 * 9 / 8)
		return rvp_fail_with("sort", path, "%llu values need %llu MiB and %llu MiB are free",
				     (unsigned long long)values->room, (unsigned long long)values->room >> 17,
				     (unsigned long long)free_bytes >> 20);
	values->bits = malloc(values->room * sizeof *values->bits);
	values->other = malloc(values->room * sizeof *values->other);
	return values->bits && values->other ? RVP_OK : rvp_fail("sort", path, ENOMEM);
}

static struct rvp_status look(int file, const char *path, const struct rvp_model *model,
			      struct rvp_weights *weights)
{
	struct values values = {.count = 0};
	struct rvp_status status = RVP_OK;

	if (model->flaw[0])
		return rvp_fail_with("read", path, "%s", model->flaw);
	if (!model->has_header)
		return rvp_fail_with("read", path, "it is no GGUF and no safetensors");
	status = make_room(model, path, &values, weights);
	for (size_t i = 0; i < model->tensor_count && !rvp_failed(status); i++)
		if (width_of(model->tensors[i].type))
			status = read_tensor(file, path, &model->tensors[i], &values, weights);
	if (!rvp_failed(status) && !values.count)
		status = rvp_fail_with("look at", path, "no weights found: none of its values is a number");
	if (!rvp_failed(status)) {
		sort(&values);
		sum_up(&values, weights);
	}
	free(values.bits);
	free(values.other);
	return status;
}

struct rvp_status rvp_weights_of_file(const char *path, struct rvp_weights *weights)
{
	static struct rvp_cursor cursor;
	struct rvp_model model;
	struct rvp_status status;
	struct stat about;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	*weights = (struct rvp_weights){.count = 0};
	if (file < 0)
		return rvp_fail("open", path, errno);
	if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
		close(file);
		return rvp_fail_with("read", path, "it is no file: name a .gguf or .safetensors");
	}
	rvp_cursor_over_file(&cursor, file, (uint64_t)about.st_size);
	if (rvp_model_read(&model, &cursor, path)) {
		status = look(file, path, &model, weights);
		rvp_model_free(&model);
	} else {
		status = rvp_fail("read", path, ENOMEM);
	}
	close(file);
	return status;
}
