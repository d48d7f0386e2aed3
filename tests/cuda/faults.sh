# SPDX-License-Identifier: MIT
# faults.sh: what goes wrong in CUPTI, the driver or the machine leaves the program as it was, and is told: by its counter
# in the log or by one line.

lost_of() { # NAME: how many summary.json counts under that name of record/loss.def
	jq --arg name "$1" '.lost.reasons[$name] // 0' run/summary.json
}

# What CUPTI does not do, one line says, with the reason in words; memory is recorded all the same.
without() { # CASE FAULT PATTERN
	case_of "fault-$1"
	scenario="fault $2"
	traced --cuda full -- decode
	is log.json .kernel_count 0 "kernels"
	same .memory "memory by kind"
	said "$3" 1
	case $3 in
	'kernels are not'*)
		environment "$tool" dump run | grep -q " device_tracer .* source=2 .*${3##*.\*}" || fail "the log does not say why"
		;;
	esac
	[ "$(wc -l <traced.err)" = 1 ] || fail "not one line: $(cat traced.err)"
	end_case
}
without subscriber 'subscriber "nsys"' 'kernels are not.*another tool.*nsys'
without unusable unusable 'kernels are not.*no driver that CUPTI can use'
without subscribe-denied 'subscribe 35' 'kernels are not.*may not trace.*RestrictProfilingToAdminUsers'
without subscribe-confidential 'subscribe 41' 'kernels are not.*confidential'
without subscribe-virtual 'subscribe 33' 'kernels are not.*virtual GPU'
without subscribe-mig 'subscribe 43' 'kernels are not.*MIG'
without callbacks-denied 'callbacks 35' 'kernels are not.*may not trace'
without enable-denied 'enable all 35' 'CUDA.*may not trace'
without enable-mig 'enable all 43' 'CUDA.*MIG'
without enable-kernels 'enable 10 41' 'CUDA.*confidential'

case_of fault-no-gpu
scenario='fault init 100'
plain decode
traced --cuda full -- decode
end_case

case_of fault-no-cupti
cupti=none
traced --cuda full -- decode
is log.json .kernel_count 0 "kernels"
same .memory "memory by kind"
said 'kernels are not' 1
[ "$(wc -l <traced.err)" = 1 ] || fail "not one line: $(cat traced.err)"
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
[ "$got" = 1 ] || fail "$got buffers that were not read to their end are told, not 1"
same .memory "memory by kind"
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

# Buffers that come late are waited for; those that do not come in time are told.
case_of fault-late-completion
scenario='fault late-completion 30ms'
traced --cuda full -- decode
same .kernels "kernels by name"
end_case

case_of fault-too-late-completion
scenario='fault late-completion 20s'
traced --cuda full -- decode
is log.json .kernel_count 0 "kernels"
[ "$(lost_of device_late)" -gt 0 ] || fail "all kernels are missing, and nothing says so"
end_case

case_of fault-clock-step
scenario='fault clock-step -1s after 50; kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
same .memory "memory by kind"
same .copies "copies"
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
same .memory "memory by kind"
end_case

case_of fault-running-at-exit
scenario='kernel long* 2s; kernel * 20us'
traced --cuda full -- running
same .kernels "kernels by name"
is log.json '.flaws["3"]' 1 "kernels that had not ended"
end_case

# A library that the user had named is started too; where it is a client of CUPTI's it has CUPTI, and we say so.
case_of fault-other-client
export CUDA_INJECTION64_PATH="$inject" RECORD_BUFFERS=buffers
traced --cuda full -- decode
unset CUDA_INJECTION64_PATH RECORD_BUFFERS
[ -s buffers ] || fail "the other library got nothing"
is log.json .kernel_count 0 "kernels"
same .memory "memory by kind"
said 'client of CUPTI' 1
[ "$(wc -l <traced.err)" = 1 ] || fail "not one line: $(cat traced.err)"
end_case
