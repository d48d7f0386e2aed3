# SPDX-License-Identifier: MIT
# lib.sh: what the scripts of this folder share. They run in a folder of their own; $fakes, $client, $tool come from
# run.sh. A scenario is in $scenario; the version of libcupti in $cupti (12 or 13, default 13).
unset LD_PRELOAD CUDA_INJECTION64_PATH SIMCUDA CUDA_HOME CUDA_PATH
scenario='' cupti=13 status=0 case_name=''
ulimit -c 0

fail() {
	echo "FAIL  $case_name: $*"
	for file in plain.err traced.err; do
		[ -s "$file" ] && sed "s/^/      $file: /" "$file" | tail -n 5
	done
	failures=$((failures + 1))
	case_failed=1
}

environment() { # CMD...: with the simulated libraries
	SIMCUDA=$scenario LD_LIBRARY_PATH=$fakes:$fakes/$cupti "$@" </dev/null
}

plain() { # PROGRAM [ARG...]: the client by itself
	environment timeout -k 5 60 "$client" "$@" >plain.out 2>plain.err
	plain_status=$?
}

# traced OPTIONS -- PROGRAM [ARG...]: the client under the profiler; its output and its status must be its own.
traced() {
	options=''
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	plain "$@"
	rm -rf run
	environment timeout -k 5 60 "$tool" run -q -o run $options -- "$client" "$@" >traced.out 2>traced.err
	traced_status=$?
	[ $traced_status = $plain_status ] || fail "status $traced_status, $plain_status without the profiler"
	cmp -s plain.out traced.out || fail "its output is not its own: $(diff plain.out traced.out | head -n 3)"
	sed -n 's/^account: //p' plain.out >account.json
	environment "$tool" dump run --json 2>dump.err | jq -n -c -f "$here/account_of_log.jq" >log.json 2>jq.err ||
		fail "the log cannot be read: $(cat dump.err jq.err | head -n 2)"
}

# same FILTER WHAT: the client's account and the log's agree in what the jq filter takes out of both.
same() {
	wanted=$(jq -c -S "$1" account.json 2>&1)
	got=$(jq -c -S "$1" log.json 2>&1)
	[ "$wanted" = "$got" ] || fail "$2: the log has $got, the client did $wanted"
}

# is FILE FILTER VALUE WHAT
is() {
	got=$(jq -c -S "$2" "$1" 2>&1)
	[ "$got" = "$3" ] || fail "$4: $got, not $3"
}

said() { # PATTERN COUNT: lines on the program's stderr that the profiler wrote
	got=$(grep -c -E "$1" traced.err)
	[ "$got" = "$2" ] || fail "$got lines with '$1' on stderr, not $2"
}

case_of() { # NAME: a new case begins
	case_name=$1
	case_failed=0
	scenario='' cupti=13
	mkdir -p "$scratch/$1" && cd "$scratch/$1" || exit 2
	cases=$((cases + 1))
}

end_case() {
	[ $case_failed = 0 ] && echo "ok    $case_name"
}
