# SPDX-License-Identifier: MIT
# outputs.sh: what a run's outputs say of the device's work against the clients' own accounts: kernels.csv, latency.csv,
# trace.json, report --kernels; that the host's figures have nothing of the device's; what is lost is in each. Device
# memory by category is in devices.sh.

summary() { # FILTER VALUE WHAT
	is run/summary.json "$1" "$2" "$3"
}
account() { # FILTER
	jq -c "$1" account.json
}
rows_of_kernels() { # how many rows kernels.csv has beneath its header
	sed 1d run/kernels.csv | wc -l
}
# The field NUMBER of each row of kernels.csv, counted from the end: a name may have commas.
field_from_end() {
	sed 1d run/kernels.csv | sed 's/^[0-9]*,"[^"]*"/0,name/' | awk -F, -v n="$1" '{ print $(NF - n) }'
}

case_of outputs-memory
scenario='kernel * 20us'
traced --cuda full -- decode
summary '.device | map(.name)' '["cuda:0"]' "devices"
summary '.device[0].model' '"Simulated GPU"' "model"
summary '.device[0].categories.weights.max_bytes' 8388608 "weights"
summary '.device[0].categories.kv_cache.max_bytes' 2097152 "KV cache"
summary '.device[0].categories.kv_cache.at_peak_bytes' 2097152 "KV cache at the peak"
summary '[.device[0].categories[] | .alloc_count] | add' "$(account '.memory.plain.allocs + .memory.ordered.allocs')" "allocs"
summary '.device[0].alloc_count' "$(account '.memory.plain.allocs + .memory.ordered.allocs')" "allocs of the device"
summary '[.device[0].ledger[] | .unexplained_bytes | fabs | select(. > 67108864)]' '[]' "ledger"
# The host's figures have no device bytes: 10 MiB of weights and cache are nowhere in them.
summary '[.host.categories.weights.max_bytes, .host.categories.kv_cache.max_bytes | . // 0 | select(. > 1048576)]' '[]' "host"
awk -F, 'NR > 1 && $3 > 1048576 { bad++ } END { exit bad > 0 }' run/memory.csv || fail "device bytes in memory.csv"
[ "$(grep -c '^[0-9]*,cuda:0,' run/categories.csv)" -gt 0 ] || fail "no rows of cuda:0 in categories.csv"
end_case

case_of outputs-kernels
scenario='kernel * 20us'
traced --cuda full -- decode
[ "$(rows_of_kernels)" = "$(account .kernel_count)" ] || fail "$(rows_of_kernels) rows, not $(account .kernel_count)"
got=$(field_from_end 8 | sort -u)
[ "$got" = 20000 ] || fail "durations: $got"
# A step launches nine kernels, and there are 20.
got=$(field_from_end 1 | sort -n | uniq -c | awk '{ print $1 }' | sort -u)
[ "$got" = 9 ] || fail "kernels a step: $got"
got=$(field_from_end 1 | sort -u | wc -l)
[ "$got" = 20 ] || fail "$got steps"
got=$(field_from_end 0 | sort | uniq -c | awk '{ printf "%s %s;", $2, $1 }')
[ "$got" = 'attention 40;gemm 80;norm 40;sampling 20;' ] || fail "classes: $got"
summary '[.kernels.count, .kernels.total_us]' "[$(account .kernel_count),$(account '.kernel_count * 20')]" "kernels"
got=$(sed 1d run/latency.csv | cut -d, -f3 | sort -u)
[ "$(printf '%.0f' "$got")" = 180 ] || fail "kernel time a step: $got"
"$tool" report run --kernels >kernels.txt 2>&1 || fail "report --kernels: $(tail -n 1 kernels.txt)"
grep -q 'flash_fwd_splitkv_kernel' kernels.txt || fail "report --kernels has no name"
end_case

case_of outputs-graphs
scenario='kernel * 20us'
traced --cuda full -- graphs
[ "$(rows_of_kernels)" = "$(account .kernel_count)" ] || fail "$(rows_of_kernels) rows, not $(account .kernel_count)"
got=$(field_from_end 2 | grep -c .)
[ "$got" = 40 ] || fail "$got kernels are of a graph, not 40"
end_case

case_of outputs-trace
scenario='kernel * 20us'
traced --cuda full -- decode
jq -c '[.traceEvents[] | select(.cat == "kernel")] | [length, (map(.dur) | add | round)]' run/trace.json >got 2>&1
[ "$(cat got)" = "[$(account .kernel_count),$(account '.kernel_count * 20')]" ] || fail "kernels: $(cat got)"
jq -c '[.traceEvents[] | select(.cat == "gpu_memcpy") | .args.bytes] | [length, add]' run/trace.json >got 2>&1
[ "$(cat got)" = "$(account '[.copies[] | .count, .bytes] | [.[0] + .[2], .[1] + .[3]]')" ] || fail "copies: $(cat got)"
jq -c '[.traceEvents[] | select(.cat == "ac2g")] | [(map(select(.ph == "s") | .id)), (map(select(.ph == "f") | .id))]
	| (.[1] - .[0] | length), (.[1] | length)' run/trace.json >got 2>&1
[ "$(head -n 1 got)" = 0 ] || fail "$(head -n 1 got) arrows have no begin"
[ "$(sed -n 2p got)" -ge "$(account .kernel_count)" ] || fail "$(sed -n 2p got) arrows"
end_case

case_of outputs-lost
scenario='fault dropped 17; fault zero-times after 100'
traced --cuda full -- decode
summary '.lost.reasons | [.device_dropped, .device_flaw]' "[17,$(account '.kernel_count - 100')]" "lost"
summary '[.kernels.count, .kernels.flawed.kernels]' "[100,$(account '.kernel_count - 100')]" "kernels with and without a time"
[ "$(rows_of_kernels)" = "$(account .kernel_count)" ] || fail "$(rows_of_kernels) rows, not $(account .kernel_count)"
grep -q '"untimed_device_work":80' run/trace.json || fail "the trace does not tell of kernels without a time"
grep -q '"device_dropped":17' run/trace.json || fail "the trace does not tell what was lost"
"$tool" report run 2>&1 | grep -q 'dropped' || fail "the report does not tell what was lost"
end_case
