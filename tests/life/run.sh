#!/bin/sh
# run.sh: runs the programs of tests/life without and with librvprof.so, and holds one against the other.
#
# For each case: what the program prints and its status are the same; it prints no line of ours but one when recording
# had to stop; and the run's raw files (life_check) and its summary.json (life_summary) say what the program counted
# itself, in full and in sampled mode.
#
# Usage: run.sh [--quick] [-v] [--group programs|surroundings|storm|kills] LIBRARY BIN_FOLDER [CASE..]
#   BIN_FOLDER has life, life_check, life_summary, kills, kill_loop, storm, day, exceptions,
#   asan, plugin.so, plugin2.so, forward.so
# Prints "ok NAME", "not ok NAME: why" or "skip NAME: why" a case, and a last line "N passed, N failed, N skipped".
# Keeps the files of a failed case below $RVP_KEEP, if that is set.
quick= verbose= group=
while :; do
	case $1 in
	--group) group=$2 && shift ;;
	--quick) quick=1 ;;
	-v) verbose=1 ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 2 ] || {
	sed -n '/^# Usage/,/^#   BIN/s/^# //p' "$0" >&2
	exit 2
}
library=$(realpath "$1") bin=$(realpath "$2") here=$(cd "$(dirname "$0")" && pwd)
shift 2
[ -f "$library" ] && [ -x "$bin/life" ] || {
	echo "run.sh: no library or no programs there" >&2
	exit 2
}
chosen=" $* "
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-life.XXXXXX") || exit 2
mounted=
cleanup() {
	[ -z "$mounted" ] || umount -l "$mounted" 2>/dev/null
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0
# Without a tool beside the library (an unfinished build) there is nothing to start at the end.
can_finalize=0 tool=
for place in rvprof ../tools/rvprof ../bin/rvprof; do
	[ -x "$(dirname "$library")/$place" ] && can_finalize=1 tool=$(dirname "$library")/$place
done
RVP_PLUGIN=$bin/plugin.so RVP_PLUGIN2=$bin/plugin2.so
export RVP_PLUGIN RVP_PLUGIN2
# Addresses in error lines and the like must not depend on what others set.
unset LD_PRELOAD RVPROF_OUTPUT RVPROF_MODE RVPROF_OPTIONS RVPROF_RUN_DIR

# section NAME: what follows is of that group; wanted CASE: it is to be run.
section() { section=$1; }
wanted() {
	[ -z "$group" ] || [ "$group" = "$section" ] || return
	[ "$chosen" = "  " ] || case $chosen in *" $1 "*) true ;; *) false ;; esac
}
pass() { passed=$((passed + 1)) && echo "ok $1"; }
skip() { skipped=$((skipped + 1)) && echo "skip $1: $2"; }
fail() { # name, why; the files are kept when asked
	failed=$((failed + 1))
	echo "not ok $1: $2"
	[ -z "$RVP_KEEP" ] || { mkdir -p "$RVP_KEEP/$1" && cp -r "$scratch/." "$RVP_KEEP/$1/"; }
	[ -z "$verbose" ] || for kept in "$scratch"/*.out "$scratch"/*.err "$scratch"/check; do
		[ -s "$kept" ] && sed "s|^|    ${kept##*/}: |" "$kept" | head -n 12
	done
}

# Runs words with stdout in a pipe; bare.out, bare.err, bare.rc (or ours.*) are what it did. An end by the time limit is
# status 124.
observe() { # prefix, words..
	prefix=$scratch/$1
	shift
	{
		timeout -k 2 "${limit_s:-30}" "$@" 2>"$prefix.err"
		echo $? >"$prefix.rc"
	} </dev/null | cat >"$prefix.out"
}
# $settings are more variables for the library.
observe_ours() { # mode, words..
	mode=$1
	shift
	rm -rf "$scratch/run"
	# A sparse file: what is never touched takes no room.
	rm -f "$scratch/shadow" && truncate -s 2M "$scratch/shadow"
	# shellcheck disable=SC2086 # a list of settings
	observe ours env LD_PRELOAD="${preload:-$library}" RVPROF_MODE="$mode" RVPROF_OUTPUT="${output:-$scratch/run}" \
		RVPROF_FINALIZE="${finalize:-0}" RVPROF_EXIT_WAIT=20 RVP_SHADOW="$scratch/shadow" $settings "$@"
}
# Why the two runs differ; nothing when they don't.
difference() {
	[ "$(cat "$scratch/ours.rc")" = 124 ] && [ "$(cat "$scratch/bare.rc")" != 124 ] && echo "it hangs" && return
	cmp -s "$scratch/bare.rc" "$scratch/ours.rc" ||
		{ echo "status $(cat "$scratch/ours.rc"), without us $(cat "$scratch/bare.rc")" && return; }
	cmp -s "$scratch/bare.out" "$scratch/ours.out" || { echo "its output differs" && return; }
	grep -v '^rvprof: ' "$scratch/ours.err" >"$scratch/ours.err.rest"
	cmp -s "$scratch/bare.err" "$scratch/ours.err.rest" || { echo "its stderr differs" && return; }
	[ "$(grep -c '^rvprof: ' "$scratch/ours.err")" -le "${lines:-0}" ] || echo "lines of ours: $(cat "$scratch/ours.err")"
}

# ---- the program `life`: every case in both modes ----
section programs

# How true the records of a case can be, and how many lines we may print:
#   exact       equal to what the program counted, nothing lost
#   counted     what is lost is counted
#   lossy       and something must be lost and counted
#   none        there may be no run at all
expectation() {
	case $1 in
	small_files) echo lossy 1 ;;
	seccomp_filter | seccomp_filter_by_syscall | seccomp_strict) echo lossy 0 ;;
	no_files_from_birth | small_files_from_birth) echo none 1 ;;
	little_address_space_from_birth | address_space_used_up) echo counted 1 ;;
	*) echo exact 0 ;;
	esac
}
# Why life_check is not content with what its words name; nothing when it is.
miscount() {
	"$bin/life_check" "$@" >"$scratch/check" 2>&1 && return
	grep -m1 '^not ok' "$scratch/check" || echo "life_check failed: $(head -n 1 "$scratch/check")"
}
# Why summary.json is not what the programs counted; nothing when it is.
misreport() { # exact|counted|lossy
	[ -n "$tool" ] || return 0
	timeout 60 "$tool" finalize "$scratch/run" >"$scratch/check" 2>&1 </dev/null ||
		{ echo "rvprof finalize: $(head -n 1 "$scratch/check")" && return; }
	"$bin/life_summary" "$1" "$scratch/shadow" "$scratch/run" >"$scratch/check" 2>&1 && return
	grep -m1 '^not ok' "$scratch/check" || echo "life_summary failed: $(head -n 1 "$scratch/check")"
}
check_counts() { # expectation: prints what is wrong
	told=$1
	case $1 in
	exact) set -- ;;
	counted) set -- --loss-allowed ;;
	lossy) set -- --lossy ;;
	none)
		[ -d "$scratch/run" ] || return 0
		told=counted
		set -- --loss-allowed
		;;
	esac
	wrong=$(miscount "$@" "$scratch/shadow" "$scratch/run")
	[ -n "$wrong" ] || wrong=$(misreport "$told")
	[ -z "$wrong" ] || echo "$wrong"
}
life_case() { # case, mode
	# shellcheck disable=SC2046 # two words
	set -- "$1" "$2" $(expectation "$1")
	lines=$4
	observe_ours "$2" "$bin/life" "$1"
	why=$(difference)
	[ -n "$why" ] || why=$(check_counts "$([ "$2" = sampled ] && [ "$3" = lossy ] && echo counted || echo "$3")")
	lines=
	if [ -n "$why" ]; then fail "$1-$2" "$why"; else pass "$1-$2"; fi
}
for name in $("$bin/life" --list); do
	wanted "$name" || continue
	observe bare "$bin/life" "$name"
	life_case "$name" full
	# Even a quick round holds one program's sampled records against what the library says of itself.
	[ -n "$quick" ] && [ "$name" != end_with_live_blocks ] || life_case "$name" sampled
done

# ---- programs with something of their own ----
section surroundings

# A case whose program is not `life` and may have no shadow count: same output, and a run that can be read.
same_case() { # name, words..
	case_name=$1
	shift
	wanted "$case_name" || return
	observe bare "$@"
	observe_ours full "$@"
	why=$(difference)
	[ -n "$why" ] || why=$(miscount --no-shadow "$scratch/run")
	if [ -n "$why" ]; then fail "$case_name" "$why"; else pass "$case_name"; fi
}
has() { [ -e "$1" ] || { wanted "$2" && skip "$2" "${1##*/} is not here"; false; }; }

same_case exceptions "$bin/exceptions"
same_case exceptions-in-sh sh -c "'$bin/exceptions'; '$bin/exceptions'"
same_case pipe-to-cat sh -c "'$bin/life' end_by_return | cat"
same_case python /usr/bin/env python3 -c 'import json; print(len(json.dumps([{"a": i} for i in range(20000)])))'

# An ASan program aborts when anything is in front of its runtime; `rvprof run` puts it behind, and so does this.
if has "$bin/asan" asan; then
	preload="$(${CC:-cc} -print-file-name=libasan.so) $library"
	same_case asan "$bin/asan"
	preload=
fi

# Other allocators, before and after us.
for allocator in jemalloc.so.2 mimalloc.so.2 tcmalloc_minimal.so.4; do
	file=$(ldconfig -p | sed -n "s|.*lib$allocator .*=> ||p" | head -n1)
	name=${allocator%%.*}
	has "${file:-lib$allocator}" "$name" || continue
	for order in before after; do
		if [ $order = before ]; then preload="$file $library"; else preload="$library $file"; fi
		same_case "$name-$order" sh -c "'$bin/exceptions'; python3 -c 'print(sum(range(1000)))'"
		preload=
	done
done

# One that only counts and hands on to the next, as another profiler does.
if has "$bin/forward.so" forwarder; then
	for order in before after; do
		if [ $order = before ]; then preload="$bin/forward.so $library"; else preload="$library $bin/forward.so"; fi
		same_case "forwarder-$order" sh -c "'$bin/exceptions'; python3 -c 'print(sum(range(1000)))'"
		preload=
	done
fi

# The end of a program is the end of its pipe: nothing of ours may hold it open.
wanted pipe-end && {
	start=$(date +%s)
	finalize=$can_finalize
	observe_ours sampled sh -c "'$bin/life' end_by_exit"
	finalize=
	if [ $(($(date +%s) - start)) -le 15 ] && [ "$(cat "$scratch/ours.rc")" = 4 ]; then
		pass pipe-end
	else
		fail pipe-end "status $(cat "$scratch/ours.rc") after $(($(date +%s) - start)) s"
	fi
}

# A full disk and a folder that can't be written: the program goes on, and the loss is counted or told.
if wanted full-disk; then
	if mkdir -p "$scratch/disk" && mount -t tmpfs -o size=12m none "$scratch/disk" 2>/dev/null; then
		mounted=$scratch/disk limit_s=120 # 200 threads that spin while others are made, on a busy machine
		observe bare "$bin/life" many_at_once
		output=$mounted/run lines=1
		observe_ours full "$bin/life" many_at_once
		why=$(difference)
		output='' lines='' limit_s=''
		[ -n "$why" ] || why=$(miscount --lossy "$scratch/shadow" "$mounted/run")
		umount "$mounted" && mounted=
		if [ -n "$why" ]; then fail full-disk "$why"; else pass full-disk; fi
	else
		skip full-disk "a tmpfs can't be mounted here"
	fi
fi
if wanted read-only-folder; then
	output=/proc/rvprof-cannot-be-made lines=1
	observe bare "$bin/life" end_by_return
	observe_ours full "$bin/life" end_by_return
	why=$(difference)
	[ -n "$why" ] || [ "$(grep -c '^rvprof: ' "$scratch/ours.err")" = 1 ] || why="no line says so"
	output= lines=
	if [ -n "$why" ]; then fail read-only-folder "$why"; else pass read-only-folder; fi
fi

# Process 1 of a container.
if wanted pid-1; then
	if unshare --pid --fork --mount-proc true 2>/dev/null; then
		for case in fork_without_exec subreaper waiting_thread no_children end_by_return; do
			observe bare unshare --pid --fork --mount-proc "$bin/life" $case
			rm -rf "$scratch/run" "$scratch/shadow" && truncate -s 2M "$scratch/shadow"
			observe ours unshare --pid --fork --mount-proc env LD_PRELOAD="$library" RVPROF_MODE=full \
				RVPROF_OUTPUT="$scratch/run" RVPROF_FINALIZE="$can_finalize" RVP_SHADOW="$scratch/shadow" "$bin/life" $case
			why=$(difference)
			[ -n "$why" ] || why=$(check_counts exact)
			if [ -n "$why" ]; then fail "pid-1-$case" "$why"; else pass "pid-1-$case"; fi
		done
	else
		skip pid-1 "no right to make a PID namespace"
	fi
fi

# A day of a server at 10,000 recorded events a second is 864 million; a 64th of them against a 64th of the default bound.
# The log stays below the bound, and the totals stay exact.
if wanted day; then
	events=13500000 bound=16
	[ -z "$quick" ] || events=1700000 bound=2
	limit_s=120 observe bare "$bin/day" $events
	settings="RVPROF_MAX_LOG=${bound}MiB"
	limit_s=200 observe_ours sampled "$bin/day" $events
	settings=
	# Before a report packs it.
	bytes=$(cat "$scratch"/run/proc.*/log.rvl | wc -c)
	why=$(difference)
	[ -n "$why" ] || why=$(check_counts exact)
	[ -n "$why" ] || [ "$bytes" -le $((bound << 20)) ] || why="$bytes bytes of log, more than $bound MiB"
	# It must have met the bound, else this shows nothing.
	[ -n "$why" ] || [ "$bytes" -ge $((bound << 19)) ] || why="only $bytes bytes of log"
	if [ -n "$why" ]; then fail day "$why"; else pass day && echo "    $events events, $bytes bytes of log"; fi
fi

# ---- storm: random programs from seeds, as many as the time allows ----
section storm

storm_round() { # seed, mode
	limit_s=60 observe_ours "$2" "$bin/storm" "$1" 60
	[ "$(cat "$scratch/ours.rc")" = 33 ] || { echo "status $(cat "$scratch/ours.rc")" && return; }
	[ -s "$scratch/ours.err" ] && { head -n 1 "$scratch/ours.err" && return; }
	check_counts exact
}
if wanted storm; then
	first=${RVP_SEED:-$(date +%s)} count=0 why=
	storm_s=${RVP_STORM_S:-60}
	[ -z "$quick" ] || storm_s=10
	end=$(($(date +%s) + storm_s))
	while [ -z "$why" ] && [ "$(date +%s)" -lt "$end" ]; do
		seed=$((first + count))
		mode=full
		[ $((count % 4)) = 3 ] && mode=sampled
		why=$(storm_round $seed $mode)
		count=$((count + 1))
	done
	if [ -n "$why" ]; then
		fail storm "seed $seed, $mode: $why"
	else
		pass storm && echo "    $count programs, seeds from $first"
	fi
fi

# ---- kills ----
section kills

kills() { # name, rounds, then: mode threads [pidns]
	name=$1 rounds=$2 mode=$3 threads=$4
	shift 4
	wanted "$name" || return
	rm -rf "$scratch/kills" && mkdir "$scratch/kills"
	"$bin/kills" "$library" "$bin/kill_loop" "$mode" "$threads" "$rounds" "$@" "$scratch/kills" >"$scratch/check" 2>&1
	case $? in
	0) pass "$name" && tail -n 1 "$scratch/check" | sed 's/^/    /' ;;
	77) skip "$name" "no right to make a PID namespace" ;;
	*) fail "$name" "$(tail -n 1 "$scratch/check")" ;;
	esac
}
if [ -n "$quick" ]; then many=20 few=5; else many=200 few=20; fi
kills kills-full $many full 2
kills kills-sampled $few sampled 2
kills kills-one-thread $few full 0
kills kills-pid-namespace $few full 2 pidns

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
