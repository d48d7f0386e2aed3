# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_model.py: what is known of a module that is called from outside, and when it is looked at
again. Its text stands between those of rvprof_adapter_torch_kv.py and rvprof_adapter_torch.py, in one namespace.

A walk goes through all its modules, for weights and for attributes that may hold keys and values. A search looks at
all that may be keys and values, a watch only at what is known to be. In decoding a step has time for a watch alone, and
that code and those notes are out of the processor's caches each time: what is due when is kept as numbers of calls.
"""
import sys
import weakref

SEARCH_FIRST = 6  # calls in a row in which keys and values are searched for
STILL = 8  # calls after which keys and values that stay where they are are looked at at every so many only,
STILL_DOUBLED = 2  # and after so many such looks at every twice as many, up to twice


def is_walk(number):
    """Whether all modules are walked through in this call: what they hold seldom changes."""
    return number in (0, 3) or (number >= 32 and number & (number - 1) == 0 and number.bit_length() % 2 == 0)


class Model:
    """What is known of a module that is called from outside. It does not keep the module."""

    def __init__(self, module):
        self.number = 0  # of calls
        self.prompts = 0
        self.name = bytes_of(type(module).__name__)
        self.is_part = is_part(module)
        self.told = {}  # name of a parameter or buffer -> address
        self.total = 0  # tokens since the last prefill, it included
        self.tokens = 0  # of this call
        self.search_until = SEARCH_FIRST  # number of the call
        self.still = 0  # looks in a row at which no keys and values were at a new place
        self.next_look = 0
        self.next_walk = 0  # up to here a call of one token is like the one before it
        self.held = 0  # tokens, as far as known
        self.kv_attributes = []  # those of the attributes that hold keys and values
        self.arguments = Source("argument", "argument")
        self.output = Source("output", "output")
        self.attributes = {}  # (id of module, attribute) -> (weak reference, attribute, Source)

    def walk(self, module):
        """Weights are told; attributes that hold tensors which are neither parameters nor plain buffers are noted."""
        names, addresses = [], []
        for path, part in module.named_modules():
            prefix = path + "." if path else ""
            own = vars(part)
            for key in [key for key in own if key not in module_keys]:
                self.note_attribute(part, prefix, key, own[key])
            for key, tensor in part._parameters.items():
                self.note_weight(prefix + key, tensor, names, addresses)
            for key, tensor in part._buffers.items():
                if tensor is not None and not self.may_be_store(part, prefix + key, key, tensor):
                    self.note_weight(prefix + key, tensor, names, addresses)
        if names:
            _tags(b"weights", addresses, names)

    def note_weight(self, name, tensor, names, addresses):
        at = base_of(tensor) if tensor is not None else 0
        if at and self.told.get(name) != at:
            self.told[name] = at
            weight_names[at] = bytes_of(name)
            names.append(weight_names[at])
            addresses.append(at)

    def may_be_store(self, part, name, key, tensor):
        """A cache that is registered as a buffer. One that no call has written is a buffer like others."""
        if not is_store_like(tensor):
            return False
        self.note_attribute(part, name[:-len(key)], key, tensor)
        if self.number < 3 or KV_NAMES.intersection(name.split(".")):
            return True
        return bool(self.attributes[id(part), key][2].kv)

    def note_attribute(self, part, prefix, key, value):
        if type(value) in PLAIN or (id(part), key) in self.attributes:
            return
        tensors = []
        gather(value, tensors)
        if any(is_store_like(tensor) for tensor in tensors):
            self.attributes[id(part), key] = weakref.ref(part), key, Source(prefix + key, "attribute")

    def values(self, arguments, output):
        """The roots that are looked at, with what they hold now."""
        for place, (reference, key, source) in list(self.attributes.items()):
            part = reference()
            if part is None:
                del self.attributes[place]
            else:
                yield source, vars(part).get(key, part._buffers.get(key))
        yield self.output, output
        if not self.output.kv:  # what was handed in is, where it is handed out anew, what the last call handed out
            yield self.arguments, arguments

    def is_searching(self):
        return self.number < self.search_until

    def needs_words(self):
        """Whether the call's keyword arguments are looked at."""
        return self.is_searching() or (self.number >= self.next_look and self.arguments.kv and not self.output.kv)

    def enter(self, module, tokens, is_training):
        """Before the call. A prompt may bring a cache that was not there; the first few may, and ever fewer later."""
        self.tokens = tokens
        if is_training:
            if is_walk(self.number):
                self.walk(module)
            return
        if tokens > 1:
            self.prompts += 1
            self.next_look = 0
            if self.prompts < 4 or self.prompts & (self.prompts - 1) == 0:
                self.search_until = max(self.search_until, self.number + 3)
        if is_walk(self.number):
            self.search_until = max(self.search_until, self.number + 3)
        if self.number >= self.next_walk:
            self.next_walk = 3 if self.number < 3 else max(32, 4 * self.number)

    def is_like_last(self, tokens):
        """The common case in decoding: nothing is due before the call."""
        return tokens == 1 and self.search_until <= self.number < self.next_walk

    def meet(self, values):
        """What it is called with, when the tokens are not yet counted."""
        before = self.total
        self.total = self.tokens if self.tokens > 1 else self.total + self.tokens
        if self.is_searching() and self.output.places and not self.output.kv:
            tensors = []
            gather(values, tensors)
            believe(self.output.came_back(tensors, before))

    def leave(self, module, number, values, output):
        """After the call."""
        if is_walk(number):
            self.walk(module)
        if number < self.search_until:
            self.search(values, output)
        elif number < self.next_look:
            return
        else:
            self.watch(number, values, output)

    def search(self, values, output):
        candidates = []
        for source, value in self.values(values, output):
            candidates += source.search(value, self.tokens, self.total)[0]
        if candidates:
            believe(candidates)
        self.still = self.next_look = 0

        self.kv_attributes = [row for row in self.attributes.values() if row[2].has_kv]
        self.hold()

    def watch(self, number, values, output):
        """Those that hold keys and values. What stays somewhere for fewer than STILL calls is seen each time."""
        is_new, has_kv = False, True
        if self.output.has_kv:
            is_new = self.output.look(output, self.tokens)
        elif self.arguments.has_kv:
            is_new = self.arguments.look(values, self.tokens)
        elif not self.kv_attributes:
            has_kv = False
        for reference, key, source in self.kv_attributes:
            part = reference()
            if part is not None:
                is_new = source.look(vars(part).get(key, part._buffers.get(key)), self.tokens) or is_new
        self.still = 0 if is_new else self.still + 1
        if not has_kv:
            self.next_look = sys.maxsize
        elif self.still > STILL:
            apart = STILL << min(self.still // STILL - 1, STILL_DOUBLED)
            self.next_look = (number // apart + 1) * apart
        self.hold()

    def hold(self):
        """One of the growing ones tells how many tokens are held; where none grows that is not known."""
        self.held = self.output.length or self.arguments.length
        for _, _, source in self.kv_attributes:
            self.held = self.held or source.length
