/* SPDX-License-Identifier: MIT */
/* evidence_files.c: what was mapped or filled from a file.
 *
 * Rules
 *   - A mapping of a model file is weights; a second live mapping of the same part is not counted again until the first is
 *     gone. A part that lies before the first tensor is no weights.
 *   - A block of which FILLED_PERCENT were read from a model file is weights, when it is kept; one that was
 * filled over and over, or given back while the load went on, is a read buffer: temp.
 *   - Any other file is only as good as a guess by lifetime, and speaks as such (RVP_EVIDENCE_LIFETIME): read
 * once, before the second step, kept to the last one, its content nothing that surely is no weights. Without
 * steps only what looks like floats of both signs, was mostly read, early, and is kept to the end.
 *   - A copy of weights that a library repacked was filled by no read: nothing is said of it here; size proves nothing.
 */
#include "report/evidence.h"
#include "report/fill_table.h"
#include "report/source_files.h"
#include "report/steps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	FILLED_PERCENT = 90, /* a header, padding, a block rounded up are the rest */
	REUSED_PERCENT = 10, /* of the covered bytes: filled again from elsewhere */
	KEPT_PERCENT = 25,   /* of the time that is left after the load */
	TO_THE_END_PERCENT = 90,
	STEPS_LEAST = 4,
	MAPPINGS_MAX = 4096,
};
static const uint64_t plain_map_least_bytes = 1 << 20; /* below, a settings file or an index as likely */
static const uint64_t plain_block_least_bytes = 65536;

struct mapping {
	struct rvp_block_key born;
	uint64_t address, offset, bytes;
	struct rvp_source_file *file;
	bool is_counted;
};

struct span { /* of the steps of a process */
	uint64_t first_end, last_begin;
	size_t count;
};

struct pending {        /* died; what comes next says whether it lives on */
	uint32_t block; /* number in fills.blocks + 1: the table moves; 0: none */
	uint64_t ns, birth_ns;
	uint32_t process, stream, birth;
	bool is_realloc, is_remap;
	bool has_mapping;
	struct mapping mapping;
};

struct files {
	struct rvp_evidence_source source; /* first */
	struct rvp_attribution *attribution;
	const struct rvp_run *run;
	struct rvp_source_files files;
	struct rvp_fill_table fills;
	struct mapping *mappings;
	size_t mapping_count, mapping_room;
	struct span *spans; /* by process */
	struct pending pending;
};

/* ---- steps and time ---- */

static bool find_spans(struct files *files)
{
	const struct rvp_steps *steps = rvp_attribution_steps(files->attribution);

	if (files->spans)
		return true;
	files->spans = calloc(files->run->process_count + 1, sizeof *files->spans);
	if (!files->spans)
		return false;
	for (size_t i = 0; i < steps->count; i++) {
		const struct rvp_step *step = &steps->steps[i];
		struct span *span = &files->spans[step->process < files->run->process_count
						      ? step->process
						      : files->run->process_count]; /* of nobody */

		if (span->count++ == 0)
			span->first_end = step->end_ns;
		span->last_begin = step->begin_ns;
	}
	return true;
}

/* The first step that begins behind `after` begins before `before`. */
static bool has_step_between(const struct files *files, uint64_t after, uint64_t before)
{
	const struct rvp_steps *steps = rvp_attribution_steps(files->attribution);
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (steps->steps[middle].begin_ns <= after)
			low = middle + 1;
		else
			high = middle;
	}
	return low < steps->count && steps->steps[low].begin_ns < before;
}

static bool is_share(uint64_t part, uint64_t whole, unsigned percent)
{
	return (double)part * 100 >= (double)whole * percent;
}

/* `death_ns` 0: it never died. */
static bool is_kept(const struct files *files, uint32_t process, uint64_t loaded_ns, uint64_t death_ns)
{
	uint64_t end = files->run->processes[process].end_ns;

	if (!death_ns || has_step_between(files, loaded_ns, death_ns))
		return true;
	return end > loaded_ns && death_ns > loaded_ns &&
	       is_share(death_ns - loaded_ns, end - loaded_ns, KEPT_PERCENT);
}

/* Read before the second step, and there when the last one begins. */
static bool is_there_in_all_steps(const struct span *span, uint64_t loaded_ns, uint64_t death_ns)
{
	return span->count >= STEPS_LEAST && loaded_ns <= span->first_end &&
	       (!death_ns || death_ns > span->last_begin);
}

static bool is_there_to_the_end(const struct files *files, uint32_t process, uint64_t loaded_ns,
				uint64_t death_ns)
{
	uint64_t begin = files->run->processes[process].begin_ns, end = files->run->processes[process].end_ns;

	if (end <= begin || loaded_ns < begin || loaded_ns - begin > (end - begin) / 2)
		return false;
	return !death_ns ||
	       (death_ns > loaded_ns && is_share(death_ns - loaded_ns, end - loaded_ns, TO_THE_END_PERCENT));
}

/* ---- claims ---- */

static void claim(struct files *files, const struct rvp_block_key *key, enum rvp_category category,
		  enum rvp_evidence evidence, unsigned confidence, uint32_t reason, uint64_t from_ns)
{
	rvp_claim_block(files->attribution, *key,
			(struct rvp_verdict){.purpose = (uint16_t)category,
					     .evidence = (uint8_t)evidence,
					     .confidence = (uint8_t)confidence,
					     .reason = reason},
			from_ns);
}

/* "weights of draft.gguf", "weights of mmproj.gguf (projector)", "... (its name alone says so)". */
static uint32_t reason_of(struct files *files, const struct rvp_source_file *file, const char *what)
{
	const struct rvp_model *model = &file->model;

	if (!file->is_there)
		return rvp_reason(files->attribution,
				  "%s %s (a model by its name alone: the file is gone or was changed)", what,
				  file->name);
	return rvp_reason(files->attribution, "%s %s (%s%s%s%s%s)", what, file->name,
			  rvp_model_kind_names[model->kind], model->architecture[0] ? " " : "",
			  model->architecture, model->role[0] ? " " : "", model->role);
}

static unsigned confidence_of(const struct rvp_source_file *file)
{
	return !file->is_there ? 80 : file->model.has_header ? 99 : 95;
}

static void note_flaw(struct files *files, const struct rvp_source_file *file)
{
	if (file->model.flaw[0])
		rvp_evidence_note(files->attribution, "%s: %s", file->name, file->model.flaw);
	else if (!file->is_there)
		rvp_evidence_note(files->attribution,
				  "%s is gone or was changed since: only its name says that it is a model",
				  file->name);
}

static bool is_model(struct files *files, struct rvp_source_file *file)
{
	if (!rvp_source_file_look(file) || file->model.kind == RVP_MODEL_NONE)
		return false;
	note_flaw(files, file);
	return true;
}

/* ---- mappings ---- */

static bool overlaps(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file && a->born.process == b->born.process && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

static bool is_counted_already(const struct files *files, const struct mapping *mapping)
{
	for (size_t i = 0; i < files->mapping_count; i++)
		if (files->mappings[i].is_counted && overlaps(&files->mappings[i], mapping))
			return true;
	return false;
}

static void count_mapping(struct files *files, struct mapping *mapping, uint64_t from_ns)
{
	mapping->is_counted = true;
	claim(files, &mapping->born, RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_FILE, confidence_of(mapping->file),
	      reason_of(files, mapping->file, "mapped from"), from_ns);
}

static bool add_mapping(struct files *files, struct mapping mapping)
{
	if (files->mapping_count == files->mapping_room) {
		size_t room = files->mapping_room ? files->mapping_room * 2 : 16;
		struct mapping *more =
		    room <= MAPPINGS_MAX ? realloc(files->mappings, room * sizeof *more) : NULL;

		if (!more)
			return false;
		files->mappings = more;
		files->mapping_room = room;
	}
	files->mappings[files->mapping_count++] = mapping;
	return true;
}

static void take_mapping(struct files *files, const struct rvp_event *event)
{
	const struct rvp_record_MAP *map = &event->moment->record->MAP;
	struct mapping mapping = {.born = rvp_key_of(event),
				  .address = event->block.address,
				  .offset = map->offset,
				  .bytes = event->block.bytes};

	if (event->moment->record->kind != RVP_MAP || map->protection & PROT_EXEC)
		return;
	mapping.file = rvp_source_file(&files->files, map->device, map->inode);
	if (!mapping.file)
		return;
	if (is_model(files, mapping.file)) {
		if (map->offset + mapping.bytes <= mapping.file->data_begin)
			return;
		if (!is_counted_already(files, &mapping))
			count_mapping(files, &mapping, 0);
	} else if (mapping.bytes < plain_map_least_bytes) {
		return;
	}
	add_mapping(files, mapping);
}

static struct mapping *find_mapping(struct files *files, uint32_t process, uint64_t address)
{
	for (size_t i = 0; i < files->mapping_count; i++)
		if (files->mappings[i].address == address && files->mappings[i].born.process == process)
			return &files->mappings[i];
	return NULL;
}

/* Floats that are mapped for reading and kept: as of a plain file that is read, and less sure. */
static void judge_plain_mapping(struct files *files, const struct mapping *mapping, uint64_t death_ns)
{
	uint64_t birth_ns = mapping->born.birth_ns;
	uint32_t process = mapping->born.process;

	if (!is_there_in_all_steps(&files->spans[process], birth_ns, death_ns) &&
	    !is_there_to_the_end(files, process, birth_ns, death_ns))
		return;
	if (is_counted_already(files, mapping) ||
	    rvp_source_file_content(mapping->file) != RVP_CONTENT_FLOATS)
		return;
	claim(files, &mapping->born, RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_LIFETIME, 60,
	      rvp_reason(files->attribution, "mapped from %s: floats, kept through the run",
			 mapping->file->name),
	      0);
}

/* The next mapping of the same part takes its place. */
static void end_mapping(struct files *files, const struct mapping *gone, uint64_t death_ns)
{
	if (files->spans && gone->file->model.kind == RVP_MODEL_NONE)
		judge_plain_mapping(files, gone, death_ns);
	if (!gone->is_counted)
		return;
	for (size_t i = 0; i < files->mapping_count; i++) {
		struct mapping *mapping = &files->mappings[i];

		if (!mapping->is_counted && overlaps(mapping, gone) && !is_counted_already(files, mapping))
			count_mapping(files, mapping, death_ns);
	}
}

/* ---- blocks that were read into ---- */

static bool add_part(struct files *files, const struct rvp_event *event, const struct rvp_block *block,
		     const struct rvp_fill_part *part)
{
	struct rvp_block_key key = rvp_block_key_of(block, event->moment->process);
	struct rvp_filled_block *filled = rvp_filled_find(&files->fills, key.process, block->address);
	bool ok = true;

	if (!filled)
		filled = rvp_filled_make(&files->fills, key, block);
	if (!filled)
		return false;
	rvp_survey_watch(files->attribution, key.process, block->address);
	part->file->read_bytes += rvp_filled_add(filled, part, &ok);
	return ok;
}

/* A read can go over several blocks: mappings side by side. */
static void take_fill(struct files *files, const struct rvp_event *event)
{
	const struct rvp_record_FILL *fill = &event->moment->record->FILL;
	struct rvp_source_file *file = rvp_source_file(&files->files, fill->device, fill->inode);
	uint64_t at = fill->address, end;

	if (!file || __builtin_add_overflow(fill->address, fill->bytes, &end))
		return;
	for (int parts = 0; at < end && parts < 16; parts++) {
		const struct rvp_block *block =
		    rvp_survey_block(files->attribution, event->moment->process, at);
		uint64_t block_end = block ? block->address + block->bytes : 0;

		if (!block || block_end <= at)
			return;
		if (!add_part(files, event, block,
			      &(struct rvp_fill_part){.address = at,
						      .bytes = (block_end < end ? block_end : end) - at,
						      .offset = fill->offset == RVP_FILL_OFFSET_UNKNOWN
								    ? fill->offset
								    : fill->offset + (at - fill->address),
						      .ns = event->moment->ns,
						      .file = file}))
			return;
		at = block_end;
	}
}

static bool is_reused(const struct rvp_filled_block *block)
{
	return is_share(block->refilled_bytes, block->covered_bytes, REUSED_PERCENT);
}

static void judge_model_block(struct files *files, const struct rvp_filled_block *block, uint64_t death_ns)
{
	const struct rvp_source_file *file = block->file;

	if (is_reused(block))
		claim(files, &block->born, RVP_CATEGORY_TEMP, RVP_EVIDENCE_FILE, 90,
		      reason_of(files, file, "read buffer, filled again and again from"), 0);
	else if (!is_kept(files, block->born.process, block->last_ns, death_ns))
		claim(files, &block->born, RVP_CATEGORY_TEMP, RVP_EVIDENCE_FILE, 70,
		      reason_of(files, file, "given back while it was loaded, filled from"), 0);
	else if (!block->highest_offset || block->highest_offset > file->data_begin)
		claim(files, &block->born, RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_FILE, confidence_of(file),
		      reason_of(files, file, "filled from"), 0);
}

/* 0: not to be called weights. */
static unsigned plain_confidence(struct files *files, const struct rvp_filled_block *block, uint64_t death_ns)
{
	uint32_t process = block->born.process;
	enum rvp_content content;

	if (is_there_in_all_steps(&files->spans[process], block->last_ns, death_ns)) {
		content = rvp_source_file_content(block->file);
		return content == RVP_CONTENT_FLOATS   ? 85
		       : content == RVP_CONTENT_OPAQUE ? 75
		       : content == RVP_CONTENT_UNREAD ? 60
						       : 0;
	}
	if (files->spans[process].count >= STEPS_LEAST || block->bytes < plain_block_least_bytes ||
	    !is_there_to_the_end(files, process, block->last_ns, death_ns) ||
	    !is_share(block->file->read_bytes, block->file->bytes, 50))
		return 0;
	return rvp_source_file_content(block->file) == RVP_CONTENT_FLOATS ? 60 : 0;
}

static void judge_plain_block(struct files *files, const struct rvp_filled_block *block, uint64_t death_ns)
{
	unsigned confidence;

	if (is_reused(block)) {
		if (!is_kept(files, block->born.process, block->last_ns, death_ns))
			claim(files, &block->born, RVP_CATEGORY_TEMP, RVP_EVIDENCE_LIFETIME, 60,
			      rvp_reason(files->attribution, "read buffer, filled again and again from %s",
					 block->file->name),
			      0);
		return;
	}
	confidence = plain_confidence(files, block, death_ns);
	if (confidence)
		claim(files, &block->born, RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_LIFETIME, confidence,
		      rvp_reason(files->attribution, "filled once from %s and kept through the run",
				 block->file->name),
		      0);
}

static void judge_block(struct files *files, const struct rvp_filled_block *block, uint64_t death_ns)
{
	if (!files->spans || !block->file || !is_share(block->covered_bytes, block->bytes, FILLED_PERCENT))
		return;
	if (is_model(files, block->file))
		judge_model_block(files, block, death_ns);
	else
		judge_plain_block(files, block, death_ns);
}

/* ---- deaths, and what is none ---- */

static void settle_pending(struct files *files)
{
	struct pending pending = files->pending;

	files->pending = (struct pending){0};
	if (pending.has_mapping)
		end_mapping(files, &pending.mapping, pending.ns);
	if (pending.block) {
		struct rvp_filled_block *block = &files->fills.blocks[pending.block - 1];

		judge_block(files, block, pending.ns);
		rvp_filled_drop(&files->fills, block);
	}
}

static void take_death(struct files *files, const struct rvp_event *event)
{
	const struct rvp_moment *moment = event->moment;
	struct rvp_filled_block *block =
	    rvp_filled_find(&files->fills, moment->process, event->block.address);
	struct mapping *mapping = event->block.flags & RVP_BLOCK_FILE
				      ? find_mapping(files, moment->process, event->block.address)
				      : NULL;

	if (!block && !mapping)
		return;
	files->pending = (struct pending){.block = block ? (uint32_t)(block - files->fills.blocks) + 1 : 0,
					  .ns = moment->ns,
					  .birth_ns = event->block.birth_ns,
					  .birth = event->block.birth,
					  .process = moment->process,
					  .stream = moment->stream,
					  .is_realloc = moment->record->kind == RVP_FREE &&
							moment->record->FREE.family == RVP_FAMILY_REALLOC,
					  .is_remap = moment->record->kind == RVP_REMAP};
	if (block)
		rvp_filled_take_out(&files->fills, block);
	if (mapping) {
		files->pending.has_mapping = true;
		files->pending.mapping = *mapping;
		*mapping = files->mappings[--files->mapping_count];
	}
}

/* A free that failed, or a piece of a mapping that was cut. */
static void take_restored(struct files *files, const struct rvp_event *event)
{
	struct pending pending = files->pending;

	if (pending.process != event->moment->process || pending.birth_ns != event->block.birth_ns ||
	    pending.birth != event->block.birth ||
	    (!pending.block && !pending.has_mapping))
		return;
	files->pending = (struct pending){0};
	if (pending.block) {
		rvp_filled_move(&files->fills, &files->fills.blocks[pending.block - 1], &event->block, NULL);
		rvp_survey_watch(files->attribution, event->moment->process, event->block.address);
	}
	if (pending.has_mapping) {
		pending.mapping.offset += event->block.address - pending.mapping.address;
		pending.mapping.address = event->block.address;
		pending.mapping.bytes = event->block.bytes;
		add_mapping(files, pending.mapping);
	}
}

static bool is_moved_to(const struct pending *pending, const struct rvp_event *event)
{
	const struct rvp_moment *moment = event->moment;

	if (!pending->block || pending->process != moment->process || pending->stream != moment->stream)
		return false;
	if (pending->is_remap)
		return moment->record->kind == RVP_REMAP && pending->ns == moment->ns;
	return pending->is_realloc && moment->record->kind != RVP_MAP && moment->record->kind != RVP_REMAP &&
	       (moment->record->ALLOC.family == RVP_FAMILY_REALLOC ||
		moment->record->ALLOC.family == RVP_FAMILY_REALLOCARRAY);
}

static void take_birth(struct files *files, const struct rvp_event *event)
{
	uint32_t moved = is_moved_to(&files->pending, event) ? files->pending.block : 0;
	struct rvp_block_key key = rvp_key_of(event);

	if (moved) {
		files->pending.block = 0;
		rvp_filled_move(&files->fills, &files->fills.blocks[moved - 1], &event->block, &key);
		rvp_survey_watch(files->attribution, key.process, key.address);
	}
	settle_pending(files);
	if (event->block.flags & RVP_BLOCK_FILE)
		take_mapping(files, event);
}

/* Of one process, or of all (RVP_NO_PROCESS): what is left has no death. */
static void end_all(struct files *files, uint32_t process)
{
	for (uint32_t i = 0; i < files->fills.count; i++) {
		struct rvp_filled_block *block = &files->fills.blocks[i];

		if (!block->is_live || (process != RVP_NO_PROCESS && block->born.process != process))
			continue;
		judge_block(files, block, 0);
		rvp_filled_drop(&files->fills, block);
	}
	for (size_t i = files->mapping_count; i-- > 0;) {
		struct mapping mapping = files->mappings[i];

		if (process != RVP_NO_PROCESS && mapping.born.process != process)
			continue;
		files->mappings[i] = files->mappings[--files->mapping_count];
		if (files->spans && mapping.file->model.kind == RVP_MODEL_NONE)
			judge_plain_mapping(files, &mapping, 0);
	}
}

static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	struct files *files = (struct files *)source;

	(void)state;
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_FILL &&
	    event->moment->process != RVP_NO_PROCESS) {
		take_fill(files, event);
		return;
	}
	switch (event->kind) {
	case RVP_EVENT_BORN: take_birth(files, event); break;
	case RVP_EVENT_DIED:
		settle_pending(files);
		take_death(files, event);
		break;
	case RVP_EVENT_RESTORED: take_restored(files, event); break;
	case RVP_EVENT_END:
		settle_pending(files);
		end_all(files, event->moment->process);
		break;
	default: break;
	}
}

/* What comes next says what became of it; else only blocks that are watched are of interest. */
static bool minds(struct rvp_evidence_source *source)
{
	const struct files *files = (const struct files *)source;

	return files->pending.block || files->pending.has_mapping;
}

static void survey_end(struct rvp_evidence_source *source, const struct rvp_state *state)
{
	struct files *files = (struct files *)source;

	(void)state;
	settle_pending(files);
	end_all(files, RVP_NO_PROCESS);
}

static void close_files(struct rvp_evidence_source *source)
{
	struct files *files = (struct files *)source;

	rvp_source_files_free(&files->files);
	rvp_fill_table_free(&files->fills);
	free(files->mappings);
	free(files->spans);
	free(files);
}

struct rvp_evidence_source *rvp_evidence_files(struct rvp_attribution *attribution)
{
	struct files *files = calloc(1, sizeof *files);

	if (!files)
		return NULL;
	files->source =
	    (struct rvp_evidence_source){.survey = survey, .survey_end = survey_end, .minds = minds, .close = close_files};
	files->attribution = attribution;
	files->run = rvp_attribution_run(attribution);
	if (!rvp_source_files_open(&files->files, files->run) || !find_spans(files)) {
		close_files(&files->source);
		return NULL;
	}
	return &files->source;
}
