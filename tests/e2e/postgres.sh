# postgres.sh: initdb, a server, pgbench and a query, as a user who is not root; a tree of processes with shared memory.
. "$(dirname "$0")/same.sh"
bin=$(first_file /usr/lib/postgresql/*/bin)
[ -n "$bin" ] && [ -x "$bin/initdb" ] || skip "no PostgreSQL server on this machine"
bench=$(first_file "$bin/pgbench" /usr/bin/pgbench)
[ -n "$bench" ] || skip "no pgbench on this machine"

# PostgreSQL refuses root; nobody must then be able to read our files, wherever the project stands.
RUN_AS=
if [ "$(id -u)" = 0 ]; then
	need setpriv
	RUN_AS="setpriv --reuid=nobody --regid=nogroup --clear-groups"
	mkdir -p ours/preload ours/tools && cp "$E2E_LIB" ours/preload/ && cp "$E2E_TOOL" ours/tools/ ||
		fail "cannot copy the library"
	E2E_LIB=$PWD/ours/preload/$(basename "$E2E_LIB")
	chown -R nobody . && chmod 755 .
fi
export HOME="$PWD" PGHOST="$PWD" PGUSER=bench PGDATABASE=postgres TZ=UTC
trap '[ -f data/postmaster.pid ] && kill -QUIT "$(head -n 1 data/postmaster.pid)" 2>/dev/null' EXIT

cat >life.sh <<END
rm -rf data
"$bin/initdb" -D data -U bench -A trust --no-locale -E UTF8 -N >initdb.log 2>&1 || { tail -n 5 initdb.log; exit 1; }
"$bin/pg_ctl" -D data -w -t 60 -l server.log start -o "-c listen_addresses='' -k '$PWD' -c fsync=off -c shared_buffers=16MB -c max_connections=20 -c timezone=UTC" >start.log 2>&1 || { cat start.log server.log; exit 1; }
"$bench" -i -q -s 1 >pgbench.log 2>&1 || { tail -n 5 pgbench.log; exit 1; }
"$bench" -c 2 -j 2 -t 100 --random-seed=7 >>pgbench.log 2>&1
echo "pgbench status \$?"
grep 'number of transactions actually' pgbench.log
psql -At -c 'SELECT count(*), sum(bid) FROM pgbench_accounts' -c 'SELECT sum(abalance) = (SELECT sum(delta) FROM pgbench_history) FROM pgbench_accounts' -c 'SELECT length(string_agg(repeat(md5(g::text), 10), chr(10))) FROM generate_series(1, 5000) g' -c 'SELECT count(*) FROM pgbench_history'
psql -At -c 'SELECT no_such_column' 2>/dev/null
echo "psql status \$?"
"$bin/pg_ctl" -D data -w -m fast stop >/dev/null 2>&1
echo "stop status \$?"
grep -E 'PANIC|FATAL|terminated by signal' server.log
exit 0
END

# shellcheck disable=SC2086 # a list of words
$RUN_AS sh life.sh >plain 2>plain.err || fail "PostgreSQL does not run without us: $(cat plain plain.err)"
grep -q 'stop status 0' plain || fail "PostgreSQL does not stop without us: $(cat plain)"
for mode in $modes; do
	under "$mode" "postgres.$mode" sh life.sh >"got.$mode" 2>"got.$mode.err"
	cmp plain "got.$mode" || fail "$mode: another output: $(tail -n 5 "got.$mode" "got.$mode.err")"
	quiet_stderr "got.$mode.err"
	true_report "postgres.$mode" "$mode"
	holds "postgres.$mode" '.run.processes > 20'
done
