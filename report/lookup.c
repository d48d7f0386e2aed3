/* SPDX-License-Identifier: MIT */
/* lookup.c: from a number or an address in a record to what it names (run.h). */
#include "report/run_source.h"

const struct rvp_node *rvp_node_at(const struct rvp_process *process, uint64_t number)
{
	if (!number || number >= process->node_count || !process->nodes[number].pc)
		return NULL;
	return &process->nodes[number];
}

const struct rvp_python_node *rvp_python_node_at(const struct rvp_process *process, uint64_t number)
{
	if (!number || number >= process->python_node_count || !process->python_nodes[number].code)
		return NULL;
	return &process->python_nodes[number];
}

const struct rvp_code *rvp_code_at(const struct rvp_process *process, uint64_t number)
{
	if (!number || number >= process->code_count || !process->codes[number].name)
		return NULL;
	return &process->codes[number];
}

const struct rvp_module *rvp_module_at(const struct rvp_process *process, uint64_t address, uint64_t ns)
{
	const struct rvp_module *any = NULL;

	for (size_t i = process->module_count; i-- > 0;) {
		const struct rvp_module *module = &process->modules[i];

		if (address < module->start || address >= module->end)
			continue;
		if (module->load_ns <= ns && ns < module->unload_ns)
			return module;
		if (!any)
			any = module;
	}
	return any;
}

uint64_t rvp_process_ns(const struct rvp_run *run, const struct rvp_process *process, uint64_t stamp)
{
	size_t hint = 0;

	return rvp_clock_unix_ns(&run->source->clock, process->clock, stamp, &hint);
}
