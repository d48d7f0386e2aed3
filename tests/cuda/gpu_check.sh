# SPDX-License-Identifier: MIT
# gpu_check.sh: tests/gpu/check.py, which holds runs on a real GPU against their programs' accounts, on a simulated run: that the
# keys and columns that it asks for are those that there are, and that it does say no. What it says of a device is not tried here.

# The client's account as the programs of tests/gpu print theirs: bare names of kernels, and categories.
account_for() { # JQ_FILTER
	jq -c '.kernels' account.json | c++filt | sed 's/"\(void \)\{0,1\}\([A-Za-z_:]*\)[<(][^"]*"/"\2"/g' >kernels.json
	jq -c --slurpfile kernels kernels.json \
		"{kernels: \$kernels[0], categories: {weights: 8388608, kv_cache: 2097152}, peak_bytes} | $1" account.json |
		sed 's/^/account: /' >account.txt
}
checked() { # WANTED_STATUS WHAT
	python3 "$source/tests/gpu/check.py" account account.txt run --category-percent 1 >check.out 2>&1
	got=$?
	[ $got = "$1" ] || fail "$2: status $got: $(tail -n 3 check.out)"
}

if ! command -v python3 >/dev/null || ! command -v c++filt >/dev/null; then
	skipped='no python3 or no c++filt'
else
	case_of gpu-check-account
	scenario='kernel * 20us'
	traced --cuda full -- decode
	account_for .
	checked 0 "a run that is as its program says"
	[ "$(grep -c '^ok .*kernel ' check.out)" = 4 ] || fail "kernels that were checked: $(cat check.out)"
	for what in weights kv_cache 'peak of live' 'ledger of cuda:0 at peak' 'ledger of cuda:0 at end' 'lost of the device'; do
		grep -q "^ok .*$what" check.out || fail "nothing is said of $what"
	done
	for wrong in '.kernels |= with_entries(.value += 1)' '.categories.weights += 100000' '.peak_bytes += 1'; do
		account_for "$wrong"
		checked 1 "$wrong"
	done
	account_for .
	for rotten in 'del(.device[].peak_live_bytes)' 'del(.device[].ledger[].process_bytes)' 'del(.device[].categories)' \
		'del(.lost)' '.device[].ledger[].unexplained_bytes = 200000000' '.lost.reasons.device_dropped = 1'; do
		cp run/summary.json whole.json
		jq "$rotten" whole.json >run/summary.json
		checked 1 "$rotten"
		cp whole.json run/summary.json
	done
	end_case

	case_of gpu-check-kernels
	scenario='kernel * 20us'
	traced --cuda full -- decode
	python3 - run/kernels.csv >torch.json <<'PYTHON'
import csv, json, sys
kernels = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    count, total = kernels.get(row["name"], (0, 0))
    kernels[row["name"]] = (count + 1, total + int(row["duration_ns"]))
print(json.dumps(kernels))
PYTHON
	python3 "$source/tests/gpu/check.py" kernels torch.json run >check.out 2>&1 || fail "$(cat check.out)"
	jq 'map_values([.[0], .[1] * 1.02])' torch.json >slower.json
	python3 "$source/tests/gpu/check.py" kernels slower.json run >check.out 2>&1 && fail "2 % are no difference to it"
	end_case
fi
