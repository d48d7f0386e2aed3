# SPDX-License-Identifier: MIT
# cost.py: what following the device costs, in rounds that alternate: bare, bare again (A/A), auto, full; with PyTorch
# torch.profiler too. The last line is `met`, `missed` or `not resolved here` (the A/A band is wider than half of the bar).
#
#   cost.py launches PROGRAM eager|graph COUNT BAR_PERCENT SCRATCH      LIBRARY and TOOL in the environment
#   cost.py torch SCRIPT SCRATCH
import os
import statistics
import subprocess
import sys
import time

ROUNDS = 15


def run(command, mode, scratch):
    environment = dict(os.environ)
    if mode in ("auto", "full"):
        command = [os.environ["TOOL"], "run", "-q", "-f", "-o", os.path.join(scratch, "cost.run"), "--cuda", mode, "--"] + command
        environment["RVPROF_FINALIZE"] = "0"
    begun = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cost.py: {command}: status {done.returncode}\n{done.stderr}")
    for line in done.stdout.splitlines():
        if line.startswith("ns_a_launch: "):
            return float(line.split()[1])
    return time.monotonic() - begun


def band(ratios):
    """The median, and half of the width of its 95 % interval by order statistics (15 rounds: 4th and 12th)"""
    ordered = sorted(ratios)
    cut = max(0, int(len(ordered) / 2 - 0.98 * len(ordered) ** 0.5))
    return statistics.median(ordered), (ordered[-1 - cut] - ordered[cut]) / 2


def table(rows, unit):
    bare = rows["bare"]
    result = {}
    for name, figures in rows.items():
        ratio, half = band([a / b for a, b in zip(figures, bare)]) if name != "bare" else (1, 0)
        result[name] = (ratio, half)
        print(f"{name:14} {statistics.median(figures):12.1f} {unit}   {ratio:6.3f} +- {half:.3f}")
    return result


def verdict(result, name, bar):
    ratio, half = result[name]
    if result["bare again"][1] > bar / 2:
        return "not resolved here"
    return "met" if ratio - 1 <= bar else "missed"


def launches(program, way, count, percent, scratch):
    command, rows = [program, way, count], {"bare": [], "bare again": [], "auto": [], "full": []}
    for _ in range(ROUNDS):
        for name, figures in rows.items():
            figures.append(run(command, name, scratch))
    print(verdict(table(rows, "ns a launch"), "auto", float(percent) / 100))


def torch(script, scratch):
    rows = {"bare": [], "bare again": [], "auto": [], "full": [], "torch.profiler": []}
    for _ in range(5):
        for name, figures in rows.items():
            extra = ["--profile", os.path.join(scratch, "cost.json")] if name == "torch.profiler" else []
            figures.append(run([sys.executable, script] + extra, name, scratch))
    result = table(rows, "s")
    theirs, ours = result["torch.profiler"][0] - 1, result["full"][0] - 1
    print(f"full adds {100 * ours:.1f} %, torch.profiler {100 * theirs:.1f} %: the bar is half of it")
    print("met" if ours <= theirs / 2 else "missed")


{"launches": launches, "torch": torch}[sys.argv[1]](*sys.argv[2:])
