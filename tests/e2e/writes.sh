# writes.sh: with --writes window a program does what it does without, and stores that are there from the start are found.
. "$(dirname "$0")/same.sh"
need gcc
gcc -O1 -g -I"$here/../../include" "$here/writes_program.c" -o writes_program -lpthread -ldl || fail "gcc"
RVPROF_WRITES=window
export RVPROF_WRITES

# Where the kernel does not tell of writes only what the program does can be compared.
refused=
found() { # label kv_bytes
	for mode in $modes; do
		"$E2E_TOOL" report --color never "$1.$mode" >"$1.report" 2>&1
		why=$(grep -m 1 -E 'could not be followed: (this kernel|userfaultfd|/proc|a seccomp)' "$1.report") &&
			refused=$why && continue
		holds "$1.$mode" "(.host.categories.kv_cache.max_bytes // 0) == $2"
		[ "$2" = 0 ] || holds "$1.$mode" ".host.categories.kv_cache.evidence.writes == $2"
	done
}

for case in tokens transposed pages decoys unmap discard huge fork fill; do
	same $case ./writes_program $case
	found $case "$(said $case.out store_bytes)"
done
same lone ./writes_program lone
found lone 0

# What moves or is disturbed by other threads is not always met at rest; the program must not notice.
same realloc ./writes_program realloc
same mremap ./writes_program mremap
same threads ./writes_program threads

for case in tokens transposed fork realloc mremap; do
	same $case.marked ./writes_program $case marked
	found $case.marked "$(said $case.marked.out store_bytes)"
	[ -n "$refused" ] || for mode in $modes; do
		holds $case.marked.$mode '.steps.count == 150 and .steps.in_write_window >= 16 and .steps.in_write_window <= 18'
	done
done

# Nothing is followed unless it is asked for.
unset RVPROF_WRITES
same off ./writes_program tokens
for mode in $modes; do
	holds off.$mode '(.host.categories.kv_cache.max_bytes // 0) == 0'
done
[ -z "$refused" ] || skip "$refused"
