# SPDX-License-Identifier: MIT
"""rows_torch.py torch|rvprof FOLDER: a script for torch.profiler, by PyTorch's and by ours: its imports are the only
difference. Prints operators with their shapes and how often each ran, and when traces were ready."""
import os
import sys

import torch

if sys.argv[1] == "torch":
    from torch.profiler import ProfilerActivity, profile, record_function
    import torch.profiler as profiler
else:
    from rvprof import ProfilerActivity, profile, record_function
    import rvprof as profiler

folder = sys.argv[2]
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
batch = torch.randn(32, 64)


def train():
    with record_function("my step"):
        optimizer.zero_grad()
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()


def show(prof):
    print("ready", prof.step_num)
    for row in sorted("%s %d %s" % (average.key, average.count, average.input_shapes)
                      for average in prof.key_averages(group_by_input_shape=True)
                      # PyTorch's record_function makes tensors of its own; aten::sum calls itself, and whether PyTorch
                      # takes the two for one hangs on whether their microseconds differ.
                      if average.key.startswith("aten::") and average.key not in (
                          "aten::zeros", "aten::zero_", "aten::empty", "aten::sum")
                      or average.key.endswith("Backward0") or average.key == "my step"):
        print(row)
    prof.export_chrome_trace(os.path.join(folder, "trace.%d.json" % prof.step_num))


with profile(activities=[ProfilerActivity.CPU], schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=2),
             on_trace_ready=show, record_shapes=True, with_stack=True, with_flops=True) as prof:
    for _ in range(9):
        train()
        prof.step()

with profile(on_trace_ready=profiler.tensorboard_trace_handler(os.path.join(folder, "board"), worker_name="w")):
    train()
files = os.listdir(os.path.join(folder, "board"))
print(len(files), files[0].startswith("w."), files[0].endswith(".pt.trace.json"))

table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=5)
print("Self CPU" in table, "CPU total" in table, "# of Calls" in table)
if sys.argv[1] == "rvprof":
    total = prof.key_averages().total_average().flops
    print("flops", total, file=sys.stderr)
    with profile(record_shapes=True) as inside:
        train()
        inside.export_chrome_trace(os.path.join(folder, "inside.json.gz"))
        inside.add_metadata("who", "me")
        inside.export_chrome_trace(os.path.join(folder, "told.json"))
    prof.export_stacks(os.path.join(folder, "stacks"))
