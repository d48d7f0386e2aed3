#!/bin/sh
# SPDX-License-Identifier: MIT
# walk.sh: simulated record buffers against NVIDIA's own walker. Both read the same files and must find the same records.
# NVIDIA's libcupti needs no GPU and no driver for that. Skipped, with the count of the records, where it is not.
# Usage: walk.sh FAKES CLIENT RECORD_BUFFERS WALK; FAKES is the folder of the simulated libraries.
set -u
fakes=$1 client=$2 inject=$3 walk=$4
unset LD_LIBRARY_PATH
inject=$(cd "$(dirname "$inject")" && pwd)/$(basename "$inject")
here=$(mktemp -d) || exit 2
trap 'rm -rf "$here"' EXIT
ulimit -c 0
export CUDA_INJECTION64_PATH="$inject"

# record VERSION PROGRAM FILE: the buffers of a client under the simulated library of that version
record() {
	SIMCUDA="devices 2" LD_LIBRARY_PATH=$fakes:$fakes/$1 CUPTI_LIBRARY=libcupti.so.$1 RECORD_BUFFERS=$3 \
		"$client" "$2" >/dev/null </dev/null || { echo "the client failed: $2"; exit 1; }
}

# Where NVIDIA's library of a version is: the loader's path, the toolkit's folders.
theirs() {
	for folder in $(echo "${CUPTI_FOLDERS:-}" | tr : ' ') /usr/local/cuda*/lib64 /usr/local/cuda*/extras/CUPTI/lib64 \
		/usr/local/cuda*/targets/x86_64-linux/lib /usr/lib/x86_64-linux-gnu; do
		[ -f "$folder/libcupti.so.$1" ] && echo "$folder/libcupti.so.$1" && return
	done
}

records=0 compared=0
for version in 12 13; do
	real=$(theirs $version)
	for program in decode graphs whole-graphs kinds pools devices; do
		unset RECORD_GRAPHS
		[ $program = whole-graphs ] && program=graphs && export RECORD_GRAPHS=1
		record $version $program "$here/buffers"
		LD_LIBRARY_PATH=$fakes:$fakes/$version "$walk" libcupti.so.$version "$here/buffers" >"$here/ours" || exit 1
		got=$(grep -vc end "$here/ours")
		[ "$got" -gt 0 ] || { echo "no records: $version $program"; exit 1; }
		# Every buffer of ours ends as a buffer ends, and not in the middle.
		grep end "$here/ours" | grep -v 'end 12$' && { echo "a buffer that cannot be walked: $version $program"; exit 1; }
		records=$((records + got))
		[ -n "$real" ] || continue
		"$walk" "$real" "$here/buffers" >"$here/theirs"
		[ $? = 77 ] && continue
		cmp -s "$here/ours" "$here/theirs" || { echo "they differ: $version $program"; diff "$here/ours" "$here/theirs" | head -5; exit 1; }
		compared=$((compared + got))
	done
done
echo "$compared of $records records compared with NVIDIA's walker"
[ $compared -gt 0 ] || exit 77
