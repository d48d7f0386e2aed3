/* SPDX-License-Identifier: MIT */
/* cupti_subscribe.c: the one subscriber and its callbacks, in the thread of the call. */
#include "tests/fakes/cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOMAINS = 7, NUMBERS = 1024 };

static rvp_cupti_callback callback;
static void *user;
static uint8_t wanted[DOMAINS][NUMBERS];
static char subscriber_name[RVP_CUPTI_OLD_NAME_BYTES];
static int handle; /* its address is what a subscriber holds */

/* libcuda.so.1 is there when the program has opened it; libcupti does not bring it. */
const struct sim_engine *sim_cupti_engine(void)
{
	static const struct sim_engine *engine;
	void *library;
	uint32_t (*find)(const void **, const CUuuid *);
	CUuuid id;

	if (__atomic_load_n(&engine, __ATOMIC_ACQUIRE))
		return engine;
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	find =
	    library ? (uint32_t(*)(const void **, const CUuuid *))dlsym(library, "cuGetExportTable") : NULL;
	memcpy(id.bytes, SIM_ENGINE_ID, sizeof id.bytes);
	if (find) {
		const void *table = NULL;

		if (find(&table, &id) == CUDA_SUCCESS)
			__atomic_store_n(&engine, table, __ATOMIC_RELEASE);
	}
	return engine;
}

uint32_t sim_cupti_version(void)
{
	const struct sim_engine *engine = sim_cupti_engine();

	return engine && engine->scenario()->cupti ? (uint32_t)engine->scenario()->cupti : SIM_CUPTI_VERSION;
}

uint32_t sim_cupti_usable(void)
{
	const struct sim_engine *engine = sim_cupti_engine();

	return !engine || engine->scenario()->unusable || engine->scenario()->init_error ? RVP_CUPTI_UNKNOWN
											 : RVP_CUPTI_SUCCESS;
}

static bool is_wanted(uint32_t domain, uint32_t cbid)
{
	return callback && domain < DOMAINS && cbid < NUMBERS && wanted[domain][cbid];
}

static void tell_call(struct sim_call *call, uint32_t site)
{
	struct rvp_cupti_api_data data = {.site = site,
					  .function = call->name,
					  .parameters = call->parameters,
					  .result = site == RVP_CUPTI_EXIT ? &call->result : NULL,
					  .symbol = call->kernel,
					  .context = call->context_handle,
					  .context_number = call->context,
					  .word = &call->word,
					  .correlation = call->correlation};

	callback(user, call->domain, call->cbid, &data);
}

/* A callback that comes while another one runs, as of a call that the client makes in it. */
static void tell_again(struct sim_call *call)
{
	static __thread bool is_again;
	struct sim_call inner = *call;

	if (is_again || !sim_cupti_engine()->scenario()->reentrant)
		return;
	is_again = true;
	tell_call(&inner, RVP_CUPTI_ENTER);
	tell_call(&inner, RVP_CUPTI_EXIT);
	is_again = false;
}

static bool begin(struct sim_call *call)
{
	if (is_wanted(call->domain, call->cbid)) {
		tell_call(call, RVP_CUPTI_ENTER);
		tell_again(call);
		return true;
	}
	return sim_cupti_wants_call(call->domain, call->cbid);
}

static void end(struct sim_call *call)
{
	if (is_wanted(call->domain, call->cbid))
		tell_call(call, RVP_CUPTI_EXIT);
	if (sim_cupti_wants_call(call->domain, call->cbid))
		sim_cupti_add_call(call);
}

static void resource(uint32_t cbid, const struct sim_resource *what)
{
	struct rvp_cupti_graph_data graph = {.graph = what->graph,
					     .original_graph = what->original_graph,
					     .node = what->node,
					     .original_node = what->original_node,
					     .node_kind = what->node_kind,
					     .exec = what->exec};
	struct rvp_cupti_resource_data data = {
	    .context = what->context, .stream = what->stream, .descriptor = what->is_graph ? &graph : NULL};

	if (is_wanted(RVP_CUPTI_DOMAIN_RESOURCE, cbid))
		callback(user, RVP_CUPTI_DOMAIN_RESOURCE, cbid, &data);
}

static void synchronized(uint32_t cbid, void *context, void *stream)
{
	struct {
		void *context, *stream;
	} data = {context, stream};

	if (is_wanted(RVP_CUPTI_DOMAIN_SYNCHRONIZE, cbid))
		callback(user, RVP_CUPTI_DOMAIN_SYNCHRONIZE, cbid, &data);
}

static bool wants_graph_runs(void)
{
	return sim_cupti_wants(RVP_CUPTI_GRAPH_TRACE);
}

void sim_cupti_attach(void)
{
	static const struct sim_observer ours = {begin,        end,           resource,
						 synchronized, sim_cupti_add, wants_graph_runs};

	sim_cupti_engine()->observe(&ours);
}

static uint32_t refuse(char *old_name, size_t bytes, const char *name)
{
	if (old_name && bytes)
		snprintf(old_name, bytes, "%s", name);
	return RVP_CUPTI_MULTIPLE_SUBSCRIBERS;
}

static uint32_t subscribe(void **subscriber, rvp_cupti_callback told, void *word,
			  const struct rvp_cupti_subscriber *names)
{
	uint32_t usable = sim_cupti_usable();
	const struct sim_scenario *scenario;

	if (usable != RVP_CUPTI_SUCCESS)
		return usable;
	scenario = sim_cupti_engine()->scenario();
	if (scenario->subscribe_error)
		return (uint32_t)scenario->subscribe_error;
	if (scenario->subscriber[0])
		return refuse(names ? names->old_name : NULL, names ? names->old_bytes : 0,
			      scenario->subscriber);
	if (callback)
		return refuse(names ? names->old_name : NULL, names ? names->old_bytes : 0, subscriber_name);
	snprintf(subscriber_name, sizeof subscriber_name, "%s", names && names->name ? names->name : "");
	user = word;
	callback = told;
	*subscriber = &handle;
	sim_cupti_attach();
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiSubscribe(void **subscriber, rvp_cupti_callback told, void *word);
SHOWN uint32_t cuptiSubscribe(void **subscriber, rvp_cupti_callback told, void *word)
{
	return subscriber && told ? subscribe(subscriber, told, word, NULL) : RVP_CUPTI_INVALID_PARAMETER;
}

#if SIM_CUPTI_VERSION >= 130000
SHOWN uint32_t cuptiSubscribe_v2(void **subscriber, rvp_cupti_callback told, void *word,
				 struct rvp_cupti_subscriber *names);
SHOWN uint32_t cuptiSubscribe_v2(void **subscriber, rvp_cupti_callback told, void *word,
				 struct rvp_cupti_subscriber *names)
{
	if (!subscriber || !told || !names || names->struct_bytes < sizeof *names)
		return RVP_CUPTI_INVALID_PARAMETER;
	return subscribe(subscriber, told, word, names);
}
#endif

SHOWN uint32_t cuptiUnsubscribe(void *subscriber);
SHOWN uint32_t cuptiUnsubscribe(void *subscriber)
{
	if (subscriber != &handle || !callback)
		return RVP_CUPTI_INVALID_PARAMETER;
	callback = NULL;
	memset(wanted, 0, sizeof wanted);
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid);
SHOWN uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
	if (subscriber != &handle || !callback || domain == 0 || domain >= DOMAINS || cbid >= NUMBERS)
		return RVP_CUPTI_INVALID_PARAMETER;
	if (sim_cupti_engine() && sim_cupti_engine()->scenario()->callbacks_error)
		return (uint32_t)sim_cupti_engine()->scenario()->callbacks_error;
	wanted[domain][cbid] = enable != 0;
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain);
SHOWN uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain)
{
	if (subscriber != &handle || !callback || domain == 0 || domain >= DOMAINS)
		return RVP_CUPTI_INVALID_PARAMETER;
	memset(wanted[domain], enable != 0, NUMBERS);
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiGetCallbackState(uint32_t *enable, void *subscriber, uint32_t domain, uint32_t cbid);
SHOWN uint32_t cuptiGetCallbackState(uint32_t *enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
	if (subscriber != &handle || domain >= DOMAINS || cbid >= NUMBERS)
		return RVP_CUPTI_INVALID_PARAMETER;
	*enable = wanted[domain][cbid];
	return RVP_CUPTI_SUCCESS;
}
