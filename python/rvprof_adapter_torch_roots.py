# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_roots.py: the tensors that a PyTorch program can name: in the globals of its own modules, in
the local variables of the functions that are running, and in what these hold. Its text stands in one namespace with
the adapter's other parts.

Rules
  - No code of the program's runs: no property, no __getattr__, no __class__ of a stand-in is asked.
  - Nothing is left behind in a frame: f_locals would keep what it shows until the function returns. Before 3.13, where
    it is a view, local variables are read where the interpreter has them (3.11, 3.12), or as it tells its collector.
  - Libraries are not looked through, but for objects of theirs that the program holds.
"""
import collections
import ctypes
import gc
import os
import sys
import threading
import types

NODES_MAX, ROOT_DEPTH = 20000, 7
OPTIMIZED = 1  # CO_OPTIMIZED: local variables in slots
# CPython 3.11 and 3.12: PyFrameObject.f_frame, _PyInterpreterFrame.localsplus (Include/internal/pycore_frame.h)
FRAME_AT, LOCALS_AT = 24, 72
LEAVES = PLAIN | {types.ModuleType, types.BuiltinFunctionType, range, slice, property, staticmethod, classmethod,
                  types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.CodeType}
BARREN_LOOKS = 16  # as long what holds nothing is taken to hold nothing
LIBRARY_PARTS = "/site-packages/", "/dist-packages/"


class Files:
    """Which of them are the program's own."""
    is_running = {}  # path -> whether its functions' variables are looked at: not the standard library's, not PyTorch's
    standard = others = None  # the standard library's folder; PyTorch's, and files that are none
    modules = ()
    names = frozenset()
    module_count = 0


def is_library_file(path):
    return any(part in path for part in LIBRARY_PARTS)


def is_running_file(path):
    known = Files.is_running.get(path)
    if known is None:
        if Files.standard is None:
            Files.standard = os.path.dirname(os.__file__) + "/"
            Files.others = os.path.dirname(torch.__file__) + "/", "<frozen", "<rvprof>"
        is_standard = path.startswith(Files.standard) and not is_library_file(path)
        known = Files.is_running[path] = not is_standard and not path.startswith(Files.others)
    return known


def is_programs(module):
    """None: its file does not tell."""
    path = vars(module).get("__file__") if type(module) is types.ModuleType else None
    return is_running_file(path) and not is_library_file(path) if isinstance(path, str) else None


def modules_of_program():
    """Packages are judged by their first file: PyTorch's import alone brings a thousand modules."""
    if len(sys.modules) != Files.module_count:
        Files.module_count = len(sys.modules)
        found, packages = [], {"__main__": True}
        for name, module in list(sys.modules.items()):
            package = name.partition(".")[0]
            if package not in packages:
                packages[package] = is_programs(sys.modules.get(package))
            known = packages[package]
            if known or (known is None and is_programs(module)):
                found.append((name, module))
        Files.modules = tuple(module for _, module in found if type(module) is types.ModuleType)
        Files.names = frozenset(name for name, _ in found)
    return Files.modules


def has_slots():
    return (sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 12)
            and not hasattr(sys, "gettotalrefcount") and ctypes.sizeof(ctypes.c_void_p) == 8)


def slots_of(frame, code):
    """Of a frame of the calling thread: no other can change it meanwhile."""
    names = code.co_varnames + tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    at = ctypes.c_size_t.from_address(id(frame) + FRAME_AT).value + LOCALS_AT
    found = []
    for i, name in enumerate(names + code.co_freevars):
        if ctypes.c_size_t.from_address(at + 8 * i).value:
            found.append((name, ctypes.py_object.from_address(at + 8 * i).value))
    return found


def locals_of(frame, is_own):
    code = frame.f_code
    if not code.co_flags & OPTIMIZED:
        return frame.f_locals.items() if frame.f_locals is not frame.f_globals else ()
    if sys.version_info >= (3, 13):
        return list(frame.f_locals.items())
    if has_slots():
        return slots_of(frame, code) if is_own else ()
    if sys.version_info >= (3, 11):
        return ()
    held = frame.f_globals, frame.f_builtins, frame.f_back, code
    return [("local", value) for value in gc.get_referents(frame) if all(value is not other for other in held)]


def frames_of_all():
    """(innermost frame, whether it is of this thread) of all threads. The caller's frame is left out: one that is in a
    variable of its own function is never freed before the collector comes."""
    frames = sys._current_frames()
    frames.pop(threading.get_ident(), None)
    return [(sys._getframe(2), True)] + [(frame, False) for frame in frames.values()]


def roots():
    """What is looked through, each as pairs of name and value: innermost functions first."""
    found, spaces = [], {id(vars(module)): vars(module) for module in modules_of_program()}
    for frame, is_own in frames_of_all():
        while frame is not None:
            if is_running_file(frame.f_code.co_filename):
                found.append(locals_of(frame, is_own))
                spaces[id(frame.f_globals)] = frame.f_globals
            frame = frame.f_back
    return found + [named_items(space) for space in spaces.values()]


def named_items(space):
    """Of a module, what it has from the interpreter left out: __builtins__ alone is a dict of 150 classes and functions."""
    return [pair for pair in list(space.items())
            if type(pair[1]) not in LEAVES and not (type(pair[0]) is str and pair[0][:2] == "__")]


class Barren:
    """Functions without variables of an outer one, classes of libraries: most of what there is to meet. Their numbers are
    kept for some looks; what comes where one was is found when they are forgotten."""
    numbers = set()
    looks = 0

    @classmethod
    def begin_look(cls):
        cls.looks += 1
        if cls.looks % BARREN_LOOKS == 0:
            cls.numbers.clear()


def own_items(value):
    """Attributes of an object, as far as they can be had without running code of its class."""
    kind = type(value)
    try:
        found = dict.items(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        found = ()
    if not any("__slots__" in vars(base) for base in kind.__mro__[:-1]):
        return found
    found = list(found)
    for base in kind.__mro__[:-1]:
        for name, member in list(vars(base).items()):
            if type(member) is types.MemberDescriptorType and name not in ("__dict__", "__weakref__"):
                try:
                    found.append((name, member.__get__(value)))
                except AttributeError:
                    pass
    return found


def is_opaque(kind):
    """Kinds that hold no tensors of the program's, or that others look into."""
    module = kind.__module__
    if issubclass(kind, torch.nn.Module):
        return len(models) > 0
    return (issubclass(kind, (types.ModuleType, torch.optim.Optimizer)) or not isinstance(module, str)
            or module.partition(".")[0] in ("torch", "builtins", "types", "numpy"))


def cell_items(cell):
    try:
        return [("", cell.cell_contents)]
    except ValueError:
        return ()


def inside(value, kind):
    """Key and value of what is in a value, one level deep."""
    if issubclass(kind, dict):
        return dict.items(value) if dict.__len__(value) <= ITEMS_MAX else ()
    if issubclass(kind, (list, tuple)):
        base = list if issubclass(kind, list) else tuple
        items = base.__getitem__(value, slice(FEW + 1))
        if len(items) > FEW and is_long_or_numbers(base.__getitem__(value, slice(ITEMS_MAX + 1))):
            return ()
        return enumerate(base.__getitem__(value, slice(None)) if kind is not base else value)
    if kind in (set, frozenset, collections.deque):
        return list(enumerate(list(value))) if len(value) <= ITEMS_MAX else ()
    if kind is types.FunctionType:
        cells = value.__closure__ if is_running_file(value.__code__.co_filename) else None
        return list(zip(value.__code__.co_freevars, cells)) if cells else ()
    if kind is types.CellType:
        return cell_items(value)
    if kind is types.MethodType:
        return [("", value.__self__)]
    if issubclass(kind, type):
        return vars(value).items() if value.__module__ in Files.names else ()
    return () if is_opaque(kind) else own_items(value)


def path_of(key, path):
    """path: (key, path) of what holds it."""
    words = [str(key)]
    while path:
        if path[0] != "":
            words.append(str(path[0]))
        path = path[1]
    return ".".join(reversed(words))


def held_tensors():
    """(key, path, tensor) of all that can be reached. Depth first, by iterators: what a look needs of the program's
    heap must not become its peak."""
    Barren.begin_look()
    found, seen, barren = [], set(), Barren.numbers
    iterators = [iter(items) for items in reversed(roots())]
    paths = [None] * len(iterators)
    root_count = len(iterators)
    while iterators:
        try:
            pair = next(iterators[-1], None)
        except RuntimeError:  # a dict that another thread changed
            pair = None
        if pair is None:
            iterators.pop()
            paths.pop()
            root_count = min(root_count, len(iterators))
            continue
        key, item = pair
        kind = type(item)
        if kind in LEAVES or id(item) in barren:
            continue
        if kind is Tensor or issubclass(kind, Tensor):
            found.append((key, paths[-1], item))
        elif len(iterators) < root_count + ROOT_DEPTH and len(seen) < NODES_MAX and id(item) not in seen:
            parts = inside(item, kind)
            if parts:
                seen.add(id(item))
                iterators.append(iter(parts))
                paths.append((key, paths[-1]))
            elif kind is types.FunctionType or kind is type:
                barren.add(id(item))
    return found
