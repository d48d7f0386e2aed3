# redis.sh: a server under load by redis-benchmark, then its data read back and a clean shutdown. Redis counts its
# own memory (used_memory, in usable bytes): what we have live just before is within 5 % + 1 MiB of it.
. "$(dirname "$0")/same.sh"
need redis-server redis-cli redis-benchmark
socket=$PWD/redis.sock
cli="redis-cli -s $socket"
server=
trap '[ -n "$server" ] && kill -9 "$server" 2>/dev/null' EXIT

# A whole life of a server; "$@" is how it is started. Its replies go to stdout.
life() {
	"$@" redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$PWD" --daemonize no \
		--loglevel warning >server.log 2>&1 &
	server=$!
	tries=0
	until $cli ping 2>/dev/null | grep -q PONG; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] && kill -0 "$server" 2>/dev/null || { cat server.log; return 1; }
		sleep 0.1
	done
	redis-benchmark -s "$socket" -q -n 4000 -c 8 -d 200 -t set,get,lpush,lrange_100,mset >bench.log 2>&1 || return 1
	$cli flushall
	seq 1 2000 | sed 's/.*/SET key:& value-&/' | $cli | sort | uniq -c
	seq 1 500 | sed 's/.*/RPUSH list item-&/' | $cli | tail -n 1
	$cli eval 'local s = 0 for i = 1, 2000 do s = s + #redis.call("get", "key:" .. i) end return s' 0
	$cli object encoding list
	$cli memory usage list
	$cli info memory | tr -d '\r' | grep '^used_memory:' >used.txt
	$cli shutdown nosave
	wait "$server"
	echo "server status $?"
	server=
}

life env >plain.out || fail "redis-server does not run without us: $(cat plain.out)"
for mode in $modes; do
	life under "$mode" "redis.$mode" >"$mode.out" || fail "$mode: $(cat "$mode.out")"
	cmp plain.out "$mode.out" || fail "$mode: other replies"
	true_report "redis.$mode" "$mode"
done
used=$(sed 's/.*://' used.txt)
holds redis.full "(.totals.alloc_usable_bytes - .totals.free_usable_bytes - $used) | fabs < $used * 0.05 + 1048576"
