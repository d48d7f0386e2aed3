/* SPDX-License-Identifier: MIT */
/* modules.h: the loaded objects that code was met in: a MODULE_LOAD record each, once for every time it is
 * loaded.
 *
 *   (O1) A module's record is emitted before any rule that names it can be used by another thread; two
 * threads that meet it at the same moment emit the same record with the same number. (O2) Numbers rise from 1
 * and are never used again. Frames hold their low 16 bits; the bits above are the era, and a call-path node
 * belongs to one era, so no two modules are ever taken for each other.
 *   (O3) A record made within a walk has the stamp of the walk's event, which was taken before: a slot's
 * records are in the order of their stamps.
 */
#ifndef RVP_MODULES_H
#define RVP_MODULES_H

#include "preload/thread.h"
#include "preload/unwind_find.h"

/* Once, before the first walk: what can only be asked for by system calls. */
void rvp_modules_start(void);

/* The number modulo 2^16 of the module that an object is; emits it if it is new. 0: the table is full. */
uint16_t rvp_module_of(struct rvp_thread *thread, const struct rvp_object *object);

uint32_t rvp_modules_era(void);

/* How many modules were ever met. */
uint32_t rvp_modules_count(void);

/* Emits MODULE_UNLOAD for those that are not mapped any more. */
void rvp_modules_unload_gone(struct rvp_thread *thread);

/* At the end of the process: a record of each object that is loaded and was in no walk, so that a log names all code
 * that the process had, however few of its events were looked at. */
void rvp_modules_meet_rest(struct rvp_thread *thread);

/* In a child by fork: all are to be emitted again; single-threaded. */
void rvp_modules_reset(void);

/* The NT_GNU_BUILD_ID note in an object's memory; length 0 without. Points into the object. */
struct rvp_text rvp_module_build_id(const struct rvp_object *object);

#endif
