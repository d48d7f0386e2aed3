#!/bin/sh
# SPDX-License-Identifier: MIT
# fork_steps.sh: a signal handler may fork at any instruction of a hook.
#
# Usage: fork_steps.sh LIBRARY PROGRAM
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
for mode in full sampled; do
	rm -rf "$scratch/run"
	LD_PRELOAD=$1 RVPROF_MODE=$mode RVPROF_FINALIZE=0 RVPROF_OUTPUT=$scratch/run timeout 120 "$2" >"$scratch/out" || {
		failed=1
		echo "$mode:"
		cat "$scratch/out"
	}
	[ -d "$scratch/run" ] || { failed=1; echo "$mode: nothing was recorded"; }
done
exit $failed
