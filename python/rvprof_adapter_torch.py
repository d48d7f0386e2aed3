# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch.py: what PyTorch's tensors are for, told to rvprof while the program runs.

librvprof.so holds this text and runs it once, in a namespace of its own, when PyTorch's library for Python is mapped
(preload/adapter.c); RVPROF_TAG, RVPROF_STEP, RVPROF_SCOPE and RVPROF_ADAPTER are then addresses of C functions.

What is told
  TAG      weights: parameters and buffers of every module that is called from outside; gradient and optimizer: of
           every optimizer that steps; kv_cache: see below; input: integer tensors that a model is called with.
  STEP     the outermost call of a module; in training up to the end of optimizer.step. Phases: prefill, decode
           (integer input of several tokens, of one); forward, backward, update.
  SCOPE    the modules' names, in each model's second step only (that is what a step can pay for).
  ADAPTER  once at the start, once more if something fails.

What a KV cache is: by public names (KV_NAMES), or by what is done with it. Floating tensors of three dimensions and
more, at least two of the same shape, that outlive a call of a model over integer tokens and are kept from call to
call (in an argument, in an attribute of a module, or handed out and in again), and that either grow along one
dimension by the tokens of the call, or are written in place in every call. Nothing is called kv_cache before that.

Rules
  - Nothing is kept alive: modules, optimizers and parameters by weak references, tensors by their addresses.
  - Tensors are asked for address, shape, dtype and version, never read: no sync, no random numbers, no graph.
  - Hooks are PyTorch's own where it has them. Between the begin and the end of an outermost call none is
    installed, so the modules inside run at their full speed.
  - Any exception in here is swallowed and counted; the first is told in an ADAPTER record.
"""
import contextlib
import ctypes
import functools
import sys
import threading
import weakref

NEXT, BEGIN, END, PHASE = range(4)
NONE, LOAD, WARMUP, PREFILL, DECODE, FORWARD, BACKWARD, UPDATE = range(8)
OFF, ON, UNTESTED, FAILED = range(4)
SCOPE_BEGIN, SCOPE_END = 0, 1
SOURCE = 3  # an adapter
MEASURED = {(1, 13)}  # versions of PyTorch that this was run with

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
DEPTH_MAX, TENSORS_MAX, ITEMS_MAX = 5, 4096, 4096
FRAMES_MAX = 400
LOOK_ALWAYS, LOOK_EVERY = 4, 32  # steps at which weights and attributes are looked through again

_tag = ctypes.PYFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p)(
    RVPROF_TAG)  # noqa: F821
_step = ctypes.PYFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64,
                          ctypes.c_char_p)(RVPROF_STEP)  # noqa: F821
_scope = ctypes.PYFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)(
    RVPROF_SCOPE)  # noqa: F821
_adapter = ctypes.PYFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)(
    RVPROF_ADAPTER)  # noqa: F821

torch = Tensor = None
version = b""
whole_types = token_types = module_keys = busy = frozenset()
weight_names = {}  # address -> name


def bytes_of(text):
    return text.encode("utf-8", "replace")


class Failures:
    count = 0

    @classmethod
    def add(cls, where):
        """In an except clause: the first is told."""
        cls.count += 1
        if cls.count == 1:
            error = sys.exc_info()[1]
            _adapter(FAILED, b"torch", version, bytes_of("%s: %s: %s" % (where, type(error).__name__, error)))


def is_due(number):
    """Whether something that seldom changes is looked at again in this step of a model."""
    return number < LOOK_ALWAYS or number % LOOK_EVERY < 2  # two in a row: growth is seen from one to the next


def base_of(tensor):
    """Address of the tensor's storage; 0: it has none that is memory of ours (meta, sparse, fake)."""
    try:
        at = tensor.data_ptr()
        return at - tensor.storage_offset() * tensor.element_size() if at else 0
    except (RuntimeError, NotImplementedError):
        return 0


def gather(value, into, depth):
    """The tensors in a value's lists, tuples, dicts and plain objects, in a fixed order."""
    kind = type(value)
    if kind in PLAIN or depth == 0 or len(into) >= TENSORS_MAX:
        return
    if isinstance(value, Tensor):
        into.append(value)
    elif isinstance(value, (list, tuple)):
        if len(value) <= ITEMS_MAX and not (value and type(value[0]) in PLAIN and type(value[-1]) in PLAIN):
            for item in value:
                gather(item, into, depth - 1)
    elif isinstance(value, dict):
        if len(value) <= ITEMS_MAX:
            for item in value.values():
                gather(item, into, depth - 1)
    elif is_holder(value):
        for item in vars(value).values():
            gather(item, into, depth - 1)


def is_holder(value):
    """An object of a program's or a library's own class, which may be a cache."""
    return (hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module, torch.optim.Optimizer))
            and not callable(value) and type(value).__module__ not in ("builtins", "types", "torch"))


def describe(value, path, into, depth):
    """The paths of what gather() gives, in the same order: (text, a public name is in it)."""
    kind = type(value)
    if kind in PLAIN or depth == 0 or len(into) >= TENSORS_MAX:
        return
    if isinstance(value, Tensor):
        into.append(".".join(path))
    elif isinstance(value, (list, tuple)):
        if len(value) <= ITEMS_MAX and not (value and type(value[0]) in PLAIN and type(value[-1]) in PLAIN):
            for i, item in enumerate(value):
                describe(item, path + [str(i)], into, depth - 1)
    elif isinstance(value, dict):
        if len(value) <= ITEMS_MAX:
            for key, item in value.items():
                describe(item, path + [str(key)[:60]], into, depth - 1)
    elif is_holder(value):
        note_library(value)
        for key, item in vars(value).items():
            describe(item, path + public_name(value, key), into, depth - 1)


def public_name(value, key):
    """keys and values are words of many; in a class of transformers' they are its cache layers'."""
    if key in ("keys", "values") and type(value).__name__.endswith("Layer"):
        return ["key_cache" if key == "keys" else "value_cache"]
    return [key]


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
    __slots__ = ("name", "is_named", "is_kv", "shape", "at", "version", "grew", "length_at")

    def __init__(self, name):
        self.name = name
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

    def tell(self, tensor):
        """It is keys or values: its block, if it is not the one that was told last."""
        at, shape = tensor.data_ptr(), tensor.shape
        if at != self.at or shape != self.shape:
            self.at, self.shape = at, shape
            _tag(SOURCE, base_of(tensor), 0, b"kv_cache", bytes_of(self.name))


class Source:
    """One root of values: a model's arguments, its output, an attribute of a module."""

    def __init__(self, root, kind):
        self.root, self.kind, self.places = root, kind, []

    def has_kv(self):
        return any(place.is_kv for place in self.places)

    def rename(self, value, count):
        names = []
        describe(value, [self.root], names, DEPTH_MAX)
        known = {place.name: place for place in self.places}
        self.places = [known.get(name) or Place(name) for name in (names + ["?"] * count)[:count]]

    def look(self, value, tokens, total):
        """At the end of a call: tells what is known to be keys and values, gives what may be."""
        tensors, candidates = [], []
        gather(value, tensors, DEPTH_MAX)
        if len(tensors) != len(self.places):
            self.rename(value, len(tensors))
        for place, tensor in zip(self.places, tensors):
            if place.is_kv:
                place.tell(tensor)
            elif is_store_like(tensor) and self.may_be(place, tensor, tokens, total):
                candidates.append((place, tensor))
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
        return [(place, again[place.at]) for place in self.places
                if place.at in again and not place.is_kv and (place.grew or (total > 1 and total in place.shape))]

    def length(self):
        """Tokens held; 0: not known."""
        for place in self.places:
            if place.is_kv and 0 <= place.length_at < len(place.shape):
                return place.shape[place.length_at]
        return 0


def believe(candidates):
    """Keys never come without values: of a shape there are two at least, or a public name."""
    groups = {}
    for place, tensor in candidates:
        groups.setdefault(tuple(tensor.shape), []).append((place, tensor))
    for group in groups.values():
        if len(group) >= 2 or group[0][0].is_named:
            for place, tensor in group:
                place.is_kv, place.at = True, 0
                place.tell(tensor)


class Model:
    """What is known of a module that is called from outside. It does not keep the module."""

    def __init__(self, module):
        self.number = 0  # of calls
        self.name = bytes_of(type(module).__name__)
        self.told = {}  # name of a parameter or buffer -> address
        self.total = 0  # tokens since the last prefill, it included
        self.tokens = 0  # of this call
        self.arguments = Source("argument", "argument")
        self.output = Source("output", "output")
        self.attributes = {}  # (id of module, attribute) -> (weak reference, attribute, Source)

    def tell_weights(self, module):
        for name, tensor in module.named_parameters():
            tell_once(self.told, b"weights", name, tensor)
        for name, tensor in module.named_buffers():
            if not self.may_be_store(name, tensor):
                tell_once(self.told, b"weights", name, tensor)

    def may_be_store(self, name, tensor):
        """A cache that is registered as a buffer. One that no call has written is a buffer like others."""
        if not is_store_like(tensor):
            return False
        if self.number < LOOK_ALWAYS - 1 or KV_NAMES.intersection(name.split(".")):
            return True
        return any(source.root == name and source.has_kv() for _, _, source in self.attributes.values())

    def find_attributes(self, module):
        """Attributes of its modules that hold tensors which are neither parameters nor plain buffers."""
        for path, part in module.named_modules():
            for key, value in list(vars(part).items()) + list(part._buffers.items()):
                if key in module_keys or type(value) in PLAIN or (id(part), key) in self.attributes:
                    continue
                tensors = []
                gather(value, tensors, DEPTH_MAX - 1)
                if any(is_store_like(tensor) for tensor in tensors):
                    source = Source((path + "." if path else "") + key, "attribute")
                    self.attributes[id(part), key] = weakref.ref(part), key, source

    def look_at_attributes(self, every):
        candidates = []
        for place, (reference, key, source) in list(self.attributes.items()):
            part = reference()
            if part is None:
                del self.attributes[place]
            elif every or source.has_kv():
                value = vars(part).get(key, part._buffers.get(key))
                candidates += source.look(value, self.tokens, self.total)
        return candidates

    def enter(self, module, values, is_training):
        """Before the call: what it is called with."""
        before = self.total
        if is_due(self.number):
            self.tell_weights(module)
        if is_training:
            return
        self.total = self.tokens if self.tokens > 1 else self.total + self.tokens
        if is_due(self.number) and self.output.places and not self.output.has_kv():
            tensors = []
            gather(values, tensors, DEPTH_MAX)
            believe(self.output.came_back(tensors, before))

    def leave(self, module, values, output):
        """After the call."""
        every = is_due(self.number)
        if every:
            self.find_attributes(module)
        candidates = self.look_at_attributes(every)
        if every or self.output.has_kv():
            candidates += self.output.look(output, self.tokens, self.total)
        # What was handed in is, where it is handed out anew, what the last call handed out.
        if (every or self.arguments.has_kv()) and not self.output.has_kv():
            candidates += self.arguments.look(values, self.tokens, self.total)
        believe(candidates)

    def length(self):
        sources = [self.arguments, self.output] + [source for _, _, source in self.attributes.values()]
        return max((source.length() for source in sources), default=0)


def tell_once(told, category, name, tensor):
    at = base_of(tensor)
    if at and told.get(name) != at:
        told[name] = at
        _tag(SOURCE, at, 0, category, bytes_of(name))
        if category == b"weights":
            weight_names[at] = name


def tokens_of(args, kwargs):
    """Tokens a sequence of an integer input; 0: there is none."""
    first = args[0] if args else kwargs.get("input_ids")
    if isinstance(first, Tensor) and first.dtype in token_types and 0 < first.dim() <= 2:
        return int(first.shape[-1])
    return 0


class Call(tuple):
    """The arguments of an outermost call. When the call is over, however it ends, they go: the hook is back."""

    def __del__(self):
        try:
            self.finish()
        except Exception:
            Failures.add("end of a call")

    def begin(self, module, kwargs):
        self.module, self.kwargs, self.model, self.is_over = module, kwargs, model_of(module), False
        self.is_training = torch.is_grad_enabled() and len(optimizers) > 0
        self.is_step = not self.is_training and not Current.is_step_open
        model = self.model
        model.tokens = 0 if self.is_training else tokens_of(self, kwargs)
        model.enter(module, (tuple(self), kwargs), self.is_training)
        self.tell_input()
        if Current.has_backward and not len(optimizers):
            Current.has_backward = False
            tell_gradients(module.parameters())
        phase = FORWARD if not self.is_step or not model.tokens else PREFILL if model.tokens > 1 else DECODE
        _step(SOURCE, PHASE if Current.is_step_open else BEGIN, phase, 0, model.tokens, model.name)
        Current.is_step_open = Current.is_step_open or self.is_training
        self.watch()

    def tell_input(self):
        for value in self or self.kwargs.values():
            if isinstance(value, Tensor) and value.dtype in token_types:
                _tag(SOURCE, base_of(value), 0, b"input", b"input")

    def watch(self):
        """No hook of ours stays for the modules inside, but in the one step that tells scopes."""
        self.after_key, self.scope_handle = object(), None
        self.module._forward_hooks[self.after_key] = After(self)
        Current.owner = threading.get_ident()
        if self.model.number == 1:
            Current.names = {id(part): bytes_of(name) for name, part in self.module.named_modules() if name}
            self.scope_handle = torch.nn.modules.module.register_module_forward_hook(end_of_scope)
        else:
            Current.hooks.pop(Current.key, None)

    def finish(self):
        """The step's end, and all is as it was before the call."""
        if getattr(self, "is_over", True):
            return
        self.is_over = True
        if self.is_step:
            _step(SOURCE, END, NONE, self.length(), self.model.tokens, None)
        self.module._forward_hooks.pop(self.after_key, None)
        if self.scope_handle is not None:
            self.scope_handle.remove()
            Current.names = None
        if Current.key is not None:
            Current.hooks[Current.key] = before_call
        self.model.number += 1

    def length(self):
        """Tokens attended to in this call; 0: not known."""
        model = self.model
        if model.number == 0 and model.tokens > 1 and not self.kwargs and len(self) == 1:
            return model.tokens
        held = model.length()
        return held + model.tokens if held else 0

    def after(self, module, output):
        number = self.model.number
        self.finish()
        if not self.is_training:
            self.model.number = number
            self.model.leave(module, (tuple(self), self.kwargs), output)
            self.model.number = number + 1


class After:
    """Hook of the called module alone, for this one call. In a copy or a pickle of the module that is made in
    the call it is one that does nothing."""

    def __init__(self, call):
        self.call = call

    def __call__(self, module, args, output):
        try:
            call, self.call = self.call, None
            if call is not None:
                call.after(module, output)
        except Exception:
            Failures.add("after a call")

    def __reduce__(self):
        return getattr, (contextlib.nullcontext(), "__exit__")


class Current:
    """The outermost call that runs, and the step that is open. One at a time in a process: with several threads in
    models at once the steps are those of whichever came first."""
    hooks = key = None  # PyTorch's table of hooks before the call of any module, and our key in it
    owner = None  # thread of the call
    names = None  # in a step with scopes: id of module -> name
    is_step_open = False  # of training
    has_backward = False


models = weakref.WeakKeyDictionary()
optimizers = weakref.WeakSet()
optimizer_notes = weakref.WeakKeyDictionary()


def model_of(module):
    model = models.get(module)
    if model is None:
        model = models[module] = Model(module)
    return model


def outermost(frame):
    """The frame of the module's call, when no other module's call and no backward is around it; else None."""
    found = None
    for _ in range(FRAMES_MAX):
        if frame is None:
            return found
        if frame.f_code in busy:
            if found is not None or frame.f_code is not call_code:
                return None
            found = frame
        frame = frame.f_back
    return None


def before_call(module, args):
    """PyTorch's hook before the call of any module."""
    try:
        if Current.names is not None:
            begin_scope(module)
            return None
        frame = outermost(sys._getframe(1))
        if frame is None or torch._C._get_tracing_state() or "_forward_hooks" not in vars(module):
            return None
        call = Call(args)
        call.begin(module, frame.f_locals.get("kwargs", {}))
        # With hooks on the backward the arguments are replaced at once; then an exception in the call costs us
        # the steps up to the next that succeeds.
        return None if module._backward_hooks or torch.nn.modules.module._global_backward_hooks else call
    except Exception:
        Failures.add("before a call")
        return None


def begin_scope(module):
    if Current.owner == threading.get_ident() and id(module) in Current.names:
        _scope(SCOPE_BEGIN, SOURCE, None, Current.names[id(module)], None)


def end_of_scope(module, args, output):
    """PyTorch's hook after the call of any module, in the one step that tells scopes."""
    try:
        if Current.names is not None and Current.owner == threading.get_ident() and id(module) in Current.names:
            _scope(SCOPE_END, SOURCE, None, None, None)
    except Exception:
        Failures.add("end of a scope")


class Note:
    """What was told of an optimizer."""

    def __init__(self):
        self.number, self.told, self.gradients, self.count = 0, {}, (), -1


def parameters_of(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def name_of(parameter):
    return weight_names.get(base_of(parameter), "parameter")


def tell_gradients(parameters, sentinels=()):
    """All of them, unless those that were looked at last (weak references) are there still: then all are."""
    pairs = [(parameter, parameter.grad) for parameter in parameters if parameter.grad is not None]
    watched = [pairs[i][1] for i in {0, len(pairs) // 2, len(pairs) - 1}] if pairs else []
    if sentinels and len(sentinels) == len(watched) and all(r() is g for r, g in zip(sentinels, watched)):
        return sentinels
    for parameter, gradient in pairs:
        at = base_of(gradient)
        if at:
            _tag(SOURCE, at, 0, b"gradient", bytes_of(name_of(parameter) + ".grad"))
    return [weakref.ref(gradient) for gradient in watched]


def tell_state(optimizer, note):
    for i, parameter in enumerate(parameters_of(optimizer)):
        if base_of(parameter) not in weight_names:
            tell_once(note.told, b"weights", "parameter.%d" % i, parameter)
        state = optimizer.state.get(parameter, {})
        for key, value in state.items():
            if isinstance(value, Tensor):
                tell_once(note.told, b"optimizer", "%d.%s.%s" % (i, name_of(parameter), key), value)


def after_update(optimizer):
    try:
        if Current.is_step_open:
            Current.is_step_open = False
            _step(SOURCE, END, NONE, 0, 0, None)
        Current.has_backward = False
        note = optimizer_notes.setdefault(optimizer, Note())
        optimizers.add(optimizer)
        note.gradients = tell_gradients(parameters_of(optimizer), note.gradients)
        if is_due(note.number) or len(optimizer.state) != note.count:
            tell_state(optimizer, note)
        note.count = len(optimizer.state)
        note.number += 1
    except Exception:
        Failures.add("after optimizer.step")


def before_update():
    try:
        if Current.is_step_open:
            _step(SOURCE, PHASE, UPDATE, 0, 0, None)
    except Exception:
        Failures.add("before optimizer.step")


def before_backward():
    try:
        Current.has_backward = True
        if Current.is_step_open:
            _step(SOURCE, PHASE, BACKWARD, 0, 0, None)
    except Exception:
        Failures.add("before backward")


def noting(original):
    """Around a method that every optimizer calls of itself when it is made."""
    @functools.wraps(original)
    def noted(self, *args, **kwargs):
        optimizers.add(self)
        return original(self, *args, **kwargs)
    return noted


def marking(original):
    """Around a method that Adam and AdamW of PyTorch 1.13 begin their step with."""
    @functools.wraps(original)
    def marked(self, *args, **kwargs):
        before_update()
        return original(self, *args, **kwargs)
    return marked


def watch_optimizers():
    module = sys.modules["torch.optim.optimizer"]  # PyTorch 1.13 takes the name out of torch.optim
    cls = module.Optimizer
    for name in ("_hook_for_profile", "_patch_step_function"):
        if name in vars(cls):
            setattr(cls, name, noting(vars(cls)[name]))
    if hasattr(module, "register_optimizer_step_post_hook"):
        module.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: before_update())
        module.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: after_update(optimizer))
        return

    def _optimizer_step_code(self):
        """Called by PyTorch 1.13 after every step; there for its own profiler, which looks for `self`."""
        after_update(self)
    cls._optimizer_step_code = _optimizer_step_code
    if "_cuda_graph_capture_health_check" in vars(cls):
        cls._cuda_graph_capture_health_check = marking(cls._cuda_graph_capture_health_check)


def watch_backward():
    """The engine's method is looked up at each backward: that is the moment, and no frame of ours is in a traceback."""
    engine = torch.autograd.Variable._execution_engine
    run_backward = engine.run_backward

    class ImperativeEngine(type(engine)):
        @property
        def run_backward(self):
            before_backward()
            return run_backward
    ImperativeEngine.__module__, ImperativeEngine.__qualname__ = type(engine).__module__, type(engine).__qualname__
    torch.autograd.Variable._execution_engine = ImperativeEngine()


def watch_compile():
    """What torch.compile traces must not meet our hook: from its first use on modules are not watched."""
    original = torch.compile

    @functools.wraps(original)
    def compile(*args, **kwargs):
        if Current.key is not None:
            Current.hooks.pop(Current.key, None)
            Current.key = None
            _adapter(OFF, b"torch", version, b"torch.compile is used: no steps, KV caches or weights but the optimizer's")
        return original(*args, **kwargs)
    torch.compile = compile


def attach():
    """PyTorch is imported."""
    global torch, Tensor, version, whole_types, token_types, module_keys, busy, call_code
    torch = sys.modules["torch"]
    Tensor, version = torch.Tensor, bytes_of(str(torch.__version__))
    token_types = frozenset((torch.int64, torch.int32))
    whole_types = token_types | {torch.bool, torch.int16}
    module_keys = frozenset(vars(torch.nn.Module())) | {"_buffers"}
    call_code = torch.nn.Module._call_impl.__code__
    busy = frozenset((call_code, torch.autograd.backward.__code__, torch.autograd.grad.__code__,
                      torch.autograd.function.BackwardCFunction.apply.__code__))
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        _adapter(OFF, b"torch", version, b"not for an interpreter without a global lock")
        return
    watch_optimizers()
    watch_backward()
    if hasattr(torch, "compile"):
        watch_compile()
    handle = torch.nn.modules.module.register_module_forward_pre_hook(before_call)
    Current.hooks, Current.key = torch.nn.modules.module._global_forward_pre_hooks, handle.id
    is_measured = tuple(int(part) for part in torch.__version__.split(".")[:2]) in MEASURED
    _adapter(ON if is_measured else UNTESTED, b"torch", version,
             b"weights, gradients, optimizer state, KV caches, steps" +
             (b"" if is_measured else b"; not run with this version"))


def start():
    """Now, or when the import of PyTorch that is under way is done."""
    module = sys.modules.get("torch")
    spec = getattr(module, "__spec__", None)
    if module is None:
        return _adapter(OFF, b"torch", b"", b"its library is here, the module is not")
    if not getattr(spec, "_initializing", False):
        return attach()
    plain = type(spec)

    class ModuleSpec(plain):
        """importlib says in this attribute that a module's import is over."""

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)
            if name == "_initializing" and not value:
                self.__class__ = plain
                try:
                    if sys.modules.get("torch") is module:
                        attach()
                except Exception:
                    Failures.add("start")
    ModuleSpec.__module__, ModuleSpec.__qualname__ = plain.__module__, plain.__qualname__
    spec.__class__ = ModuleSpec


try:
    start()
except Exception:
    Failures.add("start")
