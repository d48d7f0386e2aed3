/* SPDX-License-Identifier: MIT */
/* adapter_steady.h: the short way of a model that decodes (python/rvprof_adapter_torch_steady.py), which most
 * calls of most programs go: in Python, with its code and notes out of the processor's caches each time, it
 * took several times as long.
 *
 *     _before_call(module, args)   PyTorch's hook before the call of any module: the short way, else the long
 * one _steady_long_way(function)   what _before_call calls for all other calls _steady_open(..) from now on
 * calls of one module may go the short way; words: steady_words() _steady_end()                none does.
 * (number, total, still, next look, held) of the model since then _steady_close()              the call that
 * is open is over
 *
 * Rules
 *   - One module at a time; what is known of its model is here while the way is open, and nowhere else.
 *   - Only what is as it was when the long way went before it goes the short one.
 *   - Of the arguments of a call their address is kept, of the module its address while the way is open:
 * whoever opens it ends it when the module goes.
 *   - No exception of ours leaves it: it is cleared, told once in an ADAPTER record, and the call goes the
 * long way.
 */
#ifndef RVP_ADAPTER_STEADY_H
#define RVP_ADAPTER_STEADY_H

#include <stdbool.h>

/* The types that it makes. With the interpreter's lock; false: an exception is set. */
bool rvp_adapter_steady_start(void);

void *rvp_adapter_before_call(void *self, void *arguments);
void *rvp_adapter_steady_long_way(void *self, void *arguments);
void *rvp_adapter_steady_open(void *self, void *arguments);
void *rvp_adapter_steady_end(void *self, void *arguments);
void *rvp_adapter_steady_close(void *self, void *arguments);

#endif
