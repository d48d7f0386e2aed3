# SPDX-License-Identifier: MIT
"""Decodes with raw tensors held by a class, no nn.Module at all; weights are loaded from a file by torch.load. The
cache is a list that grows by torch.cat, or one preallocated tensor for all layers, written in place.

Usage: torch_functional.py make FILE cat|whole LAYERS WIDTH HEADS WORDS PROMPT STEPS
       torch_functional.py run  FILE cat|whole LAYERS WIDTH HEADS WORDS PROMPT STEPS
"""
import sys

import torch
from torch.nn.functional import layer_norm, silu, softmax

import torch_truth

verb, path, style = sys.argv[1:4]
layers, width, heads, words, prompt, count = map(int, sys.argv[4:10])
hidden, head_width = width * 8 // 3 // 32 * 32, width // heads
torch.set_num_threads(1)

if verb == "make":
    torch.manual_seed(5)
    shapes = {"embed": (words, width), "out": (width, words)}
    for i in range(layers):
        shapes.update({"%d.q" % i: (width, width), "%d.k" % i: (width, width), "%d.v" % i: (width, width),
                       "%d.o" % i: (width, width), "%d.gate" % i: (width, hidden), "%d.up" % i: (width, hidden),
                       "%d.down" % i: (hidden, width), "%d.norm" % i: (2, width)})
    torch.save({name: torch.randn(shape) * 0.05 for name, shape in shapes.items()}, path)
    sys.exit(0)


class Transformer:
    def __init__(self, weights):
        self.w = weights
        self.held = 0
        self.past = [None] * layers
        self.whole = torch.zeros(layers, 2, heads, prompt + count, head_width) if style == "whole" else None

    def remember(self, i, k, v):
        if self.whole is not None:
            end = self.held + k.shape[1]
            self.whole[i, 0, :, self.held:end] = k
            self.whole[i, 1, :, self.held:end] = v
            return self.whole[i, 0, :, :end], self.whole[i, 1, :, :end]
        if self.past[i] is not None:
            k = torch.cat([self.past[i][0], k], dim=1)
            torch_truth.name("kv_cache", k)
            v = torch.cat([self.past[i][1], v], dim=1)
        else:
            k, v = k.clone(memory_format=torch.contiguous_format), v.clone(memory_format=torch.contiguous_format)
        torch_truth.name("kv_cache", k, v)
        self.past[i] = (k, v)
        return k, v

    def heads_of(self, x):
        return x.view(-1, heads, head_width).transpose(0, 1)

    def layer(self, i, x):
        w = {name: self.w["%d.%s" % (i, name)] for name in ("q", "k", "v", "o", "gate", "up", "down", "norm")}
        h = layer_norm(x, (width,), w["norm"][0])
        k, v = self.remember(i, self.heads_of(h @ w["k"]), self.heads_of(h @ w["v"]))
        scores = softmax(self.heads_of(h @ w["q"]) @ k.transpose(1, 2) * head_width ** -0.5, -1)
        x = x + (scores @ v).transpose(0, 1).reshape(-1, width) @ w["o"]
        h = layer_norm(x, (width,), w["norm"][1])
        return x + (silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def decode(self, tokens):
        x = self.w["embed"][tokens]
        for i in range(layers):
            x = self.layer(i, x)
        self.held += len(tokens)
        return int((x[-1] @ self.w["out"]).argmax())


model = Transformer(torch.load(path))
torch_truth.name("weights", *model.w.values())
if model.whole is not None:
    torch_truth.name("kv_cache", model.whole)
steps, token = 1, model.decode(torch.arange(prompt) * 7 % words)
while steps < count:
    token = model.decode(torch.tensor([token]))
    steps += 1
print("token", token)
kept = [model.whole] if style == "whole" else [t for pair in model.past for t in pair]
torch_truth.finish(steps, weights=torch_truth.bytes_of(model.w.values()), kv_cache=torch_truth.bytes_of(kept))
