# bench.sh: a sweep from its command to a checked answer; killed and gone on with it is the same; what is wrong is said before
# anything runs.
. "$(dirname "$0")/same.sh"
need jq
attn=$E2E_BUILD/examples/attn
rvprof() { "$E2E_TOOL" "$@"; }
sweep() { # FOLDER MORE..
	folder=$1 && shift
	rvprof bench -q -o "$folder" --samples 12 --repeats 2 --warm-up 0 --precision 1000 --name 'mincut_l{lambda}_t{tau}' \
		--grid lambda=0.3,0.7 --grid tau=0,2 --power mock:75 --baseline "$attn run --baseline --samples {samples} --seed {seed}" \
		"$@" -- "$attn" run --lambda '{lambda}' --tau '{tau}' --samples '{samples}' --seed '{seed}' --witness '{witness}'
}
same_columns() { # of results.csv: all but energy and latency
	cut -d, -f1-4,7 "$1/csv/results.csv"
}

sweep one --json >one.json || fail "sweep: status $?"
[ "$(find one -type f -not -path '*/figs/*' | sort | tr '\n' ' ')" = "one/csv/baseline.csv one/csv/mincut_l0.3_t0.csv one/csv/mincut_l0.3_t2.csv \
one/csv/mincut_l0.7_t0.csv one/csv/mincut_l0.7_t2.csv one/csv/results.csv one/witness/mincut_l0.3_t0.jsonl \
one/witness/mincut_l0.3_t2.jsonl one/witness/mincut_l0.7_t0.jsonl one/witness/mincut_l0.7_t2.jsonl one/witness/witness.rvf " ] ||
	fail "other files than promised: $(find one -type f)"
head -n 1 one/csv/results.csv | grep -qx 'setting,coherence_delta,kv_cache_reduction,peak_mem_reduction,energy_reduction,p95_latency_us,accuracy' ||
	fail "the header of results.csv"
head -n 1 one/csv/baseline.csv | grep -qx 'sample_id,seq_len,wall_time_us,peak_mem_bytes,energy_j' || fail "the header of baseline.csv"
[ "$(cut -d, -f1 one/csv/results.csv | tr '\n' ' ')" = "setting mincut_l0.3_t0 mincut_l0.3_t2 mincut_l0.7_t0 mincut_l0.7_t2 " ] ||
	fail "rows are not in the grid's order"

# The KV cache's mean peak over 12 prompts: 4 of 256 tokens, 4 of 512, 4 of 1,024, at 512 bytes a token where nothing is evicted.
kv=$(jq '.rows[0].mean_kv_cache_bytes' one.json)
[ "$kv" = $(((256 + 512 + 1024) * 512 * 4 / 12)) ] || awk "BEGIN { exit !(($kv - 305834.67)^2 < 1) }" || fail "baseline: $kv bytes"
jq -e '.rows[1].kv_cache_reduction > .rows[2].kv_cache_reduction and .rows[2].kv_cache_reduction > 0' one.json >/dev/null ||
	fail "hysteresis must keep more than none does: $(jq -c '[.rows[].kv_cache_reduction]' one.json)"
[ -s one/figs/axis-lambda.gp ] && [ -s one/figs/axis-tau.gp ] && [ -s one/figs/pareto.gp ] && [ -s one/figs/times.gp ] ||
	fail "figures: $(ls one/figs)"
if command -v gnuplot >/dev/null; then
	for figure in axis-lambda axis-tau pareto times; do
		grep -q '</svg>' one/figs/$figure.svg || fail "figs/$figure.svg is not drawn"
	done
fi

# What the program says of itself, and the profiler passes on.
"$attn" run --lambda 0.3 --tau 2 --samples 12 >said
[ "$(awk -F, '$1 == "mincut_l0.3_t2" { print $2 }' one/csv/results.csv)" = "$(jq .coherence_delta said)" ] || fail "coherence_delta"
[ "$(awk -F, '$1 == "mincut_l0.3_t2" { print $7 }' one/csv/results.csv)" = "$(jq .accuracy said)" ] || fail "accuracy"

# Anybody can check it, and a changed digit is found.
rvprof verify one >verified || fail "verify: $(cat verified)"
cp -R one tampered && sed -i '2s/,-0\.0/,-0.1/' tampered/csv/results.csv
cmp -s one/csv/results.csv tampered/csv/results.csv && fail "nothing was tampered with"
rvprof verify tampered >verified && fail "a changed digit was not found"
grep -q '^does not hold *csv/results.csv:' verified || fail "$(cat verified)"

# The report, in three forms; each has every setting.
for form in md html csv; do
	rvprof bench --report one --format $form >report.$form || fail "report as $form: status $?"
	[ "$(grep -c 'mincut_l0\.[37]_t[02]' report.$form)" -ge 4 ] || fail "report as $form: $(cat report.$form)"
done
grep -q 'Holm' report.md && grep -q '</html>' report.html || fail "reports"

# Killed again and again: what comes out is the same, and every job was done once.
sweep two -f >/dev/null 2>&1 & # the first to be killed
for pause in 0.3 0.7 1.1 0.5 0.9; do
	sleep $pause
	pkill -KILL -f "$E2E_TOOL bench -q -o two " 2>/dev/null
	wait
	sweep two --resume >/dev/null 2>&1 &
done
wait
[ -f two/csv/results.csv ] || sweep two --resume >/dev/null || fail "resume: status $?"
rvprof verify two >/dev/null || fail "the resumed sweep does not hold"
same_columns one >one.columns && same_columns two >two.columns
cmp one.columns two.columns || fail "a sweep that was killed comes to something else"
for file in one/witness/*.jsonl; do
	cmp "$file" "two/witness/${file##*/}" || fail "other decisions"
done
[ "$(ls .two.rvprof-bench/jobs/baseline | tr '\n' ' ')" = "again.0 again.1 record time.0 time.1 " ] ||
	fail "jobs: $(ls .two.rvprof-bench/jobs/baseline)"

# Wrong use: status 2, a line, nothing run and nothing overwritten.
refused() { # PATTERN WORDS..
	pattern=$1 status=0 && shift
	rvprof bench "$@" >out 2>err || status=$?
	[ $status = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$pattern" err || fail "$*: $status $(cat out err)"
}
refused 'the axis has no values' -o new --grid a= -- true '{a}'
refused "'1' is there twice" -o new --grid a=1,1 -- true '{a}'
refused 'nothing fills {b}' -o new --grid a=1,2 -- true '{a}' '{b}'
refused "the axis 'a' changes nothing" -o new --grid a=1,2 -- true
refused 'baseline is empty' -o new --baseline ' ' -- true
refused 'samples 0' -o new --grid a=1,2 --samples 0 -- true '{a}'
refused 'no command' -o new --grid a=1,2
refused 'no extended regular expression' -o new --metric 'x=(' -- true
refused 'has no group' -o new --metric 'x=acc' -- true
refused 'a sweep is there' -o one -- true
if command -v flock >/dev/null; then
	exec 9>.one.rvprof-bench/lock && flock 9
	for word in --resume -f; do
		refused 'another sweep is at work there' -o one $word -- true 9>&-
	done
	exec 9>&-
	rvprof verify one >/dev/null || fail 'a refused sweep has changed what is there'
fi
refused 'something else is there' -o "$(dirname "$attn")" -- true
echo kept >file && refused 'something else is there' -o file -- true && grep -qx kept file || fail "a file for a folder"
[ ! -e new ] || fail "a refused sweep left a folder"
cp -R one saved && refused 'of other settings' -o one --resume -- true && diff -r one saved || fail "refused, and yet changed"

# Blocks of n bytes, kept: memory grows as n, to the digit, when the rest of the process is small beside them.
rvprof bench -q -o growing --repeats 1 --warm-up 0 --json --grid n=64000000,128000000,256000000,512000000 -- \
	/usr/bin/python3 -S -c 'kept = bytearray({n})' >growing.json || fail "growing: status $?"
jq -e '.growth[] | select(.axis == "n" and .figure == "mean_peak_bytes") | (.exponent - 1) * (.exponent - 1) < 0.001 and .points == 4' \
	growing.json >/dev/null || fail "growth: $(jq -c .growth growing.json)"

# A setting that fails is told, and the others go on; what a program says wrongly of itself is no figure.
status=0
rvprof bench -q -o failing --repeats 1 --warm-up 0 --grid code=0,3 --metric 'x=x=([0-9.]*)' -- \
	sh -c 'echo x=1.5; exit {code}' >failing.out 2>&1 || status=$?
[ $status = 1 ] || fail "a failing setting: status $status"
[ "$(tail -n 1 failing/csv/results.csv)" = "code3,,,,,," ] || fail "$(cat failing/csv/results.csv)"
rvprof bench -q -f -o failing --repeats 1 --warm-up 0 --json --grid v=nan,1 -- sh -c 'echo "{\"accuracy\": {v}}"' >nan.json || fail "nan"
jq -e '.rows[0].metrics.accuracy == null and .rows[1].metrics.accuracy == 1' nan.json >/dev/null || fail "$(cat nan.json)"
! command -v gnuplot >/dev/null || grep -q '</svg>' failing/figs/times.svg || fail "settings of one sample each are not drawn"
# Names with what CSV keeps for itself are quoted; figures are decimals with the least digits, never an exponent.
rvprof bench -q -o quoted --repeats 1 --warm-up 0 --name 'a,b{x}"q' --grid x=1 --metric 'accuracy=acc=([-0-9.e]*)' \
	--metric 'coherence_delta=c=([-0-9.e]*)' -- sh -c 'echo acc=1e-7 c=-0.003 {x}' >/dev/null || fail "a name with a comma"
tail -n 1 quoted/csv/results.csv | grep -q '^"a,b1""q",-0\.003,.*,0\.0000001$' || fail "quoting: $(cat quoted/csv/results.csv)"
rvprof bench --report quoted --json | jq -e '.rows[0].setting == "a,b1\"q"' >/dev/null || fail "a report as JSON"
status=0
rvprof bench -q -o late --repeats 1 --warm-up 0 --timeout 0.5 --grid s=0,20 -- sleep '{s}' >late.out 2>&1 || status=$?
[ $status = 1 ] || fail "a late setting: status $status"

# The same from a file.
cat >plan.ini <<-.
	[sweep]
	samples = 12
	repeats = 1
	warm-up = 0
	grid.lambda = 0.3
	command = "$attn" run --lambda {lambda} --samples {samples}
.
rvprof bench -q -o three --ini plan.ini >/dev/null || fail "a plan in a file: status $?"
grep -q '^lambda0.3,' three/csv/results.csv || fail "$(cat three/csv/results.csv)"
printf '[sweep]\nsample = 3\n' >wrong.ini
refused 'line 2' -o new --ini wrong.ini -- true
