# SPDX-License-Identifier: MIT
"""Reads a trace by the rules of HolisticTraceAnalysis' parser, without it: what it would drop, or join wrongly, fails.

    hta_check.py TOOL MAKER SCRATCH    exports the run that MAKER makes by TOOL, and checks it; status 1: the first breach

Rules (hta/common/trace_parser.py, trace.py, trace_call_graph.py): the rank is found by lines, `"rank":` and a space at
least; a row without cat or dur is dropped; a missing args.stream is a call of the host, stream and correlation >= 0 is
work of a device; the two are joined by correlation, one with one; launches are known by their exact names; steps are
ProfilerStep#N of cat user_annotation; times are microseconds with three decimals at most."""
import json, os, re, subprocess, sys

LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync", "cuLaunchKernel",
            "cudaGraphLaunch", "cuGraphLaunch"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}


def need(is_true, *what):
    if not is_true:
        print("hta_check:", *what)
        sys.exit(1)


def rank_of(path):
    for line in open(path, encoding="utf-8"):
        found = re.search(r'"rank":\s+(\d+)', line)
        if found:
            return int(found.group(1))
    return None


def rows_of(trace):
    rows = []
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            need("cat" in event and "dur" in event, "dropped for want of cat or dur:", event)
        if "cat" in event and "dur" in event and event["cat"] != "Trace":
            rows.append(event)
            for key in "ts", "dur":
                need(abs(event[key] * 1000 - round(event[key] * 1000)) < 1e-3, "more than three decimals:", event)
    return rows


def check_join(rows):
    calls, work = {}, {}
    for row in rows:
        args = row.get("args", {})
        stream, correlation = args.get("stream", -1), args.get("correlation", -1)
        need(isinstance(stream, int) and isinstance(correlation, int), "not whole numbers:", row)
        if stream >= 0 and correlation >= 0 and row["cat"] != "cuda_sync":
            need(row["cat"] in DEVICE, "a call with a stream is taken for work:", row)
            work.setdefault(correlation, []).append(row)
        elif correlation >= 0 and row["cat"] in ("cuda_runtime", "cuda_driver"):
            calls.setdefault(correlation, []).append(row)
    for correlation, pieces in work.items():
        need(len(pieces) == 1, "two pieces of one correlation:", correlation)
        need(len(calls.get(correlation, [])) <= 1, "two calls of one correlation:", correlation)
        if correlation in calls:
            call = calls[correlation][0]
            need(call["name"] in LAUNCHES, "no launch by its name:", call)
            need(call["ts"] <= pieces[0]["ts"], "work before its launch:", call, pieces[0])
    return calls, work


def main():
    tool, maker, scratch = sys.argv[1:4]
    folder, path = os.path.join(scratch, "hta_run"), os.path.join(scratch, "hta.json")
    subprocess.run(["rm", "-rf", folder], check=True)
    subprocess.run([maker, folder], check=True)
    subprocess.run([tool, "export", "hta", folder, "-o", path], check=True)
    trace = json.load(open(path, encoding="utf-8"))
    need(rank_of(path) == 0, "no rank is found by lines")
    text = open(path, encoding="utf-8").read()
    need(text.index('"distributedInfo"') < text.index('"traceEvents"'), "distributedInfo behind the events")
    rows = rows_of(trace)
    calls, work = check_join(rows)
    need(len(work) == 7 and sum(c in calls for c in work) == 6, "7 pieces, 6 with a launch:", len(work))
    kernels = [row for row in rows if row["cat"] == "kernel"]
    need(len(kernels) == 5, "5 kernels:", len(kernels))
    need("cudaLaunchKernel" in {row["name"] for row in rows}, "nobody is cudaLaunchKernel")
    steps = [row["name"] for row in rows if row["cat"] == "user_annotation"]
    need(steps == ["ProfilerStep#0", "ProfilerStep#1"], "steps:", steps)
    need(sum(row["cat"] == "cuda_sync" for row in rows) == 1, "a wait")
    print("hta_check: %d rows, %d pieces of work, %d calls" % (len(rows), len(work), len(calls)))


main()
