# SPDX-License-Identifier: MIT
# torch_decode.py: a small transformer's decode on the device with a cache that grows by torch.cat, in bfloat16, and
# with --train a training step with Adam. Prints one line `account: {...}` with torch's own count of what it holds.
# With --profile FILE it runs under torch.profiler instead, and FILE gets kernels by name: count and total ns.
import argparse
import json

import torch

LAYERS, WIDTH, HEADS, STEPS, PROMPT = 6, 1024, 16, 48, 64


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, cache=None):
        q, k, v = self.qkv(self.norm(x)).view(x.shape[0], HEADS, 3 * WIDTH // HEADS).chunk(3, dim=-1)
        k, v = k.transpose(0, 1), v.transpose(0, 1)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=1)
            v = torch.cat([cache[1], v], dim=1)
        y = torch.nn.functional.scaled_dot_product_attention(q.transpose(0, 1), k, v)
        x = x + self.out(y.transpose(0, 1).reshape(x.shape[0], WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(x))), (k, v)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(8192, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, 8192, bias=False)

    def forward(self, tokens, past_key_values=None):
        x, caches = self.embed(tokens), []
        for i, layer in enumerate(self.layers):
            x, cache = layer(x, past_key_values[i] if past_key_values else None)
            caches.append(cache)
        return self.head(x), caches


def bytes_of(tensors):
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def decode(model, device):
    tokens, cache = torch.randint(0, 8192, (PROMPT,), device=device), None
    for _ in range(STEPS):
        with torch.no_grad():
            logits, cache = model(tokens, past_key_values=cache)
        tokens = logits[-1:].argmax(dim=-1)
    torch.cuda.synchronize()
    return {"weights": bytes_of(model.parameters()), "kv_cache": bytes_of(t for pair in cache for t in pair)}


def train(model, device):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8192, (128,), device=device)
    for _ in range(6):
        optimizer.zero_grad(set_to_none=True)
        logits, _ = model(tokens)
        torch.nn.functional.cross_entropy(logits.float(), tokens).backward()
        optimizer.step()
    torch.cuda.synchronize()
    state = [t for s in optimizer.state.values() for t in s.values() if torch.is_tensor(t) and t.is_cuda]
    return {"weights": bytes_of(model.parameters()), "gradient": bytes_of(p.grad for p in model.parameters()),
            "optimizer": bytes_of(state)}


def kernels_of(profiler):
    kernels = {}
    for event in profiler.events():
        if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
            count, total = kernels.get(event.name, (0, 0))
            kernels[event.name] = (count + 1, total + round(event.time_range.elapsed_us() * 1000))
    return kernels


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--train", action="store_true")
    arguments.add_argument("--profile")
    chosen = arguments.parse_args()
    torch.manual_seed(7)
    device = torch.device("cuda")
    model = Model().to(device)
    model = model if chosen.train else model.to(torch.bfloat16)
    work = train if chosen.train else decode
    if chosen.profile:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            held = work(model, device)
        with open(chosen.profile, "w") as file:
            json.dump(kernels_of(profiler), file)
    else:
        held = work(model, device)
    print("account: " + json.dumps({
        "categories": held, "allocator_allocated": torch.cuda.memory_allocated(),
        "allocator_reserved": torch.cuda.memory_reserved(), "allocator_peak": torch.cuda.max_memory_allocated(),
        "torch": torch.__version__}))


main()
