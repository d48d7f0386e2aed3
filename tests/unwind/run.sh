#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh: the proof of the unwinder: libunwind looks at random events of real and of generated programs.
#
# Usage: tests/unwind/run.sh [--long] BUILD [NAME..]
#   BUILD   tests/unwind of a build folder
#   --long  more than a million comparisons, in ten minutes and more; else some thousands a program
#   NAME    python_json torch exceptions gcc node generated (default: all)
# The generated program's seed is printed; RVP_SEED=n repeats it. Status 1: a difference, which is printed with both
# stacks, or too few comparisons. A program that is not there is said to be left out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
long=
if [ "${1:-}" = --long ]; then
	long=1
	shift
fi
[ -d "${1:-}" ] || { echo "usage: run.sh [--long] BUILD [NAME..]" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
names=${*:-python_json torch exceptions gcc node generated}
seed=${RVP_SEED:-$(($(date +%s) % 1000000))}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-unwind.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch" || exit 2
unset LD_PRELOAD RVPROF_MODE RVPROF_OUTPUT RVPROF_OPTIONS RVPROF_RUN_DIR RVPROF_FINALIZE RVPROF_DISABLE RVPROF_ONLY
status=0
python=$(command -v /usr/bin/python3 || command -v python3 || echo python3)

have() {
	command -v "$1" >/dev/null && return
	echo "$name: left out, no $1 here"
	return 1
}

# One of EVERY events of the words is compared; fewer than LEAST are too few.
compared() { # EVERY LEAST WORDS..
	every=$1 least=$2
	shift 2
	rm -rf counts run* && truncate -s 4096 counts || exit 2
	timeout "${long:+1}500" env RVP_CHECK_COUNTS="$scratch/counts" RVP_CHECK_EVERY="$every" RVP_SEED="$seed" \
		LD_PRELOAD="$build/librvprof_checked.so" RVPROF_MODE=full RVPROF_OUTPUT="$scratch/run" RVPROF_FINALIZE=0 \
		RVPROF_MAX_LOG=16GiB "$@" >out 2>err </dev/null
	ended=$?
	if [ $ended != 0 ]; then
		echo "$name: seed $seed: status $ended: $(tail -n 3 err)"
		status=1
	fi
	"$build/unwind_show" "$name" counts "$least" || {
		status=1
		head -n 100 counts.differences 2>/dev/null
	}
}

generate() {
	i=0
	for flags in "-O2" "-O0" "-O1 -fno-omit-frame-pointer" "-O3 -fstack-protector-all" "-Os -mstackrealign"; do
		"$build/unwind_generate" "$seed" $i 5 60 >unit$i.c || return 1
		# shellcheck disable=SC2086 # flags are words
		cc -w -D_GNU_SOURCE -I"$here" $flags -c unit$i.c -o unit$i.o || return 1
		i=$((i + 1))
	done
	for module in 1 2; do
		"$build/unwind_generate" $((seed + module)) module 30 >module$module.c || return 1
		cc -w -D_GNU_SOURCE -I"$here" -O2 -shared -fPIC module$module.c -o module$module.so || return 1
	done
	cc -D_GNU_SOURCE -I"$here" -O2 "$here/generated_main.c" unit?.o -o generated -pthread -ldl -rdynamic
}

# One of how many events is compared, comparisons wanted, rounds of the program: in the short proof, in the long one.
sizes() { # SHORT_EVERY SHORT_LEAST SHORT_ROUNDS LONG_EVERY LONG_LEAST LONG_ROUNDS
	[ -z "$long" ] || shift 3
	every=$1 least=$2 rounds=$3
}

for name in $names; do
	case $name in
	python_json)
		have "$python" || continue
		sizes 8 10000 3 8 240000 50
		compared "$every" "$least" env PYTHONMALLOC=malloc "$python" "$here/python_json.py" "$rounds"
		;;
	torch)
		"$python" -c 'import torch' 2>/dev/null || { echo "torch: left out, no PyTorch here"; continue; }
		sizes 100 5000 50 20 150000 300
		compared "$every" "$least" env PYTHONMALLOC=malloc "$python" "$here/torch_steps.py" "$rounds"
		;;
	exceptions)
		[ -x "$build/unwind_exceptions" ] || { echo "exceptions: left out, no C++ compiler here"; continue; }
		sizes 10 10000 600 10 200000 8000
		compared "$every" "$least" "$build/unwind_exceptions" "$rounds" "$seed"
		;;
	gcc)
		have gcc || continue
		sizes 20 5000 40 20 150000 480
		"$build/unwind_generate" "$seed" 0 1 "$rounds" >unit.c || exit 2
		compared "$every" "$least" gcc -w -D_GNU_SOURCE -I"$here" -O2 -c unit.c -o unit.o
		;;
	node)
		have node || continue
		sizes 20 3000 60 3 150000 400
		compared "$every" "$least" node "$here/work.js" "$rounds"
		;;
	generated)
		have cc || continue
		generate || exit 2
		sizes 10 20000 400 10 300000 2000
		compared "$every" "$least" ./generated "$seed" "$rounds" ./module1.so ./module2.so
		sed 's/^/generated: /' out
		;;
	*)
		echo "run.sh: no program $name" >&2
		exit 2
		;;
	esac
done
exit $status
