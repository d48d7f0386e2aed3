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


def gather(value, into, depth=DEPTH_MAX, names=None, path=""):
    """The tensors in a value's lists, tuples, dicts, plain objects, in a fixed order; on demand their paths."""
    kind = type(value)
    if kind in PLAIN or depth == 0 or len(into) >= TENSORS_MAX:
        return
    if kind is Tensor or isinstance(value, Tensor):
        into.append(value)
        if names is not None:
            names.append(path)
        return
    if kind is not list and kind is not tuple and isinstance(value, dict):
        items = value.items() if len(value) <= ITEMS_MAX else ()
    elif isinstance(value, (list, tuple)):
        is_numbers = value and type(value[0]) in PLAIN and type(value[-1]) in PLAIN
        items = enumerate(value) if len(value) <= ITEMS_MAX and not is_numbers else ()
    elif is_holder(value):
        items = vars(value).items()
        if names is not None:
            note_library(value)
            items = [(public_name(value, key), item) for key, item in items]
    else:
        return
    if names is None:
        for _, item in items:
            gather(item, into, depth - 1)
        return
    for key, item in items:
        gather(item, into, depth - 1, names, "%s.%s" % (path, key))


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
    try:
        return tensor._version
    except RuntimeError:  # made in inference mode
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

    def tell(self, tensor, tokens):
        """It is keys or values: its block, if it is not the one that was told last. True: it was told."""
        at = tensor.data_ptr()
        if at == self.at and tensor.shape == self.shape:
            return False
        shape = tensor.shape
        if self.length_at < 0:
            self.length_at = grown_dimension(self.shape, shape, tokens)
        self.at, self.shape = at, shape
        if at:
            offset = tensor.storage_offset()
            _tag(SOURCE, at - offset * tensor.element_size() if offset else at, 0, b"kv_cache", self.label)
        return True


class Source:
    """One root of values: a model's arguments, its output, an attribute of a module."""

    def __init__(self, root, kind):
        self.root, self.kind, self.places = root, kind, []
        self.has_kv = False
        self.same_looks = 0  # in a row in which nothing new was told

    def is_due(self, number, tokens):
        """Keys and values that stay where they are need no look at each step; a prompt may bring new ones."""
        return is_due(number) or (self.has_kv and (self.same_looks < LOOK_ALWAYS or tokens > 1 or number % 8 == 0))

    def rename(self, value, count):
        names = []
        gather(value, [], DEPTH_MAX, names, self.root)
        known = {place.name: place for place in self.places}
        self.places = [known.get(name) or Place(name) for name in (names + ["?"] * count)[:count]]

    def look(self, value, tokens, total):
        """At the end of a call: tells what is known to be keys and values, gives what may be."""
        tensors, candidates = [], []
        gather(value, tensors)
        if len(tensors) != len(self.places):
            self.rename(value, len(tensors))
        self.same_looks += 1
        for place, tensor in zip(self.places, tensors):
            if place.is_kv:
                if place.tell(tensor, tokens):
                    self.same_looks = 0
                self.has_kv = True
            elif is_store_like(tensor) and self.may_be(place, tensor, tokens, total):
                candidates.append((place, tensor, self))
        return candidates

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
    """Keys never come without values: of a shape there are two at least, or a public name."""
    groups = {}
    for found in candidates:
        groups.setdefault(tuple(found[1].shape), []).append(found)
    for group in groups.values():
        if len(group) >= 2 or group[0][0].is_named:
            for place, tensor, source in group:
                place.is_kv = source.has_kv = True
                place.at, source.same_looks = 0, 0
                place.tell(tensor, 0)
