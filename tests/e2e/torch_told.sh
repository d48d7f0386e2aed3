# torch_told.sh: sourced by the tests of the PyTorch adapter: what it told, against what a script says of itself.
. "$(dirname "$0")/same.sh"
need python3
python3 -c 'import torch' 2>/dev/null || skip "no PyTorch on this machine"
modes=sampled # there each tensor of the CPU is recorded: they are aligned
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

# named FOLDER CATEGORY: bytes of the blocks that carry a tag of this category, each block once.
named() {
	awk -v want="$2" '
	function field(key) { return match($0, " " key "=[^ ]*") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
	$5 == "alloc" { live[field("address")] = field("bytes"); delete done[field("address")] }
	$5 == "tag" && field("category") == "\"" want "\"" {
		at = field("address")
		if (!(at in live)) print "no block at " at >"/dev/stderr"
		if (!(at in done)) total += live[at]
		done[at] = 1
	}
	END { print total + 0 }' "$1.dump"
}
dumped() { # FOLDER: what matters here of its records; a run of PyTorch has a million others
	"$E2E_TOOL" dump "$1" 2>"$1.dump.err" | grep -E ' tid=[0-9]+ (alloc|tag|step|scope|adapter) ' >"$1.dump"
	[ -s "$1.dump" ] && [ ! -s "$1.dump.err" ] || fail "$1: dump: $(tail -n 2 "$1.dump.err")"
}
looked() { # LABEL CMD..: the output is the one without us; no report, that is made for others
	label=$1
	shift
	"$@" >"$label.out" 2>"$label.err" || fail "$label: does not run without us: $(tail -n 3 "$label.err")"
	under sampled "$label.sampled" RVPROF_FINALIZE=0 "$@" >"$label.sampled.out" 2>"$label.sampled.err" ||
		fail "$label: $(tail -n 3 "$label.sampled.err")"
	cmp "$label.out" "$label.sampled.out" || fail "$label: another stdout"
	dumped "$label.sampled"
}
told() { # LABEL CATEGORY TIMES: the script's bytes, so many times
	[ -s "$1.sampled.dump" ] || dumped "$1.sampled"
	wanted=$(($(said "$1.out" "$2_bytes") * $3))
	got=$(named "$1.sampled" "$2")
	[ "$got" = "$wanted" ] || fail "$1: $2: $got bytes are named, it holds $wanted"
}
no_failure() {
	if grep ' adapter .*state=3' "$1.sampled.dump"; then fail "$1: the adapter failed"; fi
	grep -q ' adapter .*state=[12] name="torch" ' "$1.sampled.dump" || fail "$1: no adapter"
}
steps() { # LABEL COUNT
	got=$(grep -c ' step stamp=[0-9]* kind=1 source=3' "$1.sampled.dump")
	[ "$got" = "$2" ] || fail "$1: $got steps begin, not $2"
	got=$(grep -c ' step stamp=[0-9]* kind=2 source=3' "$1.sampled.dump")
	[ "$got" = "$2" ] || fail "$1: $got steps end, not $2"
}
