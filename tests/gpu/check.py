# SPDX-License-Identifier: MIT
# check.py: holds what rvprof wrote of a run against what the program counted itself, or torch.profiler.
#
#   check.py account OUT_TEXT RUN_FOLDER [--category-percent P] [--graphs]
#   check.py kernels TORCH_JSON RUN_FOLDER      names and counts equal, total kernel time within 1 %
#
# A line a check, `ok ...` or `not ok ...` with both figures; status 1 if one does not hold. What is not there is said.
import csv
import json
import os
import re
import sys

held = True


def check(is_held, text):
    global held
    held = held and is_held
    print(("ok      " if is_held else "not ok  ") + text)


def account_of(path):
    for line in open(path, errors="replace"):
        if line.startswith("account: "):
            return json.loads(line[len("account: "):])
    sys.exit(f"check.py: {path}: the program printed no account")


def kernels_of(folder):
    kernels = {}
    with open(os.path.join(folder, "kernels.csv"), newline="") as file:
        for row in csv.DictReader(file):
            if row["class"] in ("copy", "memset"):
                continue
            count, total = kernels.get(row["name"], (0, 0))
            kernels[row["name"]] = (count + 1, total + int(row["duration_ns"] or 0))
    return kernels


def bare(name):
    """`void axpy<float>(float*, int)` is axpy"""
    name = re.sub(r"^(void|int) ", "", name)
    return re.split(r"[<(]", name)[0]


def check_kernels_by_account(account, folder):
    counts = {}
    for name, (count, _) in kernels_of(folder).items():
        counts[bare(name)] = counts.get(bare(name), 0) + count
    for name, count in account.get("kernels", {}).items():
        if name == "*":
            check(sum(counts.values()) >= count, f"kernels in all: at least {count}, rvprof {sum(counts.values())}")
        else:
            check(counts.get(name, 0) == count, f"kernel {name}: {count}, rvprof {counts.get(name, 0)}")
    if "*" not in account.get("kernels", {}):
        others = set(counts) - set(account.get("kernels", {}))
        check(not others, f"kernels that nobody launched: {sorted(others)}")


def within(ours, truth, percent, slack=0):
    return abs(ours - truth) <= truth * percent / 100 + slack


def check_memory(account, summary, percent):
    devices = summary.get("device", [])
    if not account.get("categories") and not account.get("peak_bytes"):
        return
    check(len(devices) >= 1, f"devices in summary.json: {len(devices)}")
    if not devices:
        return
    categories = devices[0].get("categories", {})
    for name, truth in account.get("categories", {}).items():
        ours = categories.get(name, {}).get("max_bytes", 0)
        check(within(ours, truth, percent), f"{name}: {truth}, rvprof {ours}")
    if "peak_bytes" in account:
        ours = devices[0].get("peak_live_bytes")
        check(ours == account["peak_bytes"], f"peak of live bytes: {account['peak_bytes']}, rvprof {ours}")


def check_ledger(summary):
    for device in summary.get("device", []):
        check(len(device["ledger"]) >= 1, f"ledgers of {device['name']}: {len(device['ledger'])}")
        for ledger in device["ledger"]:
            if "unexplained_bytes" not in ledger:
                print(f"said    ledger of {device['name']} at {ledger.get('at')}: not closable here")
                continue
            of = ledger["process_bytes"] if "process_bytes" in ledger else ledger["used_bytes"]
            rest = ledger["unexplained_bytes"]
            check(abs(rest) <= of * 0.02 + (64 << 20), f"ledger of {device['name']} at {ledger['at']}: {rest} of {of}")


def check_loss(summary):
    reasons = {k: v for k, v in summary["lost"]["reasons"].items() if k.startswith("device") and v}
    check(not reasons, f"lost of the device: {reasons}")


def by_account(arguments):
    percent = float(arguments[arguments.index("--category-percent") + 1]) if "--category-percent" in arguments else 1
    account, folder = account_of(arguments[0]), arguments[1]
    summary = json.load(open(os.path.join(folder, "summary.json")))
    check_kernels_by_account(account, folder)
    check_memory(account, summary, percent)
    check_ledger(summary)
    check_loss(summary)


def by_torch(arguments):
    theirs, ours = json.load(open(arguments[0])), kernels_of(arguments[1])
    for name in sorted(set(theirs) | set(ours)):
        a, b = theirs.get(name, [0, 0])[0], ours.get(name, (0, 0))[0]
        if a != b:
            check(False, f"{name}: torch.profiler {a}, rvprof {b}")
    check(set(theirs) == set(ours), f"{len(theirs)} names by torch.profiler, {len(ours)} by rvprof")
    a, b = sum(v[1] for v in theirs.values()), sum(v[1] for v in ours.values())
    check(within(b, a, 1), f"kernel time: torch.profiler {a} ns, rvprof {b} ns, {100 * (b / a - 1) if a else 0:+.2f} %")


{"account": by_account, "kernels": by_torch}[sys.argv[1]](sys.argv[2:])
sys.exit(0 if held else 1)
