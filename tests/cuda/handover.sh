# SPDX-License-Identifier: MIT
# handover.sh: a program that starts a profiler of its own finds CUPTI free, and gets what it gets without us: its output is
# compared by `traced`. What we have up to then is whole, and memory goes on.

handed_over() { # CASE CUPTI CUDA KERNELS
	case_of "handover-$1"
	cupti=$2
	scenario='kernel * 20us'
	[ "$2" = 12 ] && scenario="$scenario; driver 12060; cupti 24"
	traced --cuda $3 -- profiler
	grep -q '^subscribed: 0$' plain.out || fail "the simulation refuses the program itself: $(head -n 1 plain.out)"
	grep -q '^its profiler: 100 kernels; .* 0 of somebody' plain.out || fail "$(sed -n 2p plain.out)"
	is log.json .kernel_count "$4" "kernels up to there"
	same .memory "memory by kind, through to the end"
	said 'kernels are not: another client of CUPTI' 1
	[ "$(wc -l <traced.err)" = 1 ] || fail "not one line: $(cat traced.err)"
	is run/summary.json '.lost.reasons // {}' '{}' "losses"
	environment "$tool" dump run | grep -q ' device_tracer .* source=2 .*another client of CUPTI' || fail "the log does not say so"
	end_case
}
handed_over full 13 full 10
handed_over full-12 12 full 10
handed_over lowest-tier 13 auto 0

# Where it can't be left the program finds it taken, and one line says why; we lose nothing.
case_of handover-cannot
scenario='cupti 130000; kernel * 20us'
rm -rf run
environment timeout -k 5 60 "$tool" run -q -o run --cuda full -- "$client" profiler >traced.out 2>traced.err
grep -q '^subscribed: 39$' traced.out || fail "says $(head -n 1 traced.out)"
said 'finds it taken, since .*13.0.0' 1
[ "$(wc -l <traced.err)" = 1 ] || fail "not one line: $(cat traced.err)"
is run/summary.json .kernels.count 115 "kernels of all the run"
end_case

# With --cuda off nobody stands in the way.
case_of handover-off
traced --cuda off -- profiler
[ ! -s traced.err ] || fail "says: $(cat traced.err)"
end_case
