# SPDX-License-Identifier: MIT
"""rows_program.py KIND: functions that keep a list of their own of who was entered and left on which thread, in a window
that rvprof.profile opens. Prints the list's entries that a trace must have: `TID in|out NAME`."""
import os
import sys
import threading

import rvprof

log = []
enter = lambda name: log.append((threading.get_native_id(), "in", name))  # noqa: E731: its rows are not asked for
leave = lambda name: log.append((threading.get_native_id(), "out", name))  # noqa: E731


def leaf():
    enter("leaf")
    leave("leaf")


def deep(n):
    enter("deep")
    if n:
        deep(n - 1)
    leave("deep")


def raising():
    enter("raising")
    try:
        raise ValueError
    finally:
        leave("raising")


def catching():
    enter("catching")
    try:
        raising()
    except ValueError:
        leaf()
    leave("catching")


def numbers():
    enter("numbers")
    for i in range(3):
        try:
            leave("numbers")
            yield i
        except GeneratorExit:
            enter("numbers")
            leave("numbers")
            return
        enter("numbers")
    leave("numbers")


async def waiting():
    enter("waiting")
    leaf()
    leave("waiting")


class Thing:
    def method(self):
        enter("Thing.method")
        sorted([3, 1, 2], key=self.key_of)
        leave("Thing.method")

    def key_of(self, n):
        enter("Thing.key_of")
        leave("Thing.key_of")
        return n


def work():
    enter("work")
    leaf()
    deep(5)
    catching()
    for _ in numbers():
        leaf()
    early = numbers()
    next(early)
    early.close()
    Thing().method()
    try:
        waiting().send(None)
    except StopIteration:
        pass
    leave("work")


def waits(ready, go, done):
    ready.set()
    go.wait()
    work()
    done.set()


def main():
    ready, go, done = threading.Event(), threading.Event(), threading.Event()
    before = threading.Thread(target=waits, args=(ready, go, done))
    before.start()
    ready.wait()
    work()  # outside
    del log[:]
    with rvprof.profile(with_stack=True):
        work()
        go.set()
        done.wait()
        inside = threading.Thread(target=work)
        inside.start()
        inside.join()
    kept = list(log)
    work()  # outside again
    before.join()
    for entry in kept:
        print("%d %s %s" % entry)


def others():
    """Somebody else's profile and trace functions stay, and go on."""
    seen = {"profile": 0, "trace": 0}

    def profiling(frame, event, argument):
        seen["profile"] += event == "call"

    def tracing(frame, event, argument):
        seen["trace"] += 1

    sys.setprofile(profiling)
    sys.settrace(tracing)
    with rvprof.profile(with_stack=True):
        leaf()
        print(sys.getprofile() is profiling, sys.gettrace() is tracing)
    print(sys.getprofile() is profiling, sys.gettrace() is tracing)
    before = dict(seen)
    leaf()
    sys.setprofile(None)
    sys.settrace(None)
    print(seen["profile"] > before["profile"] > 0, seen["trace"] > before["trace"] > 0)
    import cProfile

    mine = cProfile.Profile()
    with rvprof.profile(with_stack=True):
        mine.enable()
        leaf()
        mine.disable()
    print(any(entry.code is leaf.__code__ for entry in mine.getstats()), sys.getprofile())


def forks():
    with rvprof.profile(with_stack=True):
        leaf()
        child = os.fork()
        if not child:
            work()
            os._exit(7)
        print(os.waitpid(child, 0)[1] >> 8)
        leaf()


def many():
    with rvprof.profile(with_stack=True):
        for _ in range(60000):
            leaf()
    kept = bytearray(12345678)
    print("held_bytes=%d" % kept.__alloc__())


def steps():
    for i in range(8):
        rvprof.step()
        for _ in range(40):
            bytearray(100000)  # a hook now and then, so that what was asked for is passed on
        catching()


def within():
    """A profile in a run with --rows: what comes behind it is recorded too."""
    steps()
    with rvprof.profile():
        catching()
    catching()


def levels():
    catching()
    rvprof.start(2)
    catching()
    rvprof.start(1)
    catching()
    rvprof.start(2)
    catching()
    rvprof.stop()
    catching()


{"calls": main, "steps": steps, "within": within, "levels": levels, "others": others, "forks": forks, "many": many}[sys.argv[1]]()
