#!/bin/sh
# marks.sh: ns that a call of rvprof.h takes, without the profiler and with it. Medians of interleaved rounds.
# Usage: marks.sh LIBRARY MARKS_COST [ROUNDS]   prints Markdown
library=$(realpath "$1") program=$(realpath "$2") rounds=${3:-5}
[ -f "$library" ] && [ -x "$program" ] || {
	echo "usage: marks.sh LIBRARY MARKS_COST [ROUNDS]" >&2
	exit 2
}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-marks.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch" || exit 2
printf '| ns a call | without | with, default | with, full |\n| --- | --- | --- | --- |\n'
for call in empty scope tag op step step_pair metric; do
	for round in $(seq "$rounds"); do
		"$program" $call >>bare
		for mode in sampled full; do
			LD_PRELOAD=$library RVPROF_MODE=$mode RVPROF_OUTPUT=$scratch/run RVPROF_FINALIZE=0 "$program" $call >>$mode
			rm -rf "$scratch/run"
		done
	done
	printf '| %s |' $call
	for variant in bare sampled full; do
		sort -n $variant | awk '{ v[NR] = $1 } END { printf " %s |", v[int((NR + 1) / 2)] }'
		rm $variant
	done
	echo
done
