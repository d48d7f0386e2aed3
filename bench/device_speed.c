/* SPDX-License-Identifier: MIT */
/* device_speed: how fast records of the device get from CUPTI's buffers to the log, on one core, and in how much memory.
 *
 *     LD_PRELOAD=librvprof.so RVPROF_FINALIZE=0 taskset -c 1 device_speed [MILLIONS]
 *
 * Buffers are filled by hand (kernels of 24 names and 96 shapes, one stream, 5 us each) and walked by a walker of its own;
 * all behind that is librvprof_cupti.so's own code and the recorder. Filling is not in the time. Built with the library's
 * files, not with the library: that shows nothing to call. */
#include "cupti/buffers.h"
#include "cupti/device_time.h"
#include "cupti/follower.h"
#include "cupti/interned.h"
#include "cupti/library.h"
#include "cupti/places.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 24, STRIDE = sizeof(struct rvp_cupti_kernel), IN_BUFFER = RVP_BUFFER_BYTES / STRIDE };

const struct rvp_device_api *rvp_recorder;
struct rvp_cupti rvp_cupti = {.version = RVP_CUPTI_HEADERS};
struct rvp_driver rvp_driver;
static uint64_t device_ns;

/* Of places.c; no record here is of a stream. */
void rvp_places_stream(uint32_t context, uint32_t stream, int32_t priority, uint32_t flags)
{
	(void)context, (void)stream, (void)priority, (void)flags;
}

static int next_record(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + STRIDE : buffer;

	if (at + STRIDE > buffer + valid)
		return RVP_CUPTI_MAX_LIMIT_REACHED;
	*record = at;
	return RVP_CUPTI_SUCCESS;
}

static int timestamp(uint64_t *now)
{
	*now = device_ns;
	return RVP_CUPTI_SUCCESS;
}

static const char *name_of(uint32_t number)
{
	static char names[NAMES][160];

	if (!names[0][0])
		for (int i = 0; i < NAMES; i++)
			snprintf(names[i], sizeof names[i],
				 "_ZN7cutlass6Kernel2I%dcutlass_80_tensorop_f16_s16816gemm_relu_f16_128x128_32x%d_nn_align8EEvNT_6ParamsE",
				 30 + i, i);
	return names[number];
}

static void fill(uint8_t *buffer, uint64_t first)
{
	for (uint64_t i = 0; i < IN_BUFFER; i++) {
		struct rvp_cupti_kernel kernel = {.kind = RVP_CUPTI_CONCURRENT_KERNEL,
						  .start = device_ns,
						  .end = device_ns + 4800 + i % 97,
						  .context = 1,
						  .stream = 7,
						  .grid_x = 1 << i % 4,
						  .grid_y = 1,
						  .grid_z = 1,
						  .block_x = 128,
						  .block_y = 1,
						  .block_z = 1,
						  .registers = 64,
						  .correlation = (uint32_t)(first + i),
						  .name = name_of((uint32_t)((first + i) / 4 % NAMES))};

		device_ns += 5000;
		memcpy(buffer + i * STRIDE, &kernel, sizeof kernel);
	}
}

static long peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000, done = 0, ns = 0, names, shapes;
	long begin_kib;

	rvp_recorder = dlsym(RTLD_DEFAULT, RVP_DEVICE_API);
	if (!rvp_recorder || !rvp_recorder->active()) {
		fprintf(stderr, "device_speed: run it with LD_PRELOAD=librvprof.so\n");
		return 2;
	}
	rvp_cupti.ActivityGetNextRecord = next_record;
	rvp_cupti.GetTimestamp = timestamp;
	device_ns = 1800000000000000000u;
	if (!rvp_interned_start())
		return 1;
	rvp_device_time_tell();
	begin_kib = peak_kib();
	while (done < wanted) {
		uint8_t *buffer;
		size_t bytes, most;
		uint64_t begin;

		rvp_buffer_request(&buffer, &bytes, &most);
		if (!buffer)
			return 1;
		fill(buffer, done);
		begin = rvp_now_ns();
		rvp_buffer_complete(NULL, 0, buffer, bytes, (size_t)IN_BUFFER * STRIDE);
		ns += rvp_now_ns() - begin;
		done += IN_BUFFER;
	}
	rvp_interned_counts(&names, &shapes);
	printf("%llu records, %.2f million a second, %.0f ns each; %llu names, %llu shapes; peak RSS grew by %ld KiB\n",
	       (unsigned long long)done, (double)done * 1000 / (double)ns, (double)ns / (double)done, (unsigned long long)names,
	       (unsigned long long)shapes, peak_kib() - begin_kib);
	return 0;
}
