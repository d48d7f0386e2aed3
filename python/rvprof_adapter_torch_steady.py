# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_steady.py: what the adapter does around a call of a model that decodes, token after token: most
calls of most programs, so here each instruction counts. Its text stands in one namespace with the adapter's other parts.

Rules
  - Only what is as it was when the long way (Call) went before it: a step is told by it just as Call tells it.
  - Nothing of the call is kept: no tensor, no module; of its arguments their id.
"""
import contextlib
import threading


class SteadyCall(tuple):
    """The arguments of such a call, until it is over."""
    __slots__ = ()

    def __del__(self):
        try:
            if Steady.call == id(self):
                Steady.open.close()
        except Exception as error:
            note_failure("close", error)


class Steady:
    """The short way of a model that decodes: the same call again, of one token, with nothing due before it. How it was
    called was found out once (outermost), and it ends (Current.last) when a backward runs or another thread calls a
    module: while an outermost call runs there is no hook. A call that is otherwise goes the long way.
    It is its own hook in the module, during the call; in a copy of the module one that does nothing."""
    open = call = None  # the one whose call runs; id of the call's arguments

    def __init__(self, model, module, first):
        self.model, self.module_id, self.name = model, id(module), model.name
        self.hooks, self.key, self.owner = module._forward_hooks, object(), threading.get_ident()
        self.dtype, self.shape, self.has_input = first.dtype, first.shape, first.numel() >= INPUT_MIN
        self.backward_hooks, self.all_hooks = module._backward_hooks, torch.nn.modules.module._global_backward_hooks
        self.is_tracing, self.thread = torch._C._get_tracing_state, threading.get_ident
        self.until = model.next_walk
        self.needs_words = bool(model.arguments.has_kv and not model.output.has_kv)

    @classmethod
    def may_begin(cls, model, module):
        return (model.is_like_last(model.tokens) and not Turn.first and not model.is_part and not Current.has_threads
                and not Current.had_optimizer and not Current.has_backward and not module._backward_hooks)

    def begin(self, args):
        """The arguments as they go on; None: it is another call than those before."""
        model = self.model
        number = model.number
        if not args or number >= self.until or Steady.call is not None:
            return None
        first = args[0]
        if (type(first) is not Tensor or first.dtype is not self.dtype or first.shape != self.shape
                or self.thread() != self.owner or self.is_tracing() or self.backward_hooks or self.all_hooks
                or (self.needs_words and number >= model.next_look)):
            return None
        for value in args:
            if type(value) is Tensor and (value is not first or self.has_input) and value.numel() >= INPUT_MIN:
                if value.dtype in token_types:
                    _tags(b"input", [base_of(value)], [b"input"])
        model.tokens = 1
        model.total += 1
        call = SteadyCall(args)
        Steady.open, Steady.call = self, id(call)
        self.hooks[self.key] = self
        Current.hooks.pop(Current.key, None)
        _step(BEGIN, DECODE, 0, 1, self.name)
        return call

    def __call__(self, module, args, output):
        """After the call. The values handed in are not looked at: who needs them goes the long way."""
        if Steady.call is None or id(module) != self.module_id:
            return
        try:
            self.close()
            model = self.model
            if model.number > model.next_look:
                model.watch(model.number - 1, None, output)
        except Exception as error:
            note_failure("after", error)

    def close(self):
        """The step's end, however the call ended."""
        Steady.call = None
        model = self.model
        _step(END, NONE, model.held + 1 if model.held else 0, 1, b"")
        self.hooks.pop(self.key, None)
        if Current.key is not None:
            Current.hooks[Current.key] = before_call
        model.number += 1

    def __reduce__(self):
        return getattr, (contextlib.nullcontext(), "__exit__")
