#!/bin/sh
# SPDX-License-Identifier: MIT
# run_mincut_bench.sh: what min-cut gated attention saves and what it costs, on a grid of lambda and tau, checkable afterwards.
#
# Usage: tools/run_mincut_bench.sh [--samples N] [--output-dir DIR] [--lambda "0.3 0.5 0.7"] [--tau "0 2"] [--seed N]
#                                  [--wide] [--resume] [--power SOURCE]
# Writes DIR/csv/{baseline,mincut_l*_t*,results}.csv, DIR/witness/*.jsonl, DIR/witness/witness.rvf and DIR/figs/
# (default DIR: results/mincut-bench). `rvprof verify DIR` checks them. BUILD names the build folder (default: build).
#
# --power mock:75 and the like measure energy; without it energy is an empty column.
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 2
samples=1000 out=results/mincut-bench lambda="0.3 0.5 0.7" tau="0 2" seed=42
while [ $# -gt 0 ]; do
	case $1 in
	--samples) samples=${2?} && shift ;;
	--output-dir) out=${2?} && shift ;;
	--lambda) lambda=${2?} && shift ;;
	--tau) tau=${2?} && shift ;;
	--seed) seed=${2?} && shift ;;
	--power) power=${2?} && shift ;;
	--wide) wide=1 ;;
	--resume) resume=1 ;;
	*)
		echo "Unknown option: $1" >&2
		exit 1
		;;
	esac
	shift
done
build=${BUILD:-$top/build}
rvprof=$build/tools/rvprof attn=$build/examples/attn
for file in "$rvprof" "$attn"; do
	[ -x "$file" ] || { echo "run_mincut_bench.sh: $file is not built: tools/setup" >&2; exit 2; }
done
# Lists are given with blanks or commas between.
commas() {
	echo "$1" | tr -s ' ,' ',,' | sed 's/^,//; s/,$//'
}
exec "$rvprof" bench -o "$out" ${wide:+--wide} ${resume:+--resume} ${power:+--power "$power"} --samples "$samples" --seed "$seed" \
	--name 'mincut_l{lambda}_t{tau}' --grid lambda="$(commas "$lambda")" --grid tau="$(commas "$tau")" \
	--baseline "'$attn' run --baseline --samples {samples} --seed {seed}" \
	-- "$attn" run --lambda '{lambda}' --tau '{tau}' --eps 0.01 --samples '{samples}' --seed '{seed}' --witness '{witness}'
