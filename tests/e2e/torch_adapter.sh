# torch_adapter.sh: the PyTorch adapter, which comes by itself: results are those without us, and every byte of
# weights, gradients, optimizer state and KV caches is named. The scripts print their truth from tensor sizes.
. "$(dirname "$0")/torch_told.sh"

cat >train.py <<'END'
import sys, torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Embedding(301, 64),
    torch.nn.TransformerEncoderLayer(64, 4, 177, dropout=0.1, batch_first=True), torch.nn.Linear(64, 301))
optimizer = torch.optim.Adam(net.parameters())
for step in range(5):
    tokens = torch.randint(0, 301, (2, 16))
    loss = torch.nn.functional.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad(set_to_none=sys.argv[1] == "none")
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
    if step == 2:  # an evaluation in between
        with torch.no_grad():
            print(net.eval()(tokens).sum().item().hex())
        net.train()
size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors)
print(torch.rand(1).item().hex(), sum(p.double().sum().item() for p in net.parameters()).hex())
print("weights_bytes=%d" % size(net.parameters()))
print("gradient_bytes=%d" % size(p.grad for p in net.parameters()))
print("optimizer_bytes=%d" % size(t for s in optimizer.state.values() for t in s.values()))
END
same keep python3 train.py keep
told keep weights 1
told keep gradient 1
told keep optimizer 1
no_failure keep
steps keep 6 # the evaluation is one too
grep -q ' step .*kind=3 source=3 phase=6 ' keep.sampled.dump || fail "keep: no backward"
same none python3 train.py none
told none weights 1
told none gradient 5
told none optimizer 1

cat >decode.py <<'END'
import sys, torch
D, H = 64, 4
class Block(torch.nn.Module):
    def __init__(self, style):
        super().__init__()
        self.style, self.f = style, torch.nn.Linear(D, 2 * D)
        if style == "attribute":
            self.old = [torch.zeros(1, H, 200, D // H) for _ in "kv"]
        if style == "buffer":
            self.register_buffer("first", torch.zeros(1, H, 200, D // H))
            self.register_buffer("second", torch.zeros(1, H, 200, D // H))
    def forward(self, x, past, at):
        new = [y.reshape(1, -1, H, D // H).transpose(1, 2).contiguous() for y in self.f(x).chunk(2, -1)]
        if self.style == "cat":
            past = new if past is None else [torch.cat([a, b], 2) for a, b in zip(past, new)]
            k, v = past
        else:
            past = {"given": past, "attribute": getattr(self, "old", 0)}.get(self.style) or (self.first, self.second)
            for a, b in zip(past, new):
                a[:, :, at:at + x.shape[1]] = b
            k, v = (a[:, :, :at + x.shape[1]] for a in past)
        return x + (k * v).sum() / 100, past
class Net(torch.nn.Module):
    def __init__(self, style):
        super().__init__()
        self.e = torch.nn.Embedding(100, D)
        self.l = torch.nn.ModuleList(Block(style) for _ in range(3))
        self.register_buffer("mask", torch.ones(1, 1, 64, 64))
        self.register_buffer("rope", torch.ones(2, 1, 64, 64))
    def forward(self, ids, pasts, at):
        x, new = self.e(ids), []
        for layer, past in zip(self.l, pasts):
            x, past = layer(x, past, at)
            new.append(past)
        return x.sum(-1), new
size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors)
kept, kv, weights = [], 0, 0
for style in sys.argv[1:]:
    torch.manual_seed(1)
    net = Net(style).eval()
    for prompt in range(2):  # the second of them fills the same cache again, or grows another
        at, ids, ever, pasts = 0, torch.arange(9 + prompt)[None], 0, None  # blocks that are new where others were
        pasts = [None if style != "given" else [torch.zeros(1, H, 200, D // H) for _ in "kv"] for _ in range(3)]
        with torch.no_grad():
            for step in range(12):
                out, pasts = net(ids, pasts, at)
                at, ids = at + ids.shape[1], ids[:, :1]
                ever += size(t for p in pasts for t in p)
        held = size(t for p in pasts for t in p)
        kv += ever if style == "cat" else held if style == "given" or not prompt else 0
        print(style, out.sum().item().hex(), sorted(vars(net)), len(net._forward_hooks), len(net._forward_pre_hooks))
    kept.append(net)
    weights += size(net.state_dict().values()) - (held if style == "buffer" else 0)
print("kv_cache_bytes=%d" % kv)
print("weights_bytes=%d" % weights)
END
decoded() { # LABEL STYLE..: two prompts each
	label=$1
	shift
	same "$label" python3 decode.py "$@"
	told "$label" kv_cache 1
	told "$label" weights 1
	no_failure "$label"
	steps "$label" $(($# * 24))
	got=$(grep -cE ' step .*kind=1 source=3 phase=3 seq_len=0 tokens=(9|10) ' "$label.sampled.dump")
	[ "$got" = $(($# * 2)) ] || fail "$label: $got prompts"
}
decoded cat cat
# Nine tokens, then one each: after the twelfth call 20 are held; of the second prompt 21.
grep ' step .*kind=2 source=3' cat.sampled.dump | sed -n '12p;24p' | grep -o 'seq_len=[0-9]*' | tr '\n' ' ' >got
[ "$(cat got)" = "seq_len=20 seq_len=21 " ] || fail "cat: at the ends of the prompts: $(cat got)"
decoded fixed given attribute buffer

# An LSTM's state comes back too, and is no KV cache; neither are a tuple of hidden states nor batches.
cat >lstm.py <<'END'
import torch
torch.manual_seed(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.f = torch.nn.Embedding(100, 64), torch.nn.LSTM(64, 64, 2, batch_first=True)
    def forward(self, ids, state):
        x, state = self.f(self.e(ids), state)
        return x, state, (x + 1, x + 2)
net, state, ids = Net().eval(), None, torch.arange(9)[None]
with torch.no_grad():
    for step in range(8):
        x, state, hidden = net(ids, state)
        ids = ids[:, :1]
print(x.sum().item().hex())
END
looked lstm python3 lstm.py
no_failure lstm
if grep 'category="kv_cache"' lstm.sampled.dump; then fail "lstm: a KV cache was found"; fi

# A call that raises is a step, whether its exception is kept, with all that was its, or not; one that calls itself is one.
# A copy that is made in a call has no hook of ours that does anything.
cat >raises.py <<'END'
import copy, pickle, sys, torch
torch.manual_seed(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.f, self.does = torch.nn.Embedding(100, 64), torch.nn.Linear(64, 100), ""
    def forward(self, ids):
        does, self.does = self.does, ""
        x = self.f(self.e(self(ids)[:, -1:].argmax(-1) if does == "calls itself" else ids))
        if does == "copies":
            copies.append(copy.deepcopy(self))
            copies.append(pickle.loads(pickle.dumps(self)))
        if does == "raises":
            raise ValueError("of the program's own")
        return x
copies, kept = [], []
net, other = Net().eval(), Net().eval()
def call(of, number, does):
    of.does = does
    try:
        return of(torch.full((1, 9 if number == 0 else 1), number))
    except ValueError as error:
        if sys.argv[1] == "kept":
            kept.append(error)
with torch.no_grad():
    for number in range(60):
        x = call(net, number, {20: "calls itself", 25: "copies"}.get(number, "raises" if number in (0, 9, 30, 31, 50) else ""))
    print(x.sum().item().hex(), len(kept), len(net._forward_hooks), len(net._forward_pre_hooks))
    kept.clear()
    for number in range(10):
        call(other, number, "raises" if number == 8 else "")
    print([type(c(torch.ones(1, 1, dtype=torch.long))).__name__ for c in copies])
END
for way in dropped kept; do
	looked $way python3 raises.py $way
	no_failure $way
	steps $way 72 # 60, 10 of another, and the two copies
done

# Without adapters there is none, and that is said.
under sampled off RVPROF_NO_ADAPTERS=1 RVPROF_FINALIZE=0 python3 decode.py cat >off.out 2>off.err || fail "off: status"
cmp cat.out off.out || fail "off: another output"
dumped off
grep -q ' adapter .*state=0 name="torch" version="" what="--no-adapters"' off.dump || fail "off: not said"
if grep ' tag stamp' off.dump; then fail "off: tags all the same"; fi

# What a program can see of it: nothing; whatever the interpreter was told to leave out.
cat >looks.py <<'END'
import multiprocessing, os, sys
before = set(sys.modules)
import torch
def child(queue):
    queue.put((sorted(k for k in os.environ if "PYTHON" in k), torch.nn.Linear(300, 300)(torch.ones(300)).shape))
if __name__ == "__main__":
    print(sys.path, sys.flags, sys.argv, [type(f).__name__ for f in sys.meta_path], sys.gettrace(), sys.getprofile())
    print({k: v for k, v in os.environ.items() if not k.startswith(("RVPROF_", "LD_", "NVTX_INJECTION", "CUDA_INJECTION"))})
    print(sorted(set(sys.modules) - before), type(torch.__spec__), "sitecustomize" in sys.modules)
    net = torch.nn.Linear(300, 300)
    net(torch.ones(2, 300)).sum().backward()
    for way in "fork", "spawn":
        context = multiprocessing.get_context(way)
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        print(way, queue.get())
        process.join()
END
mkdir site
echo 'import sys; print("a sitecustomize of the user", len(sys.path))' >site/sitecustomize.py
there() { grep -q ' adapter .*state=[12] name="torch" ' "$1.sampled.dump" || fail "$1: no adapter"; }
looked looks env PYTHONPATH="$PWD/site" python3 looks.py
there looks

# Whatever the interpreter was told to leave out, and in a virtual environment, which has its own site-packages.
python3 -m venv --without-pip --system-site-packages venv >/dev/null 2>&1 || rm -rf venv # some have no venv module
place=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
echo "import sys; sys.path.append('$place'); import torch
print(sys.flags, sys.prefix != sys.base_prefix, torch.nn.Linear(300, 300)(torch.ones(300)).shape)" >small.py
for way in 'python3 -I' 'python3 -S' 'python3 -E' venv/bin/python3; do
	[ "$way" != venv/bin/python3 ] || [ -x venv/bin/python3 ] || continue
	label=$(echo "$way" | tr -d ' /')
	under sampled "$label.sampled" RVPROF_FINALIZE=0 $way small.py >"$label.out" 2>"$label.err" ||
		fail "$way: $(tail -n 3 "$label.err")"
	grep -q 'torch.Size(\[300\])' "$label.out" || fail "$way: $(cat "$label.out")"
	dumped "$label.sampled"
	there "$label"
done
