# SPDX-License-Identifier: MIT
# kernels.sh: kernels, copies and memsets in the log against the clients' own accounts: names, counts, and the times that
# the scenario gave them.

for program in decode graphs threads flood reset; do
	for version in 13 12; do
		case_of "kernels-$program-$version"
		cupti=$version
		scenario="kernel * 20us; driver ${version}000"
		traced --cuda full -- $program
		same .kernels "kernels by name"
		same .copies "copies"
		same .sets "memsets"
		is log.json .kernel_ns "$(jq '.kernel_count * 20000' account.json)" "kernel time"
		is log.json .flaws '{}' "flaws"
		end_case
	done
done

case_of kernels-static-runtime
client=$client_static
scenario='kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
same .memory "memory by kind"
client=$client_shared
end_case

case_of kernels-longer-records
scenario='cupti 130300; kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
is log.json .kernel_ns "$(jq '.kernel_count * 20000' account.json)" "kernel time"
end_case

case_of kernels-old-records
cupti=12
scenario='driver 12000; cupti 19; kernel * 20us'
traced --cuda full -- decode
same .kernels "kernels by name"
is log.json .kernel_ns "$(jq '.kernel_count * 20000' account.json)" "kernel time"
end_case

case_of kernels-two-devices
scenario='devices 2; kernel * 20us'
traced --cuda full -- devices
same .kernels "kernels by name"
end_case

# Every launch is counted at auto too, whatever it records of them.
case_of kernels-auto-counts
scenario='kernel * 20us'
traced --cuda auto -- decode
same .memory "memory by kind"
end_case

case_of kernels-off
traced --cuda off -- decode
is log.json .kernel_count 0 "kernels"
is log.json .memory '{}' "memory"
end_case
