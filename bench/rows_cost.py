# SPDX-License-Identifier: MIT
"""rows_cost.py: what a recorded call of a Python function takes, by the interpreter that runs this under rvprof:

    PYTHONPATH=python rvprof run -q -f -o /tmp/rows -- python3 bench/rows_cost.py

An empty function is called 20,000 times in a loop; the least of 15 such rounds, before a window, in it, and behind it.
"""
import sys
import time

import rvprof

CALLS, ROUNDS = 20000, 15


def empty():
    pass


def loop():
    for _ in range(CALLS):
        empty()


def least_ns():
    took = []
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        loop()
        took.append((time.perf_counter_ns() - begin) / CALLS)
    return min(took)


before = least_ns()
with rvprof.profile(activities=[rvprof.ProfilerActivity.CUDA], with_stack=True):
    inside = least_ns()
after = least_ns()
print("Python %d.%d: ns a call: before %.0f, in the window %.0f, after %.0f: a recorded call takes %.0f ns more" % (
    sys.version_info[0], sys.version_info[1], before, inside, after, inside - before))
