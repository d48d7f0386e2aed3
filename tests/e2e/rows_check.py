# SPDX-License-Identifier: MIT
"""rows_check.py TRACE: who is entered and left on which thread by the rows of a trace, as rows_program.py prints it; each
thread's by itself, the threads in order of their numbers."""
import json
import sys

rows = {}
for event in json.load(open(sys.argv[1]))["traceEvents"]:
    if event.get("cat") == "python_function":
        assert event["ph"] == "X", event
        file, _, name = event["name"].partition(": ")
        rows.setdefault(event["tid"], []).append((event["ts"], -event["dur"], file, name, event["args"].get("open")))


def is_asked(file, name, is_open):
    return "rows_program.py(" in file and not is_open and name.split(".")[0] in (
        "leaf", "deep", "raising", "catching", "numbers", "waiting", "work", "Thing", "method", "key_of")


for tid in sorted(rows):
    stack = []
    for ts, minus, file, name, is_open in sorted(rows[tid], key=lambda row: row[:2]) + [(float("inf"), 0, "", "", None)]:
        while stack and stack[-1][0] <= ts:
            end, inner = stack.pop()
            if inner:
                print(tid, "out", inner)
        asked = name if is_asked(file, name, is_open) else None
        if asked:
            print(tid, "in", asked)
        stack.append((ts - minus, asked))
