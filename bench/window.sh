#!/bin/sh
# SPDX-License-Identifier: MIT
# window.sh BUILD [ROUNDS]: what a hook costs while the window is closed (--schedule, --delay, --capture), beyond a preload
# that only hands on: malloc/free pairs of overhead_pairs, the ways by turns in each round, medians over the rounds.
# A figure is ns a hook: half of a pair's. "again" is the pass-through a second time: what equal ways differ by.
# The bar is 2 ns. Status 1 where it is missed by more than equal ways differ.
build=$(cd "$1" && pwd) rounds=${2:-21}
pairs=$build/bench/overhead_pairs pass=$build/bench/liboverhead_pass.so library=$build/preload/librvprof.so
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-window.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
for file in "$pairs" "$pass" "$library"; do
	[ -e "$file" ] || { echo "window.sh: $file is not built" >&2; exit 2; }
done
export RVPROF_FINALIZE=0 RVPROF_SCHEDULE=wait=1000000,active=1
way() { # name, threads
	rm -rf "$scratch/run"
	case $1 in
	none) "$pairs" "$2" 10 1 1000000 3 ;;
	pass | again) LD_PRELOAD=$pass "$pairs" "$2" 10 1 1000000 3 ;;
	*) RVPROF_MODE=$1 RVPROF_OUTPUT=$scratch/run LD_PRELOAD=$library "$pairs" "$2" 10 1 1000000 3 ;;
	esac
}
echo "threads  way       ns a pair  over pass, ns a hook"
bad=0
for threads in 0 1; do
	round=0
	: >"$scratch/rows"
	while [ $round -lt "$rounds" ]; do
		for name in none pass sampled full again; do
			echo "$round $name $(way $name $threads | awk '{ print $1 }')" >>"$scratch/rows"
		done
		round=$((round + 1))
	done
	awk -v threads=$threads '
	function median(list, count,   i, j, t) {
		for (i = 1; i < count; i++)
			for (j = i; j > 0 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
		return count % 2 ? list[(count - 1) / 2] : (list[count / 2 - 1] + list[count / 2]) / 2
	}
	{ ns[$1, $2] = $3; rounds = $1 + 1 }
	END {
		split("none pass again sampled full", names)
		for (n = 1; n <= 5; n++) {
			for (r = 0; r < rounds; r++) { all[r] = ns[r, names[n]]; over[r] = (ns[r, names[n]] - ns[r, "pass"]) / 2 }
			figure[n] = median(over, rounds)
			printf "%-8s %-9s %9.1f  %+.2f\n", threads, names[n] == "sampled" || names[n] == "full" ? names[n] "*" : names[n], median(all, rounds), figure[n]
		}
		noise = figure[3] < 0 ? -figure[3] : figure[3]
		exit figure[4] > 2 + noise || figure[5] > 2 + noise
	}' "$scratch/rows" || bad=1
done
echo "* window closed from the begin; median of $rounds rounds"
exit $bad
