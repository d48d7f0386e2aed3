# SPDX-License-Identifier: MIT
"""rvprof_rows.py: who calls us when a Python function is entered or left, while a window is open (preload/python_rows.h).

librvprof.so holds this text and runs it once, in a namespace of its own, where the first window opens. _enter and _leave
take an event of sys.monitoring; _hook and _unhook set the profile function of all threads that there are, and _adopt that
of the thread that calls it; _ours says whether this thread's is ours; _rows takes the two functions that open and close.
"""
import sys

TOOLS = (4, 3)  # not those of debuggers, coverage, profilers and optimizers: theirs stay free
tool = None


def open_monitoring():
    global tool
    monitoring = sys.monitoring
    free = [number for number in TOOLS if monitoring.get_tool(number) is None]
    if not free:
        return b"other tools have both numbers of sys.monitoring that are nobody's"
    tool = free[0]
    monitoring.use_tool_id(tool, "rvprof")
    events = monitoring.events
    enters = events.PY_START, events.PY_RESUME, events.PY_THROW
    leaves = events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND
    for event in enters:
        monitoring.register_callback(tool, event, _enter)
    for event in leaves:
        monitoring.register_callback(tool, event, _leave)
    monitoring.set_events(tool, sum(enters + leaves))
    return b""


def close_monitoring():
    global tool
    if tool is None:
        return
    monitoring, number, tool = sys.monitoring, tool, None
    monitoring.set_events(number, 0)
    for name in ("PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD", "PY_UNWIND"):
        monitoring.register_callback(number, getattr(monitoring.events, name), None)
    monitoring.free_tool_id(number)


def open_profile():
    if sys.getprofile() is not None:
        return b"this thread has a profile function already (sys.setprofile)"
    import threading

    _hook()
    if threading._profile_hook is None:
        threading.setprofile(_adopt)
    return b""


def close_profile():
    import threading

    _unhook()
    if threading._profile_hook is _adopt:
        threading.setprofile(None)


def is_ready():
    """Not while the interpreter starts, or is in the middle of an import: what is half there can't be imported."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return False
        frame = frame.f_back
    return "site" in sys.modules or bool(sys.flags.no_site)


def learn_torch():
    """Shows an operator of PyTorch's with two tensors whose sizes and types are known."""
    torch = sys.modules["torch"]
    made = [torch.empty((3, 5, 7), dtype=kind) for kind in (torch.float32, torch.float64, torch.int64, torch.bool)]
    _learn_begin([tensor._cdata for tensor in made])
    try:
        torch.add(made[0], made[1])
    finally:
        _learn_end()


if hasattr(sys, "monitoring"):
    _rows(open_monitoring, close_monitoring, learn_torch, is_ready)
else:
    _rows(open_profile, close_profile, learn_torch, is_ready)
