# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_steady.py: when calls of a model that decodes, token after token, may go the short way
(preload/adapter_steady.c): most calls of most programs, so there each instruction counts. Its text stands in one namespace
with the adapter's other parts.

How the model was called was found out once (outermost); the way ends (Current.forget) when a backward runs, an optimizer
steps, another thread or another model calls: while an outermost call runs there is no hook. A call that is otherwise
than those before goes the long way (Call), and what is known of the model is given back to it (Steady.end).
"""
import contextlib
import weakref


class Steady:
    """The model that the way is open for; the rest of it is in the library."""
    model = module = None  # module: a weak reference, which ends the way when the module goes

    @classmethod
    def may_begin(cls, model, module):
        return (model.is_like_last(model.tokens) and not Turn.first and not model.is_part and not Current.has_threads
                and not Current.had_optimizer and not Current.has_backward and not module._backward_hooks)

    @classmethod
    def begin(cls, model, module, first):
        cls.module = weakref.ref(module, cls.module_ended)
        needs_words = bool(model.arguments.has_kv and not model.output.has_kv)
        _steady_open(id(module), Current.hooks, Current.key, _before_call, reduce_to_nothing, object(),
                     module._forward_hooks, module._forward_pre_hooks, called_again, first.dtype, first.shape, Tensor,
                     module._backward_hooks, torch.nn.modules.module._global_backward_hooks, torch._C._get_tracing_state,
                     tell_input, watch_steady, model.name, first.numel() >= INPUT_MIN, needs_words, model.number,
                     model.next_walk, model.total, model.still, model.next_look, model.held, look_words(model))
        cls.model = model

    @classmethod
    def end(cls):
        if cls.model is not None:
            model, cls.model = cls.model, None
            model.number, model.total, model.still, model.next_look, model.held = _steady_end()
            model.tokens = 1

    @classmethod
    def module_ended(cls, reference):
        if reference is cls.module:
            cls.end()


def look_words(model):
    """What the library itself can look at: an output that holds all there is."""
    output = model.output
    if not output.has_kv or not output.kv or model.kv_attributes:
        return ()
    place, dimension = output.length_from or (-1, 0)
    return Tensor, PLAIN, output.kv, output.addresses, output.labels, len(output.places), place, dimension


def watch_steady(output):
    """What it can't look at, and does not know any more."""
    model = Steady.model
    model.number, model.total, model.still, model.next_look, model.held = _steady_end()
    model.watch(model.number - 1, None, output)
    return model.still, model.next_look, model.held, look_words(model), Steady.model is model


def tell_input(args):
    for value in args:
        if type(value) is Tensor and value.dtype in token_types and value.numel() >= INPUT_MIN:
            _tags(b"input", [base_of(value)], [b"input"])


def reduce_to_nothing():
    return getattr, (contextlib.nullcontext(), "__exit__")
