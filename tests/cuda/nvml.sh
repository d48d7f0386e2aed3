# SPDX-License-Identifier: MIT
# nvml.sh: how much of the device is this process's, as NVML says: found by pid, in a container as the only one, else said to
# be nobody's.

# says NAME SCENARIO HAS_PROCESS OTHERS: of the last look at the device.
says() {
	case_of "nvml-$1"
	scenario=$2
	traced --cuda auto -- decode
	last=$(environment "$tool" dump run | grep ' device_memory ' | tail -n 1)
	field() { printf '%s\n' "$last" | sed "s/.* $1=\([0-9]*\).*/\1/"; }
	ours=0
	[ "$3" = 0 ] || ours=$(($(field total_bytes) - $(field free_bytes) - $4))
	[ "$(field has_process) $(field process_bytes) $(field others_bytes)" = "$3 $ours $4" ] ||
		fail "not $3 $ours $4 in: $last"
	end_case
}
says alone '' 1 0
says others 'others 1GiB' 1 1073741824
says container 'nvml container' 1 0
says container-others 'nvml container; others 1GiB' 0 0
says absent 'nvml absent' 0 0
says no-processes 'nvml no-processes' 0 0
