# SPDX-License-Identifier: MIT
# outputs.sh: a run's outputs: that the host's figures have nothing of the device's; what is lost is in each. What they say of
# kernels is in kernel_outputs.sh, device memory by category in devices.sh.

summary() { # FILTER VALUE WHAT
	is run/summary.json "$1" "$2" "$3"
}
account() { # FILTER
	jq -c "$1" account.json
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

case_of outputs-lost
scenario='fault dropped 17; fault zero-times after 100'
traced --cuda full -- decode
summary '.lost.reasons | [.device_dropped, .device_flaw]' "[17,$(account '.kernel_count - 100')]" "lost"
summary '[.kernels.count, .kernels.flawed.kernels]' "[100,$(account '.kernel_count - 100')]" "kernels with and without a time"
grep -q '"untimed_device_work":80' run/trace.json || fail "the trace does not tell of kernels without a time"
grep -q '"device_dropped":17' run/trace.json || fail "the trace does not tell what was lost"
"$tool" report run 2>&1 | grep -q 'dropped' || fail "the report does not tell what was lost"
end_case
