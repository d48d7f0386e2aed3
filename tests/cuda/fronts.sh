# SPDX-License-Identifier: MIT
# fronts.sh: device memory where CUPTI can't be had, as the driver's own functions are called: equal to the clients'
# accounts to the byte, with a shared runtime and with one that is linked statically.

for client in "$client_shared" "$client_static"; do
	for program in storm kinds segments pools refused; do
		case_of "fronts-$(basename "$client")-$program"
		scenario='fault unusable'
		traced --cuda auto -- $program
		same .memory "memory by kind"
		# In segments a call fails for another reason than a lack of memory.
		same .refused "refused"
		environment "$tool" dump run | grep -q ' device_tracer .* source=2 ' ||
			fail "nobody says that the driver's functions tell"
		end_case
	done
done
client=$client_shared
