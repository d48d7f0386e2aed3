# SPDX-License-Identifier: MIT
# overhead_torch.py TOKENS: a small transformer decodes token by token, its keys and values in caches that grow.
import sys
import torch

torch.set_num_threads(1)
torch.manual_seed(1)
LAYERS, WIDTH, HEADS, WORDS = 4, 256, 8, 1000


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(WIDTH) for _ in range(2)])

    def forward(self, x, cache):
        q, k, v = self.qkv(self.norms[0](x)).view(1, 1, HEADS, -1).transpose(1, 2).chunk(3, dim=-1)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        weights = (q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(1, 1, WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x)))), (k, v)


with torch.no_grad():
    embedding, head = torch.nn.Embedding(WORDS, WIDTH), torch.nn.Linear(WIDTH, WORDS)
    blocks = [Block() for _ in range(LAYERS)]
    caches = [None] * LAYERS
    token = torch.zeros(1, 1, dtype=torch.long)
    for _ in range(int(sys.argv[1])):
        x = embedding(token)
        for i, block in enumerate(blocks):
            x, caches[i] = block(x, caches[i])
        token = head(x).argmax(-1)
