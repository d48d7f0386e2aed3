# SPDX-License-Identifier: MIT
# same.sh: sourced by every program test here. A test says what it runs; this says what must hold.
#
# From run.sh: E2E_LIB, E2E_TOOL (absolute paths), E2E_DIR (an empty folder, also the current one).
# A test ends with status 0 (passed), 77 (skipped, the last line says why) or anything else (failed).
# POSIX sh. Every path that a test makes is below the current folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
modes="sampled full"
# The system's own programs first: a version manager's shim is a shell script of many processes.
PATH=/usr/bin:/bin:$PATH
# So that a test that is cut by its time limit still runs its EXIT trap.
trap 'exit 143' TERM INT HUP

fail() {
	printf 'FAIL: %s\n' "$*"
	exit 1
}

skip() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

need() {
	for command in "$@"; do
		command -v "$command" >/dev/null 2>&1 || skip "no $command on this machine"
	done
}

# The first of the files that exists; nothing if none does.
first_file() {
	for file in "$@"; do
		[ -e "$file" ] && echo "$file" && return
	done
}

# under MODE FOLDER CMD...: CMD as a user would run it, recorded into FOLDER. PRELOAD_BEFORE and PRELOAD_AFTER
# stand around our library; RUN_AS are words of a command that changes the user first.
under() {
	mode=$1 folder=$2
	shift 2
	${RUN_AS:-} env LD_PRELOAD="${PRELOAD_BEFORE:+$PRELOAD_BEFORE:}$E2E_LIB${PRELOAD_AFTER:+:$PRELOAD_AFTER}" \
		RVPROF_MODE="$mode" RVPROF_OUTPUT="$PWD/$folder" RVPROF_EXIT_WAIT=60 "$@"
}

# The same without us, with the same company.
without() {
	others="${PRELOAD_BEFORE:+$PRELOAD_BEFORE:}${PRELOAD_AFTER:-}"
	if [ -n "$others" ]; then
		LD_PRELOAD=${others%:} "$@"
	else
		"$@"
	fi
}

quiet_stderr() { # FILE: nothing of ours and nothing of the loader's may be in a program's stderr
	if grep -nE '^rvprof: |LD_PRELOAD cannot be preloaded|symbol lookup error' "$1"; then
		fail "our words in the program's stderr ($1)"
	fi
}

# steps_are FOLDER COUNT SOURCE: so many steps were found, and a row of latency.csv for each.
steps_are() {
	count=$(summary "$1" .steps.count) source=$(summary "$1" .steps.source)
	[ "$count/$source" = "$2/$3" ] || fail "$1: $count steps ($source), expected $2 ($3)"
	rows=$(($(wc -l <"$1/latency.csv") - 1))
	[ "$rows" = "$2" ] || fail "$1: $rows rows of latency.csv for $2 steps"
}

# same LABEL CMD...: stdout and exit status with us are those without us, in both modes, and the report is true.
# Leaves the run folders in LABEL.sampled and LABEL.full, the plain output in LABEL.out.
same() {
	label=$1
	shift
	without "$@" <"${STDIN:-/dev/null}" >"$label.out" 2>"$label.err"
	status=$?
	[ "$status" -lt 124 ] || fail "$label: does not run without us (status $status): $(tail -n 3 "$label.err")"
	for mode in $modes; do
		under "$mode" "$label.$mode" "$@" <"${STDIN:-/dev/null}" >"$label.$mode.out" 2>"$label.$mode.err"
		got=$?
		[ "$got" = "$status" ] ||
			fail "$label, $mode: status $got, without us $status: $(tail -n 3 "$label.$mode.err")"
		cmp "$label.out" "$label.$mode.out" || fail "$label, $mode: another stdout"
		quiet_stderr "$label.$mode.err"
		true_report "$label.$mode" "$mode"
	done
}

# same_run LABEL CMD...: after same, once more under `rvprof run`, which also knows how the program ended.
same_run() {
	label=$1
	shift
	"$E2E_TOOL" run -q -o "$label.run" --mode full -- "$@" <"${STDIN:-/dev/null}" >"$label.run.out" 2>"$label.run.err"
	[ $? = "$status" ] || fail "$label, rvprof run: not status $status: $(tail -n 3 "$label.run.err")"
	cmp "$label.out" "$label.run.out" || fail "$label, rvprof run: another stdout"
	true_report "$label.run" full
	holds "$label.run" ".run.exit.status == $status"
}

summary() { # FOLDER JQ-FILTER
	jq -r "$2" "$1/summary.json"
}

holds() { # FOLDER JQ-CONDITION
	[ "$(summary "$1" "$2")" = true ] || fail "$1: not so: $2; it is: $(jq -c '{run, totals, lost}' "$1/summary.json")"
}

# A helper of the program may outlive it for a moment; the last one to go, or a report, writes the outputs again.
settled() { # FOLDER
	tries=0
	until [ "$(summary "$1" .run.complete)" = true ]; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || return
		sleep 0.2
		"$E2E_TOOL" report "$1" >/dev/null 2>&1
	done
}

# Where the ledger was looked at from inside, its rows are RSS but for 1 % and 1 MiB.
closing_ledger='[.host.ledger[] | select(has("unexplained_bytes")) | (.unexplained_bytes | fabs) <= .rss_bytes * 0.01 + 1048576] | length > 0 and all'

# true_report FOLDER MODE: the outputs are there, whole, and agree with themselves.
true_report() {
	for file in summary.json memory.csv categories.csv latency.csv trace.json; do
		[ -s "$1/$file" ] || fail "$1: no $file ($(ls "$1" 2>&1 | tr '\n' ' '))"
	done
	settled "$1"
	jq -e . "$1/summary.json" >/dev/null || fail "$1: summary.json is not JSON"
	holds "$1" '.schema == "rvprof.summary/1" and .run.complete == true'
	holds "$1" ".run.mode == \"$2\""
	holds "$1" '.run.duration_s < 600' # it began when the program did
	holds "$1" '.lost.records == 0'
	holds "$1" '.totals.alloc_count > 0 and .totals.alloc_bytes > 0'
	holds "$1" '.totals.alloc_usable_bytes >= .totals.alloc_bytes'
	holds "$1" '.host.peak_rss_bytes > 0'
	# In a tree the end is each process's own end, and a child may free what it inherited.
	if [ "$(summary "$1" .run.processes)" = 1 ]; then
		holds "$1" '.totals.peak_live_bytes >= .totals.end_live_bytes and .totals.alloc_count >= .totals.free_count'
		holds "$1" "$closing_ledger"
		[ "$2" != full ] || holds "$1" '.totals.alloc_bytes - .totals.free_bytes == .totals.end_live_bytes'
	fi
	[ "$(wc -l <"$1/memory.csv")" -ge 3 ] || fail "$1: memory.csv has no rows"
	"$E2E_TOOL" report "$1" >"$1.report" 2>&1 || fail "$1: rvprof report: $(tail -n 3 "$1.report")"
	"$E2E_TOOL" report --json "$1" 2>/dev/null | cmp - "$1/summary.json" || fail "$1: report --json differs"
}

# recorded FOLDER BYTES [TIMES]: a block of exactly BYTES requested bytes was recorded, at least TIMES times.
recorded() {
	"$E2E_TOOL" dump "$1" >"$1.dump" 2>"$1.dump.err" || fail "$1: rvprof dump: $(tail -n 2 "$1.dump.err")"
	found=$(grep -cE "(^|[^a-z_])bytes=$2( |$)" "$1.dump")
	[ "$found" -ge "${3:-1}" ] || fail "$1: $found records of a block of $2 bytes, not ${3:-1}"
}

# A number that a program printed as NAME=NUMBER.
said() { # FILE NAME
	sed -n "s/^.*\b$2=\([0-9][0-9]*\).*$/\1/p" "$1" | head -n 1
}
