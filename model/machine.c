/* SPDX-License-Identifier: MIT */
/* machine.c: who this machine is, and what is kept of it. The file: lines "name value". */
#include "model/machine.h"

#include "model/user_cache.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char first_line[] = "rvprof calibration 1\n";

static void read_processor(char name[RVP_PROCESSOR_BYTES])
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(name, RVP_PROCESSOR_BYTES, "unknown processor");
	while (file && fgets(line, sizeof line, file)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !value || !value[1])
			continue;
		value[strcspn(value, "\n")] = 0;
		snprintf(name, RVP_PROCESSOR_BYTES, "%.*s", RVP_PROCESSOR_BYTES - 1,
			 value + 1 + (value[1] == ' '));
		break;
	}
	if (file)
		fclose(file);
}

void rvp_machine_name(struct rvp_machine *machine)
{
	cpu_set_t set;

	memset(machine, 0, sizeof *machine);
	machine->others_percent = NAN;
	read_processor(machine->processor);
	machine->threads = sched_getaffinity(0, sizeof set, &set) == 0
			       ? (unsigned)CPU_COUNT(&set)
			       : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

void rvp_machine_path(const struct rvp_machine *machine, char path[PATH_MAX])
{
	char key[RVP_PROCESSOR_BYTES + 16];

	snprintf(key, sizeof key, "%s %u", machine->processor, machine->threads);
	rvp_user_cache_path("calibration", key, path);
}

static void take_line(struct rvp_machine *machine, const char *line)
{
	sscanf(line, "flops_per_s %lf", &machine->flops_per_s);
	sscanf(line, "f64_flops_per_s %lf", &machine->f64_flops_per_s);
	sscanf(line, "bytes_per_s %lf", &machine->bytes_per_s);
	sscanf(line, "gemm_size %u", &machine->gemm_size);
	sscanf(line, "gemm_threads %u", &machine->gemm_threads);
	sscanf(line, "triad_threads %u", &machine->triad_threads);
	sscanf(line, "triad_bytes %" SCNu64, &machine->triad_bytes);
	sscanf(line, "others_percent %lf", &machine->others_percent);
	sscanf(line, "measured_unix_s %" SCNu64, &machine->measured_unix_s);
}

bool rvp_machine_load_named(struct rvp_machine *machine)
{
	char path[PATH_MAX], line[256];
	bool is_ours;
	FILE *file;

	rvp_machine_path(machine, path);
	file = *path ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	is_ours = fgets(line, sizeof line, file) && strcmp(line, first_line) == 0;
	while (is_ours && fgets(line, sizeof line, file)) {
		take_line(machine, line);
		/* Another name that makes the same file name. */
		if (strncmp(line, "processor ", 10) == 0) {
			line[strcspn(line, "\n")] = 0;
			is_ours = strcmp(line + 10, machine->processor) == 0;
		}
	}
	fclose(file);
	return is_ours && isfinite(machine->flops_per_s) && machine->flops_per_s > 0 &&
	       isfinite(machine->bytes_per_s) && machine->bytes_per_s > 0;
}

bool rvp_machine_load(struct rvp_machine *machine)
{
	rvp_machine_name(machine);
	return rvp_machine_load_named(machine);
}

static void write_machine(FILE *out, const void *what)
{
	const struct rvp_machine *machine = what;

	fputs(first_line, out);
	fprintf(out, "processor %s\nthreads %u\nflops_per_s %.9g\nbytes_per_s %.9g\n", machine->processor,
		machine->threads, machine->flops_per_s, machine->bytes_per_s);
	fprintf(out, "gemm_size %u\ngemm_threads %u\ntriad_threads %u\n", machine->gemm_size,
		machine->gemm_threads, machine->triad_threads);
	if (machine->f64_flops_per_s > 0)
		fprintf(out, "f64_flops_per_s %.9g\n", machine->f64_flops_per_s);
	if (!isnan(machine->others_percent))
		fprintf(out, "others_percent %.3g\n", machine->others_percent);
	fprintf(out, "triad_bytes %" PRIu64 "\nmeasured_unix_s %" PRIu64 "\n", machine->triad_bytes,
		machine->measured_unix_s);
}

struct rvp_status rvp_machine_save(const struct rvp_machine *machine)
{
	char path[PATH_MAX];

	rvp_machine_path(machine, path);
	return rvp_user_cache_write(path, write_machine, machine);
}
