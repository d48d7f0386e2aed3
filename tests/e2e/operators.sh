# operators.sh: a library with malloc and operators new of its own, before and after us: each call is counted once, by
# either way, and the library serves it. What the start of a C++ program takes is the difference of two runs.
. "$(dirname "$0")/same.sh"
need g++ jq
g++ -std=c++17 -O1 -fno-builtin -shared -fPIC "$here/operators_library.cc" -o libown.so || fail "g++"
g++ -std=c++17 -O1 -fno-builtin -w "$here/operators_program.cc" -o program || fail "g++"

grows_as_said() { # LABEL: from the short run to the long one
	for mode in $modes; do
		for key in alloc_count free_count alloc_bytes; do
			ours=$(($(summary "$1.long.$mode" ".totals.$key") - $(summary "$1.short.$mode" ".totals.$key")))
			its=$(($(said "$1.long.out" $key) - $(said "$1.short.out" $key)))
			[ "$ours" = "$its" ] || fail "$1, $mode: $key grew by $ours, the program says by $its"
		done
	done
}

with() { # LABEL OWN
	same "$1.short" ./program 10
	same "$1.long" ./program 3010
	[ "$(sed -n 's/.*own=//p' "$1.long.out")" = "$2" ] || fail "$1: the library serves other blocks: $(cat "$1.long.out")"
	grows_as_said "$1"
}

with alone -1
PRELOAD_AFTER=$PWD/libown.so
with after 1
PRELOAD_AFTER='' PRELOAD_BEFORE=$PWD/libown.so
with before 1
