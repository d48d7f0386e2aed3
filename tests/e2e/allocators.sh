# allocators.sh: programs under jemalloc, mimalloc and tcmalloc, preloaded before and after us. An allocator before
# us takes the calls itself, so we see none of them and must say so; one after us serves what we have counted.
. "$(dirname "$0")/same.sh"
decode=$E2E_BUILD/examples/decode
found=0

sees_nothing() { # FOLDER: an honest answer where every call passes us by
	[ -s "$1/summary.json" ] || fail "$1: no summary.json"
	holds "$1" '.run.complete == true and .lost.records == 0 and .totals.alloc_count < 100'
}

with() { # NAME LIBRARY
	found=1
	PRELOAD_BEFORE='' PRELOAD_AFTER=$2
	same "after.$1" "$decode" --tokens 30
	for key in alloc_count free_count alloc_bytes free_bytes; do
		[ "$(summary "after.$1.full" ".totals.$key")" = "$(said "after.$1.out" $key)" ] ||
			fail "after.$1: $key differs from the program's own"
	done
	PRELOAD_BEFORE=$2 PRELOAD_AFTER=''
	without "$decode" --tokens 30 >before.out || fail "decode fails under $1"
	for mode in $modes; do
		under "$mode" "before.$1.$mode" "$decode" --tokens 30 >before.got 2>before.err ||
			fail "decode fails under $1 before us: $(tail -n 2 before.err)"
		cmp before.out before.got || fail "$1 before us, $mode: another stdout"
		quiet_stderr before.err
		sees_nothing "before.$1.$mode"
	done
}

library() { # NAME FILE...
	name=$1
	shift
	file=$(first_file "$@")
	[ -z "$file" ] || with "$name" "$file"
}

lib=/usr/lib/x86_64-linux-gnu
library jemalloc $lib/libjemalloc.so.2
library mimalloc $lib/libmimalloc.so.2.0 $lib/libmimalloc.so.2 $lib/libmimalloc-secure.so.2.0
library tcmalloc $lib/libtcmalloc_minimal.so.4
[ $found = 1 ] || skip "none of jemalloc, mimalloc and tcmalloc is on this machine"
