/* SPDX-License-Identifier: MIT */
/* torch_rows.c: see torch_rows.h.
 *
 * The callback's description goes by value: two functions, a probability, then a row of flags: one for each
 * sort of operator, and behind these whether inputs, outputs and numbers are wanted. How many sorts there are
 * is a matter of the version (10 from 1.13 on), so inputs are asked for by one more flag each time, until
 * they are seen.
 */
#include "preload/torch_rows.h"

#include "preload/elf_image.h"
#include "preload/emit.h"
#include "preload/loader_list.h"
#include "preload/mark_stamp.h"
#include "preload/python_rows.h"
#include "preload/rows.h"
#include "preload/text_places.h"
#include "preload/unwind_memory.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

enum { FLAGS = 40, SORTS = 10, TRIES = 4 };
enum {
	FUNCTION_BYTES = 512,
	TENSOR_BYTES = 512,
	INLINE_DIMENSIONS = 5,
	DIMENSIONS_MAX = 16,
	INPUTS_MAX = 24
};
enum { IVALUE_WORDS = 2 };

/* at::RecordFunctionCallback, as it is passed. */
struct observer {
	void *begin, *end;
	double probability;
	uint8_t flags[FLAGS];
};

static struct {
	uint64_t (*add)(struct observer observer);
	void (*remove)(uint64_t handle);
	const char *(*name)(const void *function);
	uint64_t (*input_count)(const void *function);
} torch;

static const struct {
	const char *name;
	void **to;
} symbols[] = {
    {"_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", (void **)&torch.add},
    {"_ZN2at14removeCallbackEm", (void **)&torch.remove},
    {"_ZNK2at14RecordFunction4nameEv", (void **)&torch.name},
    {"_ZNK2at14RecordFunction10num_inputsEv", (void **)&torch.input_count},
};

/* Where things lie; 0: not known (nothing of these is a first word). */
static struct {
	uint32_t inputs, sizes, type;
	uint32_t tag; /* of an input that is a tensor */
	uint32_t flags;
	bool is_tried;
} layout;

static uint64_t handle;
static bool is_on;
static _Atomic bool wants_shapes;

/* c10::ScalarType in order, by the names that PyTorch's own traces have. */
static const char *const type_names[] = {"unsigned char",
					 "signed char",
					 "short int",
					 "int",
					 "long int",
					 "c10::Half",
					 "float",
					 "double",
					 "c10::complex<c10::Half>",
					 "c10::complex<float>",
					 "c10::complex<double>",
					 "bool",
					 "c10::qint8",
					 "c10::quint8",
					 "c10::qint32",
					 "c10::BFloat16"};
enum { FLOAT = 6, DOUBLE = 7, LONG = 4, BOOL = 11, TYPES = sizeof type_names / sizeof *type_names };
static const uint8_t sample_types[RVP_TORCH_SAMPLES] = {FLOAT, DOUBLE, LONG, BOOL};
static const uint64_t sample_sizes[4] = {3, 3, 5, 7}; /* how many, and they */

/* ---- learning ---- */

static _Atomic uint64_t learning; /* the thread that learns; 0: none */
static uint64_t samples[RVP_TORCH_SAMPLES];

static struct rvp_memory memory_with(uint64_t pages[RVP_MEMORY_PAGES])
{
	memset(pages, 0, RVP_MEMORY_PAGES * sizeof *pages);
	return (struct rvp_memory){.pages = pages, .page_count = RVP_MEMORY_PAGES};
}

/* Of a function that is called with the first two samples: where it has its inputs. */
static void learn_inputs(const void *function)
{
	uint64_t pages[RVP_MEMORY_PAGES], at, count, input[2 * IVALUE_WORDS];
	struct rvp_memory memory = memory_with(pages);
	uint64_t wanted = samples[0] ? torch.input_count(function) : 0;

	for (uint32_t offset = 8; wanted >= 2 && offset < FUNCTION_BYTES; offset += 8) {
		if (!rvp_memory_word(&memory, (uint64_t)function + offset, &at) ||
		    !rvp_memory_word(&memory, (uint64_t)function + offset + 8, &count) || count != wanted ||
		    at & 7 || !rvp_memory_bytes(&memory, at, input, sizeof input))
			continue;
		if (input[0] != samples[0] || input[2] != samples[1] ||
		    (uint32_t)input[1] != (uint32_t)input[3])
			continue;
		layout.inputs = offset;
		layout.tag = (uint32_t)input[1];
		return;
	}
}

static bool has_at(struct rvp_memory *memory, uint64_t tensor, uint32_t offset, const void *what,
		   size_t bytes)
{
	uint8_t found[sizeof sample_sizes];

	return rvp_memory_bytes(memory, tensor + offset, found, bytes) && !memcmp(found, what, bytes);
}

static bool all_have(struct rvp_memory *memory, uint32_t offset, bool is_type)
{
	for (int i = 0; i < RVP_TORCH_SAMPLES; i++)
		if (!(is_type ? has_at(memory, samples[i], offset, &sample_types[i], 1)
			      : has_at(memory, samples[i], offset, sample_sizes, sizeof sample_sizes)))
			return false;
	return true;
}

/* Of a tensor: the one place where all samples have what they were made with. */
static uint32_t learn_place(bool is_type)
{
	uint64_t pages[RVP_MEMORY_PAGES];
	struct rvp_memory memory = memory_with(pages);
	uint32_t found = 0;

	for (uint32_t offset = 8; offset < TENSOR_BYTES; offset += is_type ? 1 : 8) {
		if (!all_have(&memory, offset, is_type))
			continue;
		if (found)
			return 0;
		found = offset;
	}
	return found;
}

void rvp_torch_learn_begin(const uint64_t made[RVP_TORCH_SAMPLES])
{
	memcpy(samples, made, sizeof samples);
	layout.sizes = learn_place(false);
	layout.type = learn_place(true);
}

bool rvp_torch_learn_end(void)
{
	return layout.inputs && layout.sizes;
}

/* ---- args ---- */

struct line {
	char text[1024];
	size_t length;
};

static void put(struct line *line, const char *text)
{
	size_t length = strlen(text), room = sizeof line->text - 1 - line->length;

	length = length < room ? length : room;
	memcpy(line->text + line->length, text, length);
	line->length += length;
	line->text[line->length] = '\0';
}

static void put_number(struct line *line, uint64_t number)
{
	char text[21], *at = text + 20;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put(line, at);
}

/* The implementation of an input's tensor; 0: it is none. */
static uint64_t tensor_of(const uint64_t *input)
{
	return (uint32_t)input[1] == layout.tag ? input[0] : 0;
}

static void put_sizes(struct line *line, uint64_t tensor)
{
	const uint64_t *sizes = (const uint64_t *)(tensor + layout.sizes);
	uint64_t count = tensor ? sizes[0] : 0;

	sizes = count > INLINE_DIMENSIONS ? (const uint64_t *)sizes[1] : sizes + 1;
	put(line, "[");
	for (uint64_t i = 0; count <= DIMENSIONS_MAX && i < count; i++) {
		put(line, i ? "," : "");
		put_number(line, sizes[i]);
	}
	put(line, "]");
}

static void put_type(struct line *line, uint64_t tensor)
{
	uint8_t type = tensor && layout.type ? *(const uint8_t *)(tensor + layout.type) : TYPES;

	put(line, "\"");
	put(line, type < TYPES ? type_names[type] : "");
	put(line, "\"");
}

static const char *args_of(const void *function, struct line *line)
{
	const uint64_t *words = (const uint64_t *)((const char *)function + layout.inputs);
	const uint64_t *inputs = (const uint64_t *)words[0];
	uint64_t count = words[1] < INPUTS_MAX ? words[1] : INPUTS_MAX;

	line->length = 0;
	put(line, "[");
	for (uint64_t i = 0; i < count; i++) {
		put(line, i ? "," : "");
		put_sizes(line, tensor_of(inputs + i * IVALUE_WORDS));
	}
	put(line, "] [");
	for (uint64_t i = 0; i < count; i++) {
		put(line, i ? "," : "");
		put_type(line, tensor_of(inputs + i * IVALUE_WORDS));
	}
	put(line, "]");
	return line->text;
}

/* ---- the observer ---- */

static void tell(enum rvp_scope_kind kind, const char *name, const char *args)
{
	struct rvp_told told[3] = {{.from = NULL}, {.from = name}, {.from = args}};
	int error = errno;
	struct rvp_thread *thread = rvp_rows_is_ours() ? rvp_enter_for_mark() : NULL;
	uint64_t stamp;

	if (!thread)
		return;
	if (rvp_rows_has_room(thread)) {
		stamp = rvp_mark_stamp(thread, false);
		RVP_EMIT_TOLD(thread, SCOPE_REF, told, 3, .stamp = stamp, .kind = kind,
			      .source = RVP_SOURCE_ADAPTER, .category = told[0].text, .name = told[1].text,
			      .args = told[2].text);
	}
	rvp_leave(thread);
	errno = error;
}

/* Gives an empty std::unique_ptr by its hidden first argument. */
static void **on_begin(void **context, const void *function)
{
	struct line line;
	bool has_shapes =
	    layout.inputs && layout.sizes && atomic_load_explicit(&wants_shapes, memory_order_relaxed);

	*context = NULL;
	if (__builtin_expect(atomic_load_explicit(&learning, memory_order_relaxed) != 0, 0)) {
		if (atomic_load(&learning) == (uint64_t)__builtin_thread_pointer() && !layout.inputs)
			learn_inputs(function);
		return context;
	}
	tell(RVP_SCOPE_OPERATOR_BEGIN, torch.name(function), has_shapes ? args_of(function, &line) : NULL);
	return context;
}

static void on_end(const void *function, void *context)
{
	(void)function, (void)context;
	if (!atomic_load_explicit(&learning, memory_order_relaxed))
		tell(RVP_SCOPE_OPERATOR_END, NULL, NULL);
}

static void add(uint32_t flags)
{
	struct observer observer = {.begin = (void *)on_begin, .end = (void *)on_end, .probability = 1};

	memset(observer.flags, 1, flags);
	handle = torch.add(observer);
	is_on = true;
}

/* ---- opening and closing ---- */

static int visit(struct dl_phdr_info *info, size_t size, void *is_met)
{
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(path, '/');
	struct rvp_object object;

	(void)size;
	if (strncmp(slash ? slash + 1 : path, "libtorch_cpu.so", 15) != 0)
		return 0;
	*(bool *)is_met = true;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (rvp_object_find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, &object))
			for (unsigned k = 0; k < sizeof symbols / sizeof *symbols; k++)
				*symbols[k].to = (void *)rvp_elf_symbol(&object, symbols[k].name);
		break;
	}
	return 1;
}

/* NULL: it can be. No PyTorch at all is no reason: there are no operators then. */
static const char *find(bool *is_met)
{
	if (!torch.add || !torch.remove)
		rvp_loader_list(visit, is_met);
	*is_met |= torch.add != NULL;
	if (!*is_met)
		return NULL;
	return torch.add && torch.remove && torch.name && torch.input_count
		   ? NULL
		   : "this PyTorch has no interface for observers of operators that is known";
}

/* One after the other, until an operator shows its inputs. */
static void learn(void)
{
	layout.is_tried = true;
	atomic_store(&learning, (uint64_t)__builtin_thread_pointer());
	for (uint32_t flags = SORTS + 1; flags < SORTS + 1 + TRIES && !layout.inputs; flags++) {
		add(flags);
		layout.flags = flags;
		if (!rvp_python_rows_learn_torch())
			flags = SORTS + TRIES;
		torch.remove(handle);
		is_on = false;
	}
	atomic_store(&learning, 0);
}

void rvp_torch_rows_open(uint32_t *kinds, const char **why)
{
	bool is_met = false;
	const char *reason = find(&is_met);

	if (reason || !is_met) {
		*kinds &= ~(uint32_t)(is_met ? RVP_ROWS_OPERATORS | RVP_ROWS_SHAPES : RVP_ROWS_SHAPES);
		*why = reason ? reason : *why;
		return;
	}
	if (*kinds & RVP_ROWS_SHAPES && !layout.is_tried && rvp_python_rows_where() == RVP_PYTHON_HERE)
		learn();
	if (*kinds & RVP_ROWS_SHAPES && !(layout.inputs && layout.sizes)) {
		*kinds &= ~(uint32_t)RVP_ROWS_SHAPES;
		*why = "where this PyTorch keeps shapes was not found";
	}
	atomic_store(&wants_shapes, (*kinds & RVP_ROWS_SHAPES) != 0);
	add(*kinds & RVP_ROWS_SHAPES ? layout.flags : SORTS);
}

void rvp_torch_rows_close(void)
{
	if (!is_on)
		return;
	torch.remove(handle);
	is_on = false;
}
