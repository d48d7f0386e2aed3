# torch_plain.sh: the PyTorch adapter where no module holds what there is: caches are known by how they are written,
# weights by the width they share, and neither is said of what only looks like them. Steps of layers without a model.
. "$(dirname "$0")/torch_told.sh"

cat >plain.py <<'END'
import sys, torch
torch.set_num_threads(1)
torch.manual_seed(1)
L, D, H, V, T = 3, 64, 4, 500, 640
style = sys.argv[1]
class Whole:  # keys and values of all layers in one tensor
    __slots__ = "store",
    def __init__(self):
        self.store = torch.zeros(L, 2, H, T, D // H)
    def put(self, i, at, k, v):
        self.store[i, 0, :, at:at + k.shape[1]] = k
        self.store[i, 1, :, at:at + k.shape[1]] = v
        return self.store[i, 0, :, :at + k.shape[1]], self.store[i, 1, :, :at + k.shape[1]]
    def held(self):
        return [self.store]
def pairs():  # a closure; the tokens stand first
    ks, vs = [[torch.empty(T, H, D // H) for _ in range(L)] for _ in "kv"]
    def put(i, at, k, v):
        for store, new in ((ks[i], k), (vs[i], v)):
            store[at:at + new.shape[1]] = new.transpose(0, 1)
        return tuple(store[:at + k.shape[1]].transpose(0, 1) for store in (ks[i], vs[i]))
    put.held = lambda: ks + vs
    return put
def step(w, ids, at, put, layer_norm=torch.nn.functional.layer_norm):
    x = w["embed"][ids]
    for i, (qkv, out) in enumerate(w["layers"]):
        q, k, v = (y.view(-1, H, D // H).transpose(0, 1) for y in (layer_norm(x, (D,)) @ qkv).chunk(3, -1))
        k, v = put(i, at, k, v)
        x = x + (torch.softmax(q @ k.transpose(1, 2) / 4, -1) @ v).transpose(0, 1).reshape(-1, D) @ out
    return (x[-1] @ w["embed"].T).argmax()[None], q
def main():
    w = {"embed": torch.randn(V, D), "layers": [(torch.randn(D, 3 * D), torch.randn(D, D)) for _ in range(L)]}
    cache = Whole() if style == "whole" else pairs()
    put = cache.put if style == "whole" else cache
    # Decoys: rewritten each step, summed up, a lone log, a table that nothing writes.
    scratch, means = [torch.zeros(H, T, D // H) for _ in "ab"], [torch.zeros(H, T, D // H) for _ in "ab"]
    log, table = torch.zeros(T, 2, H, 8), torch.randn(3, 7, 11)
    ids, at = torch.arange(9), 0
    while at < T - 1:
        new, q = step(w, ids, at, put)
        for i in range(2):
            scratch[i].copy_(torch.randn(1).expand_as(scratch[i]))
            means[i].mul_(0.9).add_(scratch[i])
        log[at] = q[:, -1, :8]
        at, ids = at + len(ids), new
    print(new.item(), [(m.sum().item() * 0 + 1, t.sum().item().hex()) for m, t in zip(means, scratch)], log.sum().item().hex())
    size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors)
    print("kv_cache_bytes=%d" % size(cache.held()))
    print("weights_bytes=%d" % size([w["embed"]] + [t for pair in w["layers"] for t in pair]))
with torch.inference_mode() if style == "inference" else torch.no_grad():
    main()
END
for style in whole pairs; do
	looked $style python3 plain.py $style
	told $style kv_cache 1
	told $style weights 1
	no_failure $style
done
# Without version counters keys and values are known all the same, weights are not.
looked inference python3 plain.py inference
told inference kv_cache 1
no_failure inference
if grep 'category="weights"' inference.sampled.dump; then fail "inference: weights that may have been written"; fi

# Layers that are called by the program itself: a step is a turn of them.
cat >layers.py <<'END'
import torch
torch.manual_seed(1)
embed, layers = torch.nn.Embedding(100, 32), [torch.nn.Linear(32, 32) for _ in range(4)]
head = torch.nn.Linear(32, 100)
ids = torch.arange(7)
with torch.no_grad():
    for step in range(20):
        x = embed(ids)
        for layer in layers:
            x = torch.relu(layer(x))
        ids = head(x[-1:]).argmax(-1)
print(ids.item())
END
looked layers python3 layers.py
no_failure layers
steps layers 20
got=$(grep -c ' step .*kind=1 source=3 phase=3 seq_len=0 tokens=7 ' layers.sampled.dump)
[ "$got" = 1 ] || fail "layers: $got prompts"

# A turn raises half-way, and its layers are not called again: other models are seen all the same.
cat >half.py <<'END'
import time, torch
torch.manual_seed(1)
first, middle, last = torch.nn.Embedding(100, 32), torch.nn.Linear(32, 32), torch.nn.Linear(32, 100)
def turn(ids, fails):
    x = middle(first(ids))
    if fails:
        raise ValueError("half-way")
    return last(x[-1:]).argmax(-1)
class Other(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(300, 1000))
    def forward(self, x):
        return (x @ self.table).sum()
with torch.no_grad():
    ids = torch.arange(7)
    for step in range(20):
        ids = turn(ids, False)
    try:
        turn(ids, True)
    except ValueError:
        pass
    other = Other()
    for call in range(30):
        total = other(torch.ones(200, 300)) # looks come with allocs of some size, at work and not asleep
        until = time.process_time() + 0.1
        while time.process_time() < until:
            sum(range(100))
print(ids.item(), total.item().hex())
END
looked half python3 half.py
no_failure half
grep -q 'category="weights" name="table"' half.sampled.dump || fail "half: the other model was not seen: $(grep 'category="weights"' half.sampled.dump)"
