#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_layers.py: one layer forward, for the sweeps beside it. A forward is a step of rvprof's; the last line is what the
program says of itself: parameters, flops of the whole batch, median milliseconds, samples a second.

    torch_layers.py linear --size N --batch B        a square layer, as TinyTorch's table of scaling
    torch_layers.py block --tokens N --batch B       a transformer's block, softmax attention with all its scores
"""
import argparse
import json
import time

import torch

HEADS, WIDTH = 4, 64


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, tokens, _ = x.shape
        q, k, v = (part.view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.into(x).chunk(3, -1))
        scores = torch.softmax(q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, -1)
        return self.out((scores @ v).transpose(1, 2).reshape(batch, tokens, WIDTH))


def made(words):
    """The model, its input, and the operations of one forward: two a product's multiplication."""
    if words.layer == "linear":
        return (torch.nn.Linear(words.size, words.size), torch.randn(words.batch, words.size),
                2 * words.size ** 2 * words.batch)
    return (Block(), torch.randn(words.batch, words.tokens, WIDTH),
            words.batch * (8 * words.tokens * WIDTH ** 2 + 4 * words.tokens ** 2 * WIDTH))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layer", choices=["linear", "block"])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=42)
    words = parser.parse_args()
    torch.manual_seed(words.seed)
    torch.set_num_threads(1)
    model, x, flops = made(words)
    times_ms = []
    with torch.no_grad():
        for _ in range(words.samples):
            begin = time.perf_counter()
            model(x)
            times_ms.append((time.perf_counter() - begin) * 1e3)
    median_ms = sorted(times_ms)[len(times_ms) // 2]
    print(json.dumps({"parameters": sum(p.numel() for p in model.parameters()), "flops": flops, "median_ms": median_ms,
                      "throughput_samples_per_second": words.batch * 1000 / median_ms}))


if __name__ == "__main__":
    main()
