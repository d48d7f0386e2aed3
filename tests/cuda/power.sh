# SPDX-License-Identifier: MIT
# power.sh: power of devices as NVML tells it: its counter of energy, the watts of now where there is none, or why neither.

# draws NAME SCENARIO WATTS SAMPLED: the mean watts to a twentieth (the moments of reading are the machine's), and whether joules
# were counted.
draws() {
	case_of "power-$1"
	scenario=$2
	environment timeout -k 5 60 "$tool" run -q -o run --power gpu=nvml -- sleep 0.5 2>traced.err || fail "status $?"
	is run/summary.json '.energy | .source' '"gpu=nvml"' 'the source'
	is run/summary.json ".energy | .mean_watts > $3 * 0.95 and .mean_watts < $3 * 1.05" true 'mean watts'
	is run/summary.json '.energy | (.total_joules / .duration_s / .mean_watts) | . > 0.9 and . < 1.1' true 'joules and watts'
	is run/summary.json '.energy.sources[0] | has("counted_joules")' "$4" 'counted joules'
	is run/summary.json '.energy.is_mock' null 'no mock'
	[ -s run/power.gpu.csv ] || fail 'there is no power.gpu.csv'
	end_case
}
draws counter '' 200 true
draws two 'devices 2' 450 true
draws old-card 'nvml no-energy' 200 false

refused() { # NAME SCENARIO WORDS: before the program starts
	case_of "power-$1"
	scenario=$2
	environment timeout -k 5 60 "$tool" run -q -o run --power nvml -- touch started 2>traced.err
	[ $? = 125 ] || fail 'status is not 125'
	said "^rvprof: cannot measure power by nvml: .*$3" 1
	[ ! -e started ] && [ ! -e run ] || fail 'something was started or left'
	end_case
}
refused no-power 'nvml no-power' 'tells neither energy nor power'
refused absent 'nvml absent' 'the driver does not answer'
