# SPDX-License-Identifier: MIT
# kernel_outputs.sh: what the outputs say of kernels, against the clients' own accounts: kernels.csv, summary.json, latency.csv, the
# trace, `report --kernels`, and the trace for HolisticTraceAnalysis.

# The account's kernels by name as kernels.csv has them: names are demangled there, so counts are compared.
counts_agree() {
	jq -c '[.kernels[]] | sort' account.json >wanted
	tail -n +2 run/kernels.csv | sed 's/^[0-9]*,\("[^"]*"\).*/\1/' | sort | uniq -c | awk '{print $1}' | sort -n | jq -s -c . >got
	cmp -s wanted got || fail "kernels.csv has $(cat got) kernels by name, the client launched $(cat wanted)"
}

for program in decode graphs threads flood devices; do
	case_of "kernel-outputs-$program"
	scenario='devices 2; kernel * 20us'
	traced --cuda full -- $program
	counts_agree
	count=$(jq .kernel_count account.json)
	is run/summary.json .kernels.count "$count" "kernels.count"
	is run/summary.json .kernels.total_us "$(jq -c '.kernel_count * 20 | . * 1.0' account.json)" "kernels.total_us"
	is run/summary.json .kernels.without_launch 0 "kernels without a launch"
	is run/summary.json '.kernels | ([.by_class[].total_us] | add) - ([.total_us, .copies.total_us, .memsets.total_us] | add) | fabs < 0.01' true "classes sum up to all"
	is run/trace.json '[.traceEvents[] | select(.cat == "kernel")] | length' "$count" "kernels of trace.json"
	is run/trace.json '[.traceEvents[] | select(.cat == "ac2g" and .ph == "f")] | length >= '"$count" true "arrows"
	environment "$tool" report --kernels --json run >kernels.json 2>report.err || fail "report --kernels: $(cat report.err)"
	is kernels.json '[.rows[].count] | add' "$count" "report --kernels"
	is kernels.json .total_ns "$(jq '.kernel_count * 20000' account.json)" "report --kernels, total_ns"
	environment "$tool" export hta -o hta.json run 2>report.err || fail "export hta: $(cat report.err)"
	is hta.json '[.traceEvents[] | select(.cat == "kernel") | .args.correlation] | length == (unique | length)' true "correlations are one to one"
	end_case
done

# A step's kernels are those that were launched in it; each ran for 20 us, one after the other on one stream.
case_of kernel-outputs-steps
scenario='kernel * 20us'
traced --cuda full -- decode
is run/summary.json .kernels.step_by '"launch"' "how kernels came to steps"
[ "$(tail -n +2 run/latency.csv | cut -d, -f3 | sort -u)" = 180 ] || fail "kernel_time_us of steps: $(head -n 3 run/latency.csv)"
end_case

# Names, times and rows that the tracer spoilt are counted, and in no sum.
case_of kernel-outputs-flaws
scenario='kernel * 20us; fault zero-times after 50'
traced --cuda full -- flood
flawed=$(jq '[.flaws[]] | add // 0' log.json)
is run/summary.json '.kernels.flawed.kernels // 0' "$flawed" "flawed kernels"
is run/summary.json .kernels.count $((1000 - flawed)) "kernels with a time"
[ "$(tail -n +2 run/kernels.csv | wc -l)" = 1000 ] || fail "kernels.csv has not every kernel"
[ "$(tail -n +2 run/kernels.csv | grep -c ',20000,')" = $((1000 - flawed)) ] || fail "durations of kernels.csv"
end_case

# Each launch in the range that was open on its thread: 2 layers of 4 kernels a step, and a sample beside them; 20 steps.
case_of kernel-outputs-ranges
scenario='kernel * 20us'
traced --cuda full -- decode
jq -c '[.traceEvents[] | select(.cat == "kernel") | .args.range // "none"] | group_by(.) | map({(.[0]): length}) | add' run/trace.json >got 2>&1
[ "$(cat got)" = '{"forward > layer":160,"none":20}' ] || fail "kernels by range in the trace: $(cat got)"
environment "$tool" report --kernels --by range --json run >ranges.json 2>report.err || fail "--by range: $(cat report.err)"
is ranges.json '[.rows[] | [.range // "none", .count, .total_ns]]' '[["forward > layer",160,3200000],["none",20,400000]]' "rows by range"
is run/trace.json '[.traceEvents[] | select(.cat == "kernel") | .args | select(has("stack")) | .site] | length == (unique | length) and length > 1' true "call paths, once each"
is run/trace.json '[.traceEvents[] | select(.cat == "kernel") | .args.stack // [] | .[0] // empty | select(startswith("cuda_client") | not)] | length' 0 "paths begin in the program"
end_case
