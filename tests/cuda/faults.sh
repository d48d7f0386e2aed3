# SPDX-License-Identifier: MIT
# faults.sh: what goes wrong in CUPTI, the driver or the machine leaves the program as it was, and is told: by its counter
# in the log or by one line.

lost_of() { # NAME: how many summary.json counts under that name of record/loss.def
	jq --arg name "$1" '.lost.reasons[$name] // 0' run/summary.json
}

case_of fault-subscriber
scenario='fault subscriber "nsys"'
traced --cuda full -- decode
is log.json .kernel_count 0 "kernels"
grep -q nsys traced.err || fail "the other's name is not told"
end_case

for fault in 'unusable' 'subscribe 35' 'subscribe 41' 'subscribe 33' 'enable all 35' 'enable all 43' 'enable 10 41'; do
	case_of "fault-$(echo "$fault" | tr ' ' -)"
	scenario="fault $fault"
	traced --cuda full -- decode
	[ "$(wc -l <traced.err)" -le 1 ] || fail "more than a line: $(cat traced.err)"
	end_case
done

case_of fault-no-gpu
scenario='fault init 100'
plain decode
traced --cuda full -- decode
end_case

case_of fault-no-cupti
cupti=none
traced --cuda full -- decode
[ "$(wc -l <traced.err)" -le 1 ] || fail "more than a line: $(cat traced.err)"
end_case

case_of fault-dropped
scenario='fault dropped 17'
traced --cuda full -- decode
same .kernels "kernels by name"
got=$(lost_of device_dropped)
[ "$got" = 17 ] || fail "$got dropped records are told, not 17"
end_case

for flaw in zero-times backward; do
	case_of "fault-$flaw"
	scenario="fault $flaw after 100; kernel * 20us"
	traced --cuda full -- decode
	same .kernels "kernels by name"
	is log.json .kernel_ns 2000000 "kernel time without those that have none"
	is log.json '.flaws | add' "$(jq '.kernel_count - 100' account.json)" "kernels without a time"
	end_case
done

case_of fault-unknown-kind
scenario='fault unknown-kind after 100'
traced --cuda full -- decode
got=$(lost_of device_unread)
[ "$got" -ge 1 ] || fail "a buffer that was not read to its end is not told"
end_case

case_of fault-null-buffers
scenario='fault null-buffers; cupti 26; driver 12080'
cupti=12
traced --cuda full -- decode
end_case

case_of fault-reentrant
scenario='fault reentrant; kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
same .memory "memory by kind"
end_case

case_of fault-late-completion
scenario='fault late-completion'
traced --cuda full -- decode
end_case

case_of fault-clock-step
scenario='fault clock-step -1s after 50; kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
end_case

case_of fault-clock-ahead
scenario='clock 10s; kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
end_case

case_of fault-device-lost
scenario='fault lost 719 after 40'
traced --cuda full -- lost
same .kernels "kernels by name"
end_case

case_of fault-running-at-exit
scenario='kernel * 50ms'
traced --cuda full -- quick_exit
end_case
