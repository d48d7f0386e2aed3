# SPDX-License-Identifier: MIT
"""check_schedule.py PROBE RVPROF_PY: rvprof.schedule and record/schedule.c against each other and against a walk from
step to step that knows no division, over 10,000 schedules of random numbers; and what Python refuses."""
import ctypes
import importlib.util
import random
import sys
import warnings


class Schedule(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait")]


probe = ctypes.CDLL(sys.argv[1])
probe.rvp_schedule_action.argtypes = [ctypes.POINTER(Schedule), ctypes.c_uint64]
spec = importlib.util.spec_from_file_location("rvprof", sys.argv[2])
rvprof = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rvprof)
warnings.simplefilter("ignore")


def walk(numbers):
    """Actions, one after the other: a program that passes through the phases."""
    yield from [0] * numbers["skip_first"]
    cycle, first = 0, numbers["skip_first_wait"] != 0
    while not numbers["repeat"] or cycle < numbers["repeat"]:
        yield from [0] * (0 if first else numbers["wait"])
        yield from [1] * numbers["warmup"]
        yield from [2] * (numbers["active"] - 1)
        yield 3
        cycle, first = cycle + 1, False
    while True:
        yield 0


def numbers_of(random):
    small = lambda least: random.choice([least, random.randint(least, 4), random.randint(least, 40)])
    return {"wait": small(0), "warmup": small(0), "active": small(1), "repeat": random.choice([0, 1, 2, 5]),
            "skip_first": random.choice([0, 0, small(0)]), "skip_first_wait": random.choice([0, 1])}


compared = failed = 0
chance = random.Random(20261122)
for _ in range(10000):
    numbers = numbers_of(chance)
    in_c, in_python = Schedule(**numbers), rvprof.schedule(**numbers)
    steps = walk(numbers)
    for step in range(60):
        wanted = next(steps)
        found = probe.rvp_schedule_action(ctypes.byref(in_c), step), in_python(step).value
        compared += 1
        if found != (wanted, wanted):
            failed += 1
            print("%s step %d: C %d, Python %d, wanted %d" % (numbers, step, found[0], found[1], wanted))
    if failed > 10:
        break
    far = chance.randrange(1 << 50)
    if probe.rvp_schedule_action(ctypes.byref(in_c), far) != in_python(far).value:
        failed += 1
        print("%s step %d: C and Python differ" % (numbers, far))

for numbers in ({"wait": -1, "warmup": 0, "active": 1}, {"wait": 0, "warmup": -1, "active": 1},
                {"wait": 0, "warmup": 0, "active": 0}, {"wait": 0, "warmup": 0, "active": -1},
                {"wait": 0, "warmup": 0, "active": 1, "repeat": -1},
                {"wait": 0, "warmup": 0, "active": 1, "skip_first": -1}):
    try:
        rvprof.schedule(**numbers)
        failed += 1
        print("%s was taken" % numbers)
    except ValueError:
        pass
try:
    rvprof.schedule(wait=0, warmup=0, active=1)(-1)
    failed += 1
    print("step -1 was taken")
except ValueError:
    pass
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    rvprof.schedule(wait=1, warmup=1, active=1)
    rvprof.schedule(wait=1, warmup=0, active=1)
if len(heard) != 1 or "warmup is 0" not in str(heard[0].message):
    failed += 1
    print("no warm-up: %d warnings" % len(heard))
print("%d actions compared, %d differ" % (compared, failed))
sys.exit(failed != 0)
