# SPDX-License-Identifier: MIT
# devices.sh: what the outputs say of device memory, against the clients' own accounts: peak, end, what a decoder holds by
# category, the ledger against the simulated driver, what was refused.

# of JQ_FILTER: from summary.json
of() {
	jq -c "$1" run/summary.json
}

# says FILTER WANTED WHAT
says() {
	got=$(of "$1")
	[ "$got" = "$2" ] || fail "$3: $got and not $2"
}

for program in storm kinds segments pools; do
	case_of "devices-$program"
	traced --cuda full -- $program
	says '.device[0].peak_live_bytes' "$(jq .peak_bytes account.json)" "peak"
	says '.device[0].categories | [.[].at_end_bytes // 0] | add - 0' \
		"$(($(jq .live_bytes account.json) + $(of '.device[0].categories.allocator.at_end_bytes // 0')))" "live at the end"
	says '.device[0].unknown_free_count' null "frees of nothing"
	end_case
done

# Two streams, by category: weights in a scope, a cache that grows in a scope, what lives for a step by its lifetime.
for version in 13 12; do
	case_of "devices-decode-$version"
	cupti=$version
	scenario="driver ${version}000"
	traced --cuda full -- decode 100
	says '.device[0].categories.weights.max_bytes' 8388608 "weights: 2 layers of 4 MiB"
	says '.device[0].categories.kv_cache.max_bytes' 7340032 "KV cache: a MiB every 16 steps"
	says '.device[0].categories.temp.max_bytes' 131072 "what a step asks for"
	says '.device[0].categories.temp.alloc_count' 100 "one a step"
	says '.device[0].categories.unknown.max_bytes' 0 "nobody knows"
	says '.device[0].peak_live_bytes' "$(jq .peak_bytes account.json)" "peak"
	says '.device[0].ledger | map(.unexplained_bytes | fabs <= 64 * 1024 * 1024) | all' true "the ledger closes"
	says '.totals.peak_live_bytes < 8388608' true "none of it is the host's"
	grep -q ',cuda:0,8388608,[1-6]' run/categories.csv || fail "categories.csv has no row of weights and cache"
	grep -q ',cuda:' run/memory.csv && fail "memory.csv has a device"
	end_case
done

case_of devices-two
scenario='devices 2'
traced --cuda full -- devices
says '[.device[].name]' '["cuda:0","cuda:1"]' "devices"
end_case

case_of devices-refused
scenario='memory 2GiB'
traced --cuda full -- refused
says '.device[0].refused.count' "$(jq .refused.count account.json)" "refused"
says '[.device[0].refused.fatal_count, .device[0].refused.survived_count]' '[1,0]' "fatal: it ended of it"
says '[.verdicts[] | select(.id == "device_oom")] | length' 1 "a sentence"
end_case

case_of devices-retries
scenario='fault out-of-memory every 3'
traced --cuda full -- retries 1000
says '.device[0].refused.count' "$(jq .refused.count account.json)" "refused"
says '[.verdicts[] | select(.id == "device_oom")] | length' 0 "no sentence: each was met by giving back"
end_case
