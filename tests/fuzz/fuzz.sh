#!/bin/sh
# fuzz.sh: builds the fuzz targets with clang and runs each of them for a while; what is found is left beside.
# Usage: fuzz.sh SECONDS [TARGET..]   (from anywhere; default: all targets)
# Status 1 if a target found something. New inputs go to a scratch folder, not to the kept corpus.
seconds=${1:?usage: fuzz.sh SECONDS [TARGET..]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-fuzz.XXXXXX") || exit 2
compiler=$(command -v clang || command -v clang-14) || {
	echo "fuzz.sh: clang is not installed" >&2
	exit 2
}
cd "$root" || exit 2
record=$(ls record/*.c)

build() { # target
	sources="tests/fuzz/fuzz_$1.c"
	libraries=
	case $1 in
	log) sources="$sources tests/fuzz/folder_input.c" ;;
	gguf | safetensors) sources="$sources $(ls report/model_*.c) report/file_content.c report/arena.c" ;;
	layers) sources="$sources report/grow.c model/layer_count.c model/layer_fit.c model/network.c model/shape.c model/spec.c" ;;
	rules) sources="$sources report/grow.c report/rules_names.c report/rules_parse.c report/rules_speak.c report/rules_text.c report/purpose.c" ;;
	run)
		# All of report but what only the module with libdw has.
		sources="$sources tests/fuzz/folder_input.c $(ls report/*.c | grep -v 'symbols_dwarf\|symbols_file\|symbols_names')"
		libraries="-lm -ldl"
		;;
	rvf)
		sources="$sources $(ls prove/*.c | grep -v digest_module) $(ls report/*.c | grep -v 'symbols_dwarf\|symbols_file\|symbols_names')"
		libraries="-ljansson -lm -ldl"
		"$compiler" -std=gnu11 -D_GNU_SOURCE -O1 -g -I. -fPIC -shared prove/digest_module.c -lcrypto \
			-o "$scratch/librvprof_prove.so" || return 1
		;;
	esac
	# shellcheck disable=SC2086 # lists of words
	"$compiler" -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-strict-aliasing -I. \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DRVP_VERSION='"fuzz"' \
		$sources $record $libraries -lzstd -o "$scratch/fuzz_$1"
}

bad=0
for target in ${*:-decode log packed options run gguf layers rules rvf safetensors}; do
	build "$target" || exit 2
	mkdir -p "$scratch/$target"
	if "$scratch/fuzz_$target" -max_total_time="$seconds" -max_len=33000 -timeout=20 -print_final_stats=1 \
		-artifact_prefix="$scratch/found-$target-" "$scratch/$target" "tests/data/corpus/$target" \
		>"$scratch/$target.log" 2>&1; then
		printf 'ok: %s: %s inputs in %s s\n' "$target" \
			"$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$target.log")" "$seconds"
		rm -rf "${scratch:?}/$target"
	else
		printf 'not ok: %s: see %s and found-%s-*\n' "$target" "$scratch/$target.log" "$target"
		tail -n 30 "$scratch/$target.log"
		bad=1
	fi
done
[ $bad = 0 ] && rm -rf "$scratch"
exit $bad
