# demo.sh: the README's two commands, the second with a program that is killed half-way; and tools/setup where
# packages are missing and nobody may install them.
. "$(dirname "$0")/same.sh"
need python3
top=$(cd "$here/../.." && pwd)

# Nobody, on a machine that seems to have no packages: the one line to run, status 1, nothing tried.
as=
[ "$(id -u)" = 0 ] && need setpriv && as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
mkdir fake && printf '#!/bin/sh\nexit 0\n' >fake/dpkg-query && chmod 755 fake fake/dpkg-query
cp "$top/tools/setup" fake/setup && chmod 755 fake/setup
PATH=$PWD/fake:$PATH $as sh fake/setup build </dev/null >setup.out 2>&1
[ $? = 1 ] || fail "tools/setup without root: not status 1: $(cat setup.out)"
grep -q 'apt-get install -y --no-install-recommends .*\bgcc\b' setup.out || fail "no apt line: $(cat setup.out)"

[ "$E2E_BUILD" = "$top/build" ] || skip "tools/demo uses $top/build, these tests $E2E_BUILD"
only() { # the one run folder of that program here
	rm -rf rvprof."$1".*.timed
	set -- rvprof."$1".*
	[ $# = 1 ] && [ -d "$1" ] || fail "not one run folder but: $*"
	echo "$1"
}

"$top/tools/demo" >demo.out 2>demo.err || fail "tools/demo: $(tail -n 5 demo.out demo.err)"
folder=$(only decode) || fail "$folder"
true_report "$folder" full
[ "$(summary "$folder" .totals.alloc_bytes)" = "$(said demo.out alloc_bytes)" ] || fail "alloc_bytes differs"
for word in load_matrix summary.json trace.json "Time of steps" "^  energy  .* J in" '"name":"cblas_sgemv".*"flops":' \
	"gemv f32  *20,640  *5.56 GFLOP " "^  limits  "; do
	grep -q "$word" demo.out || fail "tools/demo says nothing of $word"
done

"$top/tools/demo" -- python3 -c '
import os
held = [bytearray(3000000 + i) for i in range(20)]
os.kill(os.getpid(), 9)' >killed.out 2>killed.err
status=$?
[ $status = 137 ] || fail "the killed program's status is $status"
folder=$(only python3) || fail "$folder"
true_report "$folder" sampled
holds "$folder" '.totals.end_live_bytes >= 60000210'
