# allocators.sh: programs under jemalloc, mimalloc and tcmalloc, preloaded before and after us. Either way the calls
# are counted as the program counts them, and the allocator that the user chose serves them.
. "$(dirname "$0")/same.sh"
decode=$E2E_BUILD/examples/decode
found=0

agrees() { # LABEL: the full run's totals and the program's own
	for key in alloc_count free_count alloc_bytes free_bytes; do
		[ "$(summary "$1.full" ".totals.$key")" = "$(said "$1.out" $key)" ] ||
			fail "$1: $key is $(summary "$1.full" ".totals.$key"), the program says $(said "$1.out" $key)"
	done
}

with() { # NAME LIBRARY
	found=1
	PRELOAD_BEFORE='' PRELOAD_AFTER=$2
	same "after.$1" "$decode" --tokens 30
	agrees "after.$1"
	PRELOAD_BEFORE=$2 PRELOAD_AFTER=''
	same "before.$1" "$decode" --tokens 30
	agrees "before.$1"
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
