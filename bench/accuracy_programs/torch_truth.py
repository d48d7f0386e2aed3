# SPDX-License-Identifier: MIT
"""Names tensors on the tape (torch_tape.c) where the run has one; does nothing in the run that is measured."""
import ctypes
import os

tape = ctypes.CDLL(os.environ["TORCH_TAPE"]) if "TORCH_TAPE" in os.environ else None
if tape:
    tape.tape_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


def name(purpose, *tensors):
    """Says what these tensors are for. One without a storage on the tape is an error: the truth would be wrong."""
    if not tape:
        return
    for tensor in tensors:
        if tensor.numel() and not tape.tape_name(tensor.storage().data_ptr(), purpose.encode()):
            raise SystemExit("a tensor that the tape has not seen")


def finish(steps, **held):
    """Prints the truth. `held`: bytes by purpose, counted from tensor sizes, that the program holds now: printed beside."""
    if not tape:
        return
    print("truth steps=%d" % steps)
    print("held " + " ".join("%s=%d" % item for item in held.items()))
    if not tape.tape_print():
        raise SystemExit("the tape was too short")


def bytes_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)
