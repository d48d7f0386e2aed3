# SPDX-License-Identifier: MIT
# python_json.py ROUNDS: documents to text and back, in Python and in C, and two threads.
import json
import sys
import threading


def work(rounds):
    data = [{"id": i, "name": "name %d" % i, "values": list(range(i % 20))} for i in range(300)]
    for i in range(rounds):
        assert json.loads(json.dumps(data)) == data
        json.dumps(data[: i % 50], indent=1, sort_keys=True, default=str)
        sorted(data, key=lambda entry: entry["name"][::-1])


threads = [threading.Thread(target=work, args=(int(sys.argv[1]),)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
