# rows_torch.sh: a script for torch.profiler runs with rvprof's profile in its place: the operators, their shapes and counts
# and the moments of its traces are those of PyTorch's own profiler.
. "$(dirname "$0")/same.sh"
need python3 jq gzip
python3 -c 'import torch.profiler' 2>/dev/null || skip "no PyTorch on this machine"
PYTHONPATH=$here/../../python
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
mkdir theirs ours
python3 "$here/rows_torch.py" torch theirs >theirs.out 2>theirs.err || skip "PyTorch's own profiler does not run: $(tail -n 1 theirs.err)"
"$E2E_TOOL" run -q -o run -- python3 "$here/rows_torch.py" rvprof ours >ours.out 2>ours.err || fail "ours: $(tail -n 3 ours.err)"
diff theirs.out ours.out >differ || fail "another output: $(head -n 6 differ | tr '\n' ' ')"
[ "$(grep -c ^ready ours.out)" = 2 ] && [ "$(wc -l <ours.out)" -ge 40 ] || fail "too little was said"

# 2 m n k of the two layers forward and of the products in their backward, in two steps of the last window.
step=$((2 * 32 * 64 * 128 + 2 * 32 * 128 * 10 + 2 * 32 * 128 * 10 + 2 * 32 * 128 * 10 + 2 * 32 * 64 * 128))
[ "$(sed -n 's/^flops //p' ours.err)" = $((2 * step)) ] || fail "$(cat ours.err), not $((2 * step))"
holds run ".work.classes.gemm.flops >= 9 * $step"

for trace in ours/trace.*.json run/trace.json ours/told.json ours/board/*.json; do
	jq -e '[.traceEvents[] | select(.cat == "cpu_op")] | length > 50' "$trace" >/dev/null || fail "$trace: no operators"
done
check=$E2E_BUILD/tests/trace_check
for trace in ours/trace.*.json; do
	[ ! -x "$check" ] || "$check" "$trace" || fail "$trace is no good trace"
	jq -e '[.traceEvents[] | select(.ph == "b")] == []' "$trace" >/dev/null || fail "$trace: rows that do not nest"
	jq -e '[.traceEvents[] | select(.name == "aten::addmm")] | length == 4 and all(.args."Input type"[0:3] == ["float", "float", "float"])' \
		"$trace" >/dev/null || fail "$trace: shapes"
	jq -e '[.traceEvents[] | select(.cat == "python_function" and (.name | endswith(": Linear.forward")))] | length == 4' "$trace" >/dev/null ||
		fail "$trace: Python functions"
	jq -e '[.traceEvents[] | select(.cat == "step") | .name] | length == 2 and all(startswith("ProfilerStep#"))' "$trace" >/dev/null || fail "$trace: steps"
done
gzip -dc ours/inside.json.gz | jq -e '[.traceEvents[] | select(.name == "aten::addmm")] | length == 2' >/dev/null || fail "an export inside the block"
jq -e '.metadata.who == "me"' ours/told.json >/dev/null || fail "metadata"
grep -q ':_train;.*Module._call_impl.* [0-9]*$' ours/stacks || grep -q ':_train [0-9]*$' ours/stacks || fail "stacks"
[ "$("$E2E_TOOL" dump run | grep -c ' rows .*why="..*"')" = 0 ] || fail "something could not be recorded"
