# SPDX-License-Identifier: MIT
"""Trains a small transformer with Adam; the gradients go after each step (none) or are zeroed and stay (zero).

Usage: torch_train.py none|zero LAYERS WIDTH WORDS BATCH LENGTH STEPS
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_truth

style = sys.argv[1]
layers, width, words, batch, length, count = map(int, sys.argv[2:8])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.body = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 3 * width, dropout=0.0, batch_first=True)
                                  for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.body:
            x = layer(x)
        return self.head(x)


torch.manual_seed(1)
torch.set_num_threads(1)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
torch_truth.name("weights", *net.parameters())
parameters = {p.data_ptr() for p in net.parameters()}


def saved(tensor):
    if tensor.storage().data_ptr() not in parameters and tensor.dtype.is_floating_point:
        torch_truth.name("activation", tensor)
    return tensor


def step(i):
    tokens = (torch.arange(batch * length).reshape(batch, length) * 13 + i) % words
    if torch_truth.tape:
        with torch.autograd.graph.saved_tensors_hooks(saved, lambda tensor: tensor):
            loss = F.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten())
    else:
        loss = F.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad(set_to_none=style == "none")
    loss.backward()
    torch_truth.name("gradient", *(p.grad for p in net.parameters()))
    optimizer.step()
    torch_truth.name("optimizer", *(v for s in optimizer.state.values() for v in s.values()))
    return loss.item()


for i in range(count):
    loss = step(i)
print("loss %.4f" % loss)
state = [v for s in optimizer.state.values() for v in s.values()]
torch_truth.finish(count, weights=torch_truth.bytes_of(net.parameters()), optimizer=torch_truth.bytes_of(state))
