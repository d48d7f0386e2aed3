# own_malloc.sh: a program with its own allocator linked in is seen at the level of mmap, and is not stopped.
. "$(dirname "$0")/same.sh"
need gcc
gcc -shared -fPIC -DCONSTRUCTOR "$here/own_malloc.c" -o libfirst.so || fail "gcc"
gcc -w -O1 -rdynamic -fno-builtin "$here/own_malloc.c" -o own -Wl,--no-as-needed -L. -lfirst -Wl,-rpath,"$PWD" || fail "gcc"
./own >own.out || fail "does not run without us"
for mode in $modes; do
	under "$mode" "own.$mode" ./own >"own.$mode.out" 2>"own.$mode.err"
	got=$?
	[ $got = 0 ] || fail "$mode: status $got"
	cmp own.out "own.$mode.out" || fail "$mode: another stdout"
	quiet_stderr "own.$mode.err"
	holds "own.$mode" ".run.complete == true and .lost.records == 0 and .totals.map_bytes >= $(said own.out region_bytes)"
done
