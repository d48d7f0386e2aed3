# sqlite.sh: a database in memory and in a file. sqlite says itself how much it held at most and its largest
# request; we saw at least as much, and that request.
. "$(dirname "$0")/same.sh"
need sqlite3

cat >work.sql <<'END'
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, v REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
  INSERT INTO t SELECT i, 'name ' || i, i * 0.5 FROM n;
CREATE INDEX byname ON t(name);
SELECT count(*), sum(v), max(name) FROM t;
SELECT length(group_concat(name)) FROM t;
SELECT a.id FROM t a JOIN t b ON a.name = b.name WHERE a.id % 9999 = 0 ORDER BY b.v DESC;
END
STDIN=work.sql
same memory sqlite3 :memory:

cat >file.sh <<'END'
rm -f file.db
sqlite3 file.db <work.sql && sqlite3 file.db 'PRAGMA integrity_check' '.dump' | cksum
END
STDIN=
same file sh file.sh
holds file.full '.run.processes >= 4'

{ cat work.sql; echo '.stats on'; echo 'SELECT 1;'; } >stats.sql
# Without the lines about the whole process's input and output, which is ours too.
echo "sqlite3 :memory: <stats.sql | grep -vE '^(Bytes|Read|Write|Cancelled)'" >stats.sh
STDIN=
same stats sh stats.sh
most=$(sed -n 's/^Memory Used: .*(max \([0-9]*\)).*/\1/p' stats.out)
largest=$(sed -n 's/^Largest Allocation: *\([0-9]*\).*/\1/p' stats.out)
[ -n "$most" ] && [ -n "$largest" ] || fail "sqlite3 says nothing about its memory: $(cat stats.out)"
holds stats.full ".totals.peak_live_bytes >= $most and .totals.peak_live_bytes < $most + 2000000"
recorded stats.full $((largest + 8)) # it keeps the size in front of each block
