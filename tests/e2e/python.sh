# python.sh: python3 with json, subprocess, and multiprocessing by fork and by spawn.
. "$(dirname "$0")/same.sh"
need python3
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

cat >json_work.py <<'END'
import json
rows = [{"id": i, "name": "row %d" % i, "tags": [str(j) for j in range(i % 7)]} for i in range(20000)]
text = json.dumps(rows)
print(len(text), sum(len(r["tags"]) for r in json.loads(text)))
big = bytearray(12345678)
print("held_bytes=%d" % big.__alloc__())
END
same json python3 json_work.py
recorded json.full "$(said json.out held_bytes)"
recorded json.sampled "$(said json.out held_bytes)"

cat >children.py <<'END'
import subprocess, sys
for i in range(3):
    done = subprocess.run([sys.executable, "-c", "import sys; print(sum(range(%d)), len(sys.stdin.read()))" % i],
                          input="x" * 100000, capture_output=True, text=True)
    print(done.returncode, done.stdout.strip(), repr(done.stderr))
print(subprocess.call("exit 7", shell=True), subprocess.getoutput("echo a | tr a b"))
sys.exit(3)
END
same children python3 children.py
same_run children python3 children.py
holds children.full '.run.processes >= 4'

cat >pool.py <<'END'
import multiprocessing as mp, os, sys
def work(n):
    block = bytearray(1000003 + n)
    return n * n + len(block), block.__alloc__()
if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    with mp.Pool(2) as pool:
        got = pool.map(work, range(8), chunksize=1)
    print([g[0] for g in got])
    p = mp.Process(target=os._exit, args=(5,))
    p.start()
    p.join()
    print("exit", p.exitcode, "held_bytes=%d" % got[3][1])
END
for way in fork spawn; do
	same $way python3 pool.py $way
	holds $way.full '.run.processes >= 4'
	recorded $way.full "$(said $way.out held_bytes)"
done
