# SPDX-License-Identifier: MIT
# Every Python frame as the walk reads it against the interpreter's own frames. Argument: the probe library.
import ctypes
import functools
import re
import sys
import threading

HOLDING = ctypes.PyDLL(sys.argv[1])  # the call keeps the GIL
WITHOUT = ctypes.CDLL(sys.argv[1])  # the call gives it away
for _library in (HOLDING, WITHOUT):
    _library.probe_name.restype = ctypes.c_char_p
    _library.probe_file.restype = ctypes.c_char_p
    _library.probe_python_lost.restype = ctypes.c_ulong

compared = 0


def recorded(node):
    frames = []
    while node:
        code = HOLDING.probe_code(node)
        frames.append((HOLDING.probe_name(code).decode(), HOLDING.probe_file(code).decode(),
                       HOLDING.probe_line(code), HOLDING.probe_instruction(node),
                       HOLDING.probe_version(code), HOLDING.probe_lines_bytes(code)))
        node = HOLDING.probe_parent(node)
    return frames


def expected(frame, lasti):
    frames = []
    while frame:
        code = frame.f_code
        lines = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        frames.append((getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno,
                       max(lasti if lasti is not None else frame.f_lasti, 0),
                       sys.version_info[0] << 8 | sys.version_info[1], len(lines)))
        lasti = None
        frame = frame.f_back
    return frames


def compare(library=HOLDING):
    global compared
    frame = sys._getframe()
    node = library.probe_walk()
    assert node, "no Python path"
    ours = recorded(node)
    # The innermost frame has gone on since the walk: its instruction is checked to lie before.
    theirs = expected(frame, ours[0][3])
    assert 0 < ours[0][3] < frame.f_lasti, (ours[0][3], frame.f_lasti)
    assert ours == theirs, "\n%s\n%s" % (ours, theirs)
    compared += 1
    return ours


def deep(depth):
    return deep(depth - 1) if depth else compare()


class Klass:
    def method(self):
        return compare()

    def __init__(self, at_birth=False):
        if at_birth:
            compare()

    def __lt__(self, other):
        compare()
        return False

    @property
    def prop(self):
        return compare(WITHOUT)

    def __del__(self):
        compare()


def generator():
    yield compare()
    yield from (compare() for _ in range(3))


async def coroutine():
    return compare(WITHOUT)


def from_c(entries):
    # map, sorted, re.sub, functools.partial, and with the GIL given away
    list(map(lambda _: compare(), range(3)))
    sorted([Klass(), Klass()])
    re.sub("a", lambda m: str(len(compare())), "banana")
    functools.partial(compare, WITHOUT)()
    functools.reduce(lambda a, b: len(compare()), range(4))


def straßenfunktion_日本_𐍈():
    return compare()


def changes_at_the_same_address():
    # Code objects come and go; names must follow.
    for i in range(200):
        space = {"compare": compare}
        exec("def f%d():\n    return compare()\nresult = f%d()" % (i, i), space)
        assert space["result"][1][0] == "f%d" % i, space["result"][1]


def everything():
    for depth in (0, 1, 5, 50, 200):
        deep(depth)
    Klass().method()
    Klass(True)
    Klass().prop
    list(generator())
    try:
        coroutine().send(None)
    except StopIteration:
        pass
    from_c(None)
    straßenfunktion_日本_𐍈()
    exec(compile("compare()", "<Dateipfad 🐍 é>", "exec"), {"compare": compare})
    changes_at_the_same_address()
    try:
        raise ValueError
    except ValueError:
        compare()


def entries():
    # sorted() calls back through C: that frame is an entry, the plain call is not (since 3.11).
    seen = []
    sorted([1], key=lambda _: seen.append(HOLDING.probe_walk()))
    node, flags = seen[0], []
    while node:
        flags.append(HOLDING.probe_is_entry(node))
        node = HOLDING.probe_parent(node)
    assert flags[0] == 1 and flags[-1] == 1, flags
    if sys.version_info >= (3, 11):
        assert flags[1] == 0, flags
    else:
        assert all(flags)


everything()
entries()
threads = [threading.Thread(target=everything) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert HOLDING.probe_python_lost() == 0, HOLDING.probe_python_lost()
assert compared > 900, compared
print("%d stacks of Python %d.%d compared" % (compared, *sys.version_info[:2]))
