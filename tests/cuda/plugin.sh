#!/bin/sh
# SPDX-License-Identifier: MIT
# plugin.sh: what librvprof_cupti.so records of the client programs on simulated CUDA, against the client's own account:
# kernels by name, memory by kind to the byte, copies, sets; under libcupti 12 and 13, with a shared runtime and a static
# one; and under each fault the program's own result, the line that is said, and the loss that is counted.
#
# Usage: plugin.sh FAKES LIBRARY TOOL CLIENT STATIC_CLIENT OTHER_INJECTION OTHER_CLIENT
set -u
fakes=$1 library=$2 tool=$3 client=$4 static=$5 other=$6 other_client=$7
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
say() { echo "$*" && failed=1; }
ulimit -c 0

# run SCENARIO CUPTI CUDA CLIENT PROGRAM [COUNT]: out, err, account, dump, status
run() {
	scenario=$1 cupti=$2 cuda=$3 under_test=$4
	what="$(basename "$4") $5 --cuda $3, libcupti $2, '$1'"
	shift 4
	rm -rf "$scratch/run"
	SIMCUDA=$scenario LD_LIBRARY_PATH="$fakes:$fakes/$cupti" LD_PRELOAD=$library RVPROF_FINALIZE=0 RVPROF_CUDA=$cuda \
		RVPROF_OUTPUT=$scratch/run timeout 60 "$under_test" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	SIMCUDA=$scenario LD_LIBRARY_PATH="$fakes:$fakes/$cupti" timeout 60 "$under_test" "$@" >"$scratch/bare" 2>"$scratch/bare.err" \
		</dev/null
	bare=$?
	[ $bare = 96 ] && say "$what: $(cat "$scratch/bare.err")"
	[ $status = $bare ] || say "$what: status $status, $bare without the profiler"
	cmp -s "$scratch/bare" "$scratch/out" || say "$what: another output with the profiler"
	sed -n 's/^account: //p' "$scratch/out" >"$scratch/account"
	timeout 60 "$tool" dump "$scratch/run" >"$scratch/dump"
}

loss() {
	timeout 20 "$tool" info "$scratch/run" --json |
		jq -r --arg reason "$1" '[.processes[].lost.reasons[$reason] // 0, .lost.reasons[$reason] // 0] | max'
}
is() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || say "$what: $1 $2 where $3 is right"
}

# Kernels in the log by name, as the account has them.
kernels() {
	awk '/ device_name / { number = $0; sub(/.* number=/, "", number); sub(/ .*/, "", number)
			text = $0; sub(/.* text="/, "", text); sub(/"$/, "", text); name[number] = text }
		/ kernel_shape / { shape = $0; sub(/.* shape=/, "", shape); sub(/ .*/, "", shape)
			of = $0; sub(/.* name=/, "", of); sub(/ .*/, "", of); named[shape] = name[of] }
		/ kernel / { shape = $0; sub(/.* shape=/, "", shape); sub(/ .*/, "", shape); count[named[shape]]++ }
		END { for (text in count) print text, count[text] }' "$scratch/dump" | LC_ALL=C sort
}
check_kernels() {
	kernels >"$scratch/ours"
	jq -r '.kernels | to_entries[] | "\(.key) \(.value)"' "$scratch/account" | LC_ALL=C sort >"$scratch/theirs"
	diff "$scratch/theirs" "$scratch/ours" >"$scratch/diff" || say "$what: kernels: $(cat "$scratch/diff")"
}

sum() { # RECORD FIELD=VALUE: count and bytes
	awk -v record=" $1 " -v field=" $2 " 'index($0, record) && (field == "  " || index($0 " ", field)) {
			count++; sub(/.* bytes=/, ""); bytes += $1 + 0 }
		END { printf "%d %.0f\n", count, bytes }' "$scratch/dump"
}
check_memory() {
	number=0
	for kind in plain ordered managed pinned registered physical array; do
		# The account leaves registered memory out, which is the program's own.
		[ $kind = registered ] || is "allocs and bytes, $kind:" "$(sum device_alloc kind=$number)" \
			"$(jq -r --arg kind "$kind" '.memory[$kind] // {} | "\(.allocs // 0) \(.bytes // 0)"' "$scratch/account")"
		number=$((number + 1))
	done
	is frees "$(grep ' device_free ' "$scratch/dump" | grep -vc ' kind=[47] ')" \
		"$(jq '[.memory[] | .frees] | add // 0' "$scratch/account")"
	grep ' device_alloc ' "$scratch/dump" | grep -q ' stack=0 ' && say "$what: an alloc without its call path"
	is "refused:" "$(sum device_refused '')" "$(jq -r '.refused | "\(.count) \(.bytes)"' "$scratch/account")"
}
check_copies() {
	is "copies:" "$(sum device_copy from_device=0)" \
		"$(jq -r '[.copies[]] | "\([.[].count] | add // 0) \([.[].bytes] | add // 0)"' "$scratch/account")"
	is "sets:" "$(sum device_set '')" "$(jq -r '.sets | "\(.count) \(.bytes)"' "$scratch/account")"
}

# Everything, by the account.
all='decode storm graphs pools kinds segments threads devices'
for case in "13 $client $all" "13 $static decode kinds" "12 $client decode graphs pools"; do
	set -- $case
	old=
	[ "$1" = 12 ] && old='driver 12060; cupti 24; '
	version=$1 binary=$2
	shift 2
	for program; do
		run "${old}devices 2" $version full "$binary" $program
		check_kernels
		check_memory
		check_copies
		is losses "$(timeout 20 "$tool" info "$scratch/run" --json | jq -c '[.lost.reasons, .processes[].lost.reasons] | add')" '{}'
		grep -q ' device_tracer .* source=1 tier=5 ' "$scratch/dump" || say "$what: CUPTI does not tell"
		is "said:" "$(cat "$scratch/err")" ''
	done
done

# The lowest tier: memory to the byte, and nothing that CUPTI writes to buffers.
run '' 13 auto "$client" decode
check_memory
is "kernels at the lowest tier:" "$(grep -c ' kernel ' "$scratch/dump")" 0
grep -q " device_tracer .* tier=1 is_auto=1 .* launches=$(jq .kernel_count "$scratch/account") .*reason=\"the end\"" \
	"$scratch/dump" || say "$what: launches are not counted: $(grep ' device_tracer ' "$scratch/dump")"
run '' 13 off "$client" decode
is "records with --cuda off:" "$(grep -c ' device_' "$scratch/dump")" 0

# Launches: each has a path, and every kernel its launch.
run '' 13 full "$client" decode
is launches "$(grep -c ' launch ' "$scratch/dump")" "$(jq .kernel_count "$scratch/account")"
grep ' launch ' "$scratch/dump" | grep -q ' stack=0 ' && say "$what: a launch without its call path"
awk '{ tid = $0; sub(/.* correlation=/, "", tid); sub(/ .*/, "", tid) }
	/ launch / { launch[tid] = 1 }
	/ kernel / { kernel[tid] = 1 }
	END { for (one in kernel) if (!(one in launch)) print "a kernel without a launch: " one }' "$scratch/dump" >"$scratch/alone"
[ -s "$scratch/alone" ] && say "$what: $(cat "$scratch/alone")"
grep -q ' graph_node .* stack=[1-9]' "$scratch/dump" && say "$what: nodes of a graph that there is not"
run '' 13 full "$client" graphs
grep -q ' graph_node .* original=0 .* stack=[1-9]' "$scratch/dump" || say "$what: a node that was made has no call path"
grep -q ' graph_node .* original=[1-9]' "$scratch/dump" || say "$what: no node is a copy of another"

# A way to end that is no return from main, and one that nobody sees.
for program in quick_exit fork reset; do
	run '' 13 full "$client" $program
	[ $program = fork ] || check_kernels
	is "device_late:" "$(loss device_late)" 0
done
run '' 13 full "$client" killed
grep -q ' device_alloc ' "$scratch/dump" || say "$what: nothing was left of a killed program"

# Faults whose records are looked at one by one; the others are in faults.sh. Of what CUPTI gave, all is there.
whole() { check_kernels; check_memory; check_copies; }
run 'fault late-completion 20ms' 13 full "$client" decode; whole
run 'fault late-completion 5s' 13 full "$client" decode; check_memory
[ "$(loss device_late)" -gt 0 ] || say "$what: what came too late is not counted"
run 'fault null-buffers' 13 full "$client" decode; whole
run 'cupti 130300' 13 full "$client" decode; whole
run 'fault zero-times after 10' 13 full "$client" decode; check_kernels
zero=$(jq '.kernel_count - 10' "$scratch/account")
is device_flaw "$(loss device_flaw)" "$zero"
is "kernels with flaw 1:" "$(grep ' kernel ' "$scratch/dump" | grep -c 'flaw=1')" "$zero"
run 'fault backward after 10' 13 full "$client" decode; check_kernels
is "kernels with flaw 2:" "$(grep ' kernel .* duration_ns=0 ' "$scratch/dump" | grep -c 'flaw=2')" "$zero"

# CUPTI that can't be had, and the other faults: faults.sh.
run 'fault enable 10 43' 13 full "$client" decode
grep -q '^rvprof: CUDA: not all .* MIG' "$scratch/err" || say "$what: says: $(cat "$scratch/err")"
check_memory
check_copies

# --sync-steps: a wait before each begin and each end of a step, and none without it.
run '' 13 auto "$client" decode 5
is "waits:" "$(grep -c ' device_overhead .* kind=268435456 ' "$scratch/dump")" 0
export RVPROF_SYNC_STEPS=1
run '' 13 auto "$client" decode 5
is "waits:" "$(grep -c ' device_overhead .* kind=268435456 ' "$scratch/dump")" "$(grep -c ' step ' "$scratch/dump")"
unset RVPROF_SYNC_STEPS

# A library of the user's own is started too; one that is a client of CUPTI's is started instead.
export CUDA_INJECTION64_PATH=$other
run '' 13 full "$client" decode; whole
is "said:" "$(cat "$scratch/err")" "the user's library is started"
export CUDA_INJECTION64_PATH=$other_client
run '' 13 full "$client" decode; check_memory
grep -q "the user's client is started" "$scratch/err" || say "$what: the user's client was not started"
is "lines:" "$(grep -c '^rvprof: CUDA: .* client of CUPTI' "$scratch/err")" 1
grep -q ' device_tracer .* source=2 ' "$scratch/dump" || say "$what: the log does not say who tells"
exit $failed
