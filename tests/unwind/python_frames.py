# SPDX-License-Identifier: MIT
# python_frames.py PROBE SAMPLES [SEED]: random Python programs, and at random places in them every Python frame as the walk
# reads it against the interpreter's own frames: names, files, lines and instructions. PROBE is the library of
# tests/unit/python_frames_probe.c.
#
# The programs are made anew every few thousand samples, so that code objects come to lie where others did: functions,
# recursion, generators and coroutines that are resumed from elsewhere, comprehensions, methods, properties, finalizers,
# callbacks from C, code long enough for two-byte offsets, exceptions in flight, in several threads; and the same way down
# again and again but for one call, at any depth.
import ctypes
import functools
import random
import re
import sys
import threading
import time

PROBE = ctypes.PyDLL(sys.argv[1])
WANTED = int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time()) % 1000000
THREADS = 3
PROBE.probe_name.restype = PROBE.probe_file.restype = ctypes.c_char_p
PROBE.probe_python_lost.restype = ctypes.c_ulong
walk = PROBE.probe_walk
lock = threading.Lock()
known = {}  # node: its frame and its parent; a node stands for one path for ever
counts = {"compared": 0, "frames": 0, "deepest": 0}


def frame_of(node):
    if node not in known:
        code = PROBE.probe_code(node)
        known[node] = ((PROBE.probe_name(code).decode(), PROBE.probe_file(code).decode(), PROBE.probe_line(code),
                        PROBE.probe_instruction(node)), PROBE.probe_parent(node))
    return known[node]


def expected(frame, instruction):
    code = frame.f_code
    return (getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno, instruction)


def fail(node, frame):
    print("seed %d: ours, the interpreter's" % SEED)
    while node or frame:
        ours = None
        if node:
            ours, node = frame_of(node)
        theirs = expected(frame, frame.f_lasti) if frame else None
        frame = frame.f_back if frame else None
        print("   " if ours == theirs else "-->", ours, theirs)
    sys.stdout.flush()
    import os
    os._exit(1)


# `node` was walked in `frame`, whose own instruction has gone on since: it lies behind the walk's.
def check(node, frame):
    first_node, first_frame, depth = node, frame, 0
    if not node:
        return fail(node, frame)
    ours, node = frame_of(node)
    if not 0 < ours[3] <= frame.f_lasti or ours != expected(frame, ours[3]):
        return fail(first_node, first_frame)
    frame = frame.f_back
    while node and frame:
        depth += 1
        ours, node = frame_of(node)
        if ours != expected(frame, max(frame.f_lasti, 0)):
            return fail(first_node, first_frame)
        frame = frame.f_back
    if node or frame:
        return fail(first_node, first_frame)
    with lock:
        counts["compared"] += 1
        counts["frames"] += depth + 1
        counts["deepest"] = max(counts["deepest"], depth + 1)


SAMPLE = "check(walk(), sys._getframe())"

# Statements: D is the depth left, other() one of the program's functions.
STATEMENTS = [
    SAMPLE,
    SAMPLE,
    "other(D)",
    "other(D); other(D)",
    "[other(D) for _ in range(2)]",
    "list(map(lambda _: other(D), range(2)))",
    "sorted([2, 1], key=lambda n: other(D) or n)",
    "functools.reduce(lambda a, b: other(D) or 1, range(3))",
    "re.sub('a', lambda m: str(other(D)), 'ba')",
    "functools.partial(other, D)()",
    "Thing(D).method()",
    "Thing(D).prop",
    "Thing(D)[3]",
    "Thing(D) < Thing(D)",
    "str(Thing(D))",
    "ends(D)",
    "turns()",
    "fleeting()",
    "resume(D)",
    "sum(other(D) or 1 for _ in range(2))",
    "drive(coroutine(D))",
    "exec('other(D)\\n' + repr(D), {'other': other, 'D': D})",
    "(lambda: [%s for _ in range(1)])()" % SAMPLE,
    "try:\n        raising(D)\n    except KeyError:\n        %s" % SAMPLE,
    "try:\n        raising(D)\n    except KeyError:\n        other(D)\n    finally:\n        %s" % SAMPLE,
    "with Context(D):\n        other(D)",
    "for _ in range(2):\n        other(D - 1)",
]

HEAD = '''
class Context:
    def __init__(self, D):
        self.D = D
    def __enter__(self):
        other(self.D)
    def __exit__(self, *error):
        %(sample)s
        return False

class Thing:
    def __init__(self, D):
        self.D = D - 1
    def method(self):
        return other(self.D)
    @property
    def prop(self):
        %(sample)s
    def __getitem__(self, n):
        return other(self.D)
    def __lt__(self, thing):
        %(sample)s
        return False
    def __str__(self):
        return str(other(self.D))

class Ending:
    def __del__(self):
        %(sample)s

def ends(D):
    Ending()

def raising(D):
    other(D - 1)
    %(sample)s
    raise KeyError

def turn(ways, left):
    if left == 0:
        %(sample)s
    elif ways & 1:
        turn(ways >> 1, left - 1)
    else:
        turn(ways >> 1, left - 1)

def turns():
    left = 2 + draw(20)
    ways = draw(1 << left)
    for _ in range(8):
        if spend():
            turn(ways, left)
        ways ^= 1 << draw(left)

# Code that is gone at once: the next of its kind lies where it lay.
def fleeting():
    for _ in range(4):
        name = "g%%d" %% draw(1000)
        text = "\\n" * draw(9) + "def " + name + "():\\n    check(walk(), sys._getframe())"
        space = {"check": check, "walk": walk, "sys": sys}
        exec(compile(text, "fleeting", "exec"), space)
        function = space.pop(name)
        spend()
        function()
        del function

async def inner(D):
    %(sample)s
    return other(D - 1)

async def coroutine(D):
    %(sample)s
    return await inner(D)

def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass

def steps():
    while True:
        %(sample)s
        yield 1
        yield from (other(2) or n for n in range(2))

def other(D):
    if D > 0 and spend():
        functions[draw(len(functions))](D - 1)
''' % {"sample": SAMPLE}


def make_program(source, number):
    text = [HEAD]
    for i in range(source.randrange(3, 12)):
        text.append("def %s%d(D):" % (source.choice(["f", "größe", "関数"]), i))
        for _ in range(source.choice([1, 2, 3, 4, 40])):
            if source.random() < 0.1:
                text.append("    x = (%s)" % ", ".join(str(n) for n in range(source.randrange(400))))
            text.append("    " + source.choice(STATEMENTS))
    return compile("\n".join(text), "program %d.py" % number, "exec")


def run_program(source, number, budget):
    left = [budget]
    generators = []
    functions = []

    def spend():
        left[0] -= 1
        return left[0] > 0

    # A generator goes on where it was, under another caller.
    def resume(D):
        if not generators or source.random() < 0.2:
            generators.append(space["steps"]())
        generator = generators[source.randrange(len(generators))]
        if D > 0 and spend() and not generator.gi_running:
            next(generator)

    space = {"check": check, "walk": walk, "sys": sys, "re": re, "functools": functools, "spend": spend, "resume": resume,
             "draw": source.randrange, "functions": functions}
    exec(make_program(source, number), space)
    functions.extend(value for name, value in space.items() if re.match("(f|größe|関数)[0-9]+$", name))
    while left[0] > 0:
        space["other"](source.choice([2, 5, 10, 30]))


def work(thread):
    source = random.Random(SEED * 10 + thread)
    for number in range(1000000):
        if counts["compared"] >= WANTED:
            return
        run_program(source, number, 400)


sys.setrecursionlimit(5000)
sys.setswitchinterval(0.0005)
threads = [threading.Thread(target=work, args=(i,)) for i in range(1, THREADS)]
for thread in threads:
    thread.start()
work(0)
for thread in threads:
    thread.join()
lost = PROBE.probe_python_lost()
print("Python %d.%d, seed %d: %d stacks equal to the interpreter's, %.1f frames deep, %d at most; %d lost" % (
    *sys.version_info[:2], SEED, counts["compared"], counts["frames"] / counts["compared"], counts["deepest"], lost))
sys.exit(lost != 0)
