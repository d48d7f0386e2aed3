# SPDX-License-Identifier: MIT
"""adapter_cost.py PROGRAM LAYERS WIDTH STEPS TURNS ROUNDS ROW: what rvprof's PyTorch adapter adds to a step, for bench/adapter_cost.
Prints samples as bench/overhead_table reads them, and on stderr how long a step is.

PROGRAM  cat      decodes, the cache grows by torch.cat and goes through the model's forward
         buffers  decodes, the cache is preallocated, in buffers of each layer
         layers   decodes like cat, but the program itself calls PyTorch's layers and the blocks: there is no model
         prompt   a batch of prompts in each call
         train    a training step with Adam
         empty    a call of a model that does nothing but hand out a cache that grows: what the hooks alone add to it, in us,
                  with the processor's caches full of other things before each call, as a real step leaves them
         functions, whole
                  decodes without modules, growing or preallocated; nothing is switched, see below

Of each round there are TURNS times six stretches of so many steps, in an order and then in its reverse, so that what grows hits all
alike: twice each without the adapter, without it again, and with it. Switched is what the adapter put into PyTorch:
without it there is what was there before it came. ROW-wall and ROW-cpu are the step's times, in us.

Looks (rvprof_adapter_torch_plain.py) come when it is time for them, in whatever stretch that is. They are timed apart,
taken out of the stretches, and each stretch with the adapter bears their share of the time of all. A program without
modules pays for nothing else: ROW-looks is their share of the steps' time in %.
"""
import sys
import time

import torch

import overhead_torch

HEADS, WORDS, PROMPT, BATCH = overhead_torch.HEADS, 1000, 32, 4
ORDERS = (0, 1, 2), (1, 2, 0), (2, 0, 1)
VARIANTS = "none", "again", "adapter"
WALL, CPU, WALL_OF_LOOKS, CPU_OF_LOOKS = range(4)


class Adapter:
    """What it put into PyTorch, and what was there before."""

    def __init__(self):
        module = torch.nn.modules.module
        self.hooks = module._global_forward_pre_hooks
        mine = [key for key, hook in self.hooks.items() if hook.__module__ == "rvprof_adapter_torch"]
        self.key = mine[0] if mine else None
        self.hook = self.hooks.get(self.key)
        self.changed = []  # (owner, name, the adapter's, what was there)
        optimizer = sys.modules["torch.optim.optimizer"]
        engine = torch.autograd.Variable._execution_engine
        if not mine:
            return
        self.namespace = vars(type(engine))["run_backward"].fget.__globals__
        self.changed.append((torch.autograd.Variable, "_execution_engine", engine, type(engine).__mro__[1]()))
        for name in ("_optimizer_step_code", "_cuda_graph_capture_health_check"):
            function = vars(optimizer.Optimizer).get(name)
            if getattr(function, "__globals__", None) is self.namespace or hasattr(function, "__wrapped__"):
                without = getattr(function, "__wrapped__", lambda self: None)
                self.changed.append((optimizer.Optimizer, name, function, without))
        for name in ("_global_optimizer_pre_hooks", "_global_optimizer_post_hooks"):
            if hasattr(optimizer, name):
                table = getattr(optimizer, name)
                self.changed.append((optimizer, name, table, type(table)()))

    def switch(self, is_on):
        if is_on:
            self.hooks[self.key] = self.hook
        else:
            self.hooks.pop(self.key, None)
        for owner, name, with_it, without in self.changed:
            setattr(owner, name, with_it if is_on else without)


class Looks:
    """Their time, as they happen."""
    wall_ns = cpu_ns = 0

    @classmethod
    def time(cls, namespace):
        look_once = namespace["look_once"]

        def timed():
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            try:
                return look_once()
            finally:
                cls.wall_ns += time.perf_counter_ns() - wall
                cls.cpu_ns += time.thread_time_ns() - cpu
        namespace["look_once"] = timed


def now():
    """Wall and processor time without looks, and that of looks."""
    return (time.perf_counter_ns() - Looks.wall_ns, time.thread_time_ns() - Looks.cpu_ns, Looks.wall_ns, Looks.cpu_ns)


class Preallocated(overhead_torch.Block):
    def __init__(self, width, limit):
        super().__init__(width)
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(1, HEADS, limit, width // HEADS))

    def remember(self, k, v, cache):
        end = cache + k.shape[2]
        self.k_cache[:, :, cache:end] = k
        self.v_cache[:, :, cache:end] = v
        return self.k_cache[:, :, :end], self.v_cache[:, :, :end]


class Model(torch.nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.embedding, self.head = torch.nn.Embedding(WORDS, width), torch.nn.Linear(width, WORDS)
        self.blocks = torch.nn.ModuleList(blocks)

    def forward(self, ids, past=None):
        x, presents = self.embedding(ids), []
        for i, block in enumerate(self.blocks):
            x, present = block(x, past[i] if isinstance(past, list) else past)
            presents.append(present)
        return self.head(x), presents


class Decode:
    def __init__(self, program, layers, width, limit):
        make = (lambda: Preallocated(width, limit)) if program == "buffers" else (lambda: overhead_torch.Block(width))
        self.model = Model(width, [make() for _ in range(layers)]).eval()
        self.is_fixed = program == "buffers"

    def call(self, ids):
        logits, presents = self.model(ids, self.past)
        self.held += ids.shape[1]
        self.past = self.held if self.is_fixed else presents
        self.ids = logits[:, -1:].argmax(-1)

    def begin(self):
        self.held, self.past = 0, 0 if self.is_fixed else None
        self.call(torch.arange(PROMPT)[None])

    def step(self):
        self.call(self.ids)


class Layers(Decode):
    def call(self, ids):
        x, past, model = model_embedding(self.model, ids), self.past or [None] * len(self.model.blocks), self.model
        self.past = []
        for block, cache in zip(model.blocks, past):
            x, cache = block(x, cache)
            self.past.append(cache)
        self.ids = model.head(x)[:, -1:].argmax(-1)

    def begin(self):
        self.past = None
        self.call(torch.arange(PROMPT)[None])


def model_embedding(model, ids):
    return model.embedding(ids)


class Prompt(Decode):
    def begin(self):
        self.ids = torch.arange(BATCH * PROMPT).view(BATCH, PROMPT) % WORDS

    def step(self):
        self.model(self.ids)


class Train:
    def __init__(self, program, layers, width, limit):
        self.model = Model(width, [overhead_torch.Block(width) for _ in range(layers)])
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def begin(self):
        self.ids = torch.arange(BATCH * 8).view(BATCH, 8) % WORDS

    def step(self):
        loss = torch.nn.functional.cross_entropy(self.model(self.ids)[0].flatten(0, 1), self.ids.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Functions:
    """Weights in a dict, no module."""

    def __init__(self, program, layers, width, limit):
        block = overhead_torch.Block(width)
        shapes = {name: tuple(p.t().shape) for name, p in block.named_parameters() if p.dim() == 2}
        self.weights = [{name: torch.randn(shape) * 0.02 for name, shape in shapes.items()} for _ in range(layers)]
        self.words = torch.randn(WORDS, width)
        self.width, self.limit, self.is_fixed = width, limit, program == "whole"

    def begin(self):
        self.held, self.past = 0, [None] * len(self.weights)
        if self.is_fixed:
            self.store = torch.zeros(len(self.weights), 2, HEADS, self.limit, self.width // HEADS)
        self.call(torch.arange(PROMPT))

    def remember(self, i, k, v):
        end = self.held + k.shape[1]
        if self.is_fixed:
            self.store[i, 0, :, self.held:end] = k
            self.store[i, 1, :, self.held:end] = v
            return self.store[i, 0, :, :end], self.store[i, 1, :, :end]
        past = self.past[i]
        self.past[i] = (k, v) if past is None else (torch.cat((past[0], k), 1), torch.cat((past[1], v), 1))
        return self.past[i]

    def call(self, ids):
        x, width = self.words[ids], self.width
        for i, w in enumerate(self.weights):
            h = torch.nn.functional.layer_norm(x, (width,)) @ w["qkv.weight"]
            q, k, v = h.view(len(ids), HEADS, -1).transpose(0, 1).chunk(3, dim=-1)
            k, v = self.remember(i, k, v)
            weights = (q @ k.transpose(1, 2) * (width // HEADS) ** -0.5).softmax(-1)
            x = x + (weights @ v).transpose(0, 1).reshape(len(ids), width) @ w["out.weight"]
            h = torch.nn.functional.layer_norm(x, (width,)) @ w["up.weight"]
            x = x + torch.nn.functional.gelu(h) @ w["down.weight"]
        self.held += len(ids)
        self.ids = (x[-1] @ self.words.t()).argmax()[None]

    def step(self):
        self.call(self.ids)


class Empty(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.part, self.layers = torch.nn.Linear(8, 8), layers

    def forward(self, ids, past=None):
        tokens = past[0][0].shape[2] + ids.shape[1] if past else ids.shape[1]
        return ids, [(torch.empty(1, HEADS, tokens, 32), torch.empty(1, HEADS, tokens, 32)) for _ in range(self.layers)]


def print_hooks(row, adapter, layers, steps, rounds):
    """The lower quartile of the calls' time, with the hooks less without: each call once so, once so."""
    model, other = Empty(layers).eval(), torch.zeros(2 << 20)
    past = None
    for _ in range(40):  # up to here it searches for keys and values
        past = model(torch.zeros(1, 1, dtype=torch.long), past)[1]
    for number in range(rounds):
        past, took = model(torch.arange(PROMPT)[None])[1], ([], [])
        for _ in range(steps):
            for is_on in (0, 1, 1, 0):
                adapter.switch(is_on)
                other.sum()
                begin = time.thread_time_ns()
                past = model(torch.zeros(1, 1, dtype=torch.long), past)[1]
                took[is_on].append(time.thread_time_ns() - begin)
        adapter.switch(True)
        off, on = (sorted(values)[len(values) // 4] / 1e3 for values in took)
        print("%s adapter %d %.3f 0" % (row, number, on - off))


PROGRAMS = {"cat": Decode, "buffers": Decode, "layers": Layers, "prompt": Prompt, "train": Train, "empty": None, "functions": Functions,
            "whole": Functions}


def stretch(program, steps):
    begin = now()
    for _ in range(steps):
        program.step()
    return [b - a for a, b in zip(begin, now())]


def one_round(program, adapter, number, steps, turns):
    """Of each variant, its stretches."""
    found = [[] for _ in VARIANTS]
    program.begin()
    for turn in range(turns):
        order = ORDERS[(number + turn) % len(ORDERS)]
        for variant in order + order[::-1]:
            adapter.switch(VARIANTS[variant] == "adapter")
            found[variant].append(stretch(program, steps))
    adapter.switch(True)
    return found


def mean_of_fastest(stretches, which):
    """Of the fastest quarter: the machine's other work makes a stretch slower, never faster."""
    values = sorted(one[which] for one in stretches)[:max(1, len(stretches) // 4)]
    return sum(values) / len(values)


def print_pairs(row, found, steps):
    whole = [sum(one[i] for round_ in found for stretches in round_ for one in stretches) for i in range(4)]
    for number, round_ in enumerate(found):
        for variant, stretches in zip(VARIANTS, round_):
            share = 1 + whole[CPU_OF_LOOKS] / whole[CPU] if variant == "adapter" else 1
            wall, cpu = (mean_of_fastest(stretches, i) * share / steps / 1e3 for i in (WALL, CPU))
            print("%s-wall %s %d %.3f %.3f" % (row, variant, number, wall, cpu))
            print("%s-cpu %s %d %.3f %.3f" % (row, variant, number, cpu, cpu))
    off, again, on = (sum(one[CPU] for round_ in found for one in round_[i]) for i in range(3))
    print("%s: all stretches together: %.4f; looks %.2f %%" % (row, 2 * on / (off + again), 100 * whole[CPU_OF_LOOKS] / whole[CPU]),
          file=sys.stderr)


def main():
    program, (layers, width, steps, turns, rounds), row = sys.argv[1], map(int, sys.argv[2:7]), sys.argv[7]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    adapter = Adapter()
    if adapter.key is None and PROGRAMS[program] is not Functions:
        sys.exit("adapter_cost: the adapter is not here")
    if adapter.key is not None:
        Looks.time(adapter.namespace)
    if program == "empty":
        with torch.no_grad():
            return print_hooks(row, adapter, layers, steps, rounds)
    run = PROGRAMS[program](program, layers, width, PROMPT + 1 + (steps if PROGRAMS[program] is Functions else 6 * turns * steps))
    with torch.set_grad_enabled(program == "train"):
        if PROGRAMS[program] is Functions:
            run.begin()
            wall, cpu, look_wall, look_cpu = stretch(run, steps)
            print("%.3f %.3f %.4f" % ((wall + look_wall) / steps / 1e3, (cpu + look_cpu) / steps / 1e3, 100 * look_cpu / cpu))
        else:
            print_pairs(row, [one_round(run, adapter, number, steps, turns) for number in range(rounds)], steps)


main()
