# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch.py: what PyTorch's tensors are for, told to rvprof while the program runs.

librvprof.so holds this text and runs it once, in a namespace of its own, when PyTorch's library for Python is mapped
(preload/adapter.c); RVPROF_TAG, RVPROF_STEP, RVPROF_SCOPE and RVPROF_ADAPTER are then addresses of C functions.

What is told
  TAG      weights: parameters and buffers of every module that is called from outside; gradient and optimizer: of
           every optimizer that steps; kv_cache: see rvprof_adapter_torch_kv.py, which runs before this in the same
           namespace; input: integer tensors that a model is called with.
  STEP     the outermost call of a module; in training up to the end of optimizer.step. Phases: prefill, decode
           (integer input of several tokens, of one); forward, backward, update.
  SCOPE    the modules' names, in each model's second step only (that is what a step can pay for).
  ADAPTER  once at the start, once more if something fails.

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

FRAMES_MAX = 400
INPUT_MIN = 64  # elements: a decode step's one token is not worth its tag
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


failures = 0


def quiet(function):
    """Around everything that PyTorch or the program calls: an exception of ours ends here; the first is told."""
    @functools.wraps(function)
    def quietly(*args, **kwargs):
        global failures
        try:
            return function(*args, **kwargs)
        except Exception as error:
            failures += 1
            if failures == 1:
                _adapter(FAILED, b"torch", version,
                         bytes_of("%s: %s: %s" % (function.__name__, type(error).__name__, error)))
            return None
    return quietly


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


class Model:
    """What is known of a module that is called from outside. It does not keep the module."""

    def __init__(self, module):
        self.number = 0  # of calls
        self.name = bytes_of(type(module).__name__)
        self.told = {}  # name of a parameter or buffer -> address
        self.total = 0  # tokens since the last prefill, it included
        self.tokens = 0  # of this call
        self.length_place = None
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
        return any(source.root == name and source.has_kv for _, _, source in self.attributes.values())

    def find_attributes(self, module):
        """Attributes of its modules that hold tensors which are neither parameters nor plain buffers."""
        for path, part in module.named_modules():
            for key, value in list(vars(part).items()) + list(part._buffers.items()):
                if key in module_keys or type(value) in PLAIN or (id(part), key) in self.attributes:
                    continue
                tensors = []
                gather(value, tensors)
                if any(is_store_like(tensor) for tensor in tensors):
                    source = Source((path + "." if path else "") + key, "attribute")
                    self.attributes[id(part), key] = weakref.ref(part), key, source

    def look_at_attributes(self, every):
        candidates = []
        for place, (reference, key, source) in list(self.attributes.items()):
            part = reference()
            if part is None:
                del self.attributes[place]
            elif every or source.is_due(self.number, self.tokens):
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
        if is_due(self.number) and self.output.places and not self.output.has_kv:
            tensors = []
            gather(values, tensors)
            believe(self.output.came_back(tensors, before))

    def leave(self, module, values, output):
        """After the call."""
        every = is_due(self.number)
        if every:
            self.find_attributes(module)
        candidates = self.look_at_attributes(every)
        if self.output.is_due(self.number, self.tokens):
            candidates += self.output.look(output, self.tokens, self.total)
        # What was handed in is, where it is handed out anew, what the last call handed out.
        if not self.output.has_kv and self.arguments.is_due(self.number, self.tokens):
            candidates += self.arguments.look(values, self.tokens, self.total)
        if candidates:
            believe(candidates)
        if every:
            self.length_place = self.find_length()

    def find_length(self):
        """One of the growing ones tells how many tokens are held; where none grows that is not known."""
        for source in [self.arguments, self.output] + [source for _, _, source in self.attributes.values()]:
            for place in source.places:
                if place.is_kv and place.length_at >= 0:
                    return place
        return None

    def length(self):
        place = self.length_place
        return place.shape[place.length_at] if place and place.shape and place.length_at < len(place.shape) else 0


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

    @quiet
    def __del__(self):
        self.finish()

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
            if isinstance(value, Tensor) and value.dtype in token_types and value.numel() >= INPUT_MIN:
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

    @quiet
    def __call__(self, module, args, output):
        call, self.call = self.call, None
        if call is not None:
            call.after(module, output)

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


@quiet
def before_call(module, args):
    """PyTorch's hook before the call of any module."""
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


def begin_scope(module):
    if Current.owner == threading.get_ident() and id(module) in Current.names:
        _scope(SCOPE_BEGIN, SOURCE, None, Current.names[id(module)], None)


@quiet
def end_of_scope(module, args, output):
    """PyTorch's hook after the call of any module, in the one step that tells scopes."""
    if Current.names is not None and Current.owner == threading.get_ident() and id(module) in Current.names:
        _scope(SCOPE_END, SOURCE, None, None, None)


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


@quiet
def after_update(optimizer):
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


@quiet
def before_update():
    if Current.is_step_open:
        _step(SOURCE, PHASE, UPDATE, 0, 0, None)


@quiet
def before_backward():
    Current.has_backward = True
    if Current.is_step_open:
        _step(SOURCE, PHASE, BACKWARD, 0, 0, None)


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


@quiet
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


@quiet
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
                if sys.modules.get("torch") is module:
                    attach()
    ModuleSpec.__module__, ModuleSpec.__qualname__ = plain.__module__, plain.__qualname__
    spec.__class__ = ModuleSpec


start()
