# SPDX-License-Identifier: MIT
# kernel_outputs.sh: what the outputs say of kernels, against the clients' own accounts: kernels.csv, summary.json, latency.csv, the
# trace, `report --kernels`, and the trace for HolisticTraceAnalysis.

# The account's kernels by name as kernels.csv has them: names are demangled there, so counts are compared.
counts_agree() {
	jq -c '[.kernels[]] | sort' account.json >wanted
	tail -n +2 run/kernels.csv | sed 's/^[0-9]*,\("[^"]*"\).*/\1/' | sort | uniq -c | awk '{print $1}' | sort -n | jq -s -c . >got
	cmp -s wanted got || fail "kernels.csv has $(cat got) kernels by name, the client launched $(cat wanted)"
}

# The field NUMBER of each row of kernels.csv, counted from the end: a name may have commas.
field_from_end() {
	sed 1d run/kernels.csv | sed 's/^[0-9]*,"[^"]*"/0,name/' | awk -F, -v n="$1" '{ print $(NF - n) }'
}

# 20 steps of nine kernels of 20 us each, one after the other on one stream, beside copies on another.
check_decode() {
	[ "$(field_from_end 8 | sort -u)" = 20000 ] || fail "durations: $(field_from_end 8 | sort -u | head -n 3)"
	got=$(field_from_end 1 | sort -n | uniq -c | awk '{ print $1 }' | sort | uniq -c | xargs)
	[ "$got" = '20 9' ] || fail "steps and kernels a step: $got"
	got=$(field_from_end 0 | sort | uniq -c | awk '{ printf "%s %s;", $2, $1 }')
	[ "$got" = 'attention 40;gemm 80;norm 40;sampling 20;' ] || fail "classes: $got"
	is run/summary.json .kernels.step_by '"launch"' "how kernels came to steps"
	[ "$(tail -n +2 run/latency.csv | cut -d, -f3 | sort -u)" = 180 ] || fail "kernel_time_us of steps: $(head -n 3 run/latency.csv)"
	"$tool" report run --kernels 2>&1 | grep -q 'flash_fwd_splitkv_kernel' || fail "report --kernels has no name"
	is run/trace.json '[.traceEvents[] | select(.cat == "kernel") | .dur] | add | round' 3600 "time of the trace's kernels"
	is run/trace.json '[.traceEvents[] | select(.cat == "gpu_memcpy") | .args.bytes] | [length, add]' \
		"$(jq -c '[.copies[] | .count, .bytes] | [.[0] + .[2], .[1] + .[3]]' account.json)" "copies of the trace"
	is run/trace.json '[.traceEvents[] | select(.cat == "ac2g")] | [(map(select(.ph == "s") | .id)), (map(select(.ph == "f") | .id))]
		| .[1] - .[0] | length' 0 "arrows without a begin"
	check_ranges
}

# Each launch in the range that was open on its thread: 2 layers of 4 kernels a step, and a sample beside them.
check_ranges() {
	jq -c '[.traceEvents[] | select(.cat == "kernel") | .args.range // "none"] | group_by(.) | map({(.[0]): length}) | add' run/trace.json >got 2>&1
	[ "$(cat got)" = '{"forward > layer":160,"none":20}' ] || fail "kernels by range in the trace: $(cat got)"
	environment "$tool" report --kernels --by range --json run >ranges.json 2>report.err || fail "--by range: $(cat report.err)"
	is ranges.json '[.rows[] | [.range // "none", .count, .total_ns]]' '[["forward > layer",160,3200000],["none",20,400000]]' "rows by range"
	is run/trace.json '[.traceEvents[] | select(.cat == "kernel") | .args | select(has("stack")) | .site] | length == (unique | length) and length > 1' true "call paths, once each"
	is run/trace.json '[.traceEvents[] | select(.cat == "kernel") | .args.stack // [] | .[0] // empty | select(startswith("cuda_client") | not)] | length' 0 "paths begin in the program"
}

check_graphs() {
	[ "$(field_from_end 2 | grep -c .)" = 40 ] || fail "$(field_from_end 2 | grep -c .) kernels are of a graph, not 40"
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
	[ $program = decode ] && check_decode
	[ $program = graphs ] && check_graphs
	end_case
done

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
