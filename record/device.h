/* SPDX-License-Identifier: MIT */
/* device.h: what the recorder does for the library that follows the device (librvprof_cupti.so), and the names that
 * both know. librvprof.so shows one data symbol, RVP_DEVICE_API, found by dlsym; without it there is no profiler in the
 * process, and the other library declines.
 *
 * Rules
 *   - Every function may be called by any thread at any time, also by threads of CUPTI's, and in a process whose
 * recording has ended: then they do nothing and say so by what they return.
 *   - Nothing here takes a lock, and nothing calls the program, CUDA or CUPTI.
 *   - A record that was taken is as safe as any other (docs/format.md). One that was not is counted by reason.
 */
#ifndef RVP_DEVICE_H
#define RVP_DEVICE_H

#include "record/names.h"
#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RVP_DEVICE_API         "rvprof_device_1"
#define RVP_DEVICE_API_VERSION 1

/* --cuda */
enum rvp_cuda { RVP_CUDA_AUTO = 0, RVP_CUDA_OFF = 1, RVP_CUDA_FULL = 2 };

struct rvp_device_settings {
	enum rvp_cuda cuda;
	uint32_t budget_milli; /* --cuda-budget, in thousandths of the time: 30 is 3 % */
	bool sync_steps;       /* --sync-steps */
	bool has_windows;      /* --schedule and its kin: what runs on devices is followed while a window is open, and then
				* whatever it costs */
};

/* Numbers of call paths; 0: none. */
struct rvp_device_path {
	uint64_t stack, python;
};

/* Bytes of an array as its shape says, without the driver's rounding. cuda.h, CUarray_format: the plain formats; of another
 * one (block-compressed, planes) 0: not known. */
static inline uint64_t rvp_device_array_bytes(uint32_t format, uint32_t channels, uint64_t width, uint64_t height,
					      uint64_t depth, uint32_t levels)
{
	uint64_t element = format == 0x01 || format == 0x08				    ? 1
			   : format == 0x02 || format == 0x09 || format == 0x10	    ? 2
			   : format == 0x03 || format == 0x0a || format == 0x20	    ? 4
										    : 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < levels && i < 32; i++) {
		uint64_t w = width >> i, h = height >> i, d = depth >> i;

		bytes += (w ? w : 1) * (h ? h : 1) * (d ? d : 1) * channels * element;
	}
	return bytes;
}

struct rvp_device_api {
	uint32_t version, bytes;
	/* 1 while records are taken; 0 in a child after fork too, where CUDA is of no use. */
	int (*active)(void);
	struct rvp_device_settings (*settings)(void);
	/* The call path of the calling thread from the caller of this function outwards; frames of the tracer and the
	 * driver are in it, and the reader leaves them out. Cheap where the thread was at the same path before. */
	struct rvp_device_path (*path)(void);
	/* Stamps as records bear them; later than every record of the calling thread so far. */
	uint64_t (*stamp)(void);
	/* Takes records of the kinds 64 and up, in this order, by one entry into the recorder; how many were taken. A field
	 * `stamp` that is 0 becomes the moment of the call. Texts are copied. The rest is counted as lost. */
	size_t (*write)(const struct rvp_record *records, size_t count);
	void (*lose)(enum rvp_loss reason, uint64_t count);
	/* Between these the calling thread works for the profiler: its allocations are none of the program's. They nest. */
	void (*begin_own)(void);
	void (*end_own)(void);
	/* Memory of the profiler's own, whole pages of zeros, counted as such; NULL: there is none. */
	void *(*take)(size_t bytes);
	void (*give)(void *memory, size_t bytes);
	/* One line on stderr, the only one that may come while the program runs, once a text. */
	void (*say)(const char *line);
	/* `finish` is called once by the recorder's last hook, before the last records of the process are written, with the
	 * time that it may take; and `mark` whenever a step begins (--sync-steps) by the thread that said so. NULL: no more. */
	void (*listen)(void (*finish)(uint64_t most_ns), void (*mark)(void));
	/* 1: the caller tells of memory and launches from here on, and the recorder's own fronts of the driver's functions are
	 * silent; 0: they speak, as they do from the start: CUPTI can't be had. */
	void (*tells)(int is_told);
	/* Launches that these fronts counted. */
	uint64_t (*launches)(void);
	/* `leave` is called whenever another client of CUPTI's in this process is about to begin, by its thread, outside of
	 * CUPTI: who follows the device by it gives it up. NULL: no more. */
	void (*make_way)(void (*leave)(void));
	/* Called when a window of a program that has windows opens (1) or closes (0; preload/window.h), at that mark of the
	 * program's; NULL: no more. What windows by time and by orders from outside do is asked for now and then. */
	void (*listen_to_windows)(void (*changed)(int is_open));
	int (*window_is_open)(void);
};

#endif
