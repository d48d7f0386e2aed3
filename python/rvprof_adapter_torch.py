# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch.py: what PyTorch's tensors are for, told to rvprof while the program runs.

librvprof.so holds this text and runs it once, in a namespace of its own, when PyTorch's library for Python is mapped
(preload/adapter.c); _tags, _step, _scope and _adapter are there before (preload/adapter_calls.h).

What is told
  TAG      weights: parameters and buffers of every module that is called from outside; gradient and optimizer: of
           every optimizer that steps; kv_cache: see rvprof_adapter_torch_kv.py, which runs before this in the same
           namespace; input: integer tensors that a model is called with.
  STEP     the outermost call of a module; in training up to the end of optimizer.step; where a program calls PyTorch's
           own small modules itself, a turn of them (Turn). Phases: prefill, decode (integer input of several
           tokens, of one); forward, backward, update.
  SCOPE    the modules' names, in each model's second step only (that is what a step can pay for).
  ADAPTER  once at the start, once more if something fails.

Rules
  - Nothing is kept alive: modules, optimizers and parameters by weak references, tensors by their addresses.
  - Tensors are asked for address, shape, dtype and version, never read: no sync, no random numbers, no graph.
  - Hooks are PyTorch's own where it has them. Between the begin and the end of an outermost call none is
    installed, so the modules inside run at their full speed.
  - A step costs what it must: its two ends, and one call for the addresses that changed. Modules are walked through
    in few calls only (is_walk), what is known to hold keys and values is looked at as often as it moves (Model.watch).
  - Any exception in here is swallowed and counted; the first is told in an ADAPTER record.
"""
import functools
import sys
import threading
import weakref

NEXT, BEGIN, END, PHASE = range(4)
NONE, LOAD, WARMUP, PREFILL, DECODE, FORWARD, BACKWARD, UPDATE = range(8)
OFF, ON, UNTESTED, FAILED = range(4)
SCOPE_BEGIN, SCOPE_END = 0, 1
MEASURED = {(1, 13)}  # versions of PyTorch that this was run with

FRAMES_MAX = 400
INPUT_MIN = 64  # elements: a decode step's one token is not worth its tag
NO_WORDS = {}

torch = Tensor = None
version = b""
whole_types = token_types = module_keys = busy = frozenset()
weight_names = {}  # address -> name


def base_of(tensor):
    """Address of the tensor's storage; 0: it has none that is memory of ours (meta, sparse, fake)."""
    try:
        at = tensor.data_ptr()
        return at - tensor.storage_offset() * tensor.element_size() if at else 0
    except (RuntimeError, NotImplementedError):
        return 0


def tell_once(told, category, name, tensor):
    at = base_of(tensor)
    if at and told.get(name) != at:
        told[name] = at
        _tags(category, [at], [bytes_of(name)])


def tokens_of(first):
    """Tokens a sequence of an integer input; 0: there is none."""
    if isinstance(first, Tensor) and first.dtype in token_types:
        shape = first.shape
        return shape[-1] if 0 < len(shape) <= 2 else 0
    return 0


class Arguments(tuple):
    """Of an outermost call. When it is over, also by an exception, they go: the hook is back."""

    @quiet
    def __del__(self):
        self.call.finish()


class Call:
    """An outermost call, until it is over. It does not hold its arguments by place."""
    open = None

    def __init__(self, module, model):
        self.module, self.model, self.is_over = module, model, False

    def begin(self, values, frame):
        model, module = self.model, self.module
        tokens = tokens_of(values[0]) if values else 0
        # A frame's words are a dict that is made anew for whoever asks.
        is_asked = not values or tokens > 1 or model.needs_words()
        kwargs = frame.f_locals.get("kwargs", NO_WORDS) if is_asked else NO_WORDS
        self.kwargs, self.count = kwargs, len(values)
        self.is_training = Current.had_optimizer and len(optimizers) > 0 and torch.is_grad_enabled()
        self.is_step = not self.is_training and not Current.is_step_open
        tokens = 0 if self.is_training else tokens if values else tokens_of(kwargs.get("input_ids"))
        if not self.is_training and model.is_like_last(tokens):
            model.tokens, model.total = 1, model.total + 1
        else:
            model.enter(module, tokens, self.is_training)
            if not self.is_training:
                model.meet((values, kwargs))
        if self.is_step and (Turn.first or model.is_part):
            self.is_step = Turn.begins(module, tokens, model.is_part)
        elif self.is_step:
            Turn.has_model = True
        elif Turn.is_open:
            Turn.close()
        tell_input(values or kwargs.values())
        if Current.has_backward and not len(optimizers):
            Current.has_backward = False
            tell_gradients(list(module.parameters()), Note())
        if self.is_step or self.is_training or Current.is_step_open:
            phase = FORWARD if not self.is_step or not tokens else PREFILL if tokens > 1 else DECODE
            _step(PHASE if Current.is_step_open else BEGIN, phase, 0, tokens, model.name)
        Current.is_step_open = Current.is_step_open or self.is_training
        self.watch()

    def watch(self):
        """No hook of ours stays for the modules inside, but in the one step that tells scopes."""
        self.after_key, self.scope_handle, Call.open = object(), None, self
        self.module._forward_hooks[self.after_key] = After(self)
        self.module._forward_pre_hooks[self.after_key] = called_again
        if self.model.number == 1:
            Current.names = {id(part): bytes_of(name) for name, part in self.module.named_modules() if name}
            self.scope_handle = torch.nn.modules.module.register_module_forward_hook(end_of_scope)
        else:
            Current.hooks.pop(Current.key, None)

    def finish(self):
        """The step's end, and all is as it was before the call."""
        if self.is_over:
            return
        self.is_over, Call.open = True, None
        if Turn.is_open:
            if Turn.ends(self.module):
                _step(END, NONE, 0, Turn.tokens, b"")
        elif self.is_step:
            _step(END, NONE, self.length(), self.model.tokens, b"")
        self.module._forward_hooks.pop(self.after_key, None)
        self.module._forward_pre_hooks.pop(self.after_key, None)
        if self.scope_handle is not None:
            self.scope_handle.remove()
            Current.names = None
        if Turn.note_end(self.module):
            look_at_turns()
        if Current.key is not None:
            Current.hooks[Current.key] = _before_call
        self.model.number += 1

    def leave(self, number, values, output):
        words = self.module, number, (values, self.kwargs), output
        if self.model.is_searching() or is_walk(number):
            _unsampled(self.model.leave, words)
        else:
            self.model.leave(*words)

    def length(self):
        """Tokens attended to in this call; 0: not known."""
        model = self.model
        if model.number == 0 and model.tokens > 1 and not self.kwargs and self.count == 1:
            return model.tokens
        return model.held + model.tokens if model.held else 0

    def after(self, values, output):
        number = self.model.number
        self.finish()
        if self.is_training:
            return
        self.leave(number, values, output)
        last = Current.last
        if values and self.is_step and last and last[1] is self.model and Steady.may_begin(self.model, self.module):
            Steady.begin(self.model, self.module, values[0])


def is_part(module):
    """One of PyTorch's layers. It may be a whole model all the same: then its turns have one call."""
    return type(module).__module__.startswith("torch.nn.") and not module._modules


class After:
    """Hook of the called module alone, for this one call. In a copy or a pickle of the module that is made in
    the call it is one that does nothing."""

    def __init__(self, call):
        self.call = call

    @quiet
    def __call__(self, module, args, output):
        call, self.call = self.call, None
        if call is not None:
            call.after(args, output)

    def __reduce__(self):
        return reduce_to_nothing()


class CalledAgain:
    """The hook before the call of a module whose call is open: it calls itself, or that call raised and its exception is
    kept, with all that was its: then it is over, and this is the next."""

    @quiet
    def __call__(self, module, args):
        if Current.owner != threading.get_ident() or outermost(sys._getframe(2)) is None:
            return None
        _steady_close()
        if Call.open is not None:
            Call.open.finish()
        return _before_call(module, args)

    def __reduce__(self):
        return reduce_to_nothing()


class Current:
    """The outermost call that runs, and the step that is open. One at a time in a process: with several threads in
    models at once the steps are those of whichever came first."""
    hooks = key = None  # PyTorch's table of hooks before the call of any module, and our key in it
    owner = None  # thread of the call
    names = None  # in a step with scopes: id of module -> name
    had_optimizer = False  # ever
    last = None  # (weak reference to the module that was called last, what is known of it)
    is_step_open = False  # of training
    has_backward = False
    has_threads = False  # that call modules: more than one

    @classmethod
    def note_thread(cls):
        me = threading.get_ident()
        if cls.owner not in (None, me):
            cls.has_threads = True
            cls.forget()
        cls.owner = me

    @classmethod
    def forget(cls):
        """The next call is to be looked at as if it were of another model."""
        cls.last = None
        Steady.end()


models = weakref.WeakKeyDictionary()
optimizers = weakref.WeakSet()
optimizer_notes = weakref.WeakKeyDictionary()


def model_of(module):
    last = Current.last
    Steady.end()
    if last and last[0]() is module:
        return last[1]
    model = models.get(module)
    if model is None:
        model = models[module] = Model(module)
    Current.last = weakref.ref(module), model
    return model


def outermost(frame):
    """The frame of the module's call, when no other module's call and no backward is around it; else None."""
    found = None
    for _ in range(FRAMES_MAX):
        if frame is None:
            return found
        if id(frame.f_code) in busy:  # equality of code is that of all it holds, and slow
            if found is not None or frame.f_code is not call_code:
                return None
            found = frame
        frame = frame.f_back
    return None


@quiet
def before_any(module, args):
    if Current.names is not None:
        begin_scope(module)
        return None
    if id(module) in Turn.skipped or (id(module) == Turn.first and turn_hook.begins(module, args)):
        return None
    frame = outermost(sys._getframe(2))
    if frame is None or torch._C._get_tracing_state() or "_forward_hooks" not in vars(module):
        return None
    Current.note_thread()
    call = Call(module, model_of(module))
    call.begin(args, frame)
    # With hooks on the backward the arguments are replaced at once; then an exception in the call costs us
    # the steps up to the next that succeeds.
    if module._backward_hooks or torch.nn.modules.module._global_backward_hooks:
        return None
    arguments = Arguments(args)
    arguments.call = call
    return arguments


def begin_scope(module):
    if Current.owner == threading.get_ident() and id(module) in Current.names:
        _scope(SCOPE_BEGIN, Current.names[id(module)])


@quiet
def end_of_scope(module, args, output):
    """PyTorch's hook after the call of any module, in the one step that tells scopes."""
    if Current.names is not None and Current.owner == threading.get_ident() and id(module) in Current.names:
        _scope(SCOPE_END, b"")


class Note:
    """What was told of an optimizer."""

    def __init__(self):
        self.number, self.told, self.count = 0, {}, -1
        self.gradients = ()  # weak references to some of those that were told last
        self.names = []  # of the gradients of all its parameters


def parameters_of(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def name_of(parameter):
    return weight_names.get(base_of(parameter), b"parameter")


def tell_gradients(parameters, note):
    """All of them, unless those that were looked at last are there still: then all are."""
    gradients = [parameter.grad for parameter in parameters]
    there = [i for i, gradient in enumerate(gradients) if gradient is not None]
    watched = [gradients[i] for i in {there[0], there[len(there) // 2], there[-1]}] if there else []
    if watched and len(watched) == len(note.gradients) and all(r() is g for r, g in zip(note.gradients, watched)):
        return
    if len(note.names) != len(parameters) or is_walk(note.number):
        note.names = [name_of(parameter) + b".grad" for parameter in parameters]
    if there:
        _tags(b"gradient", [base_of(gradients[i]) for i in there], [note.names[i] for i in there])
    note.gradients = [weakref.ref(gradient) for gradient in watched]


def tell_state(optimizer, note):
    for i, parameter in enumerate(parameters_of(optimizer)):
        if base_of(parameter) not in weight_names:
            tell_once(note.told, b"weights", "parameter.%d" % i, parameter)
        state = optimizer.state.get(parameter, {})
        for key, value in state.items():
            if isinstance(value, Tensor):
                name = "%d.%s.%s" % (i, name_of(parameter).decode("utf-8", "replace"), key)
                tell_once(note.told, b"optimizer", name, value)


@quiet
def after_update(optimizer):
    if Current.is_step_open:
        Current.is_step_open = False
        _step(END, NONE, 0, 0, b"")
    Current.has_backward = False
    note = optimizer_notes.setdefault(optimizer, Note())
    Current.had_optimizer = True
    Current.forget()
    optimizers.add(optimizer)
    tell_gradients(parameters_of(optimizer), note)
    if is_walk(note.number) or len(optimizer.state) != note.count:
        tell_state(optimizer, note)
    note.count = len(optimizer.state)
    note.number += 1


@quiet
def before_update():
    if Current.is_step_open:
        _step(PHASE, UPDATE, 0, 0, b"")


@quiet
def before_backward():
    Current.has_backward = True
    Current.forget()
    if Current.is_step_open:
        _step(PHASE, BACKWARD, 0, 0, b"")


def noting(original):
    """Around a method that every optimizer calls of itself when it is made."""
    @functools.wraps(original)
    def noted(self, *args, **kwargs):
        Current.had_optimizer = True
        Current.forget()
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


def look_after(wait_ns):
    global next_look_ns
    next_look_ns = time.monotonic_ns() + wait_ns
    _later(wait_ns, look_around)


@quiet
def look_around():
    """By the interpreter's main thread, between two instructions of the program (_later)."""
    turn_hook.see_from_outside()
    wait_ns = LONGEST_NS if Current.had_optimizer and len(optimizers) else look_once()
    look_after(min(wait_ns, TURN_LOOK_NS) if Turn.ends_of else wait_ns)


def look_at_turns():
    """They are known from here on: the look that waits may be seconds away."""
    if next_look_ns - time.monotonic_ns() > TURN_LOOK_NS:
        look_after(TURN_LOOK_NS)


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
    global torch, Tensor, version, called_again, turn_hook, whole_types, token_types, module_keys, busy, busy_codes, call_code
    torch = sys.modules["torch"]
    Tensor, version = torch.Tensor, bytes_of(str(torch.__version__))
    token_types = frozenset((torch.int64, torch.int32))
    whole_types = token_types | {torch.bool, torch.int16}
    module_keys = frozenset(vars(torch.nn.Module())) | {"_buffers"}
    call_code = torch.nn.Module._call_impl.__code__
    busy_codes = (call_code, torch.autograd.backward.__code__, torch.autograd.grad.__code__,
                  torch.autograd.function.BackwardCFunction.apply.__code__)
    busy = frozenset(map(id, busy_codes))
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        _adapter(OFF, b"torch", version, b"not for an interpreter without a global lock")
        return
    _steady_long_way(before_any)
    called_again, turn_hook = CalledAgain(), TurnHook()
    watch_optimizers()
    watch_backward()
    if hasattr(torch, "compile"):
        watch_compile()
    handle = torch.nn.modules.module.register_module_forward_pre_hook(_before_call)
    Current.hooks, Current.key = torch.nn.modules.module._global_forward_pre_hooks, handle.id
    is_measured = tuple(int(part) for part in torch.__version__.split(".")[:2]) in MEASURED
    look_after(LOOK_NS)
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
