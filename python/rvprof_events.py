# SPDX-License-Identifier: MIT
"""rvprof_events.py: the rows of a trace as torch.profiler's tables have them: rvprof.profile's events(), key_averages() and
export_stacks(). Lies beside rvprof.py, which reads the trace.

Which rows: operators (PyTorch's, those of rvprof.h and rvprof.py), products of matrices by a BLAS, scopes, and kernels of
devices. Times are microseconds. A row's total is its duration; its self time that less the durations of the rows of the
same thread that stand directly in it. Totals of a name that stands in itself are summed as they are, as PyTorch does: they
overlap; an operator that does nothing but call another of its name counts once. Shares are of the sum of self times, on the host and on devices each.

FLOPs (with_flops): of a BLAS call 2 m n k (complex: 8), as the row says it; of aten::mm, addmm, bmm and baddbmm by their
shapes, the same formula. A row in another that has FLOPs already is not counted: nothing is counted twice.
"""
import math

HOST = {"cpu_op", "operator", "scope"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
PYTHON = "python_function"


def product(sizes):
    return math.prod(sizes) if hasattr(math, "prod") else __import__("functools").reduce(lambda a, b: a * b, sizes, 1)


def flops_of(name, args):
    """None: no formula, or no shapes."""
    if "flops" in args:
        return args["flops"]
    shapes = args.get("Input Dims")
    first = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}.get(name)
    if first is None or not shapes or len(shapes) < first + 2:
        return None
    left, right = shapes[first], shapes[first + 1]
    if len(left) < 2 or len(left) != len(right):
        return None
    return 2 * product(left) * right[-1]


class Event:
    """A row."""

    def __init__(self, row):
        args = row.get("args", {})
        self.name, self.cat, self.thread = row.get("name", ""), row["cat"], (row["pid"], row["tid"])
        self.begin, self.total = row["ts"], row.get("dur", 0)
        self.shapes = args.get("Input Dims", [])
        self.own_flops = flops_of(self.name, args)
        self.flops = 0
        self.self_time, self.parent, self.children = self.total, None, []
        self.is_device = self.cat in DEVICE

    key = property(lambda self: self.name)
    input_shapes = property(lambda self: self.shapes)
    cpu_time_total = property(lambda self: 0 if self.is_device else self.total)
    self_cpu_time_total = property(lambda self: 0 if self.is_device else self.self_time)
    device_time_total = cuda_time_total = property(lambda self: self.total if self.is_device else 0)

    def __repr__(self):
        return "<rvprof event %s %.3f us>" % (self.name, self.total)


def nest(events):
    """Says whose parent is whose; events of one thread nest."""
    open_of = {}
    for event in sorted(events, key=lambda event: (event.begin, -event.total)):
        stack = open_of.setdefault(event.thread, [])
        while stack and event.begin >= stack[-1].begin + stack[-1].total:
            stack.pop()
        if stack and not event.is_device:
            event.parent = stack[-1]
            stack[-1].children.append(event)
            stack[-1].self_time = max(0, stack[-1].self_time - event.total)
        if not stack or stack[-1].flops_counted is None:
            event.flops_counted = event if event.own_flops is not None else None
            event.flops = event.own_flops or 0
        else:
            event.flops_counted = stack[-1].flops_counted
        stack.append(event)


Event.flops_counted = None


def without_repeats(events):
    """In order of their begins. The inner one of two such operators goes, and what it has is the outer one's."""
    kept = []
    for event in sorted(events, key=lambda event: (event.begin, -event.total)):
        outer = event.parent
        while outer is not None and outer.is_repeat:
            outer = outer.parent
        event.is_repeat = outer is not None and outer.name == event.name and len(outer.children) == 1
        if event.is_repeat:
            outer.children = event.children
            outer.self_time += event.self_time
            outer.flops += event.flops
        else:
            kept.append(event)
    return kept


Event.is_repeat = False


class Average:
    """All rows of one name."""

    def __init__(self, key, shapes):
        self.key, self.input_shapes, self.count, self.flops = key, shapes, 0, 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.device_time_total = self.self_device_time_total = 0.0

    def add(self, event):
        self.count += 1
        self.flops += event.flops
        if event.is_device:
            self.device_time_total += event.total
            self.self_device_time_total += event.self_time
        else:
            self.cpu_time_total += event.total
            self.self_cpu_time_total += event.self_time

    cpu_time = property(lambda self: self.cpu_time_total / self.count if self.count else 0.0)
    device_time = cuda_time = property(lambda self: self.device_time_total / self.count if self.count else 0.0)
    cuda_time_total = property(lambda self: self.device_time_total)
    self_cuda_time_total = property(lambda self: self.self_device_time_total)

    def __repr__(self):
        return "<rvprof average %s: %d calls, self %.3f us, total %.3f us>" % (
            self.key, self.count, self.self_cpu_time_total, self.cpu_time_total)


def duration(us):
    for limit, divisor, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms")):
        if us < limit:
            return "%.3f%s" % (us / divisor, unit)
    return "%.3fs" % (us / 1e6)


def percent(part, whole):
    return "%.2f%%" % (100 * part / whole if whole else 0)


class Averages(list):
    """key_averages(): a list of Average."""

    def total_average(self):
        total = Average("Total", [])
        for average in self:
            total.count += average.count
            total.flops += average.flops
            total.self_cpu_time_total += average.self_cpu_time_total
            total.self_device_time_total += average.self_device_time_total
        total.cpu_time_total, total.device_time_total = total.self_cpu_time_total, total.self_device_time_total
        return total

    def _columns(self, total, name_width, shapes_width):
        columns = [("Name", lambda a: a.key if len(a.key) <= name_width else a.key[:name_width - 3] + "..."),
                   ("Self CPU %", lambda a: percent(a.self_cpu_time_total, total.self_cpu_time_total)),
                   ("Self CPU", lambda a: duration(a.self_cpu_time_total)),
                   ("CPU total %", lambda a: percent(a.cpu_time_total, total.self_cpu_time_total)),
                   ("CPU total", lambda a: duration(a.cpu_time_total)),
                   ("CPU time avg", lambda a: duration(a.cpu_time))]
        if total.self_device_time_total:
            columns += [("Device total %", lambda a: percent(a.device_time_total, total.self_device_time_total)),
                        ("Device total", lambda a: duration(a.device_time_total)),
                        ("Device time avg", lambda a: duration(a.device_time))]
        columns.append(("# of Calls", lambda a: "%d" % a.count))
        if any(average.input_shapes for average in self):
            columns.append(("Input Shapes", lambda a: str(a.input_shapes)[:shapes_width]))
        if total.flops:
            columns.append(("Total MFLOPs", lambda a: "%.3f" % (a.flops / 1e6) if a.flops else "--"))
        return columns

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False):
        rows, total = list(self), self.total_average()
        if sort_by:
            rows.sort(key=lambda average: getattr(average, sort_by), reverse=True)
        columns = self._columns(total, max_name_column_width, max_shapes_column_width)
        cells = [[title for title, _ in columns]] + [
            [show(average) for _, show in columns] for average in rows[:None if row_limit < 0 else row_limit]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        line = "  ".join("-" * width for width in widths)
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        ends = ["Self CPU time total: " + duration(total.self_cpu_time_total)]
        if total.self_device_time_total:
            ends.append("Device time total: " + duration(total.self_device_time_total))
        return "\n".join(([header] if header else []) + [line, lines[0], line] + lines[1:] + [line] + ends) + "\n"


class Events:
    def __init__(self, trace):
        rows = [row for row in trace["traceEvents"] if row.get("ph") == "X"]
        self._events = [Event(row) for row in rows if row.get("cat") in HOST or row.get("cat") in DEVICE]
        self._python = [Event(row) for row in rows if row.get("cat") == PYTHON]
        nest(self._events)
        self._events = without_repeats(self._events)

    def list(self):
        return self._events

    def averages(self, by_shape):
        by_key = {}
        for event in self.list():
            shapes = event.shapes if by_shape else []
            key = event.name, str(shapes)
            if key not in by_key:
                by_key[key] = Average(event.name, shapes)
            by_key[key].add(event)
        return Averages(by_key.values())

    def stacks(self, metric):
        """Lines `outer;inner N` of Python functions, N whole microseconds of their own (self_cpu_time_total)."""
        if metric not in ("self_cpu_time_total", "self_cuda_time_total"):
            raise ValueError("export_stacks: metric is self_cpu_time_total, not %r" % (metric,))
        if not self._python:
            raise RuntimeError("rvprof: no Python function was recorded: profile(with_stack=True)")
        nest(self._python)
        sums = {}
        for event in self._python:
            path, at = [], event
            while at is not None:
                path.append(at.name.replace(";", "_").replace(" ", "_"))
                at = at.parent
            key = ";".join(reversed(path))
            sums[key] = sums.get(key, 0.0) + event.self_time
        return ["%s %d\n" % (path, us) for path, us in sorted(sums.items()) if us >= 1]
