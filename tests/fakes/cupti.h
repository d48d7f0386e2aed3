/* SPDX-License-Identifier: MIT */
/* cupti.h: what the files of the simulated libcupti share. It is built twice, as libcupti.so.12 and .13:
 * SIM_CUPTI_VERSION is what it says it is unless the scenario says otherwise. */
#ifndef SIM_CUPTI_H
#define SIM_CUPTI_H

#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "tests/fakes/engine.h"

#define SHOWN __attribute__((visibility("default")))

enum { SIM_KINDS = 64 };

/* NULL: there is no usable driver in the process; then most functions say 999, as NVIDIA's do. */
const struct sim_engine *sim_cupti_engine(void);
uint32_t sim_cupti_version(void);
/* The scenario's faults that make the functions say an error; RVP_CUPTI_SUCCESS: none. */
uint32_t sim_cupti_usable(void);

/* cupti_subscribe.c */
void sim_cupti_attach(void); /* the engine's observer is ours from here on */

/* cupti_buffers.c */
void sim_cupti_add(const struct sim_activity *activity);
void sim_cupti_add_call(const struct sim_call *call);
bool sim_cupti_wants(uint32_t kind);
bool sim_cupti_wants_call(uint32_t domain, uint32_t cbid);

/* cupti_records.c: the bytes of a record in this version's layout; how many. 0: a kind that is not made */
uint32_t sim_cupti_record(const struct sim_activity *activity, void *record, uint32_t thread);
uint32_t sim_cupti_call_record(const struct sim_call *call, void *record, uint32_t thread);
enum { SIM_RECORD_BYTES = 256 };

extern bool sim_cupti_zeroed; /* the client promised buffers of zeros */
extern size_t sim_cupti_device_buffer_bytes;
extern bool sim_cupti_latency, sim_cupti_system_threads;

#endif
