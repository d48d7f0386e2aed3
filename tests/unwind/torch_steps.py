# SPDX-License-Identifier: MIT
# torch_steps.py STEPS: a small model is trained, and decodes.
import sys
import torch

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Embedding(100, 32), torch.nn.LSTM(32, 32, batch_first=True))
head = torch.nn.Linear(32, 100)
optimizer = torch.optim.Adam(list(model.parameters()) + list(head.parameters()))
for _ in range(int(sys.argv[1])):
    tokens = torch.randint(0, 100, (4, 12))
    hidden, _ = model(tokens)
    loss = torch.nn.functional.cross_entropy(head(hidden)[:, :-1].reshape(-1, 100), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
