# SPDX-License-Identifier: MIT
# alone.sh: the clients without the profiler: dynamic and static runtime do the same, another CUPTI client changes nothing,
# and a scenario that cannot be read ends the program with its place.

for program in decode storm graphs pools kinds segments threads flood reset; do
	case_of "alone-$program"
	scenario='kernel * 5us'
	plain $program
	[ $plain_status = 0 ] || fail "status $plain_status"
	mv plain.out dynamic.out
	client=$client_static
	plain $program
	client=$client_shared
	cmp -s plain.out dynamic.out || fail "with a static runtime: $(diff plain.out dynamic.out | head -n 3)"
	export CUDA_INJECTION64_PATH="$inject" RECORD_BUFFERS=buffers
	plain $program
	unset CUDA_INJECTION64_PATH RECORD_BUFFERS
	cmp -s plain.out dynamic.out || fail "with another CUPTI client: $(diff plain.out dynamic.out | head -n 3)"
	[ -s buffers ] || fail "the other CUPTI client got nothing"
	end_case
done

case_of alone-wrong-scenario
printf 'memory 1GiB\nfault nonsense\n' >wrong
scenario='@wrong'
plain decode
[ $plain_status = 96 ] || fail "status $plain_status"
grep -q '^scenario wrong:2: expected a fault' plain.err || fail "$(cat plain.err)"
end_case
