/* SPDX-License-Identifier: MIT */
/* cupti_queries.c: version, clock, names, numbers of objects, settings that change nothing here. */
#include "tests/fakes/cupti.h"

#include <string.h>
#include <time.h>

SHOWN uint32_t cuptiGetVersion(uint32_t *version);
SHOWN uint32_t cuptiGetVersion(uint32_t *version)
{
	*version = sim_cupti_version();
	return RVP_CUPTI_SUCCESS;
}

/* Without a driver it is the host's clock. */
SHOWN uint32_t cuptiGetTimestamp(uint64_t *time);
SHOWN uint32_t cuptiGetTimestamp(uint64_t *time)
{
	const struct sim_engine *engine = sim_cupti_engine();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*time =
	    engine ? engine->shown(engine->now()) : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return RVP_CUPTI_SUCCESS;
}

static const char *driver_name(uint32_t cbid)
{
	switch (cbid) {
#define DRIVER(NUMBER, SYMBOL, ...) \
	case NUMBER:                \
		return #SYMBOL;
#define DRIVER0 DRIVER
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0
	default: return NULL;
	}
}

static const char *runtime_name(uint32_t cbid)
{
	switch (cbid) {
#define RUNTIME(NUMBER, SYMBOL, VERSION, ...) \
	case NUMBER:                          \
		return #SYMBOL "_v" #VERSION;
#define RUNTIME0 RUNTIME
#include "tests/fakes/runtime.def"
#undef RUNTIME
#undef RUNTIME0
	default: return NULL;
	}
}

SHOWN uint32_t cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name);
SHOWN uint32_t cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
	*name = domain == SIM_DRIVER ? driver_name(cbid) : domain == SIM_RUNTIME ? runtime_name(cbid) : NULL;
	return *name ? RVP_CUPTI_SUCCESS : RVP_CUPTI_INVALID_PARAMETER;
}

SHOWN uint32_t cuptiGetResultString(uint32_t result, const char **text);
SHOWN uint32_t cuptiGetResultString(uint32_t result, const char **text)
{
	static const struct {
		uint32_t result;
		const char *text;
	} known[] = {{0, "CUPTI_SUCCESS"},
		     {1, "CUPTI_ERROR_INVALID_PARAMETER"},
		     {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
		     {21, "CUPTI_ERROR_INVALID_KIND"},
		     {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"},
		     {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
		     {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
		     {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED"},
		     {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED"},
		     {999, "CUPTI_ERROR_UNKNOWN"}};

	*text = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].result == result)
			*text = known[i].text;
	return *text ? RVP_CUPTI_SUCCESS : RVP_CUPTI_INVALID_PARAMETER;
}

SHOWN uint32_t cuptiSetThreadIdType(uint32_t type);
SHOWN uint32_t cuptiSetThreadIdType(uint32_t type)
{
	sim_cupti_system_threads = type == RVP_CUPTI_THREAD_ID_SYSTEM;
	return type <= 1 ? RVP_CUPTI_SUCCESS : RVP_CUPTI_INVALID_PARAMETER;
}

SHOWN uint32_t cuptiActivityEnableLatencyTimestamps(uint8_t enable);
SHOWN uint32_t cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	sim_cupti_latency = enable;
	return sim_cupti_usable();
}

/* Each asks for the engine first: without a driver nothing has a number. */
#define NUMBER_OF(FUNCTION, HANDLE, TYPE, MEMBER)             \
	SHOWN uint32_t FUNCTION(void *HANDLE, TYPE *number);  \
	SHOWN uint32_t FUNCTION(void *HANDLE, TYPE *number)   \
	{                                                     \
		if (!sim_cupti_engine() || !HANDLE)           \
			return RVP_CUPTI_INVALID_PARAMETER;   \
		*number = sim_cupti_engine()->MEMBER(HANDLE); \
		return RVP_CUPTI_SUCCESS;                     \
	}
NUMBER_OF(cuptiGetContextId, context, uint32_t, context_number)
NUMBER_OF(cuptiGetDeviceId, context, uint32_t, context_device)
NUMBER_OF(cuptiGetGraphId, graph, uint32_t, graph_number)
NUMBER_OF(cuptiGetGraphExecId, exec, uint32_t, exec_number)
NUMBER_OF(cuptiGetGraphNodeId, node, uint64_t, node_number)

SHOWN uint32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *number);
SHOWN uint32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *number)
{
	if (!sim_cupti_engine())
		return RVP_CUPTI_INVALID_PARAMETER;
	*number = sim_cupti_engine()->stream_number(context, stream, per_thread);
	return *number == UINT32_MAX ? RVP_CUPTI_INVALID_PARAMETER : RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiGetStreamId(void *context, void *stream, uint32_t *number);
SHOWN uint32_t cuptiGetStreamId(void *context, void *stream, uint32_t *number)
{
	return cuptiGetStreamIdEx(context, stream, 0, number);
}

size_t sim_cupti_device_buffer_bytes = 3200000;
bool sim_cupti_zeroed;

SHOWN uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value);
SHOWN uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	if (!bytes || !value || attribute >= 16)
		return RVP_CUPTI_INVALID_PARAMETER;
	if (attribute == RVP_CUPTI_DEVICE_BUFFER_BYTES)
		sim_cupti_device_buffer_bytes = *(size_t *)value;
	if (attribute == RVP_CUPTI_ZEROED_BUFFERS)
		sim_cupti_zeroed = *(uint8_t *)value != 0;
	return sim_cupti_usable();
}

SHOWN uint32_t cuptiActivityGetAttribute(uint32_t attribute, size_t *bytes, void *value);
SHOWN uint32_t cuptiActivityGetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	if (!bytes || !value || attribute >= 16)
		return RVP_CUPTI_INVALID_PARAMETER;
	memset(value, 0, *bytes);
	if (*bytes == sizeof(size_t))
		*(size_t *)value = attribute == RVP_CUPTI_DEVICE_BUFFER_BYTES ? sim_cupti_device_buffer_bytes
				   : attribute == RVP_CUPTI_DEVICE_BUFFER_LIMIT ? 250
										: 3;
	return sim_cupti_usable();
}

#define SETTING(FUNCTION)                    \
	SHOWN uint32_t FUNCTION(uint8_t on); \
	SHOWN uint32_t FUNCTION(uint8_t on)  \
	{                                    \
		(void)on;                    \
		return sim_cupti_usable();   \
	}
SETTING(cuptiActivityEnableAllocationSource)
SETTING(cuptiActivityEnableAllSyncRecords)
SETTING(cuptiActivityEnableDeviceGraph)
SETTING(cuptiActivityEnableHWTrace)
SETTING(cuptiActivityEnableLaunchAttributes)

SHOWN uint32_t cuptiGetLastError(void);
SHOWN uint32_t cuptiGetLastError(void)
{
	return RVP_CUPTI_SUCCESS;
}
