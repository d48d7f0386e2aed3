# rows.sh: Python functions in the rows of a trace, by every interpreter here, against the program's own list.
. "$(dirname "$0")/same.sh"
need python3 jq
PYTHONPATH=$here/../../python
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
run_rows() { # LABEL PYTHON KIND [OPTION..]
	label=$1 python=$2 kind=$3
	shift 3
	"$E2E_TOOL" run -q -f -o "$label" "$@" -- "$python" "$here/rows_program.py" "$kind" >"$label.out" 2>"$label.err" ||
		fail "$label: $(tail -n 3 "$label.err")"
	[ ! -s "$label.err" ] || fail "$label: $(head -n 1 "$label.err")"
}
called() { # FOLDER FUNCTION TIMES
	got=$(jq "[.traceEvents[] | select(.cat == \"python_function\" and (.name | endswith(\": $2\")))] | length" "$1/trace.json")
	[ "$got" = "$3" ] || fail "$1: $got rows of $2, not $3"
}
of_threads() { sort -s -n -k1,1 "$1"; }
checked=0
for python in /usr/bin/python3 ${E2E_PYTHONS:-"$HOME"/.pyenv/versions/3.*/bin/python3}; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9) or sys.version_info > (3, 14))' 2>/dev/null || continue
	version=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
	run_rows "calls.$version" "$python" calls
	of_threads "calls.$version.out" >expected
	[ ! -x "$E2E_BUILD/tests/trace_check" ] || "$E2E_BUILD/tests/trace_check" "calls.$version/trace.json" || fail "$version: no good trace"
	python3 "$here/rows_check.py" "calls.$version/trace.json" >got || fail "$version: the trace"
	if [ "$(printf '%s\n3.11\n' "$version" | sort -V | head -n 1)" != 3.11 ]; then
		sed -i 's/Thing\.//' expected # before 3.11 a code object has its bare name alone
	fi
	[ "$(wc -l <expected)" -ge 150 ] || fail "$version: the program's list is too short"
	diff expected got >differ || fail "$version: rows differ from the program's list: $(head -n 4 differ | tr '\n' ' ')"
	run_rows "others.$version" "$python" others
	[ "$(sort -u "others.$version.out" | tr '\n' ' ')" = "True None True True " ] || fail "$version: others' functions: $(tr '\n' ' ' <"others.$version.out")"
	run_rows "forks.$version" "$python" forks
	[ "$(cat "forks.$version.out")" = 7 ] || fail "$version: the child"
	called "forks.$version" leaf 2
	run_rows "levels.$version" "$python" levels
	called "levels.$version" catching 2
	run_rows "all.$version" "$python" steps --rows on
	called "all.$version" catching 8
	run_rows "window.$version" "$python" steps --rows on --steps 3:6
	called "window.$version" catching 3
	run_rows "within.$version" "$python" within --rows on
	called "within.$version" catching 10
	run_rows "none.$version" "$python" steps
	called "none.$version" catching 0
	checked=$((checked + 1))
done
[ $checked -ge 1 ] || fail "no interpreter from 3.9 to 3.13"

# The rows have a share of the log; what is beyond it is counted, and memory goes on.
run_rows many /usr/bin/python3 many --max-log 1MiB --mode full
holds many '.lost.reasons.rows_bound > 1000'
"$E2E_TOOL" dump many >many.dump
calls=$(grep -c ' python_call ' many.dump)
[ "$calls" -ge 32000 ] && [ "$calls" -le 33024 ] || fail "$calls records of calls in a quarter of 1 MiB"
holds many "$((calls + $(summary many .lost.reasons.rows_bound))) > 120000"
recorded many "$(said many.out held_bytes)"

# Outside of the profiler it says so once, and does nothing.
/usr/bin/python3 "$here/rows_program.py" calls >plain.out 2>plain.err || fail "without the profiler"
[ "$(wc -l <plain.err)" = 1 ] && grep -q '^rvprof: profile: this process is not recorded' plain.err || fail "without the profiler: $(cat plain.err)"
