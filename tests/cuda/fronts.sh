#!/bin/sh
# SPDX-License-Identifier: MIT
# fronts.sh: device memory and launches where CUPTI can't be had, as the driver's own functions are called: equal to the
# client's account to the byte, with a shared runtime and with one that is linked statically.
#
# Usage: fronts.sh FAKES LIBRARY TOOL CLIENT..
set -u
fakes=$1 library=$2 tool=$3
shift 3
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
say() { echo "$*" && failed=1; }

# Of each kind in the log: allocs and bytes; the number of the kind is enum rvp_device_memory.
logged() {
	awk -v kind="kind=$1" '/ device_alloc / && $0 ~ " " kind " " { allocs++; sub(/.* bytes=/, ""); bytes += $1 + 0 }
		END { printf "%d %.0f\n", allocs, bytes }' "$scratch/dump"
}
counted() {
	jq -r --arg kind "$1" '.memory[$kind] // {} | "\(.allocs // 0) \(.bytes // 0)"' "$scratch/account"
}

one() { # CLIENT PROGRAM
	rm -rf "$scratch/run"
	SIMCUDA='fault unusable' LD_LIBRARY_PATH="$fakes:$fakes/13" LD_PRELOAD=$library RVPROF_FINALIZE=0 \
		RVPROF_OUTPUT=$scratch/run timeout 60 "$1" "$2" >"$scratch/out" 2>"$scratch/err"
	status=$?
	SIMCUDA='fault unusable' LD_LIBRARY_PATH="$fakes:$fakes/13" timeout 60 "$1" "$2" >"$scratch/bare"
	[ $? = $status ] || say "$2: status $status with the profiler"
	cmp -s "$scratch/bare" "$scratch/out" || say "$2: another output with the profiler"
	sed -n 's/^account: //p' "$scratch/out" >"$scratch/account"
	timeout 60 "$tool" dump "$scratch/run" >"$scratch/dump"
	number=0
	for kind in plain ordered managed pinned registered physical array; do
		ours=$(logged $number) theirs=$(counted $kind)
		[ "$ours" = "$theirs" ] || [ $kind = registered ] ||
			say "$(basename "$1") $2: $kind: allocs, bytes: counted $theirs, logged $ours"
		number=$((number + 1))
	done
	# A free does not say of what kind its block is.
	frees=$(grep -c ' device_free ' "$scratch/dump")
	theirs=$(jq '[.memory | to_entries[] | select(.key != "registered") | .value.frees] | add // 0' "$scratch/account")
	[ "$frees" = "$theirs" ] || say "$(basename "$1") $2: frees: counted $theirs, logged $frees"
	[ "$2" != segments ] || ! grep -q ' device_refused ' "$scratch/dump" ||
		say "$2: a call that failed for another reason than a lack of memory is told as one"
	grep -q ' device_tracer .* source=2 ' "$scratch/dump" || say "$2: nobody says that the driver's functions tell"
}

for client; do
	for program in storm kinds segments pools refused; do
		one "$client" $program
	done
done
exit $failed
