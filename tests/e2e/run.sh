#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh: real programs under rvprof, each with its time limit.
#
# Usage: tests/e2e/run.sh [--quick] [--keep] [BUILD] [NAME...]
#   BUILD is the build folder (default: build in the project's root); NAMEs are files here without .sh.
# Prints a line a program and, last, `N passed, N failed, N skipped`. Status 1 if any failed.
# A test that fails keeps its folder and says where; --keep keeps all.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# name:seconds; the quick ones need no big package
quick="decode:60 attn:60 bench:240 tutorials:60 demo:90 python:120 sqlite:60 git:90 gcc:90 allocators:90 own_malloc:60 operators:120 ledger:400 cgroup:60 files:90 writes:200 tensor:60 rows:120 blas:120 accuracy:600"
big="overhead:300 redis:90 postgres:180 node:90 java:120 openmpi:120 torch:240 torch_adapter:400 torch_plain:400 rows_torch:240 adapter_cost:300 own_memory:240 llama:300"

keep=0
only_quick=0
while :; do
	case ${1:-} in
	--quick) only_quick=1 ;;
	--keep) keep=1 ;;
	*) break ;;
	esac
	shift
done
build=${1:-$here/../../build}
[ $# -gt 0 ] && shift
build=$(cd "$build" && pwd) || exit 2
E2E_LIB=${E2E_LIB:-$build/preload/librvprof.so}
E2E_TOOL=${E2E_TOOL:-$build/tools/rvprof}
E2E_BUILD=$build
export E2E_LIB E2E_TOOL E2E_BUILD
for file in "$E2E_LIB" "$E2E_TOOL"; do
	[ -f "$file" ] || { echo "run.sh: $file is not built" >&2; exit 2; }
done
# What the caller's shell has set must not reach the programs.
unset LD_PRELOAD RVPROF_MODE RVPROF_OUTPUT RVPROF_OPTIONS RVPROF_RUN_DIR RVPROF_FINALIZE RVPROF_DISABLE RVPROF_ONLY
export LC_ALL=C

wanted=" $* "
tests=$quick
[ $only_quick = 1 ] || tests="$quick $big"
[ $# -gt 0 ] && tests="$quick $big"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-e2e.XXXXXX") || exit 2
chmod 755 "$scratch"
passed=0 failed=0 skipped=0

one() { # name seconds
	E2E_DIR=$scratch/$1
	export E2E_DIR
	mkdir "$E2E_DIR" || exit 2
	begun=$(date +%s)
	(cd "$E2E_DIR" && exec timeout -k 10 "$2" sh "$here/$1.sh") </dev/null >"$scratch/$1.log" 2>&1
	status=$?
	took=$(($(date +%s) - begun))
	case $status in
	0)
		passed=$((passed + 1))
		printf 'ok    %s (%d s)\n' "$1" "$took"
		;;
	77)
		skipped=$((skipped + 1))
		printf 'skip  %s: %s\n' "$1" "$(tail -n 1 "$scratch/$1.log")"
		;;
	*)
		failed=$((failed + 1))
		[ "$status" = 124 ] || [ "$status" = 137 ] && echo "cut after $2 s" >>"$scratch/$1.log"
		printf 'FAIL  %s (%d s), in %s:\n' "$1" "$took" "$E2E_DIR"
		tail -n 6 "$scratch/$1.log" | sed 's/^/      /'
		return
		;;
	esac
	[ $keep = 1 ] || rm -rf "$E2E_DIR"
}

for entry in $tests; do
	name=${entry%%:*}
	[ "$wanted" = "  " ] || case $wanted in *" $name "*) ;; *) continue ;; esac
	one "$name" "${entry#*:}"
done
[ $failed = 0 ] && [ $keep = 0 ] && rm -rf "$scratch"
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed = 0 ]
