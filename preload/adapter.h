/* SPDX-License-Identifier: MIT */
/* adapter.h: brings the PyTorch adapter (python/rvprof_adapter_torch.py) into the program's interpreter.
 *
 * Nothing is put into the program's environment, its sys.path or its imports: once PyTorch's library for
 * Python is mapped, the interpreter is asked by Py_AddPendingCall to call us between two instructions of its
 * main thread. There, and nowhere else, the C API is used: the adapter's text, which this library holds, is
 * compiled and run in a namespace of its own. So it works with -I, -E, -S, in venvs and in embedded
 * interpreters, and programs without PyTorch are not touched at all.
 *
 * Rules
 *   - An error of the adapter's is told in an ADAPTER record and cleared; what the program itself is to see
 *     (KeyboardInterrupt, SystemExit raised by a signal just then) goes on to it.
 *   - An interpreter without a function that is needed: off, said in an ADAPTER record.
 */
#ifndef RVP_ADAPTER_H
#define RVP_ADAPTER_H

#include "preload/thread.h"

/* A library of PyTorch is mapped. In phase OURS. */
void rvp_adapter_meet(struct rvp_thread *thread);

/* The interpreter could not be asked yet: again; or the adapter wants to be called. Two loads when there is
 * nothing to do. */
void rvp_adapter_look(void);

#endif
