# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_kv.py: which tensors of a PyTorch program are keys and values. The part of the adapter
(rvprof_adapter_torch.py) that looks into arguments, outputs and attributes; its text comes first, in the same
namespace.

What a KV cache is: by public names (KV_NAMES), or by what is done with it. Floating tensors of three dimensions
and more, at least two of the same shape, that outlive a call of a model over integer tokens and are kept from
call to call (in an argument, in an attribute of a module, or handed out and in again), and that either grow along
one dimension by the tokens of the call, or are written in place in every call. Nothing is called kv_cache before
that.
"""
import sys

# Names under which public code keeps keys and values, each with where it is from.
KV_NAMES = {
    "past_key_values",  # transformers: argument and output of its models
    "past_key_value", "layer_past",  # transformers: argument of its attention layers
    "key_cache", "value_cache",  # transformers: Cache classes up to 4.5x; vLLM
    "k_cache", "v_cache",  # gpt-fast: KVCache; flash-attention
    "cache_k", "cache_v",  # llama's reference code: Attention
    "kv_cache", "kv_caches",  # vLLM; whisper
    "key_value_memory_dict",  # flash-attention: InferenceParams
    "prev_key", "prev_value",  # fairseq: MultiheadAttention's incremental state
}
PLAIN = {int, float, str, bool, type(None), bytes, complex}
DEPTH_MAX, TENSORS_MAX, ITEMS_MAX = 8, 4096, 4096
FEW = 8  # items that are sooner looked at than judged by the first and the last


def gather(value, into, depth=DEPTH_MAX):
    """The tensors in a value's lists, tuples, dicts, plain objects, in a fixed order. At every step: no call for what
    is in a list or tuple, but for the lists and tuples in it."""
    kind = type(value)
    if kind is not tuple and kind is not list:
        if kind is Tensor or isinstance(value, Tensor):
            into.append(value)
            return
        value = [item for _, item in items_of(value)]
    elif len(value) > FEW and is_long_or_numbers(value):
        return
    for item in value:
        kind = type(item)
        if kind is Tensor:
            into.append(item)
        elif kind not in PLAIN and depth and len(into) < TENSORS_MAX:
            gather(item, into, depth - 1)


def gather_names(value, names, path, depth=DEPTH_MAX):
    """The paths of the same tensors, in the same order."""
    if isinstance(value, Tensor):
        names.append(path)
        return
    for key, item in items_of(value):
        if isinstance(item, Tensor) or (type(item) not in PLAIN and depth and len(names) < TENSORS_MAX):
            gather_names(item, names, "%s.%s" % (path, key), depth - 1)


def is_long_or_numbers(value):
    return len(value) > ITEMS_MAX or (type(value[0]) in PLAIN and type(value[-1]) in PLAIN)


def items_of(value):
    """Keys and values of what may hold tensors."""
    if type(value) in PLAIN:
        return ()
    if isinstance(value, dict):
        return value.items() if len(value) <= ITEMS_MAX else ()
    if isinstance(value, (list, tuple)):
        return () if len(value) > FEW and is_long_or_numbers(value) else enumerate(value)
    if is_holder(value):
        note_library(value)
        return [(public_name(value, key), item) for key, item in vars(value).items()]
    return ()


def is_holder(value):
    """An object of a program's or a library's own class, which may be a cache."""
    return (hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module, torch.optim.Optimizer))
            and not callable(value) and type(value).__module__ not in ("builtins", "types", "torch"))


def public_name(value, key):
    """keys and values are words of many; in a class of transformers' they are its cache layers'."""
    if key in ("keys", "values") and type(value).__name__.endswith("Layer"):
        return "key_cache" if key == "keys" else "value_cache"
    return key


met_libraries = set()


def note_library(value):
    library = type(value).__module__.partition(".")[0]
    if library == "transformers" and library not in met_libraries:
        met_libraries.add(library)
        there = getattr(sys.modules.get(library), "__version__", "")
        _adapter(UNTESTED, b"transformers", bytes_of(str(there)),
                 b"cache objects by their public attribute names; not run with the library itself")


def is_store_like(tensor):
    """Whether its kind allows it to be keys and values: no tokens, no flat mask, nothing that learns."""
    return tensor.dim() >= 3 and tensor.dtype not in whole_types and not tensor.requires_grad


def version_of(tensor):
    """None: it was made in inference mode. Asked for all the same it raises, and the error's backtrace takes 1 ms."""
    try:
        return None if tensor.is_inference() else tensor._version
    except (AttributeError, RuntimeError):
        return None


def grown_dimension(old, new, by):
    """The one dimension in which two shapes differ, when it grew by so much; -1: they are not so."""
    if old is None or len(old) != len(new):
        return -1
    changed = [i for i, (a, b) in enumerate(zip(old, new)) if a != b]
    return changed[0] if len(changed) == 1 and new[changed[0]] - old[changed[0]] == by else -1


class Place:
    """Where a tensor is found again in every call: what was there last. The tensor itself is not kept."""
    __slots__ = ("name", "label", "is_named", "is_kv", "shape", "at", "version", "grew", "length_at")

    def __init__(self, name):
        self.name, self.label = name, bytes_of(name)
        self.is_named = bool(KV_NAMES.intersection(name.split(".")))
        self.is_kv = self.grew = False
        self.shape, self.at, self.version, self.length_at = None, 0, None, -1

    def note(self, tensor, tokens):
        """True: written in place, or grown by the call's tokens, since the last look."""
        shape, at, version = tuple(tensor.shape), base_of(tensor), version_of(tensor)
        length_at = grown_dimension(self.shape, shape, tokens) if tokens else -1
        is_written = (at != 0 and at == self.at and version is not None and self.version is not None and
                      version > self.version)
        self.grew = length_at >= 0
        self.length_at = length_at if self.grew else self.length_at
        self.shape, self.at, self.version = shape, at, version
        return is_written or self.grew


class Source:
    """One root of values: a model's arguments, its output, an attribute of a module."""

    def __init__(self, root, kind):
        self.root, self.kind, self.places = root, kind, []
        self.known = {}  # all places ever by name: a cache that was dropped comes back where it was
        self.kv, self.labels = [], []  # the places that hold keys and values, by their numbers; what they are called
        self.addresses = []  # that were told last, of kv
        self.length_from = None  # (place, dimension): what grows by the tokens of each call
        self.length = 0
        self.has_kv = False  # now, or once

    def rename(self, value, count):
        names = []
        gather_names(value, names, self.root)
        if len(self.known) > TENSORS_MAX:
            self.known = {}
        self.places = [self.known.setdefault(name, Place(name)) for name in names[:count]]
        self.places += [Place("?") for _ in range(count - len(self.places))]
        self.choose()

    def choose(self):
        self.kv = [i for i, place in enumerate(self.places) if place.is_kv]
        self.has_kv = self.has_kv or bool(self.kv)
        self.labels = [self.places[i].label for i in self.kv]
        self.addresses = [0] * len(self.kv)

    def look(self, value, tokens):
        """At the end of a call, only for what is known to be keys and values. True: something is at a new place."""
        if tokens <= 1 and self.kv:
            place, dimension = self.length_from or (-1, 0)
            known = _moved(value, Tensor, PLAIN, self.kv, self.addresses, self.labels, len(self.places), place, dimension)
            if known:
                self.length = known[1]
                return known[0]
        tensors = []
        gather(value, tensors)
        if len(tensors) != len(self.places):
            self.rename(value, len(tensors))
        return self.tell(tensors, tokens)

    def tell(self, tensors, tokens):
        addresses = [tensors[i].data_ptr() for i in self.kv]
        if self.length_from:
            place, dimension = self.length_from
            shape = tensors[place].shape if place < len(tensors) else ()
            self.length = shape[dimension] if dimension < len(shape) else 0
        if addresses == self.addresses and tokens <= 1:  # a prompt may bring new blocks where others were
            return False
        old, self.addresses = self.addresses, addresses
        _tags(b"kv_cache", addresses if tokens > 1 else [new if new != was else 0 for new, was in zip(addresses, old)],
              self.labels)
        return addresses != old

    def search(self, value, tokens, total):
        """The same, and what may be keys and values."""
        tensors, candidates = [], []
        gather(value, tensors)
        if len(tensors) != len(self.places):
            self.rename(value, len(tensors))
        for i, (place, tensor) in enumerate(zip(self.places, tensors)):
            if place.is_kv:
                place.note(tensor, tokens)
                if self.length_from is None and place.length_at >= 0:
                    self.length_from = i, place.length_at
            elif is_store_like(tensor) and self.may_be(place, tensor, tokens, total):
                candidates.append((place, tensor, self))
        return candidates, bool(self.kv) and self.tell(tensors, tokens)

    def may_be(self, place, tensor, tokens, total):
        is_new = place.shape is None
        is_store = place.note(tensor, tokens)
        if place.is_named:
            return place.at != 0
        if not tokens or not place.at or self.kind == "output":
            return False  # of an output nothing is known before it comes back
        return is_store or (self.kind == "argument" and is_new and total > 1 and total in place.shape)

    def came_back(self, tensors, total):
        """Outputs that are handed in again are what the model keeps: those of them that have the length."""
        again = {base_of(tensor): tensor for tensor in tensors if is_store_like(tensor)}
        return [(place, again[place.at], self) for place in self.places if place.at in again and not place.is_kv and
                (place.grew or (total > 1 and total in place.shape))]


def believe(candidates):
    """Keys never come without values: of a shape there are two at least, or a public name. Gives what is believed."""
    groups, believed = {}, []
    for found in candidates:
        groups.setdefault(tuple(found[1].shape), []).append(found)
    for group in groups.values():
        if len(group) >= 2 or group[0][0].is_named:
            believed += group
    for place, _, _ in believed:
        place.is_kv = True
    for source in {id(source): source for _, _, source in believed}.values():
        source.choose()
    if believed:
        _tags(b"kv_cache", [base_of(tensor) for _, tensor, _ in believed], [place.label for place, _, _ in believed])
    return bool(believed)
