# SPDX-License-Identifier: MIT
# capture.sh: --capture=cuda: blocks are recorded between cudaProfilerStart and cudaProfilerStop, whoever tells of the
# device, by a shared runtime and by one that is linked statically; without the option the two calls change nothing.
windows='[.windows.count, [.windows.rows[] | [.opened_by, .closed_by]] , .totals.peak_live_bytes >= 204800, .totals.peak_live_bytes < 250000]'

for client in "$client_shared" "$client_static"; do
	for how in '' 'fault unusable'; do
		for mode in full sampled; do
			case_of "capture-$(basename "$client")-$mode-${how:-cupti}"
			scenario=$how
			traced --cuda auto --capture cuda --mode $mode -- capture 3
			[ $mode = full ] && is run/summary.json "$windows" '[3,[["cuda","cuda"],["cuda","cuda"],["cuda","cuda"]],true,true]' windows
			is run/summary.json '[.windows.capture, .windows.count]' '["cuda",3]' 'the option'
			same .memory "device memory goes on being recorded"
			[ -n "$how" ] || is run/summary.json .kernels.count 6 'kernels of the windows alone'
			end_case
		done
	done
done
client=$client_shared scenario=''
case_of capture-without
traced --cuda auto -- capture 1
is run/summary.json '.windows' null 'no window'
end_case
case_of capture-never
traced --cuda auto --capture cuda -- storm 10
is run/summary.json '[.windows.count, .windows.text]' '[0,"no block was recorded: --capture cuda, and cudaProfilerStart was not called"]' 'says so'
end_case
