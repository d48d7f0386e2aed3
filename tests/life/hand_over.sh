#!/bin/sh
# hand_over.sh: blocks that threads hand on are matched without one mistake, in full mode.
# Usage: hand_over.sh LIBRARY PROGRAM CHECK [BLOCKS]   BLOCKS of each thread, of 2, 3 and 4 threads (default: 60000)
library=$(realpath "$1") program=$(realpath "$2") check=$(realpath "$3") blocks=${4:-60000}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-hand.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
unset RVPROF_OPTIONS RVPROF_RUN_DIR
for threads in 2 3 4; do
	LD_PRELOAD=$library RVPROF_MODE=full RVPROF_OUTPUT=$scratch/run RVPROF_FINALIZE=0 RVPROF_MAX_LOG=8GiB \
		"$program" $threads "$blocks" || exit 1
	printf '%s threads: ' $threads
	"$check" "$scratch/run" $threads "$blocks" || exit 1
	rm -rf "$scratch/run"
done
