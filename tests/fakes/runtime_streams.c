/* SPDX-License-Identifier: MIT */
/* runtime_streams.c: streams, events and graphs. */
#include "tests/fakes/runtime.h"

cudaError_t sim_cudaStreamCreate(CUstream *stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamCreate(stream, 0) : error;
}

cudaError_t sim_cudaStreamCreateWithFlags(CUstream *stream, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamCreate(stream, flags) : error;
}

cudaError_t sim_cudaStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamCreateWithPriority(stream, flags, priority) : error;
}

cudaError_t sim_cudaStreamDestroy(CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamDestroy_v2(stream) : error;
}

cudaError_t sim_cudaStreamSynchronize(CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? sim_runtime_per_thread ? driver->cuStreamSynchronize_ptsz(stream)
					       : driver->cuStreamSynchronize(stream)
		      : error;
}

cudaError_t sim_cudaStreamQuery(CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamQuery(stream) : error;
}

cudaError_t sim_cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamWaitEvent(stream, event, flags) : error;
}

cudaError_t sim_cudaStreamBeginCapture(CUstream stream, unsigned int mode)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamBeginCapture_v2(stream, mode) : error;
}

cudaError_t sim_cudaStreamEndCapture(CUstream stream, CUgraph *graph)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamEndCapture(stream, graph) : error;
}

cudaError_t sim_cudaStreamIsCapturing(CUstream stream, unsigned int *status)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuStreamIsCapturing(stream, status) : error;
}

cudaError_t sim_cudaEventCreate(CUevent *event)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventCreate(event, 0) : error;
}

cudaError_t sim_cudaEventCreateWithFlags(CUevent *event, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventCreate(event, flags) : error;
}

cudaError_t sim_cudaEventRecord(CUevent event, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventRecord(event, stream) : error;
}

cudaError_t sim_cudaEventQuery(CUevent event)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventQuery(event) : error;
}

cudaError_t sim_cudaEventSynchronize(CUevent event)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventSynchronize(event) : error;
}

cudaError_t sim_cudaEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventElapsedTime(milliseconds, from, to) : error;
}

cudaError_t sim_cudaEventDestroy(CUevent event)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuEventDestroy_v2(event) : error;
}

cudaError_t sim_cudaGraphCreate(CUgraph *graph, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuGraphCreate(graph, flags) : error;
}

cudaError_t sim_cudaGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuGraphInstantiateWithFlags(exec, graph, flags) : error;
}

cudaError_t sim_cudaGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuGraphInstantiateWithFlags(exec, graph, flags) : error;
}

cudaError_t sim_cudaGraphLaunch(CUgraphExec exec, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? sim_runtime_per_thread ? driver->cuGraphLaunch_ptsz(exec, stream)
					       : driver->cuGraphLaunch(exec, stream)
		      : error;
}

cudaError_t sim_cudaGraphExecDestroy(CUgraphExec exec)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuGraphExecDestroy(exec) : error;
}

cudaError_t sim_cudaGraphDestroy(CUgraph graph)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuGraphDestroy(graph) : error;
}

cudaError_t sim_cudaGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuGraphGetNodes(graph, nodes, count) : error;
}
