#!/bin/sh
# run.sh: programs that say by rvprof.h, rvprof.py and NVTX what their memory is for, with the profiler and without.
# Usage: run.sh CASE TOOL LIBRARY FOLDER_OF_PROGRAMS [PYTHON SOURCES]
case=$1 tool=$(realpath "$2") library=$(realpath "$3") programs=$(realpath "$4") python=$5 here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-api.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch" || exit 2
unset LD_PRELOAD RVPROF_OPTIONS RVPROF_MODE RVPROF_OUTPUT RVPROF_FINALIZE RVPROF_RUN_DIR NVTX_INJECTION64_PATH
bad=0
check() { # what, a command that succeeds
	what=$1
	shift
	if "$@"; then
		echo "ok $what"
	else
		echo "not ok $what"
		bad=1
	fi
}
recorded() { # folder, program and its words: under the profiler, outputs later
	folder=$1
	shift
	RVPROF_MODE=full RVPROF_FINALIZE=0 RVPROF_OUTPUT=$scratch/$folder LD_PRELOAD=$library "$@"
}
# The marks of a run as text, in the order of each thread, without numbers that differ from run to run.
told() {
	"$tool" dump "$1" | sed -n 's/.* \(scope\|tag\|step\|mark\) stamp=[0-9]* \(.*\)/\1 \2/p' |
		sed 's/address=0x[0-9a-f]*[1-9a-f][0-9a-f]*/address=it/'
}
has() { # folder, count, line
	found=$(told "$1" | grep -cxF "$3")
	[ "$found" = "$2" ] || { echo "    $found times and not $2: $3" && false; }
}
# Highest live bytes of a category: a program's own objects of a few bytes may be in it too.
category() { # folder, category, bytes, evidence or nothing
	row=$(sed -n "s/.*\"$2\": \({\"at_peak_bytes\".*\)/\1/p" "$1/summary.json" | sed 's/"evidence": {\([^}]*\)}.*/\1/')
	most=$(echo "$row" | sed -n 's/.*"max_bytes": \([0-9]*\).*/\1/p')
	[ "${most:-0}" -ge "$3" ] && [ "$most" -le $(($3 + 1024)) ] && echo "$row" | grep -q "\"$4\|^[^\"]*$4" && return
	echo "    $1: $2 is not $3 bytes by $4: $row" && false
}
category_peak() { # folder, bytes: a program's own objects of a few bytes may be in it too
	peak=$(sed -n 's/.*"peak_live_bytes": \([0-9]*\),.*/\1/p' "$1/summary.json")
	[ "${peak:-0}" -ge "$2" ] && [ "$peak" -le $(($2 + 16384)) ] || { echo "    the peak is $peak" && false; }
}
in_trace() { # folder, expression
	grep -q "$2" "$1/trace.json" || { echo "    not in the trace: $2" && false; }
}
lost() { # folder, reason, count
	grep -q "\"$2\": $3\>" "$1/summary.json" || { echo "    not lost by $2: $3" && false; }
}

case $case in
other-thread)
	recorded run "$programs/other_thread"
	for step in 20 30 40 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66; do
		"$tool" report run --step $step --vs $((step - 1)) --color never >answer 2>&1 </dev/null
		check "step $step has the one block of the other thread" \
			grep -qx "Step $step against step $((step - 1)): +777 B live at its end" answer
	done
	;;
c)
	"$programs/marks" >without 2>&1
	recorded run "$programs/marks" >with 2>&1
	check 'the program sees nothing of it' [ "$(sed s/active.1/active\ 0/ with)" = "$(cat without)" ]
	check 'active says so' grep -qx 'active 1' with
	check 'finalized' "$tool" finalize run
	check 'a scope' has run 1 'scope kind=0 source=0 category="weights" name="w" args=""'
	check 'a tag' has run 1 'tag address=it bytes=204800 source=0 category="kv_cache" name="layer 0"'
	check 'a scope of a block' has run 1 'scope kind=0 source=0 category="" name="nested" args=""'
	check 'an operator' has run 1 'scope kind=2 source=0 category="temp" name="matmul" args="T<2x3xf32>"'
	check 'its end' has run 2 'scope kind=3 source=0 category="" name="" args=""'
	check 'a step' has run 1 'step kind=1 source=0 phase=0 seq_len=11 tokens=0 name="decode"'
	check 'its end' has run 3 'step kind=2 source=0 phase=0 seq_len=0 tokens=0 name=""'
	check 'a label' has run 1 'mark kind=0 value=0 label="here"'
	check 'of a handler' has run 1 'mark kind=0 value=0 label="in a handler"'
	check 'a metric' has run 1 'mark kind=3 value=4607092346807469998 label="accuracy"'
	check 'of a child' has run 1 'mark kind=3 value=4612811918334230528 label="child"'
	check 'a text is cut' has run 1 "scope kind=2 source=0 category=\"\" name=\"$(printf '%01024d' 0 | tr 0 x)\" args=\"\""
	check 'and that is counted' lost run text_cut 1
	check 'an end of nothing is counted' lost run unbalanced_scope 1
	check 'weights by scope' category run weights 409600 scope
	check 'kv_cache by tag' category run kv_cache 204800 tag
	check 'gradient by the scope of a thread' category run gradient 307200 scope
	check 'temp by operator' category run temp 122880 ''
	check 'optimizer by the scope of a child' category run optimizer 256000 scope
	check 'a figure of the program' grep -q '"accuracy": 0.99,' run/summary.json
	check 'one of its child' grep -q '"child": 2.5' run/summary.json
	check 'its scopes and operators are in the trace' in_trace run '"ph":"X","cat":"scope","name":"w","pid":[0-9]*,"tid":[0-9]*,"ts":[0-9.]*,"dur":[0-9.]*,"args":{"category":"weights"}'
	check 'with their args' in_trace run '"cat":"operator","name":"matmul",.*"args":{"category":"temp","args":"T<2x3xf32>"}'
	check 'three steps' [ "$(wc -l <run/latency.csv)" = 4 ]
	;;
control)
	for mode in full sampled; do
		RVPROF_MODE=$mode RVPROF_OUTPUT=$scratch/$mode LD_PRELOAD=$library "$programs/control" "$mode.early" >"$mode.out" 2>&1
		check "$mode: the program goes on, and has no child" [ "$(tr '\n' ' ' <"$mode.out")" = 'dump 0 dump into nothing -1 children -1 1 ' ]
		check "$mode: two blocks were passed over" lost $mode paused 2
		check "$mode: and no end of theirs was met" [ "$(grep -c unknown_free $mode/summary.json)" = 0 ]
		check "$mode: their births are in the counts" [ "$(sed -n 's/.*"alloc_bytes": \([0-9]*\),.*/\1/p' $mode/summary.json | head -1)" -ge $((1050 * 1024)) ]
		check "$mode: which are exact" grep -q '"exact": \["alloc_count", "free_count", "alloc_bytes"' $mode/summary.json
		check "$mode: what depends on them is not" [ "$(grep '"exact"' $mode/summary.json | grep -c live)" = 0 ]
		check "$mode: marks go on" has $mode 1 'scope kind=0 source=0 category="weights" name="in the pause" args=""'
		check "$mode: a start of what is on is none" has $mode 1 'mark kind=0 value=0 label="recording goes on"'
		check "$mode: moments have names" has $mode 1 'mark kind=0 value=0 label="clear 2"'
		check "$mode: from which a report starts" "$tool" report $mode --from 'recording goes on' --to 'clear 2' >"$mode.text"
		check "$mode: the outputs so far are of a run that goes on" grep -q '"complete": false' $mode.early/summary.json
		check "$mode: all of them" [ "$(cd $mode.early && echo *)" = "categories.csv latency.csv memory.csv run.json summary.json trace.json" ]
		check "$mode: those of the end are whole" grep -q '"complete": true' $mode/summary.json
	done
	# The peak is that of the recorded blocks: 300 KiB, then 100 + 250.
	check 'blocks of the pause are in no live bytes' category_peak full 358400
	;;
windows)
	# Sizes of the recorded blocks of 100 KiB and more, in KiB, as they were born.
	born() { # folder
		"$tool" dump "$1" | sed -n 's/.* \(alloc\|sample\) .*bytes=\([0-9]*\) .*/\2/p' |
			awk '$1 >= 102400 && $1 % 1024 == 0 { printf "%s%d", sep, $1 / 1024; sep = " " }'
	}
	freed() { "$tool" dump "$1" | grep -c ' free '; }
	windowed() { # folder, mode, options in a variable's form, program's words
		RVPROF_MODE=$2 RVPROF_OUTPUT=$scratch/$1 RVPROF_OPTIONS=$3 LD_PRELOAD=$library "$programs/windows" $4 $5 >out 2>&1
		[ ! -s out ] || { cat out && false; }
	}
	is() { # folder, filter, what it gives
		got=$(jq -c "$2" "$1/summary.json")
		[ "$got" = "$3" ] || { echo "    $1: $2 is $got, not $3" && false; }
	}
	counts='[.totals.alloc_count, .totals.free_count, .totals.alloc_bytes, .totals.alloc_usable_bytes]'
	windowed whole full '' 12 next
	for mode in full sampled; do
		windowed "$mode" $mode schedule=wait=2:warmup=1:active=2:repeat=2 12 next
		check "$mode: the blocks of steps 3, 4, 8, 9 alone" [ "$(born $mode)" = '103 104 108 109' ]
		check "$mode: two cycles, both finished" is $mode '[.windows.count, .windows.finished, .windows.steps_seen, [.windows.rows[] | [.first_step, .last_step, .finished]]]' '[2,2,12,[[3,4,true],[8,9,true]]]'
		check "$mode: all counts as ever" [ "$(jq -c "$counts" $mode/summary.json)" = "$(jq -c "$counts" whole/summary.json)" ]
		check "$mode: which are exact, and what depends on blocks is not" is $mode '[(.totals.exact | index("alloc_bytes") != null), (.totals.exact | index("peak_live_bytes")), .totals.error_bytes]' '[true,null,{}]'
		check "$mode: nothing is lost" is $mode '.lost.records' 0
		check "$mode: all that was recorded ends" is $mode '.totals.end_live_bytes' 0
		check "$mode: a window counts what was born in it" is $mode '[.windows.rows[] | [.alloc_count, .alloc_bytes]]' "$(jq -nc '[1002, (103 + 104) * 1024 + 2 * ([range(16; 516)] | add)] as $first | [1002, (108 + 109) * 1024 + 2 * ([range(16; 516)] | add)] as $second | [$first, $second]')"
		check "$mode: it is in the trace" in_trace $mode '"ph":"b","cat":"window".*"name":"window 2 (steps 8 to 9)"'
		check "$mode: and a report begins with it" "$tool" report $mode --from 'window 2 begins' --to 'window 2 ends' >/dev/null
		windowed $mode.pair $mode steps=1:3 5 pair
		check "$mode: nothing behind the end of the last step" [ "$(born $mode.pair)" = '101 900 102' ]
		windowed $mode.from $mode steps=3: 5 next
		check "$mode: steps from one on, to the end" [ "$(born $mode.from)" = '103 104' ]
		windowed $mode.each $mode schedule=active=1 3 next
		check "$mode: each step is a window" is $mode.each '[.windows.count, .windows.finished, [.windows.rows[].closed_by]]' '[3,3,["schedule","schedule","end"]]'
		check "$mode: without a gap" [ "$(born $mode.each)" = '100 101 102' ]
		windowed $mode.never $mode schedule=wait=80:warmup=3:active=1:repeat=1 7 next
		check "$mode: nothing, and it says so" is $mode.never '.windows.text' '"no block was recorded: --schedule wait=80,warmup=3,active=1,repeat=1 begins with step 83, and 7 steps were seen"'
		check "$mode: nothing at all" [ -z "$(born $mode.never)" ]
		windowed $mode.threads $mode steps=1:3 5 threads
		check "$mode: steps of threads that take turns" [ "$(born $mode.threads)" = '101 102' ]
		windowed $mode.fork $mode steps=1:3 5 fork
		check "$mode: a child counts its own" is $mode.fork '[.windows.rows[] | [.first_step, .last_step]]' '[[1,2],[1,2]]'
		check "$mode: and records its own" [ "$(born $mode.fork)" = '101 102 101 102' ]
		windowed $mode.ranges $mode steps=1:3 5 ranges
		check "$mode: NVTX ranges, the outermost of a step's name" [ "$(born $mode.ranges)" = '101 900 102' ]
		windowed $mode.over $mode steps=1:3 5 taken-over
		check "$mode: the program's own steps take over, and begin with 0" is $mode.over '[.windows.steps_seen, [.windows.rows[] | [.first_step, .last_step]], .steps.count]' '[5,[[1,2],[1,2]],5]'
		check "$mode: with what they hold" [ "$(born $mode.over)" = '101 900 102 106 900 107 900' ]
		windowed $mode.time $mode delay=3600 3 next
		check "$mode: a delay that never ended" is $mode.time '[.windows.delay_s, .windows.count]' '[3600,0]'
		windowed $mode.kept $mode delay=100ms 30 kept
		check "$mode: a delay that ends among small blocks that stay" is $mode.kept '[.windows.count, .windows.rows[0].opened_by]' '[1,"time"]'
		windowed $mode.duration $mode duration=3600 3 next
		check "$mode: a duration that never ended" [ "$(born $mode.duration)" = '700 100 101 102' ]
		check "$mode: of the whole run" is $mode.duration '[.windows.count, .windows.rows[0].opened_by, .windows.rows[0].closed_by]' '[1,"begin","end"]'
	done
	check 'two that exclude each other: one line' [ "$(RVPROF_OUTPUT=$scratch/both RVPROF_STEPS=1:2 RVPROF_SCHEDULE=active=1 LD_PRELOAD=$library "$programs/windows" 2 2>&1)" = 'rvprof: schedule and steps both say which steps are recorded: give one of them' ]
	;;
timers)
	"$programs/timers" >without.csv 2>without
	check 'without the profiler' grep -qx 'right 1 beyond 4 steps 2 syncs 0' without
	recorded run "$programs/timers" >with.csv 2>with
	check 'with it' grep -qx 'right 1 beyond 4 steps 2 syncs 2' with
	for compiler in 'cc -std=c11 -x c' 'c++ -std=c++17 -x c++'; do
		command -v "${compiler%% *}" >/dev/null || continue
		check "strict: $compiler" $compiler -pedantic -Wall -Wextra -Wshadow -Werror -I"$here/../../include" -c "$here/timers.c" -o strict.o
	done
	views='{"name": "read", "slots": [0, 1], "last": [2000000, 6000000], "average": [3000000, 4000000], "average_sorted": [2000000, 5000000]}'
	"$tool" stats timers without.csv --json >views.json
	check 'a name with a comma and quotes' grep -qF '{"name": "compute, \"f32\"", "slots": [0, 1]' views.json
	check 'the views of the CSV' grep -qF "$views" views.json
	check 'finalized' "$tool" finalize run
	"$tool" report run --table timers --json >views.json
	check 'in time' grep -q '"unit": "us"' views.json
	# 2, 6; 3, 4; 2, 5 million ticks: in the same proportions, whatever the pace.
	check 'the three views, as worked' [ "$(awk '/"read"/ { sub(/.*"last"/, ""); gsub(/[^0-9. ]/, " "); printf "%.4f %.4f %.4f %.4f", $1 / $2 * 6, $3 / $4 * 4, $5 / $6 * 5, $3 / $1 * 2 }' views.json)" = '2.0000 3.0000 2.0000 3.0000' ]
	check 'eight rows' [ "$(told run | wc -l)" -gt 0 -a "$("$tool" dump run | grep -c ' timer ')" = 8 ]
	check 'what had no slot is a figure' grep -q '"timers without a slot": 4' run/summary.json
	check 'a row in the trace' in_trace run '"ph":"b","cat":"timer","id":"0x[0-9a-f]*","name":"compute, ..f32..",.*"args":{"category":"on threads","args":"slot=1"}'
	"$tool" export chrome-be run -o one.json
	"$tool" export chrome-be run --level 2 -o two.json
	check 'an operator by macro' grep -q '"args_string": "64x64;..f32.."' one.json
	check 'its category is its tid' grep -q '"tid": "ComputationOperator"' one.json
	check 'level 2 is not in level 1' [ "$(grep -c 'second level' one.json)$(grep -c 'second level' two.json)" = 02 ]
	check 'it ends where its block is left' [ "$("$tool" op run --json | sed -n 's/.*"leaves early".*"count": \([0-9]*\), "open_count": \([0-9]*\).*/\1 \2/p')" = '2 0' ]
	"$tool" report run --table scopes --json | tr '{' '\n' | sed -n 's/.*"number": \([0-9]*\), "parent": \([0-9]*\), "name": "\(outer\|inner\|rest of the block\)", .*"count": 1,.*/\3 \1 \2/p' >nest
	check 'they nest' awk '{ parent[$1] = $NF; number[$1] = $(NF - 1) } END { exit !(number["outer"] && parent["inner"] == number["outer"] && parent["rest"] == number["outer"]) }' nest
	check 'and where the program does' [ "$("$tool" op run --json | sed -n 's/.*"whole".*"count": \([0-9]*\), "open_count": \([0-9]*\).*/\1 \2/p')" = '1 0' ]
	;;
timers-device)
	"$programs/timers_device" 2>without
	check 'without the profiler' grep -qx 'right 1 pace 1 dropped 0' without
	recorded run "$programs/timers_device" 2>with
	check 'with it' grep -qx 'right 1 pace 1 dropped 0' with
	check 'finalized' "$tool" finalize run
	"$tool" dump run | grep ' timer ' >rows
	check 'a row a block, region and step' [ "$(grep -c 'source=1' rows)" = 16 ]
	check 'a row a probe' [ "$(grep -c 'source=2 .*name="kernel" category="ComputationOperator" args="64;f32"' rows)" = 2 ]
	"$tool" export chrome-be run -o one.json
	check 'probes are of level 1' [ "$(grep -c '"name": "kernel"' one.json)$(grep -c '"name": "load"' one.json)" = 40 ]
	"$tool" report run --table timers >views
	check 'views' [ "$(grep -c 'load$\|multiply$\|kernel$' views)" = 9 ]
	nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)
	[ -z "$nvcc" ] || check 'nvcc takes it' "$nvcc" -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra -I"$here/../../include" -x cu -c "$here/timers_device.cc" -o device.o
	;;
c++)
	check 'without the profiler' [ "$("$programs/next_step" "$programs/part.so")" = steps ]
	check 'with it' [ "$(recorded run "$programs/next_step" "$programs/part.so")" = steps ]
	check 'finalized' "$tool" finalize run
	check 'a library that was opened finds the profiler' has run 4 'scope kind=0 source=0 category="activation" name="of the library" args=""'
	check 'N calls, N rows' [ "$(wc -l <run/latency.csv)" = 5 ]
	check 'activation by scope' category run activation 512000 scope
	check 'a scope ends where an exception leaves it' [ "$(told run | grep -c 'scope kind=0')" = "$(told run | grep -c 'scope kind=1')" ]
	;;
branch)
	# A load, a test, a jump: nothing else runs without the profiler.
	objdump -d --no-show-raw-insn "$programs/libone_branch.a" | sed -n '/<rvp_one_branch>:/,/^$/p' >code
	awk '/\t(mov|cmp|test|endbr|lea|push|sub)/ { before++ } /\tj(e|ne)/ { print before; exit }' code >before
	check 'one branch' [ "$(grep -c '	j[a-z]* ' code)" -le 2 ]
	check 'nothing before it but a load and a test' [ "$(cat before)" -le 3 ]
	sed -n '/rvp_one_branch/,/	j/p' code | grep -q call && bad=1 && echo 'not ok a call comes before the branch'
	;;
python)
	python=$("$python" -c 'import sys; print(sys.executable)') # what may be found is a script that looks for it
	"$python" "$here/marks.py" "$here/../../python" >without 2>without.err
	recorded run "$python" "$here/marks.py" "$here/../../python" >with 2>with.err
	check 'the program sees nothing of it' cmp without with
	check 'a profile that records nothing says so once' [ "$(grep -c '^rvprof: profile: this process is not recorded' without.err)/$(wc -l <without.err)" = 1/1 ]
	check 'one that records says nothing' [ ! -s with.err ]
	check 'without an error' [ "$(wc -l <without)" = 4 ]
	check 'finalized' "$tool" finalize run
	check 'a decorated function' has run 1 'scope kind=0 source=2 category="activation" name="decorated" args=""'
	check 'an operator' has run 1 'scope kind=2 source=2 category="temp" name="matmul" args="T<2x3xf32>"'
	check 'a tensor' has run 1 'tag address=it bytes=225280 source=2 category="kv_cache" name="layer 0"'
	check 'a buffer' has run 1 'tag address=it bytes=163840 source=2 category="gradient" name="g"'
	check 'what has no memory is passed over' [ "$(told run | grep -c 'name="nothing"')" = 0 ]
	check 'a window begins' has run 1 'mark kind=0 value=0 label="profile 1 begins"'
	check 'and ends' has run 1 'mark kind=0 value=0 label="profile 1 ends"'
	check 'a metric' has run 1 'mark kind=3 value=4598175219545276416 label="loss"'
	check 'kv_cache by tag' category run kv_cache 225281 tag
	check 'activation by scope' category run activation 337921 scope
	check 'weights by scope' category run weights 450561 scope
	check 'a figure of the program' grep -q '"loss": 0.25' run/summary.json
	check 'six steps of the loop and one by hand' [ "$(wc -l <run/latency.csv)" = 8 ]
	;;
nvtx | nvtx-real)
	client=$programs/$(echo "$case" | sed 's/nvtx$/nvtx_client/; s/-/_/')
	"$client" >without 2>/dev/null
	recorded run "$client" >with 2>/dev/null
	check 'the program sees nothing of it' cmp without with
	check 'finalized' "$tool" finalize run
	check 'push' has run 1 'scope kind=0 source=1 category="" name="plain" args=""'
	check 'a wide text' [ "$(told run | grep -c 'scope kind=0 source=1 category="" name="0x77c3af646520f09f9880" args=""\|name="wïde 😀"')" = 1 ]
	check 'domain, string, category' has run 1 'scope kind=0 source=1 category="" name="a registered name" args="my.domain/attention"'
	check 'a short event' has run 1 'scope kind=0 source=1 category="" name="" args="my.domain"'
	check 'pop of a domain' has run 2 'scope kind=1 source=1 category="" name="" args="my.domain"'
	check 'pop' has run 2 'scope kind=1 source=1 category="" name="" args=""'
	check 'start' has run 1 'scope kind=4 source=1 category="" name="first" args="1"'
	check 'end' has run 1 'scope kind=5 source=1 category="" name="" args="1"'
	check 'push is a slice' in_trace run '"ph":"X","cat":"scope","name":"a registered name",.*"args":{"domain":"my.domain/attention"}'
	check 'start and end are a pair' [ "$(grep -c '"cat":"range","id":"0x[0-9a-f]*","name":"first"' run/trace.json)" = 2 ]
	check 'a mark' has run 1 'mark kind=0 value=0 label="a mark"'
	NVTX_INJECTION64_PATH=$programs/nvtx_tool.so "$client" >without 2>/dev/null
	NVTX_INJECTION64_PATH=$programs/nvtx_tool.so recorded two "$client" >with 2>/dev/null
	check 'the other tool hears the same, the program sees its answers' cmp without with
	check 'it does hear something' grep -q 'tool push plain' with
	check 'and so do we' has two 1 'scope kind=0 source=1 category="" name="a registered name" args="my.domain/attention"'
	check 'by its numbers' has two 1 'scope kind=4 source=1 category="" name="first" args="4d"'
	NVTX_INJECTION64_PATH=/nowhere recorded three "$client" >with 2>/dev/null
	check 'a tool that is not there does no harm' has three 1 'scope kind=0 source=1 category="" name="plain" args=""'
	;;
esac
exit $bad
