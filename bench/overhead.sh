#!/bin/sh
# overhead.sh: what it costs a program to be recorded, beside heaptrack in the same run.
#
# Variants are interleaved, so that a busy machine hits all of them alike; a number is the median of the rounds. The
# variant "bare again" is bare a second time: what it differs by is the noise of this very table (A/A).
#   micro  ns a malloc/free pair: 1 and 2 threads, 10 and 30 frames, one call path or 16 in random order
#   real   seconds of python3 json (PYTHONMALLOC=malloc), gcc on one unit, sqlite3, a small PyTorch program
#   memory our own: RSS with us less RSS without, against 16 MiB + 1 % of the heap + 80 KiB a live thread
# Usage: overhead.sh LIBRARY OVERHEAD_PAIRS [ROUNDS [micro|real|memory ..]]   prints Markdown
#   PAIRS (default 1000000): how many pairs a run of micro makes
#   ROWS (default "json gcc sqlite torch pairs threads blocks paths import"): which rows of real and memory
holder_source=$(dirname "$(realpath "$0")")/../tests/e2e/own_memory.c
library=$(realpath "$1") pairs_program=$(realpath "$2") rounds=${3:-5}
[ -f "$library" ] && [ -x "$pairs_program" ] || {
	echo "usage: overhead.sh LIBRARY OVERHEAD_PAIRS [ROUNDS [micro|real|memory ..]]" >&2
	exit 2
}
shift 2
[ $# = 0 ] || shift
parts=${*:-micro real memory}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-bench.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch" || exit 2
variants="bare again sampled full"
if command -v heaptrack >/dev/null; then variants="$variants heaptrack heaptrack-raw"; fi

# Runs words as a variant; what it writes is taken away afterwards, outside of what is measured.
as() { # variant, words..
	variant=$1
	shift
	case $variant in
	bare | again) "$@" ;;
	sampled | full)
		LD_PRELOAD=$library RVPROF_MODE=$variant RVPROF_OUTPUT=$scratch/run RVPROF_FINALIZE=0 RVPROF_MAX_LOG=8GiB "$@"
		;;
	heaptrack) heaptrack -o "$scratch/ht" "$@" 2>/dev/null | grep -v '^heaptrack\|^starting\|^  \|^$' ;;
	heaptrack-raw) heaptrack --raw -o "$scratch/ht" "$@" 2>/dev/null | grep -v '^heaptrack\|^starting\|^  \|^$' ;;
	esac
}
clean() { rm -rf "$scratch/run"* "$scratch"/ht*; }
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { if (NR) print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'; }
seconds() { date +%s.%N; }

# A row of the table: medians, and the factor to bare.
row() { # title, format of a number
	printf '| %s |' "$1"
	bare=$(median "$scratch/n.bare")
	for variant in $variants; do
		value=$(median "$scratch/n.$variant")
		[ -n "$value" ] && awk -v v="$value" -v b="$bare" -v f="$2" 'BEGIN { printf " " f " (%.2fx) |", v, (b > 0 ? v / b : 0) }'
		[ -n "$value" ] || printf ' - |'
	done
	echo
	rm -f "$scratch"/n.*
}
header() {
	printf '\n| %s |' "$1"
	for variant in $variants; do
		case $variant in
		again) printf ' bare again (A/A) |' ;;
		sampled) printf ' ours, default |' ;;
		full) printf ' ours, full |' ;;
		heaptrack-raw) printf ' heaptrack --raw |' ;;
		*) printf ' %s |' "$variant" ;;
		esac
	done
	printf '\n| --- |'
	for variant in $variants; do printf ' --- |'; done
	echo
}

micro() {
	header "ns a pair: threads, frames, paths"
	for threads in 1 2; do
		for depth in 10 30; do
			for paths in 1 16; do
				for round in $(seq "$rounds"); do
					for variant in $variants; do
						as "$variant" "$pairs_program" $threads $depth $paths "${PAIRS:-1000000}" | grep -E '^[0-9.]+$' \
							>>"$scratch/n.$variant"
						clean
					done
				done
				row "$threads, $depth, $paths" %.0f
			done
		done
	done
}

# Wall seconds of words under each variant, until the command is back.
timed() { # title, words..
	title=$1
	shift
	for round in $(seq "$rounds"); do
		for variant in $variants; do
			start=$(seconds)
			as "$variant" "$@" >/dev/null 2>&1
			awk -v a="$start" -v b="$(seconds)" 'BEGIN { print b - a }' >>"$scratch/n.$variant"
			clean
		done
	done
	row "$title" %.2f
}
make_unit() {
	echo 'static unsigned t;'
	awk 'BEGIN { for (i = 0; i < 4000; i++) printf "int f%d(int a) { struct { int x[%d]; } s = {{0}}; for (int i = 0; i < a; i++) s.x[i %% %d] += i * %d; t += s.x[0]; return s.x[a %% %d]; }\n", i, i % 9 + 2, i % 9 + 2, i, i % 9 + 2 }'
	echo 'unsigned get(void) { return t; }'
}
wanted() { # row, its program
	case " ${ROWS:-json gcc sqlite torch pairs threads blocks paths import} " in *" $1 "*) command -v "$2" >/dev/null ;; *) false ;; esac
}
real() {
	header "seconds"
	python=$(command -v /usr/bin/python3 || command -v python3)
	wanted json "$python" && PYTHONMALLOC=malloc timed "python3 json" "$python" -c '
import json
data = [{"id": i, "name": "name %d" % i, "values": list(range(i % 20))} for i in range(40000)]
for _ in range(5):
    json.loads(json.dumps(data))'
	make_unit >"$scratch/unit.c"
	wanted gcc gcc && timed "gcc -O2, one unit" gcc -O2 -c "$scratch/unit.c" -o "$scratch/unit.o"
	wanted sqlite sqlite3 && timed "sqlite3" sqlite3 :memory: "
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000)
insert into t select i, 'row ' || (i * 7919 % 100003) from n;
create index x on t(b); select count(*) from (select b, count(*) c from t group by b having c > 2);"
	wanted torch "$python" && "$python" -c 'import torch' 2>/dev/null && timed "PyTorch, import and 200 steps" "$python" -c '
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(8)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(200):
    optimizer.zero_grad()
    model(torch.ones(64, 256)).sum().backward()
    optimizer.step()'
	return 0
}

memory() {
	printf '\n| RSS, MiB | bare | ours, default | ours, full | bar of our own |\n| --- | --- | --- | --- | --- |\n'
	wanted pairs "$pairs_program" && memory_row "pairs, 1 thread" 1 0 peak "$pairs_program" 1 10 16 200000 &&
		memory_row "pairs, 16 threads" 16 0 peak "$pairs_program" 16 10 16 200000
	gcc -O2 -pthread -fno-omit-frame-pointer -fno-optimize-sibling-calls -o holder "$holder_source" 2>/dev/null
	wanted threads ./holder && memory_row "64 threads" 64 0 printed ./holder 64 64000 100 64000
	wanted blocks ./holder && memory_row "300,000 blocks of 1 KiB" 1 293 printed ./holder 1 300000 1024 0 &&
		memory_row "40,000 blocks of 16 KiB" 1 625 printed ./holder 1 40000 16384 0
	wanted paths ./holder && memory_row "1,000,000 call paths" 2 0 printed ./holder 2 0 0 1000000
	python=$(command -v /usr/bin/python3 || command -v python3)
	wanted import "$python" && "$python" -c 'import torch' 2>/dev/null &&
		memory_row "import torch" 1 110 peak "$python" -c 'import torch' &&
		memory_row "import torch, without pages of files" 1 110 printed "$python" -c '
import torch
print(sum(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(("RssAnon", "RssShmem"))))'
	return 0
}
# A row: MiB bare and with us, and what may be ours. `how` is peak or printed.
memory_row() { # title, threads, heap MiB, how, words..
	printf '| %s |' "$1"
	bar=$(awk -v t="$2" -v h="$3" 'BEGIN { printf "%.1f", 16 + h / 100 + 80 * t / 1024 }')
	how=$4
	shift 4
	for variant in bare sampled full; do
		kib=$("$how" "$variant" "$@")
		printf ' %s |' "$(awk -v k="$kib" 'BEGIN { printf "%.1f", k / 1024 }')"
		clean
	done
	printf ' %s |\n' "$bar"
}
# KiB that the words print of themselves under a variant.
printed() { # variant, words..
	as "$@" 2>/dev/null
}
# Peak RSS in KiB of the words under a variant.
peak() { # variant, words..
	variant=$1
	shift
	as "$variant" "$time_program" -f %M -o "$scratch/peak" "$@" >/dev/null 2>&1
	cat "$scratch/peak"
}
time_program=$(command -v /usr/bin/time)

echo "$(uname -m), $(nproc) processors, $(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg), medians of $rounds"
for part in $parts; do
	case $part in
	micro) micro ;;
	real) real ;;
	memory) if [ -n "$time_program" ]; then memory; else echo "(no /usr/bin/time: our memory is not measured)"; fi ;;
	esac
done
