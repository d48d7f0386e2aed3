# SPDX-License-Identifier: MIT
"""rvprof.py: a Python program tells the profiler what its memory is for, and where its steps are.

    import rvprof

    with rvprof.scope("kv_cache", "layer 3"):        # what this thread asks for in here
        cache = numpy.empty(shape)
    rvprof.tag(model.embedding, "weights", "embedding")  # what is at this address
    for batch in batches:
        rvprof.step()                                # a step, up to the next call
        ...

One file without dependencies, for Python 3.8 and later: copy it, or put its folder on the path. The program runs with
and without rvprof; without it every call does nothing.

Categories: weights kv_cache activation temp gradient optimizer workspace comm graph context input runtime allocator
file stack code unknown; a sub-kind may follow a slash ("weights/copy"). None: only a name. Any other word is kept and
shown, and classifies nothing.

Scopes, operators and step marks are of the calling thread; those of asyncio tasks that take turns on one thread do not
nest, so a scope must not hold an await, and can't decorate a coroutine.
"""
import enum
import functools
import inspect
import json
import os
import sys
import warnings

__all__ = ["active", "scope", "scope_begin", "scope_end", "op", "op_begin", "op_end", "tag", "step", "step_begin",
           "step_end", "label", "snapshot", "metric", "start", "stop", "clear", "dump", "get", "get_duration", "profile", "schedule", "ProfilerAction",
           "ProfilerActivity", "supported_activities", "record_function", "tensorboard_trace_handler"]

_PYTHON = 2  # enum rvprof_source
_OPERATORS, _FUNCTIONS, _SHAPES, _ALL_ROWS = 1, 2, 4, 7  # enum rvprof_rows
_NEXT, _BEGIN, _END = 0, 1, 2  # enum rvprof_step_kind
_NO_STEP = b"failed"  # name of the end of what was no step
_PHASES = {None: 0, "load": 1, "warmup": 2, "prefill": 3, "decode": 4, "forward": 5, "backward": 6, "update": 7}


def _find_api():
    """The functions of librvprof.so's table (include/rvprof.h); None without the profiler in this process."""
    try:
        import ctypes

        text, number, word, size = ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_size_t
        # Called with the interpreter's lock held: each takes tens of nanoseconds, and none calls back.
        kinds = [
            ("active", ctypes.PYFUNCTYPE(number)),
            ("scope_begin", ctypes.PYFUNCTYPE(None, number, text, text)),
            ("scope_end", ctypes.PYFUNCTYPE(None, number)),
            ("op_begin", ctypes.PYFUNCTYPE(None, number, text, text, text)),
            ("op_end", ctypes.PYFUNCTYPE(None, number)),
            ("range_begin", ctypes.PYFUNCTYPE(None, number, word, text, text)),
            ("range_end", ctypes.PYFUNCTYPE(None, number, word)),
            ("tag", ctypes.PYFUNCTYPE(None, number, ctypes.c_void_p, size, text, text)),
            ("step", ctypes.PYFUNCTYPE(None, number, number, number, word, word, text)),
            ("label", ctypes.PYFUNCTYPE(None, number, text)),
            ("snapshot", ctypes.PYFUNCTYPE(None, text)),
            ("metric", ctypes.PYFUNCTYPE(None, text, ctypes.c_double)),
            ("adapter", ctypes.PYFUNCTYPE(None, number, text, text, text)),
            ("scope", ctypes.PYFUNCTYPE(None, number, number, text, text, text)),
            ("record", ctypes.PYFUNCTYPE(None, number)),
            ("clear", ctypes.PYFUNCTYPE(None)),
            ("dump", ctypes.CFUNCTYPE(number, text)),  # it waits: without the interpreter's lock
            ("rows", ctypes.PYFUNCTYPE(number, number)),
        ]

        class Table(ctypes.Structure):
            _fields_ = [("version", ctypes.c_uint32), ("bytes", ctypes.c_uint32)] + [
                (name, ctypes.c_void_p) for name, _ in kinds]

        table = Table.in_dll(ctypes.CDLL(None), "rvprof_api_1")
        if table.version != 1 or table.bytes < ctypes.sizeof(Table):
            return None
        return {name: kind(getattr(table, name)) for name, kind in kinds}
    except (ImportError, OSError, ValueError, TypeError, AttributeError):
        return None


_api = _find_api()


def _text(value):
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "replace")


def active():
    """True while this process is being recorded."""
    return _api is not None and _api["active"]() != 0


def scope_begin(category, name=None):
    """What this thread asks for is of `category`, up to scope_end(). Scopes nest."""
    if _api:
        _api["scope_begin"](_PYTHON, _text(category), _text(name))


def scope_end():
    if _api:
        _api["scope_end"](_PYTHON)


def op_begin(name, category=None, args=None):
    """An operator, up to op_end()."""
    if _api:
        _api["op_begin"](_PYTHON, _text(name), _text(category), _text(args))


def op_end():
    if _api:
        _api["op_end"](_PYTHON)


class _Around:
    """Something that begins and ends: for `with`, and as a decorator of a function."""

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or \
                inspect.isasyncgenfunction(function):
            raise TypeError("%s: a coroutine or generator gives up its thread in the middle; put the scope into it"
                            % getattr(function, "__qualname__", function))

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return inside

    def __exit__(self, *_):
        self._end()
        return False


class scope(_Around):
    """scope(category, name): for `with`, and as a decorator."""

    def __init__(self, category=None, name=None):
        self._category, self._name = _text(category), _text(name)

    def __enter__(self):
        scope_begin(self._category, self._name)
        return self

    def _end(self):
        scope_end()


class op(_Around):
    """op(name, category, args): for `with`, and as a decorator."""

    def __init__(self, name, category=None, args=None):
        self._name, self._category, self._args = _text(name), _text(category), _text(args)

    def __enter__(self):
        op_begin(self._name, self._category, self._args)
        return self

    def _end(self):
        op_end()


def _buffer(thing):
    """Address and bytes of what has the buffer protocol, read-only things too."""
    import ctypes

    class View(ctypes.Structure):  # as far as it is looked at; the rest is room
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                    ("rest", ctypes.c_char * 128)]

    view = View()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(thing), ctypes.byref(view), 0)
    try:
        return view.buf or 0, view.len
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


def _storage(thing):
    """Address and bytes of a tensor's storage."""
    storage = thing.untyped_storage() if hasattr(thing, "untyped_storage") else thing.storage()
    if hasattr(storage, "nbytes"):
        size = storage.nbytes() if callable(storage.nbytes) else storage.nbytes
    else:
        size = storage.size() * storage.element_size()
    return storage.data_ptr(), size


def _place(thing):
    """Where a thing's memory is: (address, bytes); bytes 0: the whole block. None: nowhere."""
    if isinstance(thing, int):
        return thing, 0
    if hasattr(thing, "untyped_storage") or (hasattr(thing, "data_ptr") and hasattr(thing, "storage")):
        return _storage(thing)
    if hasattr(thing, "data_ptr"):
        return thing.data_ptr(), 0
    interface = getattr(thing, "__array_interface__", None)
    if interface:
        while getattr(getattr(thing, "base", None), "__array_interface__", None):
            thing = thing.base  # a view: the array that has the memory
        return thing.__array_interface__["data"][0], getattr(thing, "nbytes", 0)
    return _buffer(thing)


def tag(thing, category, name=None, bytes=0):
    """What the memory of `thing` is for: a tensor (all of its storage), an array, anything with the buffer protocol, an
    address (`bytes` from there; 0: the whole block), or a list, tuple or dict of these. One without memory, or whose
    memory can't be found, is passed over: this never raises on account of `thing`."""
    if not _api:
        return
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, (list, tuple)):
        for one in thing:
            tag(one, category, name)
        return
    try:
        address, size = _place(thing)
    except Exception:  # whatever a strange tensor class raises
        return
    if address and 0 < address < 1 << 64:
        _api["tag"](_PYTHON, address, bytes or size, _text(category), _text(name))


def _step(kind, name, seq_len, tokens, phase):
    if _api:
        _api["step"](_PYTHON, kind, _PHASES.get(phase, 0), max(0, int(seq_len or 0)), max(0, int(tokens or 0)),
                     _text(name))


def step(name=None, seq_len=0, tokens=0, phase=None):
    """A step begins here and lasts to the next call, or to the end. N calls, N steps. seq_len: tokens attended to."""
    _step(_NEXT, name, seq_len, tokens, phase)


def step_begin(name=None, seq_len=0, tokens=0, phase=None):
    """A step up to step_end()."""
    _step(_BEGIN, name, seq_len, tokens, phase)


def step_end():
    _step(_END, None, 0, 0, None)


def label(text):
    """A name for this moment."""
    if _api:
        _api["label"](_PYTHON, _text(text))


def snapshot(text):
    """The process's memory of this moment, under a name."""
    if _api:
        _api["snapshot"](_text(text))


def metric(name, value):
    """A figure of the program's own: loss, accuracy, tokens a second."""
    if _api:
        _api["metric"](_text(name), float(value))


def stop():
    """Blocks that are born from here on are counted and not recorded, up to start(); see rvprof.h."""
    if _api:
        _api["rows"](0)
        _api["record"](0)


def start(level=1):
    """Recording goes on; it is on from the begin. level 0 is stop(); with level 2 each call of a Python function and of an
    operator of PyTorch's is recorded, until another start or stop."""
    if _api:
        _api["rows"](_ALL_ROWS if level > 1 else 0)
        _api["record"](level)


def clear():
    """A moment from which a report can start: rvprof report --from "clear 1"."""
    if _api:
        _api["clear"]()


def dump(path=None):
    """Writes the outputs so far into the folder `path` (None: the run folder). True: they are there."""
    return _api is not None and _api["dump"](_text(path)) == 0


def _tool():
    """The `rvprof` command: beside the library, or on PATH."""
    import shutil

    for word in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":"):
        if os.path.basename(word).startswith("librvprof.so"):
            for place in ("../bin/rvprof", "../../bin/rvprof", "../../../bin/rvprof", "../tools/rvprof"):
                tool = os.path.join(os.path.dirname(word), place)
                if os.access(tool, os.X_OK):
                    return tool
    return shutil.which("rvprof")


def _run_tool(words):
    """The `rvprof` command on this run, unprofiled. None: there is no run, or no command."""
    import subprocess

    folder, tool = os.environ.get("RVPROF_RUN_DIR"), _tool()
    if not active() or not folder or not tool:
        return None
    environment = dict(os.environ, RVPROF_DISABLE="1")
    return subprocess.run([tool] + words + [folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment, check=False)


def get():
    """What the run has so far, as a dict: summary.json of now. {} without the profiler. It runs the `rvprof` command,
    and reads all that was recorded: not for a loop."""
    done = _run_tool(["report", "--json"])
    try:
        return json.loads(done.stdout.decode("utf-8", "replace")) if done else {}
    except ValueError:
        return {}


def get_duration(data, event, category=None):
    """Milliseconds from the begin to the end of an event of a trace with begins and ends (`rvprof export chrome-be`, as a
    dict): that of this name and, where one is given, this category. ValueError: there is none, or it has no end. An
    AssertionError: there are several of that name."""
    times = {}
    for one in data["traceEvents"]:
        if one.get("name") != event or (category is not None and one.get("cat") != category) or \
                one.get("ph") not in ("B", "E"):
            continue
        assert one["ph"] not in times, "%s occurs more than once" % event
        times[one["ph"]] = one["ts"]
    if len(times) != 2:
        raise ValueError("no event %s%s" % (event, "" if category is None else " of category %s" % category))
    return (times["E"] - times["B"]) / 1000


class ProfilerAction(enum.Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """Which steps are of interest, as torch.profiler's schedule says it: a function from a step's number to an action.
    `skip_first` steps are passed over, then come cycles of `wait`, `warmup` and `active` steps, the last active one of
    each RECORD_AND_SAVE; `repeat` cycles, 0: no end. With skip_first_wait the first cycle has no `wait`."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError("schedule: wait, warmup, repeat and skip_first are 0 or more, active is 1 or more; got wait=%r, "
                         "warmup=%r, active=%r, repeat=%r, skip_first=%r" % (wait, warmup, active, repeat, skip_first))
    if warmup == 0:
        warnings.warn("rvprof.schedule: warmup is 0: the first recorded step of a cycle includes what starting to record "
                      "costs", stacklevel=2)

    def action(step_number):
        if step_number < 0:
            raise ValueError("schedule: a step's number is 0 or more")
        if step_number < skip_first:
            return ProfilerAction.NONE
        number = step_number - skip_first + (wait if skip_first_wait else 0)
        cycle = wait + warmup + active
        if repeat > 0 and number // cycle >= repeat:
            return ProfilerAction.NONE
        number %= cycle
        if number < wait:
            return ProfilerAction.NONE
        if number < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if number < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


class ProfilerActivity(enum.Enum):
    """As torch.profiler's. Work on devices is recorded as `rvprof run --cuda` says, whatever is listed."""
    CPU, XPU, MTIA, CUDA = range(4)


def supported_activities():
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA}


class record_function(_Around):
    """record_function(name): a scope of that name, for `with` and as a decorator, as PyTorch has it."""

    def __init__(self, name, args=None):
        self._name, self._args = _text(name), _text(args)

    def __enter__(self):
        if _api:
            _api["scope"](0, _PYTHON, None, self._name, self._args)
        return self

    def _end(self):
        scope_end()


class _Windows:
    """Of the process: windows are numbered."""
    count = 0


@functools.lru_cache(maxsize=None)
def _say_nothing_is_recorded():
    sys.stderr.write("rvprof: profile: this process is not recorded, so this does nothing: start it by "
                     "`rvprof run -- %s ..`\n" % (sys.executable or "python3"))


class profile:
    """torch.profiler's profile: a script written for it runs with this one in its place.

        with rvprof.profile(schedule=rvprof.schedule(wait=1, warmup=1, active=3), on_trace_ready=handler) as profiler:
            for batch in batches:
                work(batch)
                profiler.step()

    A step is from the start, or from step(), to the next step(). The schedule says in which steps a window is open;
    without one it is open from start() to stop(). In a window calls are recorded one by one: PyTorch's operators
    (activities= has CPU, or is not given), with their shapes (record_shapes=, with_flops=), and Python functions
    (with_stack=, with_modules=). All else is recorded throughout; the labels "profile N begins" and "profile N ends"
    mark the window. on_trace_ready is called with this object behind each window that ended by RECORD_AND_SAVE or
    stop(). Without the profiler in this process nothing is recorded, which is said once, and it is not called."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, **_others):
        activities = supported_activities() if activities is None else set(activities)
        if not activities:
            raise AssertionError("No valid profiler activities found")
        is_cpu = any(getattr(activity, "name", str(activity)) == "CPU" for activity in activities)
        self._rows = (_OPERATORS if is_cpu else 0) | (_SHAPES if is_cpu and (record_shapes or with_flops) else 0) | (
            _FUNCTIONS if with_stack or with_modules else 0)
        self.schedule = schedule or (lambda number: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self._has_schedule = schedule is not None
        self._windows = self._number = 0  # of this object; of the process, the last
        self._is_on = self._is_open = False
        self._metadata = {}
        self.step_num = 0
        self.current_action = ProfilerAction.NONE

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        return False

    def _open(self):
        self._windows += 1
        _Windows.count += 1
        self._number, self._is_open = _Windows.count, True
        label("profile %d begins" % self._number)
        if _api:
            _api["rows"](self._rows)

    def _close(self, is_ready=True):
        if _api:
            _api["rows"](0)
        self._is_open = False
        label("profile %d ends" % self._number)
        if is_ready and self.on_trace_ready and active():
            self.on_trace_ready(self)

    @staticmethod
    def _records(action):
        return action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def _turn(self, action):
        """From the present action to that of the next step, None: the end. RECORD_AND_SAVE ends its window whatever
        follows; a schedule that ends a window without it is told so, and has no trace then."""
        before, self.current_action = self.current_action, action or ProfilerAction.NONE
        is_save = before is ProfilerAction.RECORD_AND_SAVE
        if self._is_open and (is_save or not self._records(action)):
            is_good = is_save or action is None
            if not is_good:
                warnings.warn("Incorrect schedule: RECORD followed by %s" % action.name, stacklevel=4)
            self._close(is_good)
        elif before is ProfilerAction.WARMUP and action is ProfilerAction.NONE:
            warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=4)
        if self._records(action) and not self._is_open:
            self._open()

    def _step_begins(self):
        step_begin("ProfilerStep#%d" % self.step_num)

    def start(self):
        if self._is_on:
            return
        self._is_on = True
        if not active():
            _say_nothing_is_recorded()
        self._turn(self.schedule(self.step_num))
        self._step_begins()

    def step(self):
        if not self._is_on:
            return
        step_end()
        self.step_num += 1
        self._turn(self.schedule(self.step_num))
        self._step_begins()

    def stop(self):
        """What comes after the last step() is no step of the loop: N calls of step(), N steps."""
        if not self._is_on:
            return
        self._is_on = False
        _step(_END, _NO_STEP, 0, 0, None)
        self._turn(None)
        if self._has_schedule and not self._windows:
            label("profile: %d steps, none of them of interest to the schedule" % self.step_num)

    get = staticmethod(get)

    def add_metadata(self, key, value):
        """Into what export_chrome_trace() writes from now on."""
        self._metadata[str(key)] = str(value)

    def add_metadata_json(self, key, value):
        self._metadata[str(key)] = json.loads(value)

    def _export(self, path):
        if not self._number:
            raise RuntimeError("rvprof: nothing to export: no window was opened%s" % (
                " (%d steps, none of them of interest to the schedule)" % self.step_num if self._has_schedule else ""))
        words = ["--from", "profile %d begins" % self._number]
        if not self._is_open:
            words += ["--to", "profile %d ends" % self._number]
        done = _run_tool(["export", "chrome", "--pid", str(os.getpid()), "-o", path] + words)
        if done is None:
            raise RuntimeError("rvprof: nothing to export: this process is not recorded; start it by `rvprof run`")
        if done.returncode:
            raise RuntimeError(done.stderr.decode("utf-8", "replace").strip() or "rvprof export failed")

    def _trace(self):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="rvprof-") as folder:
            path = os.path.join(folder, "trace.json")
            self._export(path)
            with open(path, encoding="utf-8") as file:
                trace = json.load(file)
        trace.get("metadata", trace).update(self._metadata)
        return trace

    def export_chrome_trace(self, path):
        """The last window's rows, steps, memory and work on devices of this process as a Chrome trace. While the window is
        open: what is recorded so far. Raises RuntimeError where there is nothing to write."""
        path = os.fspath(path)
        if not self._metadata and not path.endswith(".gz"):
            self._export(path)
            return
        import gzip

        trace = self._trace()
        with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
            json.dump(trace, file)

    def _events(self):
        try:
            import rvprof_events
        except ImportError:
            raise RuntimeError("rvprof: tables of events need rvprof_events.py beside rvprof.py") from None
        return rvprof_events.Events(self._trace())

    def events(self):
        """Operators, scopes and products of matrices of the last window, one by one."""
        return self._events().list()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """The same summed by name: a list with .table() and .total_average()."""
        return self._events().averages(group_by_input_shape)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Python's call paths of the last window with the microseconds spent in each, for flame graphs; needs
        with_stack=True."""
        lines = self._events().stacks(metric)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """For on_trace_ready: a file for each window in that folder, named as PyTorch names it."""

    def write(profiler):
        import socket
        import time

        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or "%s_%d" % (socket.gethostname(), os.getpid())
        name = "%s.%d.pt.trace.json" % (worker, time.time_ns())
        profiler.export_chrome_trace(os.path.join(dir_name, name + (".gz" if use_gzip else "")))

    return write
