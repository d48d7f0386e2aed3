# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_plain.py: what tensors are for that no module holds: a decoder written as plain functions, its
weights in a dict, its cache in a global. Its text stands in one namespace with the adapter's other parts.

Nobody calls a module there, so nothing of PyTorch's tells when a step is over. The library asks the interpreter now
and then to let us look around between two instructions (_later). What is seen, and what is said:

  kv_cache  a name that public code gives to keys and values (KV_NAMES); or a floating tensor of three dimensions and
            more that is only appended to: of its cells (preload/adapter_cells.h) each changes once, and along one
            dimension those that change now stand behind those of before, look after look. Appended is a log too, so
            two of a shape must do the same, or the one must be written at two places and more for each place that it
            grows by: keys and values, layers. A cache that is made anew where one was is one.
  weights   what is an nn.Parameter, or a leaf that asks for gradients. And, where such a cache was found, or tensors that
            grow alike by torch.cat: floating tensors that were never written (version counter) while it grew, if most
            of their bytes are in matrices that share one dimension, the model's width.

What says nothing stays unknown. Nothing is said of what is rewritten: optimizer state, statistics, scratch. While an
optimizer steps nothing is looked at: what is appended to may be a replay buffer, and the optimizer tells the rest.

What it costs: looks take one part in SHARE of the main thread's processor time where no module is called, from the first look on,
which comes when PyTorch is imported; where modules are called, which pay for their own calls, one part in SHARE_OF_STEPS, and each
look is twice as far away as the one before. What is not used is not saved for later. A few looks are in advance: FIRST at
the begin, and ADVANCED once, when a store was seen to grow: less than that names nothing. While it grows, for FAST_LOOKS looks, they
are no less than FAST_NS apart.
"""
import sys
import time

LOOK_NS, FAST_NS, LONGEST_NS = 8_000_000, 3_000_000, 10_000_000_000
FAST_LOOKS, SLOWER_EVERY = 48, 24
SHARE, SHARE_OF_STEPS = 66, 250  # one of so many parts of the main thread's time; where modules are called
FIRST, ADVANCED = 2, 6  # looks
LEAST_BYTES = 1024
CELLS, FEW_CELLS, DENSE, CELL_BYTES = 512, 64, 4, 8  # for the first DENSE of a shape; for the others
DIMENSIONS_MAX = 8
LEAST_LOOKS, LEAST_CHANGED, LEAST_LENGTH, LEAST_SEEN = 5, 16, 16, 5
AGAIN_SHARE, LAPSE_SHARE = 33, 8  # one of so many changes may be to what had changed; one of so many looks out of order
RESTARTS_MAX = 64


class Kept:
    """A storage that the program keeps from look to look."""
    __slots__ = ("name", "shape", "dtype", "bytes", "version", "seen", "written", "said", "cells", "restarts", "changed",
                 "again", "looks", "writes", "high", "low", "advances", "lapses")

    def __init__(self, name, tensor):
        self.name, self.shape, self.dtype = name, tuple(tensor.shape), tensor.dtype
        self.bytes = tensor.numel() * tensor.element_size()
        self.version = version_of(tensor)
        self.seen, self.written, self.said = 1, 0, None
        self.cells, self.restarts, self.looks, self.changed, self.again = None, 0, 0, 0, 0

    def restart(self):
        self.changed = self.again = self.looks = self.writes = 0
        self.high = [-1] * len(self.shape)
        self.advances, self.lapses = [0] * len(self.shape), [0] * len(self.shape)

    def is_same(self, tensor):
        return self.shape == tuple(tensor.shape) and self.dtype == tensor.dtype

    def look(self, tensor, at, cells):
        """True: something was appended, as far as can be seen."""
        self.seen += 1
        version = version_of(tensor)
        if version is not None and version == self.version:
            return False
        writes = version - self.version if version is not None and self.version is not None else 0
        self.version = version
        self.written += version is not None
        if self.said or self.restarts > RESTARTS_MAX or len(self.shape) > DIMENSIONS_MAX or not tensor.device.type == "cpu":
            return False
        return self.compare(tensor, at, cells, writes)

    def compare(self, tensor, at, cells, writes):
        is_first = self.cells is None
        if is_first:
            self.restart()
            self.cells = bytearray(cells * CELL_BYTES)
        found = self.see(tensor, at, is_first)
        if not found or not found[0]:
            self.writes += writes
            return False
        self.written += self.version is None
        if found[1] * 4 > found[0]:  # written anew: the next sequence, if it is a store
            self.restarts += 1
            self.restart()
            self.see(tensor, at, True)
            return False
        self.note(found, writes)
        return True

    def see(self, tensor, at, is_begin):
        return _cells(self.cells, is_begin, at, tensor.element_size(), list(self.shape), list(tensor.stride()))

    def note(self, found, writes):
        self.changed, self.again, self.looks = self.changed + found[0], self.again + found[1], self.looks + 1
        self.writes += writes
        for i, high in enumerate(self.high):
            first, last = found[2 + 2 * i], found[3 + 2 * i]
            self.lapses[i] += first < high
            self.advances[i] += last > high
            self.high[i] = max(last, high)
        if self.looks == 1:  # up to here it was filled, perhaps by a prompt
            self.writes, self.low = 0, list(self.high)

    def length_at(self):
        """The dimension along which it is appended to; -1: it is not."""
        if self.looks < LEAST_LOOKS or self.changed < LEAST_CHANGED or self.again * AGAIN_SHARE > self.changed:
            return -1
        for i, advances in enumerate(self.advances):
            if (advances >= LEAST_LOOKS - 1 and self.lapses[i] * LAPSE_SHARE <= advances
                    and self.shape[i] >= LEAST_LENGTH):
                return i
        return -1

    def is_appended(self):
        """Nowhere written twice, in whatever order: pages of a pool."""
        return (len(self.shape) >= 4 and self.looks >= 2 * LEAST_LOOKS and self.changed >= 2 * LEAST_CHANGED
                and self.again * AGAIN_SHARE <= self.changed)

    def is_alone_enough(self, length_at):
        """One tensor for all keys and values: written at several places for each that it grows by."""
        grown = self.high[length_at] - self.low[length_at]
        if len(self.shape) < 4:
            return False
        if self.version is None:  # what begins with its length may be a log
            return 2 in self.shape[:length_at]
        return grown > 0 and self.writes >= 2 * grown - 2


class Plain:
    """What is known of all of them."""
    kept = {}  # address of the storage -> Kept
    cache_names = {}  # name -> number of dimensions: of caches that were told
    growing = {}  # name -> [shape, dimension, times]: what torch.cat makes
    has_cache = False
    width = 0  # of the model, once it is known
    looks = quiet = fast = 0
    allowed_ns = 0  # for looks; below 0: they were in advance
    last_ns = least_ns = 0  # end of the last look; the least that one took
    has_grown = False  # a store was seen to


def is_floating(tensor):
    return tensor.dtype not in whole_types


def find_kept():
    """Address of the storage -> (key, path, tensor that covers it)."""
    found = {}
    for key, path, tensor in held_tensors():
        if tensor._base is not None:
            tensor = tensor._base
        at = base_of(tensor) if tensor.layout is torch.strided else 0
        if at and (at not in found or tensor.numel() > found[at][2].numel()):
            found[at] = key, path, tensor
    return found


def note_growth(name, tensor):
    shape = tuple(tensor.shape)
    row = Plain.growing.setdefault(name, [shape, -1, 0])
    if row[0] != shape:
        changed = [i for i, (a, b) in enumerate(zip(row[0], shape)) if a != b] if len(shape) == len(row[0]) else ()
        is_grown = len(changed) == 1 and shape[changed[0]] > row[0][changed[0]] and row[1] in (-1, changed[0])
        row[0], row[1], row[2] = shape, changed[0] if is_grown else -1, row[2] + 1 if is_grown else 0


def grows_by_cat():
    return sum(times >= 3 for _, _, times in Plain.growing.values()) >= 2


def look_at_all():
    """True: a store that is not yet named was appended to."""
    found, kept, dense, is_busy = find_kept(), {}, {}, False
    for at, (key, path, tensor) in found.items():
        old = Plain.kept.get(at)
        if old is None or not old.is_same(tensor):
            old = None
        kept[at] = row = old or Kept(path_of(key, path), tensor)
        if is_store_like(tensor) and tensor.numel() and row.bytes >= LEAST_BYTES:
            note_growth(row.name, tensor)
            kind = row.shape, row.dtype
            dense[kind] = dense.get(kind, 0) + 1
            if old is not None:
                is_busy |= row.look(tensor, tensor.data_ptr(), CELLS if dense[kind] <= DENSE else FEW_CELLS)
        elif old is not None:
            row.seen += 1
            version = version_of(tensor)
            row.written += version != row.version
            row.version = version
    Plain.kept = kept
    Plain.looks += 1
    tell_caches(found)
    tell_weights(found)
    return is_busy


def say(category, rows):
    """rows: (address, Kept)"""
    for _, row in rows:
        row.said, row.cells = category, None
    if rows:
        _tags(category, [at for at, _ in rows], [bytes_of(row.name) for _, row in rows])


def is_named(name):
    return bool(KV_NAMES.intersection(name.split(".")))


def tell_caches(found):
    groups, told = {}, []
    for at, row in Plain.kept.items():
        tensor = found[at][2]
        if row.said or at in weight_names or not is_store_like(tensor):
            continue
        if (is_named(row.name) and row.written) or Plain.cache_names.get(row.name) == len(row.shape):
            told.append((at, row))
        elif row.looks:
            groups.setdefault((row.shape, row.dtype), []).append((at, row))
    for group in groups.values():
        sure = [row for row in group if row[1].length_at() >= 0]
        if len(sure) >= 2 or sum(row.is_appended() for _, row in group) >= 2:
            told += [row for row in group if not row[1].again]
        elif sure and sure[0][1].is_alone_enough(sure[0][1].length_at()):
            told += sure
    for _, row in told:
        Plain.cache_names[row.name] = len(row.shape)
    Plain.has_cache = Plain.has_cache or bool(told)
    say(b"kv_cache", told)


def tell_weights(found):
    sure, still = [], []
    for at, row in Plain.kept.items():
        tensor = found[at][2]
        if row.said or at in weight_names or not is_floating(tensor):
            continue
        if isinstance(tensor, torch.nn.Parameter) or (tensor.requires_grad and tensor.is_leaf):
            sure.append((at, row))
        elif row.seen >= LEAST_SEEN and not row.written and row.version is not None:
            still.append((at, row))
    if Plain.has_cache or grows_by_cat():
        sure += of_one_width(still)
    for at, row in sure:
        weight_names[at] = bytes_of(row.name)
    say(b"weights", sure)


def of_one_width(rows):
    """The matrices that share a dimension, if they are most of all, and the vectors that fit them."""
    by_size = {}
    matrices = [(at, row) for at, row in rows if len(row.shape) >= 2]
    for _, row in matrices:
        for size in set(row.shape):
            if size >= 8:
                by_size[size] = by_size.get(size, 0) + row.bytes
    width = max(by_size, key=by_size.get) if by_size else 0
    chosen = [(at, row) for at, row in matrices if width in row.shape]
    if len(chosen) < 4 or 2 * sum(row.bytes for _, row in chosen) < sum(row.bytes for _, row in matrices):
        return chosen if Plain.width == width and width else []
    Plain.width = width
    sizes = {size for _, row in chosen for size in row.shape}
    return chosen + [(at, row) for at, row in rows if len(row.shape) == 1 and row.shape[0] in sizes]


def allow(now_ns, cost_ns, is_busy):
    """What the time since the last look allows, as long as looks are few."""
    least = Plain.least_ns = min(cost_ns, Plain.least_ns or cost_ns)  # the first one learns what is whose
    if not Plain.last_ns:
        Plain.allowed_ns = FIRST * least
    elif not models and not Plain.has_grown and (is_busy or any(row[2] for row in Plain.growing.values())):
        Plain.has_grown = True
        Plain.allowed_ns = ADVANCED * cost_ns
    else:
        since = (now_ns - Plain.last_ns) // (SHARE_OF_STEPS if models else SHARE)
        Plain.allowed_ns = min(Plain.allowed_ns + since, max(Plain.allowed_ns, FIRST * least)) - cost_ns
    Plain.last_ns = now_ns


def next_wait(now_ns, cost_ns, is_busy):
    allow(now_ns, cost_ns, is_busy)
    due_ns = (Plain.least_ns - Plain.allowed_ns) * (SHARE_OF_STEPS if models else SHARE)
    if is_busy and Plain.fast < FAST_LOOKS:
        Plain.fast += 1
        return max(FAST_NS, due_ns)
    Plain.quiet += 1
    return max(LOOK_NS << min(Plain.quiet if models else Plain.quiet // SLOWER_EVERY, 20), due_ns)


def look_once():
    """Gives the time until the next look."""
    begin = time.thread_time_ns()
    is_busy = look_at_all()
    now = time.thread_time_ns()
    return min(next_wait(now, now - begin, is_busy), LONGEST_NS)
