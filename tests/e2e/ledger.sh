# ledger.sh: the ledger's derived line against the program's own malloc_info, several arenas; what was reserved and not
# touched is not resident; without a readable pagemap the ledger says less, and nothing wrong.
. "$(dirname "$0")/same.sh"
need gcc jq
gcc -O1 -pthread "$here/ledger_heap.c" -o heap || fail "gcc"
row() { # FOLDER NAME KEY: of the last entry
	jq ".host.ledger[] | select(.at == \"end\") | [.rows[] | select(.name == \"$2\") | .$3] | add // 0" "$1/summary.json"
}
for mode in $modes; do
	under "$mode" "heap.$mode" ./heap >"heap.$mode.out" 2>"heap.$mode.err" || fail "$mode: status $?"
	quiet_stderr "heap.$mode.err"
	free=$(said "heap.$mode.out" free_bytes) kept=$(row "heap.$mode" free-or-fragmented resident_bytes)
	echo "$mode: malloc_info says $free bytes are free, the ledger $kept"
	[ $((kept - free)) -le $((free / 50)) ] && [ $((free - kept)) -le $((free / 50)) ] ||
		fail "$mode: malloc_info says $free bytes are free, the ledger $kept"
	untouched=$(($(said "heap.$mode.out" reserved_bytes) - $(said "heap.$mode.out" touched_bytes)))
	less=$(($(row "heap.$mode" unknown bytes) - $(row "heap.$mode" unknown resident_bytes)))
	# Of small blocks only a sample is recorded: their bytes are within twice the 95 % error that is told, 1 in 10,000 is not.
	room=$((3145728 + 2 * $(jq '.totals.error_bytes.end_live_bytes // 0' "heap.$mode/summary.json")))
	[ $((less - untouched)) -le $room ] && [ $((untouched - less)) -le $room ] ||
		fail "$mode: $untouched bytes were never touched, by the ledger $less"
	holds "heap.$mode" "$closing_ledger"
	"$E2E_TOOL" report --ledger "heap.$mode" | grep -q 'reserved is resident' || fail "$mode: nothing is said of it"
	"$E2E_TOOL" report --ledger --json "heap.$mode" >ledger.json || fail "$mode: report --ledger --json"
	# Times move by microseconds with the last anchor of the clock.
	jq -e --slurpfile s "heap.$mode/summary.json" 'def rows: map(del(.t_unix_us, .age_us));
		.schema == "rvprof.ledger/1" and (.ledger | rows) == ($s[0].host.ledger | rows)' ledger.json >/dev/null || fail "$mode: report --ledger --json is not summary.json's"
done

# Where /proc says nothing there are no rows, and the records are whole.
if unshare -m true 2>/dev/null; then
	unshare -m env LIB="$E2E_LIB" sh -c 'mount -t tmpfs none /proc && LD_PRELOAD=$LIB RVPROF_OUTPUT=$PWD/bare exec ./heap' \
		>bare.out 2>bare.err || fail "without /proc: status $?"
	quiet_stderr bare.err
	holds bare '.host.ledger == [] and .lost.records == 0 and .totals.alloc_count >= 64000 and .host.peak_rss_bytes > 0'
	unshare -m env TOOL="$E2E_TOOL" sh -c 'mount -t tmpfs none /proc && exec "$TOOL" run -q -o bare.run -- ./heap' \
		>bare.out 2>bare.err || fail "rvprof run without /proc: status $?: $(cat bare.err)"
	quiet_stderr bare.err
	holds bare.run '.lost.records == 0 and .totals.alloc_count >= 64000'
else
	echo "no mount namespace of our own: without /proc it was not tried"
fi

# A tree that shares pages: RSS counts them once a process, PSS once. Four processes of 32 MiB that one of them wrote; long
# enough that the watcher may read it all within its 1 % where the machine is busy too.
gcc -O1 "$here/ledger_shared.c" -o shared || fail "gcc"
"$E2E_TOOL" run -q -o shared.run -- ./shared 3 32 5000 >shared.out 2>&1 || fail "shared: status $?"
bytes=$(said shared.out shared_bytes)
holds shared.run "[.host.ledger[] | select(.at == \"peak\") | .rss_bytes] | first | . > 4 * $bytes and . < 4 * $bytes + 24000000"
holds shared.run ".host.shared | .process_count == 4 and .rss_bytes > 4 * $bytes and .pss_bytes > $bytes and .pss_bytes < $bytes + 12000000"
holds shared.run '.host.shared | ([.processes[].pss_bytes] | add) == .pss_bytes and ([.processes[].rss_bytes] | add) == .rss_bytes'
holds shared.run "$closing_ledger"
"$E2E_TOOL" report --ledger shared.run | grep -q 'Its 4 processes, shared pages counted once' || fail "nothing is said of PSS"

# What a trim would give back, and what pins the rest: glibc itself says it, without us.
# Where the program's own mappings lie differs from run to run: beside its heaps, across a boundary of arenas, or not.
trim_agrees() { # FOLDER OUT
	trimmed=$(said "$2" trimmed_bytes) ours=$(jq '.host.ledger[] | select(.at == "end") | .trimmable_bytes' "$1/summary.json")
	echo "$1: malloc_trim gives $trimmed bytes back, the ledger says $ours"
	# It is the most: freed chunks in a thread's cache (7 of each small size) do not join their neighbours.
	[ $((ours - trimmed)) -le $((trimmed / 20)) ] && [ $((trimmed - ours)) -le $((trimmed / 100)) ] ||
		fail "$1: malloc_trim gives $trimmed bytes back, the ledger says $ours"
}
./heap trim >trim.out || fail "heap trim: status $?"
trim_agrees heap.full trim.out
for again in 1 2 3 4 5 6; do
	under full heap.$again ./heap >heap.$again.out 2>heap.$again.err || fail "heap again: status $?"
	trim_agrees heap.$again trim.out
done
# The break's top is given back, and no other arena's, however large.
./heap trim tops >tops.out || fail "heap trim tops: status $?"
under full tops.full ./heap tops >tops.full.out 2>tops.err || fail "heap tops: status $?"
trim_agrees tops.full tops.out
holds heap.sampled '[.host.ledger[] | has("trimmable_bytes")] | any | not'
# Of another allocator's nothing of the kind is said.
for library in libjemalloc.so.2 libmimalloc.so.2.0 libtcmalloc_minimal.so.4; do
	file=$(first_file /usr/lib/x86_64-linux-gnu/$library)
	[ -n "$file" ] || continue
	PRELOAD_AFTER=$file
	under full "other.$library" ./heap >other.out 2>other.err || fail "$library: status $?"
	PRELOAD_AFTER=''
	holds "other.$library" '[.host.ledger[] | has("trimmable_bytes") or has("pins")] | any | not'
	"$E2E_TOOL" report --ledger "other.$library" >other.text || fail "$library: report --ledger"
	grep -q "$(basename "$(readlink -f "$file")") allocates here" other.text || fail "$library: nothing is said of it"
	! grep -q malloc_trim other.text || fail "$library: it has no malloc_trim"
done
gcc -O1 -g "$here/ledger_pin.c" -o pin || fail "gcc"
./pin >pin.out || fail "pin: status $?"
pinned=$(said pin.out pinned_bytes)
under full pin.full ./pin stay >/dev/null 2>pin.err || fail "pin stay: status $?"
quiet_stderr pin.err
holds pin.full "[.host.ledger[] | select(.at == \"end\") | .pins[] | .bytes == 2000 and (.place | test(\"make_the_pin\"))
	and (.below_bytes - $pinned | fabs) < $pinned / 50] == [true]"
"$E2E_TOOL" report --ledger pin.full | grep -q 'lie below a live block of .* from make_the_pin' || fail "nothing is said of the pin"
holds pin.full '[.verdicts[] | select(.id == "allocator") | .text | test("below one live block")] == [true]'

# A peak that is over at once: what held it is known all the same, since nobody gives so much back unseen.
gcc -O1 "$here/ledger_spike.c" -o spike || fail "gcc"
for how in free unmap move; do
	for mode in $modes; do
		under "$mode" "$how.$mode" ./spike $how >spike.out 2>spike.err || fail "$how, $mode: status $?"
		quiet_stderr spike.err
		bytes=$(said spike.out spike_bytes)
		holds "$how.$mode" "[.host.ledger[] | select(.at == \"peak\") | .rss_bytes > $bytes and .peak_missed_bytes < .rss_bytes / 20
			and ([.rows[] | select(.name == \"unknown\") | .resident_bytes] | add) > $bytes - 1000000] == [true]"
		holds "$how.$mode" '[.host.ledger[] | select(.at == "peak") | has("unexplained_bytes")] == [true]'
		holds "$how.$mode" "$closing_ledger"
	done
done

# A tree whose first process waits and records next to nothing, as gcc's driver does: its peak is explained.
"$E2E_TOOL" run -q -o driver.run -- sh -c './spike free; true' >spike.out 2>&1 || fail "driver: status $?"
holds driver.run '[.host.ledger[] | select(.at == "peak") | has("unexplained_bytes")] == [true]'
holds driver.run "$closing_ledger"

# The same without `rvprof run`: nobody looks into a driver while it waits. It is known all the same what it holds then: its
# next look, at its end, stands for it.
gcc -O1 "$here/ledger_driver.c" -o driver || fail "gcc"
for how in vfork spawn; do
	for mode in $modes; do
		under "$mode" "$how.$mode" ./driver $how ./spike free >driver.out 2>driver.err || fail "$how, $mode: status $?"
		quiet_stderr driver.err
		bytes=$(($(said driver.out driver_bytes) + $(said driver.out spike_bytes)))
		holds "$how.$mode" "[.host.ledger[] | select(.at == \"peak\") | has(\"unexplained_bytes\") and .rss_bytes > $bytes] == [true]"
		holds "$how.$mode" "$closing_ledger"
	done
done

# gcc itself, its driver under another that waits too: every time.
awk 'BEGIN { for (i = 0; i < 40; i++) printf "int f%d(int a) { int x[9] = {0}; for (int i = 0; i < a; i++) x[i %% 9] += i * %d; return x[a %% 9]; }\n", i, i }' >unit.c
for again in 1 2 3 4 5; do
	under sampled gcc.$again timeout 300 gcc -O2 -c unit.c -o unit.o 2>gcc.err || fail "gcc: status $?"
	quiet_stderr gcc.err
	holds gcc.$again '.run.processes >= 4'
	holds gcc.$again '[.host.ledger[] | select(.at == "peak") | has("unexplained_bytes") and .peak_missed_bytes < .rss_bytes / 20] == [true]'
	holds gcc.$again "$closing_ledger"
done
