# SPDX-License-Identifier: MIT
"""Decodes with a GPT of nn.Modules. The cache grows by torch.cat and goes through the forward as past_key_values,
or is preallocated: a module with two buffers in each layer, written in place.

Usage: torch_modules.py cat|buffers LAYERS WIDTH HEADS WORDS PROMPT STEPS
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_truth

style = sys.argv[1]
layers, width, heads, words, prompt, count = map(int, sys.argv[2:8])
limit = prompt + count


class KVCache(nn.Module):
    def __init__(self):
        super().__init__()
        shape = (1, heads, limit, width // heads)
        self.register_buffer("k_cache", torch.zeros(shape))
        self.register_buffer("v_cache", torch.zeros(shape))

    def update(self, at, k, v):
        self.k_cache[:, :, at] = k
        self.v_cache[:, :, at] = v
        return self.k_cache[:, :, :at[-1] + 1], self.v_cache[:, :, :at[-1] + 1]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.kv_cache = KVCache() if style == "buffers" else None

    def split(self, x):
        return x.view(1, -1, heads, width // heads).transpose(1, 2)

    def forward(self, x, at, past):
        q, k, v = (self.split(part) for part in self.qkv(x).split(width, dim=2))
        if self.kv_cache is not None:
            k, v = self.kv_cache.update(at, k, v)
        else:
            k = torch.cat((past[0], k), dim=2) if past else k.contiguous()
            torch_truth.name("kv_cache", k)
            v = torch.cat((past[1], v), dim=2) if past else v.contiguous()
            torch_truth.name("kv_cache", v)
        scores = q @ k.transpose(-2, -1) / (width // heads) ** 0.5
        y = F.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(1, -1, width)), (k, v)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, at, past):
        y, present = self.attention(self.norm_1(x), at, past)
        x = x + y
        return x + self.mlp(self.norm_2(x)), present


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(words, width), nn.Embedding(limit, width)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens, at, past_key_values=None):
        x = self.embed(tokens) + self.place(at)
        presents = []
        for i, block in enumerate(self.blocks):
            x, present = block(x, at, past_key_values[i] if past_key_values else None)
            presents.append(present)
        return self.head(self.norm(x[:, -1:])), presents if style == "cat" else None


torch.manual_seed(3)
torch.set_num_threads(1)
model = Model().eval()
caches = [b for n, b in model.named_buffers() if "cache" in n]
torch_truth.name("weights", *model.parameters())
torch_truth.name("kv_cache", *caches)
past, steps = None, 0
tokens, at = torch.arange(prompt).reshape(1, -1) % words, torch.arange(prompt)
with torch.no_grad():
    while steps < count:
        logits, past = model(tokens, at, past)
        steps += 1
        tokens, at = logits[:, -1].argmax(-1, keepdim=True), torch.tensor([prompt + steps - 1])
print("token", tokens.item())
kept = caches if style == "buffers" else [t for pair in past for t in pair]
torch_truth.finish(steps, weights=torch_truth.bytes_of(model.parameters()), kv_cache=torch_truth.bytes_of(kept))
