# SPDX-License-Identifier: MIT
"""Each call of rvprof.py; its output is the same with and without the profiler."""
import array
import gc
import sys
import warnings

sys.path.insert(0, sys.argv[1])
import rvprof  # noqa: E402

KIB = 1024


class Tensor:
    """What a tensor shows of itself."""

    def __init__(self, size, offset):
        self._memory, self._offset = bytearray(size), offset

    def data_ptr(self):
        return rvprof._buffer(self._memory)[0] + self._offset

    def untyped_storage(self):
        tensor = self

        class Storage:
            def data_ptr(self):
                return tensor.data_ptr() - tensor._offset

            def nbytes(self):
                return len(tensor._memory)

        return Storage()


class Broken:
    def data_ptr(self):
        raise RuntimeError("no storage")


@rvprof.scope("activation", "decorated")
def decorated():
    return bytearray(330 * KIB)


kept = [decorated()]
with rvprof.scope("weights", "w\u00e9ights"):
    kept.append(bytearray(440 * KIB))
    with rvprof.op("matmul", "temp", "T<2x3xf32>"):
        del kept[bytearray(110 * KIB).count(1):0]
tensor = Tensor(220 * KIB, 4096)
rvprof.tag(tensor, "kv_cache", "layer 0")
floats = array.array("d", bytes(160 * KIB))
rvprof.tag({"a": [floats]}, "gradient", "g")
rvprof.tag(rvprof._buffer(kept[0])[0], None, "only a name")
for nothing in (None, 0, -1, 1 << 80, Broken(), object(), "text"):
    rvprof.tag(nothing, "weights", "nothing")
try:
    rvprof.scope("weights")((lambda: (yield)))
    print("a generator was taken")
except TypeError:
    pass
ends = []
with rvprof.profile(schedule=rvprof.schedule(wait=1, warmup=1, active=2, repeat=1),
                    on_trace_ready=lambda profiler: ends.append(profiler.step_num)) as profiler:
    for i in range(6):
        profiler.step()
print("windows end where they should:", ends == ([4] if rvprof.active() else []))
rvprof.step_begin("decode", seq_len=12)
rvprof.step_end()
rvprof.snapshot("here")
rvprof.metric("loss", 0.25)
rvprof.label("a label")
got = rvprof.get()
print("get", bool(got) == rvprof.active(), got.get("metrics", {"loss": 0.25}) == {"loss": 0.25})
warnings.simplefilter("ignore")  # of no warm-up
actions = rvprof.schedule(80, 3, 1, 1)
print([i for i in range(100) if actions(i) is not rvprof.ProfilerAction.NONE], actions(83).name)
print([rvprof.schedule(1, 1, 2, 1)(i).name for i in range(7)], rvprof.schedule(0, 0, 1)(5).name)
gc.collect()
