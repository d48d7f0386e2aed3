# SPDX-License-Identifier: MIT
# memory.sh: device memory in the log against the clients' own accounts: bytes, counts, kinds.

for program in storm pools kinds segments decode threads graphs reset; do
	for version in 13 12; do
		case_of "memory-$program-$version"
		cupti=$version
		scenario="driver ${version}000"
		traced --cuda full -- $program
		same .memory "memory by kind"
		same .live_bytes "live at the end"
		[ $program = threads ] || same .peak_bytes "peak"
		is log.json .unknown_frees 0 "frees of what nobody gave out"
		end_case
	done
done

case_of memory-two-devices
scenario='devices 2'
traced --cuda full -- devices
same .memory "memory by kind"
end_case

case_of memory-refused
scenario='memory 2GiB'
traced --cuda full -- refused
same .memory "memory by kind"
same .refused "refused"
end_case

case_of memory-retries
scenario='fault out-of-memory every 3'
traced --cuda full -- retries 1000
same .memory "memory by kind"
same .refused.count "refused"
end_case

for ending in quick_exit killed fork; do
	case_of "memory-$ending"
	traced --cuda full -- $ending
	same .memory "memory by kind"
	end_case
done

# A capture ends with its stream, too: the device's memory is looked at behind it.
case_of memory-abandoned-captures
traced --cuda auto -- abandoned 60
same .memory "memory by kind"
"$tool" dump run | grep -q ' device_memory .* occasion=4' || fail "no look at the end: $("$tool" dump run | grep -c ' device_memory ') looks"
end_case

# Places of contexts that are gone are others': each is told of once, and its end.
case_of memory-contexts
traced --cuda auto -- contexts
same .memory "memory by kind"
"$tool" dump run | grep -c ' device_context .* is_end=0' >begins
"$tool" dump run | grep -c ' device_context .* is_end=1' >ends
[ "$(cat begins ends | xargs)" = '300 300' ] || fail "contexts that began and ended: $(cat begins ends | xargs), not 300"
end_case
