# SPDX-License-Identifier: MIT
"""rvprof_adapter_torch_quiet.py: no exception of the adapter's reaches the program. Its text comes first of the adapter's
parts, in one namespace with them.
"""
import functools


def bytes_of(text):
    return text.encode("utf-8", "replace")


failures = 0


def note_failure(name, error):
    global failures
    failures += 1
    if failures == 1:
        _adapter(FAILED, b"torch", version, bytes_of("%s: %s: %s" % (name, type(error).__name__, error)))


def quiet(function):
    """Around everything that PyTorch or the program calls: an exception of ours ends here; the first is told."""
    @functools.wraps(function)
    def quietly(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return note_failure(function.__name__, error)
    return quietly
