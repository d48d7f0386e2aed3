# SPDX-License-Identifier: MIT
# documented.sh: the commands of docs/gpu.md's part on simulated CUDA, run as they stand there, and what it says of them.

case_of documented-decode
mkdir -p out
{ echo 'set -eu'; sed -n '/^## Simulated CUDA/,$p' "$source/docs/gpu.md" | sed -n '/^```sh$/,/^```$/{/^```/d;p;}' |
	sed "s|/tmp/simulated-decode|$PWD/out/run|g"; } >commands
[ "$(grep -c rvprof commands)" = 3 ] || fail "the page has other commands: $(cat commands)"
BUILD=$(cd "$(dirname "$tool")/.." && pwd) sh commands >out/text 2>out/err || fail "$(tail -n 2 out/err)"
trace=out/run/trace.json
is $trace '.deviceProperties[0].name' '"Simulated GPU"' "the device's name"
is $trace '[.traceEvents[] | select(.name == "cuda:0 by category") | .args.weights // 0] | max' 8388608 "weights"
is $trace '[.traceEvents[] | select(.name == "cuda:0 by category") | .args.kv_cache // 0] | max >= 1048576' true "KV cache, by rows that need not have a move of 1 MiB"
is $trace '[.traceEvents[] | select(.cat == "kernel" or .cat == "gpu_memcpy") | .tid] | unique | length' 2 "streams"
is $trace '[.traceEvents[] | select(.cat == "kernel") | .args.step] | group_by(.) | map(length) | [length, min, max]' '[20,9,9]' "kernels by step"
grep -q 'Memory of cuda:0: Simulated GPU' out/text && grep -q '^ *19 .* 9 ' out/text || fail "the reports: $(head -n 3 out/text)"
"$tool" export chrome -o out/whole.json out/run 2>out/err || fail "export chrome: $(cat out/err)"
cmp -s out/whole.json $trace || fail "export chrome is not trace.json, though all fits"
jq -r '.traceEvents[] | select(.name == "cuda:0 by category") | .args.weights // 0' $trace >weights
awk -F, '$2 == "cuda:0" { print $3 }' out/run/categories.csv | cmp -s - weights || fail "categories.csv has other weights"
end_case
