/* SPDX-License-Identifier: MIT */
/* last_look.h: what the root of a bare preload is made of at its end.
 *
 * Nobody watches such a run from outside. But when the root's last hook has the outputs written, it stands
 * still and waits for us, and its map of memory can be read once more, for the ledger's `end`. */
#ifndef RVP_LAST_LOOK_H
#define RVP_LAST_LOOK_H

/* Writes watch.rvl of the run `folder`: WATCH, REGION and CGROUP of its root at the moment of its end. Does
 * nothing when there is a watch.rvl, the root does not wait at its last hook, or its map cannot be read. */
void rvp_last_look(const char *folder);

#endif
