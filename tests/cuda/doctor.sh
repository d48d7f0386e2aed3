#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor.sh: what `rvprof doctor` says of a machine with a GPU, and of what is wrong with it: one line each.
#
# Usage: doctor.sh FAKES TOOL
set -u
fakes=$1 tool=$2 failed=0
unset CUDA_INJECTION64_PATH

# says SCENARIO STATUS IDS: the findings that have to do with CUDA, in order.
says() {
	said=$(SIMCUDA=$1 LD_LIBRARY_PATH=$fakes:$fakes/13 "$tool" doctor --json)
	status=$?
	ids=$(printf '%s' "$said" | jq -r '[.rows[].id | select(test("^cu|nvml"))] | join(" ")')
	[ "$ids" = "$3" ] || { echo "scenario '$1': '$ids' and not '$3'" && failed=1; }
	case $2 in 0) [ $status = 0 ] ;; *) printf '%s' "$said" | jq -e '.seen == false' >/dev/null && [ $status = 1 ] ;; esac ||
		{ echo "scenario '$1': status $status and not $2" && failed=1; }
}
others=$("$tool" doctor >/dev/null; echo $?) # of this machine without any of it
says '' "$others" ''
says 'fault init 100' "$others" cuda_no_device
says 'fault init 999' 1 cuda_start
says 'driver 11040' 1 cuda_old
says 'nvml absent' "$others" nvml
export CUDA_INJECTION64_PATH=/nowhere/libtool.so
says '' "$others" cuda_injection
exit $failed
