# SPDX-License-Identifier: MIT
# own_memory.sh: what we hold in a program is at most 16 MiB + 1 % of its heap + 80 KiB a live thread, in both modes,
# whatever it does: many threads, a large heap, very many call paths. What a program says of its RSS with us, less what
# it says without. For PyTorch it is anonymous memory and our shared buffers: in RSS are also pages of its libraries'
# files that hold their unwind tables, 15 MiB there, which are the page cache's.
. "$(dirname "$0")/same.sh"
need gcc
gcc -O2 -pthread -fno-omit-frame-pointer -fno-optimize-sibling-calls -o own_memory "$here/own_memory.c" || fail "gcc"

bar_kib() { # threads, heap bytes
	echo $((16 * 1024 + $2 / 100 / 1024 + 80 * $1))
}

at_most() { # what, KiB of ours, the bar
	echo "$1: ${2} KiB of ours, at most $3"
	[ "$2" -le "$3" ] || fail "$1: $2 KiB of ours, the bar is $3"
}

held() { # title, threads, count, bytes, paths
	title=$1
	shift
	bare=$(./own_memory "$@") || fail "$title: does not run"
	for mode in $modes; do
		kib=$(RVPROF_FINALIZE=0 RVPROF_MAX_LOG=8GiB under "$mode" "run.$mode" ./own_memory "$@") || fail "$title, $mode"
		at_most "$title, $mode" $((kib - bare)) "$(bar_kib "$1" $(($2 * $3)))"
		rm -rf "run.$mode"
	done
}

held "64 threads" 64 64000 100 64000
held "600,000 call paths" 2 0 0 600000
held "300,000 blocks of 1 KiB" 1 300000 1024 0
held "40,000 blocks of 16 KiB" 1 40000 16384 0

/usr/bin/python3 -c 'import torch' 2>/dev/null || {
	echo "no PyTorch on this machine: that part is left out"
	exit 0
}
cat >anonymous.py <<'END'
import torch
print(sum(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(("RssAnon", "RssShmem"))))
END
bare=$(OMP_NUM_THREADS=1 /usr/bin/python3 anonymous.py)
kib=$(OMP_NUM_THREADS=1 RVPROF_FINALIZE=0 under full torch.full /usr/bin/python3 anonymous.py) || fail "torch"
buffers=$(du -k torch.full/proc.*/buffers.rvb | awk '{ sum += $1 } END { print sum }')
at_most "import torch, full" $((kib - bare + buffers)) "$(bar_kib 1 $((bare * 1024)))"
