/* SPDX-License-Identifier: MIT */
/* kernels_defs.c: see kernels_defs.h. */
#include "report/kernels_defs.h"

#include "report/grow.h"
#include "report/run_source.h"

#include <stdlib.h>

enum { COPIES_MAX = 16 /* of a copy of a copy .. of a graph */ };

static uint32_t narrow(uint64_t value)
{
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* ---- definitions ---- */

static bool take_name(struct rvp_kernel_defs *defs, const struct rvp_record_DEVICE_NAME *record,
		      uint64_t limit)
{
	if (!record->number || record->number > limit)
		return true;
	if (!rvp_grow((void **)&defs->names, &defs->name_room, record->number + 1, sizeof *defs->names))
		return false;
	if (defs->name_count <= record->number)
		defs->name_count = record->number + 1;
	defs->names[record->number] = record->text;
	return true;
}

static struct rvp_kernel_shape shape_of(const struct rvp_record_KERNEL_SHAPE *record)
{
	return (struct rvp_kernel_shape){
	    .name = narrow(record->name),
	    .device = narrow(record->device),
	    .context = narrow(record->context),
	    .grid = {narrow(record->grid_x), narrow(record->grid_y), narrow(record->grid_z)},
	    .block = {narrow(record->block_x), narrow(record->block_y), narrow(record->block_z)},
	    .registers = narrow(record->registers),
	    .static_bytes = record->static_bytes,
	    .dynamic_bytes = record->dynamic_bytes,
	    .local_bytes = record->local_bytes,
	    .is_defined = true,
	    .is_cooperative = record->flags & 1,
	};
}

static bool take_shape(struct rvp_kernel_defs *defs, const struct rvp_record_KERNEL_SHAPE *record,
		       uint64_t limit)
{
	if (!record->shape || record->shape > limit)
		return true;
	if (!rvp_grow((void **)&defs->shapes, &defs->shape_room, record->shape + 1, sizeof *defs->shapes))
		return false;
	if (defs->shape_count <= record->shape)
		defs->shape_count = record->shape + 1;
	defs->shapes[record->shape] = shape_of(record);
	return true;
}

static bool take_node(struct rvp_kernel_defs *defs, const struct rvp_record_GRAPH_NODE *record)
{
	if (!rvp_grow((void **)&defs->nodes, &defs->node_room, defs->node_count + 1, sizeof *defs->nodes))
		return false;
	defs->nodes[defs->node_count++] = (struct rvp_graph_node){
	    record->node, record->original, narrow(record->stack), narrow(record->python)};
	return true;
}

static bool take_told(struct rvp_kernel_defs *defs, const struct rvp_record *record)
{
	struct rvp_device_told *told;

	if (!rvp_grow((void **)&defs->told, &defs->told_room, defs->told_count + 1, sizeof *defs->told))
		return false;
	told = &defs->told[defs->told_count++];
	told->kind = record->kind;
	switch (record->kind) {
	case RVP_DEVICE: told->device = record->DEVICE; break;
	case RVP_DEVICE_CONTEXT: told->context = record->DEVICE_CONTEXT; break;
	case RVP_DEVICE_STREAM: told->stream = record->DEVICE_STREAM; break;
	case RVP_DEVICE_TRACER: told->tracer = record->DEVICE_TRACER; break;
	case RVP_DEVICE_CLOCK: told->clock = record->DEVICE_CLOCK; break;
	default: defs->told_count--; break;
	}
	return true;
}

/* ---- where the work is ---- */

static bool is_work(enum rvp_kind kind)
{
	return kind == RVP_LAUNCH || kind == RVP_DEVICE_CALL ||
	       (kind >= RVP_KERNEL && kind <= RVP_GRAPH_RUN) || kind == RVP_DEVICE_OVERHEAD;
}

static struct rvp_kernel_place *place_of(struct rvp_kernel_defs *defs, uint32_t chunk)
{
	struct rvp_kernel_place *last = defs->place_count ? &defs->places[defs->place_count - 1] : NULL;

	if (last && last->chunk == chunk)
		return last;
	if (!rvp_grow((void **)&defs->places, &defs->place_room, defs->place_count + 1, sizeof *defs->places))
		return NULL;
	last = &defs->places[defs->place_count++];
	*last = (struct rvp_kernel_place){
	    .chunk = chunk, .first_device_ns = UINT64_MAX, .first_stamp = UINT64_MAX};
	return last;
}

static void see(uint64_t at, uint64_t *first, uint64_t *last)
{
	*first = at < *first ? at : *first;
	*last = at > *last ? at : *last;
}

static bool take_work(struct rvp_kernel_defs *defs, uint32_t chunk, const struct rvp_record *record)
{
	struct rvp_kernel_place *place = place_of(defs, chunk);

	if (!place)
		return false;
	place->count++;
	defs->activity_count++;
	if (record->kind == RVP_LAUNCH)
		see(record->LAUNCH.stamp, &place->first_stamp, &place->last_stamp);
	else if (rvp_is_timeless(record->KERNEL.start_ns, rvp_work_flaw(record)))
		place->has_timeless = true;
	else
		see(record->KERNEL.start_ns, &place->first_device_ns, &place->last_device_ns);
	return true;
}

bool rvp_kernel_defs_take(struct rvp_kernel_defs **defs, uint32_t chunk, const struct rvp_record *record,
			  uint64_t number_limit)
{
	if (!*defs && !(*defs = calloc(1, sizeof **defs)))
		return false;
	(*defs)->counts[record->kind]++;
	if (is_work(record->kind))
		return take_work(*defs, chunk, record);
	switch (record->kind) {
	case RVP_DEVICE_NAME: return take_name(*defs, &record->DEVICE_NAME, number_limit);
	case RVP_KERNEL_SHAPE: return take_shape(*defs, &record->KERNEL_SHAPE, number_limit);
	case RVP_GRAPH_NODE: return take_node(*defs, &record->GRAPH_NODE);
	default: return take_told(*defs, record);
	}
}

/* ---- settling ---- */

static int compare_nodes(const void *left, const void *right)
{
	const struct rvp_graph_node *a = left, *b = right;

	return a->node < b->node ? -1 : a->node > b->node;
}

static bool add_bracket(struct rvp_kernel_defs *defs, const struct rvp_run *run,
			const struct rvp_process *process, const struct rvp_record_DEVICE_CLOCK *record)
{
	return rvp_device_clock_add(
	    &defs->clock, &(struct rvp_device_bracket){.unix_ns = rvp_process_ns(run, process, record->stamp),
						       .device_ns = record->device_ns,
						       .width_ns = record->width_ns});
}

bool rvp_kernel_defs_settle(const struct rvp_run *run, const struct rvp_process *process)
{
	struct rvp_kernel_defs *defs = rvp_kernel_defs_of(process);

	if (!defs || defs->is_settled)
		return true;
	for (size_t i = 0; i < defs->told_count; i++)
		if (defs->told[i].kind == RVP_DEVICE_CLOCK &&
		    !add_bracket(defs, run, process, &defs->told[i].clock))
			return false;
	rvp_device_clock_finish(&defs->clock);
	if (defs->node_count)
		qsort(defs->nodes, defs->node_count, sizeof *defs->nodes, compare_nodes);
	defs->is_settled = true;
	return true;
}

/* ---- questions ---- */

struct rvp_kernel_defs *rvp_kernel_defs_of(const struct rvp_process *process)
{
	return process->source ? process->source->kernel_defs : NULL;
}

struct rvp_text rvp_device_name_at(const struct rvp_kernel_defs *defs, uint64_t number)
{
	return number < defs->name_count ? defs->names[number] : (struct rvp_text){0};
}

const struct rvp_kernel_shape *rvp_kernel_shape_at(const struct rvp_kernel_defs *defs, uint64_t number)
{
	return number < defs->shape_count && defs->shapes[number].is_defined ? &defs->shapes[number] : NULL;
}

const struct rvp_record_DEVICE *rvp_device_at(const struct rvp_kernel_defs *defs, uint64_t device)
{
	for (size_t i = defs->told_count; i-- > 0;)
		if (defs->told[i].kind == RVP_DEVICE && defs->told[i].device.device == device)
			return &defs->told[i].device;
	return NULL;
}

static const struct rvp_graph_node *node_at(const struct rvp_kernel_defs *defs, uint64_t number)
{
	struct rvp_graph_node key = {.node = number};

	return defs->node_count
		   ? bsearch(&key, defs->nodes, defs->node_count, sizeof *defs->nodes, compare_nodes)
		   : NULL;
}

bool rvp_graph_node_path(const struct rvp_kernel_defs *defs, uint64_t node, uint32_t *stack, uint32_t *python)
{
	const struct rvp_graph_node *at = node_at(defs, node);

	/* The original knows who captured it; the copy's own path is that of the instantiation. */
	for (int i = 0; at && at->original && at->original != at->node && i < COPIES_MAX; i++) {
		const struct rvp_graph_node *original = node_at(defs, at->original);

		if (!original || (!original->stack && !original->python && !original->original))
			break;
		at = original;
	}
	if (!at || (!at->stack && !at->python))
		return false;
	*stack = at->stack;
	*python = at->python;
	return true;
}

void rvp_kernel_defs_free(struct rvp_kernel_defs *defs)
{
	if (!defs)
		return;
	free(defs->names);
	free(defs->shapes);
	free(defs->nodes);
	free(defs->told);
	free(defs->places);
	rvp_device_clock_free(&defs->clock);
	free(defs);
}
