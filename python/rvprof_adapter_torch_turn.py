# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_turn.py: the steps of a program that has no model, but calls layers itself. Its text stands in one
namespace with the adapter's other parts.
"""
import sys
import threading
import weakref

TURNS_SEEN = 6
LONG_TURN = 64  # every so many go the long way
TURN_LOOK_NS = 500_000_000  # a turn that raised hides other models no longer than two of these


class Turn:
    """A step of a program that has no model, but calls layers itself: from the call of the first of them up to that
    of the last, which is known once the first is called again. A small module of PyTorch's own begins one, where no
    model was called before, and any module called meanwhile belongs to it."""
    first = last = 0  # id of module; last 0: not known yet
    members = []  # in the order of their calls in the first turn
    skipped = frozenset()  # of them, those with which nothing is done any more
    count = tokens = 0
    is_open = has_model = False
    ends_of = {}  # id of its first and last module, once they are known for good -> weak reference

    @classmethod
    def note_end(cls, module):
        """Its first and its last, once they are known for good; true when one of them was not before."""
        if cls.skipped and id(module) in (cls.first, cls.last) and id(module) not in cls.ends_of:
            cls.ends_of[id(module)] = weakref.ref(module)
            if id(module) == cls.first:
                cls.name = bytes_of(type(module).__name__)
            return True
        return False

    @classmethod
    def begins(cls, module, tokens, is_layer):
        """Whether a step begins with this call."""
        me = id(module)
        if not cls.first:
            if cls.has_model:
                return False
            cls.first = me
        if me == cls.first:
            cls.begin(me, tokens)
            return True
        if not cls.is_open:
            return me not in cls.members and not is_layer
        if not cls.last and me not in cls.members:
            cls.members.append(me)
        return False

    @classmethod
    def begin(cls, me, tokens):
        if cls.is_open:  # its last is not known, or was not called this time
            cls.last = cls.last or cls.members[-1]
            cls.close()
        cls.members = cls.members if cls.last else [me]
        cls.is_open, cls.tokens, cls.count = True, tokens, cls.count + 1
        if cls.count == TURNS_SEEN:
            cls.skipped = frozenset(cls.members) - {cls.first, cls.last}

    @classmethod
    def close(cls):
        cls.is_open = False
        _step(END, NONE, 0, cls.tokens, b"")

    @classmethod
    def ends(cls, module):
        """Whether a step ends with this call."""
        cls.is_open = cls.is_open and id(module) != cls.last
        return not cls.is_open and id(module) == cls.last


class TurnHook:
    """In a turn of one token whose modules are known nothing of ours is to be done up to its end: then there is no hook for
    all, but one in its last module, and one in its first, for a turn that never came to its end. Until that is called
    again other models would not be seen, so the hook for all comes back where a look finds the turn that the look before found."""

    def __init__(self):
        self.key, self.tables, self.seen = object(), (), 0

    def begins(self, module, args):
        if (len(Turn.ends_of) < 2 or Turn.is_open or Turn.count % LONG_TURN == 0 or Current.had_optimizer
                or Current.has_backward or Current.owner != threading.get_ident() or not args or tokens_of(args[0]) != 1):
            return False
        last = Turn.ends_of[Turn.last]()
        if last is None or outermost(sys._getframe(3)) is None or torch._C._get_tracing_state():
            return False
        Turn.is_open, Turn.tokens, Turn.count = True, 1, Turn.count + 1
        self.tables = module._forward_pre_hooks, last._forward_hooks
        for table in self.tables:
            table[self.key] = self
        Current.hooks.pop(Current.key, None)
        _step(BEGIN, DECODE, 0, 1, Turn.name)
        return True

    def see_from_outside(self):
        if self.tables and self.seen == Turn.count and Current.key is not None:
            Current.hooks[Current.key] = _before_call
        self.seen = Turn.count if self.tables else 0

    @quiet
    def __call__(self, module, args, *output):
        if not self.tables or Current.owner != threading.get_ident():
            return None
        for table in self.tables:
            table.pop(self.key, None)
        self.tables = ()
        if Current.key is not None:
            Current.hooks[Current.key] = _before_call
        if Turn.is_open:
            Turn.close()
        return None if output else _before_call(module, args)

    def __reduce__(self):
        return reduce_to_nothing()
