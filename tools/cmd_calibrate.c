/* SPDX-License-Identifier: MIT */
/* cmd_calibrate.c: `rvprof calibrate`: what this machine can be made to do, measured and kept for `rvprof
 * model`. */
#include "model/machine.h"
#include "tools/commands.h"
#include "tools/figures.h"
#include "tools/model.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] = "Usage: rvprof calibrate [--quick] [--show] [--json]\n"
			   "Measures what this machine can be made to do, some ten seconds, and keeps it in "
			   "${XDG_CACHE_HOME:-~/.cache}/rvprof/:\n"
			   "products a second (OpenBLAS's sgemm, the best of sizes and threads) and bytes a "
			   "second (the triad a = b + s c over\n"
			   "arrays larger than the caches). `rvprof model` places each layer under these "
			   "limits. Whatever else runs takes away\n"
			   "from them: calibrate on a quiet machine.\n"
			   "  --quick  in a fifth of the time, less sure\n"
			   "  --show   what is kept, without measuring\n"
			   "  --json   one JSON object\n"
			   "  --help   this\n";

enum { BUSY_PERCENT = 5 };

static void tell(const struct rvp_machine *machine, bool is_json)
{
	struct rvp_figures figures;
	char path[PATH_MAX];

	rvp_machine_path(machine, path);
	rvp_figures_open(&figures, is_json, "rvprof.calibrate/1");
	rvp_figure_text(&figures, "processor", machine->processor);
	rvp_figure_whole(&figures, "threads", machine->threads);
	rvp_figure_double(&figures, "peak_gflops_per_second", machine->flops_per_s / 1e9);
	rvp_figure_whole(&figures, "gemm_size", machine->gemm_size);
	rvp_figure_whole(&figures, "gemm_threads", machine->gemm_threads);
	if (machine->f64_flops_per_s > 0)
		rvp_figure_double(&figures, "peak_f64_gflops_per_second", machine->f64_flops_per_s / 1e9);
	rvp_figure_double(&figures, "peak_gbytes_per_second", machine->bytes_per_s / 1e9);
	rvp_figure_whole(&figures, "triad_bytes", machine->triad_bytes);
	rvp_figure_whole(&figures, "triad_threads", machine->triad_threads);
	rvp_figure_double(&figures, "balance_flops_per_byte", machine->flops_per_s / machine->bytes_per_s);
	rvp_figure_double(&figures, "others_percent", machine->others_percent);
	if (is_json)
		rvp_figure_whole(&figures, "measured_unix_s", machine->measured_unix_s);
	rvp_figure_text(&figures, "kept_in", path);
	rvp_figures_close(&figures);
}

static struct rvp_status answer(bool only_show, bool is_quick, bool is_json)
{
	struct rvp_machine machine;
	struct rvp_status status = RVP_OK;

	if (only_show && !rvp_machine_load(&machine))
		return rvp_fail_with("show", "what was measured",
				     "nothing is kept of this machine yet: `rvprof calibrate`");
	if (!only_show) {
		status = rvp_machine_measure(&machine, is_quick);
		if (!rvp_failed(status))
			status = rvp_machine_save(&machine);
	}
	if (!rvp_failed(status))
		tell(&machine, is_json);
	if (!rvp_failed(status) && machine.others_percent > BUSY_PERCENT)
		rvp_complain("other programs took %.0f %% of the processors while this was measured: the "
			     "limits are higher; calibrate "
			     "again when it is quiet",
			     machine.others_percent);
	return status;
}

const struct option rvp_calibrate_options[] = {{"quick", no_argument, NULL, 'q'},
					       {"show", no_argument, NULL, 's'},
					       {"json", no_argument, NULL, 'j'},
					       {"help", no_argument, NULL, 'h'},
					       {NULL, 0, NULL, 0}};

int rvp_cmd_calibrate(int argc, char **argv)
{
	bool only_show = false, is_quick = false, is_json = false;
	struct rvp_status status;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", rvp_calibrate_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return RVP_EXIT_DONE;
		}
		if (option == '?' || option == ':') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], rvp_calibrate_options);
			return RVP_EXIT_USAGE;
		}
		only_show |= option == 's';
		is_quick |= option == 'q';
		is_json |= option == 'j';
	}
	if (optind < argc) {
		rvp_complain("calibrate takes no '%s'", argv[optind]);
		return RVP_EXIT_USAGE;
	}
	status = answer(only_show, is_quick, is_json);
	if (rvp_failed(status))
		rvp_complain_of(&status);
	return rvp_failed(status) ? RVP_EXIT_USAGE : RVP_EXIT_DONE;
}
