# attn.sh: our attention example: its parts give what attn-mincut's and coherence's own sources gave, compiled and run; its
# lines are the same on every machine; and what the profiler sees of its cache is what arithmetic says.
. "$(dirname "$0")/same.sh"
attn=$E2E_BUILD/examples/attn
lines_sha256=c3e798e4044182ec5a81b44c6468ae7cc861057b615d87768862fb6ab5d2dc62

gives() { # EXPECTED COMMAND..: of standard input
	expected=$1 && shift
	got=$("$attn" "$@") || fail "$*: status $?"
	[ "$got" = "$expected" ] || fail "$*: $got, expected $expected"
}
gives '{"keep_mask":[true,true,false,false,true,true,false,false,true],"cut_cost":0,"edges_kept":5,"edges_total":9}' \
	gate --lambda 0.5 --eps 0.01 <<-.
	[[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]
.
gives '{"keep_mask":[true,false,false,false,true,true,false,false,true],"cut_cost":0.5,"edges_kept":4,"edges_total":9}' \
	gate --lambda 1.0 --eps 0.01 <<-.
	[[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]
.
gives '{"keep_mask":[true,false,false,false,true,true,false,false,true],"cut_cost":0.1,"edges_kept":4,"edges_total":9}' \
	gate --lambda 0.5 --eps 0.01 <<-.
	[[1, 0.1, 0], [0, 1, 0.1], [0, 0, 1]]
.
gives '{"keep_mask":[true,false,true,true],"cut_cost":1,"edges_kept":3,"edges_total":4}' gate --lambda 0.5 <<-.
	[[5, 1], [1, 5]]
.
gives '{"keep_mask":[false,false,false,false],"cut_cost":0,"edges_kept":0,"edges_total":4}' gate <<-.
	[[-1, -1], [-1, -1]]
.
gives '{"keep_mask":[false],"cut_cost":0,"edges_kept":0,"edges_total":1}' gate <<-.
	[[1]]
.
apart() { # EXPECTED LISTS
	got=$(printf '%s\n' "$2" | "$attn" coherence)
	case $got in
	"$1"*) ;;
	*) fail "coherence of $2: $got, expected $1" ;;
	esac
}
apart '{"coherence_delta":-1.3333333333333335,"decision_flips":2,"path_length_change":0,' '{"baseline":[1,-1,1],"gated":[-1,1,1]}'
apart '{"coherence_delta":-1,"decision_flips":0,"path_length_change":0,' '{"baseline":[1,0],"gated":[0,1]}'
apart '{"coherence_delta":0,"decision_flips":0,"path_length_change":1,' '{"baseline":[3,4],"gated":[6,8]}'
apart '{"coherence_delta":-1,"decision_flips":0,"path_length_change":0,' '{"baseline":[0,0],"gated":[1,1]}'
apart '{"coherence_delta":-0.0009409436453934328,"decision_flips":0,"path_length_change":0.015240976692407981,' \
	'{"baseline":[1,2,3],"gated":[1.1,1.9,3.1]}'
apart '{"coherence_delta":0,"decision_flips":1,"path_length_change":0,' '{"baseline":[0,1],"gated":[-0.0,1]}'
apart '{"mean_coherence_delta":-0.5,"n_samples":2,"std":0.7071067811865476,"ci_95":[-1.48,0.48],"pass_rate":0.5}' \
	'{"baseline":[[1,0],[1,0]],"gated":[[1,0],[0,1]]}'
apart '{"jaccard":0.5,"edge_flips":2,"baseline_edges":3,"gated_edges":3,"sparsity_ratio":1}' \
	'{"baseline":[true,true,false,false,true],"gated":[true,false,false,true,true]}'
gives '[true]
[true]
[true]
[true]
[true]' hysteresis --tau 3 <<-.
	[[true], [false], [true], [false], [false]]
.
gives '[true,false]
[true,false]
[false,true]' hysteresis --tau 2 <<-.
	[[true, false], [false, true], [false, true]]
.

refused() { # COMMAND..: of standard input
	status=0
	"$attn" "$@" >out 2>err || status=$?
	[ $status = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] || fail "$*: $(cat out err)"
}
echo '[[1, 2], [3]]' >in && refused gate <in
echo '[[1, "a"], [3, 4]]' >in && refused gate <in
echo '[[1, 2' >in && refused gate <in
echo '{"baseline": [1]}' >in && refused coherence <in
refused run --samples 0 </dev/null
refused run --lengths 100 </dev/null
refused run --lambda x </dev/null

# The same lines wherever it runs: found with gcc and clang, from -O0 to -O3 with every instruction set of the machine.
"$attn" run --lambda 0.5 --samples 30 --witness lines >gated.out || fail "run: status $?"
[ "$(wc -l <lines)" = 120 ] || fail "$(wc -l <lines) lines, 4 decisions of 30 prompts are 120"
sha256sum lines | grep -q "^$lines_sha256 " || fail "other lines than elsewhere"
"$attn" run --baseline --samples 30 >whole.out
grep -q '"decision_flips":0,"path_length_change":0,"pages_left":1}' whole.out || fail "without a gate nothing may change"

# A page is 32 tokens of 64 keys and 64 values: 16,384 bytes; ten prompts each of 256, 512 and 1,024 tokens have 560.
under full whole "$attn" run --baseline --samples 30 >profiled.out
cmp whole.out profiled.out || fail "the profiler changed the output"
equal() { # KEY VALUE
	got=$(summary whole "$1")
	[ "$got" = "$2" ] || fail "$1: $got, expected $2"
}
equal .host.categories.kv_cache.alloc_count 560
equal .host.categories.kv_cache.max_bytes $((32 * 16384))
equal .host.categories.kv_cache.at_end_bytes 0
equal .steps.count 30
