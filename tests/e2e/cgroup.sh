# cgroup.sh: in a control group of the test's own, version 1 or 2: its ledger closes when it was quiet for 3 seconds, and
# a snapshot is taken when little is left below its limit.
. "$(dirname "$0")/same.sh"
need gcc jq
hold=$E2E_BUILD/tests/cli/hold
[ -x "$hold" ] || skip "$hold is not built"
name=rvprof-test-$$
v1=/sys/fs/cgroup/memory/$name v2=/sys/fs/cgroup/$name
if mkdir "$v1" 2>/dev/null && [ -w "$v1/memory.limit_in_bytes" ]; then
	group=$v1 limit=memory.limit_in_bytes
elif mkdir "$v2" 2>/dev/null && [ -w "$v2/memory.max" ]; then
	group=$v2 limit=memory.max
else
	rmdir "$v1" "$v2" 2>/dev/null
	skip "no memory control group can be made here"
fi
trap 'rmdir "$group" "$group.near" 2>/dev/null' EXIT
mkdir "$group.near" || fail "no second group can be made"
in_group() { # CMD...: joins the group first
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
limit_bytes=$((200 << 20))
echo $limit_bytes >"$group/$limit" && echo $limit_bytes >"$group.near/$limit" || fail "no limit can be set"

in_group "$E2E_TOOL" run -q -o quiet -- "$hold" 100 4000 || fail "hold: status $?"
"$E2E_TOOL" dump quiet | grep ' cgroup ' | tail -n 3 | head -n 1 | tr ' ' '\n' >figures # before the last: it lives
value() {
	sed -n "s/^$1=//p" figures
}
rest=$(($(value current_bytes) - $(value anon_bytes) - $(value file_bytes) - $(value kernel_bytes)))
bar=$(($(value current_bytes) / 100 + 4194304))
echo "of $(value current_bytes) bytes $rest are unexplained"
[ "$(value current_bytes)" -gt $((100 << 20)) ] || fail "the group has $(value current_bytes) bytes"
[ $rest -le $bar ] && [ $rest -ge -$bar ] || fail "unexplained: $rest bytes"
holds quiet '.host.cgroup | .max_bytes == 209715200 and (.rows | map(.bytes) | add) + .unexplained_bytes - .rows[-1].bytes == .current_bytes'
holds quiet '[.host.ledger[].at | select(test("memory limit"))] | length == 0'

# The limit is for all that the group is charged for: beside what `hold` holds these are our own processes and, where the
# folder is in memory, its files. So much is what the first group has above its 100 MiB; the second one begins anew.
above=$(($(value current_bytes) - (100 << 20)))
near=$(((limit_bytes / 1000 * 925 - above) >> 20))
echo "$above bytes are charged beside what is held; near the limit are $near MiB"
[ $near -gt 120 ] || fail "the group has $above bytes beside what is held"
near_the_limit() { # FOLDER CMD...
	folder=$1
	shift
	(group=$group.near && in_group "$E2E_TOOL" run -q -o "$folder" -- "$@") || fail "near the limit: status $?"
}
near_the_limit near "$hold" 120 300 $near 800
holds near "[.host.ledger[] | select(.at == \"90 % of the memory limit\") | .rss_bytes > $(((near - 4) << 20)) and has(\"unexplained_bytes\")] == [true]"
holds near '[.host.ledger[].at | select(. == "99 % of the memory limit")] | length == 0'
