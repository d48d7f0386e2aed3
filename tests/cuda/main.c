/* SPDX-License-Identifier: MIT */
/* main.c: the client programs of the device tests, one binary: PROGRAM [COUNT]. Without arguments it makes no
 * CUDA call at all, though it is linked with the runtime. Prints its account last; its exit status is the
 * program's own. */
#include "tests/cuda/client.h"

#include <string.h>

static const struct {
	const char *name;
	int (*run)(int count);
	int count;
} programs[] = {
    {"decode", run_decode, 20},   {"storm", run_storm, 2000},  {"graphs", run_graphs, 10},
    {"pools", run_pools, 16},     {"kinds", run_kinds, 0},     {"segments", run_segments, 3},
    {"threads", run_threads, 50}, {"devices", run_devices, 0}, {"retries", run_retries, 20},
    {"refused", run_refused, 0},  {"lost", run_lost, 100},     {"flood", run_flood, 1000},
    {"fork", run_fork, 4},        {"killed", run_killed, 6},   {"quick_exit", run_quick_exit, 6},
    {"reset", run_reset, 3},      {"running", run_running, 3}, {"records", run_records, 100}, {"profiler", run_profiler, 100}, {"capture", run_capture, 3},
    {"abandoned", run_abandoned, 80}, {"contexts", run_contexts, 300},
};

int main(int argc, char **argv)
{
	if (argc < 2) {
		puts("no CUDA");
		return 0;
	}
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(programs[i].name, argv[1]) == 0) {
			int status = programs[i].run(argc > 2 ? atoi(argv[2]) : programs[i].count);

			account_print();
			return status;
		}
	fprintf(stderr, "no such program: %s\n", argv[1]);
	return 2;
}
