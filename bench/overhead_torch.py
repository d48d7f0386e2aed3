# SPDX-License-Identifier: MIT
# overhead_torch.py TOKENS: a small transformer decodes token by token, its keys and values in caches that grow; its layers
# are called one by one. adapter_cost.py makes whole models of them.
import sys
import torch

torch.set_num_threads(1)
torch.manual_seed(1)
LAYERS, WIDTH, HEADS, WORDS = 4, 256, 8, 1000


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])

    def remember(self, k, v, cache):
        return (k, v) if cache is None else (torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2))

    def forward(self, x, cache):
        rows, tokens, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(rows, tokens, HEADS, -1).transpose(1, 2).chunk(3, dim=-1)
        k, v = self.remember(k, v, cache)
        weights = (q @ k.transpose(2, 3) * (width // HEADS) ** -0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x)))), (k, v)


def main():
    embedding, head = torch.nn.Embedding(WORDS, WIDTH), torch.nn.Linear(WIDTH, WORDS)
    blocks = [Block(WIDTH) for _ in range(LAYERS)]
    caches = [None] * LAYERS
    token = torch.zeros(1, 1, dtype=torch.long)
    for _ in range(int(sys.argv[1])):
        x = embedding(token)
        for i, block in enumerate(blocks):
            x, caches[i] = block(x, caches[i])
        token = head(x).argmax(-1)


if __name__ == "__main__":
    with torch.no_grad():
        main()
