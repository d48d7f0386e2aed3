# torch.sh: PyTorch on the CPU: a small model forward and backward with Adam. The script prints how many bytes its
# tensors hold; requests of exactly those sizes were recorded.
. "$(dirname "$0")/same.sh"
need python3
python3 -c 'import torch' 2>/dev/null || skip "no PyTorch on this machine"
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

cat >train.py <<'END'
import torch
torch.manual_seed(1)
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
embed = torch.nn.Embedding(3001, 256)
body = torch.nn.TransformerEncoderLayer(256, 4, 777, dropout=0.0, batch_first=True)
model = torch.nn.Sequential(embed, body, torch.nn.Linear(256, 3001))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    tokens = torch.arange(64).reshape(2, 32) + step
    loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("%.6f" % loss.item())
print("embedding held_bytes=%d" % (embed.weight.numel() * embed.weight.element_size()))
print("parameters", sum(p.numel() for p in model.parameters()))
END
same train python3 train.py
# The embedding itself, its gradient and Adam's two averages; the output layer's weight has the same size.
recorded train.full "$(said train.out held_bytes)" 8
