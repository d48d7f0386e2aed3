#!/bin/sh
# SPDX-License-Identifier: MIT
# nvml.sh: how much of the device is this process's, as NVML says: found by pid, in a container as the only one, else said to
# be nobody's.
#
# Usage: nvml.sh FAKES TOOL CLIENT
set -u
fakes=$1 tool=$2 client=$3 failed=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# says SCENARIO HAS_PROCESS OTHERS: of the last look at the device.
says() {
	SIMCUDA=$1 LD_LIBRARY_PATH=$fakes:$fakes/13 RVPROF_FINALIZE=0 timeout 60 "$tool" run -q -f -o "$scratch/run" -- "$client" decode \
		>/dev/null || { echo "scenario '$1': status $?" && failed=1; }
	last=$(timeout 60 "$tool" dump "$scratch/run" | grep ' device_memory ' | tail -n 1)
	field() { printf '%s\n' "$last" | sed "s/.* $1=\([0-9]*\).*/\1/"; }
	used=$(($(field total_bytes) - $(field free_bytes)))
	ours=0
	[ "$2" = 0 ] || ours=$((used - $3))
	[ "$(field has_process) $(field process_bytes) $(field others_bytes)" = "$2 $ours $3" ] ||
		{ echo "scenario '$1': not $2 $ours $3 in: $last" && failed=1; }
}
says '' 1 0
says 'others 1GiB' 1 1073741824
says 'nvml container' 1 0
says 'nvml container; others 1GiB' 0 0
says 'nvml absent' 0 0
says 'nvml no-processes' 0 0
exit $failed
