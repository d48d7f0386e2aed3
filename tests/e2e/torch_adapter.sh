# torch_adapter.sh: the PyTorch adapter, which comes by itself: results are those without us, and every byte of
# weights, gradients, optimizer state and KV caches is named. The scripts print their truth from tensor sizes.
. "$(dirname "$0")/same.sh"
need python3
python3 -c 'import torch' 2>/dev/null || skip "no PyTorch on this machine"
modes=sampled
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

# named FOLDER CATEGORY: bytes of the blocks that carry a tag of this category, each block once; in full mode.
named() {
	awk -v want="$2" '
	function field(key) { return match($0, " " key "=[^ ]*") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
	$5 == "alloc" { live[field("address")] = field("bytes"); delete done[field("address")] }
	$5 == "tag" && field("category") == "\"" want "\"" {
		at = field("address")
		if (!(at in live)) print "no block at " at >"/dev/stderr"
		if (!(at in done)) total += live[at]
		done[at] = 1
	}
	END { print total + 0 }' "$1.dump"
}
dumped() { # FOLDER: what matters here of its records; a run of PyTorch has a million others
	"$E2E_TOOL" dump "$1" 2>"$1.dump.err" | grep -E ' tid=[0-9]+ (alloc|tag|step|scope|adapter) ' >"$1.dump"
	[ -s "$1.dump" ] && [ ! -s "$1.dump.err" ] || fail "$1: dump: $(tail -n 2 "$1.dump.err")"
}
told() { # LABEL CATEGORY TIMES: the script's bytes, so many times
	[ -s "$1.sampled.dump" ] || dumped "$1.sampled"
	wanted=$(($(said "$1.out" "$2_bytes") * $3))
	got=$(named "$1.sampled" "$2")
	[ "$got" = "$wanted" ] || fail "$1: $2: $got bytes are named, it holds $wanted"
}
no_failure() {
	if grep ' adapter .*state=3' "$1.sampled.dump"; then fail "$1: the adapter failed"; fi
	grep -q ' adapter .*state=[12] name="torch" ' "$1.sampled.dump" || fail "$1: no adapter"
}
steps() { # LABEL COUNT
	got=$(grep -c ' step stamp=[0-9]* kind=1 source=3' "$1.sampled.dump")
	[ "$got" = "$2" ] || fail "$1: $got steps begin, not $2"
	got=$(grep -c ' step stamp=[0-9]* kind=2 source=3' "$1.sampled.dump")
	[ "$got" = "$2" ] || fail "$1: $got steps end, not $2"
}

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
torch.manual_seed(1)
style, D, H = sys.argv[1], 64, 4
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.f = torch.nn.Linear(D, 2 * D)
        if style == "attribute":
            self.old = [torch.zeros(1, H, 200, D // H) for _ in "kv"]
        if style == "buffer":
            self.register_buffer("first", torch.zeros(1, H, 200, D // H))
            self.register_buffer("second", torch.zeros(1, H, 200, D // H))
    def forward(self, x, past, at):
        new = [y.reshape(1, -1, H, D // H).transpose(1, 2).contiguous() for y in self.f(x).chunk(2, -1)]
        if style == "cat":
            past = new if past is None else [torch.cat([a, b], 2) for a, b in zip(past, new)]
            k, v = past
        else:
            past = {"given": past, "attribute": getattr(self, "old", 0)}.get(style) or (self.first, self.second)
            for a, b in zip(past, new):
                a[:, :, at:at + x.shape[1]] = b
            k, v = (a[:, :, :at + x.shape[1]] for a in past)
        return x + (k * v).sum() / 100, past
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.e = torch.nn.Embedding(100, D)
        self.l = torch.nn.ModuleList(Block() for _ in range(3))
        self.register_buffer("mask", torch.ones(1, 1, 64, 64))
        self.register_buffer("rope", torch.ones(2, 1, 64, 64))
    def forward(self, ids, pasts, at):
        x, new = self.e(ids), []
        for layer, past in zip(self.l, pasts):
            x, past = layer(x, past, at)
            new.append(past)
        return x.sum(-1), new
net, at, ids, ever = Net().eval(), 0, torch.arange(9)[None], 0
pasts = [None if style != "given" else [torch.zeros(1, H, 200, D // H) for _ in "kv"] for _ in range(3)]
size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors)
with torch.no_grad():
    for step in range(12):
        out, pasts = net(ids, pasts, at)
        at, ids = at + ids.shape[1], ids[:, :1]
        ever += size(t for p in pasts for t in p)
print(out.sum().item().hex(), sorted(vars(net)), len(net._forward_hooks), len(net._forward_pre_hooks))
held = size(t for p in pasts for t in p)
print("kv_cache_bytes=%d" % (ever if style == "cat" else held))
print("weights_bytes=%d" % (size(net.state_dict().values()) - (held if style == "buffer" else 0)))
END
for style in cat given attribute buffer; do
	same $style python3 decode.py $style
	told $style kv_cache 1
	told $style weights 1
	no_failure $style
	steps $style 12
	grep -q ' step .*kind=1 source=3 phase=3 seq_len=0 tokens=9 ' $style.sampled.dump || fail "$style: no prefill"
done
# Nine tokens, then one each: after the twelfth call 20 are held.
grep ' step .*kind=2 source=3' cat.sampled.dump | tail -n 1 | grep -q seq_len=20 || fail "cat: another seq_len at the end"

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
same lstm python3 lstm.py
dumped lstm.sampled
no_failure lstm
if grep 'category="kv_cache"' lstm.sampled.dump; then fail "lstm: a KV cache was found"; fi

# Without adapters there is none, and that is said.
RVPROF_NO_ADAPTERS=1 under sampled off python3 decode.py cat >off.out 2>off.err || fail "off: status"
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
for flags in '' -I -S; do
	case $flags in
	-S*) set -- python3 -S -E -c "import sys; sys.path.append('/usr/lib/python3/dist-packages'); import torch; print(sys.path, torch.nn.Linear(300, 300)(torch.ones(300)).shape)" ;;
	*) set -- python3 $flags looks.py ;;
	esac
	PYTHONPATH=$PWD/site same "looks$flags" "$@"
	dumped "looks$flags.sampled"
	grep -q ' adapter .*state=[12] name="torch" ' "looks$flags.sampled.dump" || fail "python3 $flags: no adapter"
done
