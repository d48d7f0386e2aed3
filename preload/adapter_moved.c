/* SPDX-License-Identifier: MIT */
/* adapter_moved.c: see adapter_moved.h. All is gathered and compared before the first word is told: a value
 * of another shape must leave nothing behind. References to tensors are borrowed from the value, which the
 * caller holds. */
#define RVPROF_ABSENT /* the table alone */
#include "preload/adapter_moved.h"
#include "preload/adapter_calls.h"
#include "rvprof.h"

#include <stddef.h>
#include <stdint.h>

extern const struct rvprof_api rvprof_api_1;

enum { TENSORS_MAX = 512, DEPTH_MAX = 8, FEW = 8 };

static struct rvp_python_calls *const python = &rvp_python_calls;
static void *data_ptr_name, *size_name; /* owned, for good */

struct gathered {
	void *type, *plain;
	void *tensors[TENSORS_MAX];
	ssize_t count;
};

bool rvp_adapter_moved_start(void)
{
	data_ptr_name = python->PyUnicode_InternFromString("data_ptr");
	size_name = python->PyUnicode_InternFromString("size");
	return data_ptr_name && size_name;
}

/* Borrowed: an object keeps its type. */
static void *type_of(void *object)
{
	void *type = python->PyObject_Type(object);

	python->Py_DecRef(type);
	return type;
}

static bool gather(struct gathered *into, void *value, int depth);

static bool gather_items(struct gathered *into, void *value, bool is_list, int depth)
{
	ssize_t size = is_list ? python->PyList_Size(value) : python->PyTuple_Size(value);

	if (size > TENSORS_MAX || depth == 0)
		return false;
	for (ssize_t i = 0; i < size; i++) {
		void *item = is_list ? python->PyList_GetItem(value, i) : python->PyTuple_GetItem(value, i);

		if (i == 0 && size > FEW && python->PySet_Contains(into->plain, type_of(item)) != 0)
			return false; /* numbers, perhaps */
		if (!gather(into, item, depth - 1))
			return false;
	}
	return true;
}

static bool gather(struct gathered *into, void *value, int depth)
{
	void *type = type_of(value);

	if (type == into->type) {
		if (into->count == TENSORS_MAX)
			return false;
		into->tensors[into->count++] = value;
		return true;
	}
	if (type == python->PyList_Type || type == python->PyTuple_Type)
		return gather_items(into, value, type == python->PyList_Type, depth);
	return python->PySet_Contains(into->plain, type) == 1;
}

/* What a method of a tensor's gives, a number. False: an exception is set. */
static bool ask(void *tensor, void *method, void *argument, uint64_t *answer)
{
	void *number = python->PyObject_CallMethodObjArgs(tensor, method, argument, NULL);

	if (!number)
		return false;
	*answer = (uint64_t)python->PyLong_AsVoidPtr(number);
	python->Py_DecRef(number);
	return *answer || !python->PyErr_Occurred();
}

static void *number_in(void *list, ssize_t at, ssize_t *number)
{
	void *item = python->PyList_GetItem(list, at);

	*number = item ? (ssize_t)python->PyLong_AsLongLong(item) : -1;
	return item;
}

/* Of each place where it is now; false: an exception is set, or there is no such place. */
static bool find(const struct gathered *all, void *places, ssize_t count, uint64_t *found)
{
	for (ssize_t i = 0; i < count; i++) {
		ssize_t place;

		if (!number_in(places, i, &place) || place < 0 || place >= all->count ||
		    !ask(all->tensors[place], data_ptr_name, NULL, &found[i]))
			return false;
	}
	return true;
}

/* 1: it moved, and that is told; 0: it is where it was; -1: an exception is set. */
static int tell(void *addresses, void *names, ssize_t at, uint64_t now)
{
	void *old = python->PyList_GetItem(addresses, at), *name_item, *number;
	const char *name;

	if (!old)
		return -1;
	if ((uint64_t)python->PyLong_AsVoidPtr(old) == now)
		return 0;
	name_item = python->PyList_GetItem(names, at);
	name = name_item ? python->PyBytes_AsString(name_item) : NULL;
	number = name ? python->PyLong_FromLongLong((long long)now) : NULL;
	if (!number || python->PyList_SetItem(addresses, at, number) != 0)
		return -1;
	if (now)
		rvprof_api_1.tag(RVPROF_SOURCE_ADAPTER, (const void *)now, 0, "kv_cache", name);
	return 1;
}

static int shapeless(void)
{
	return python->PyErr_Occurred() ? RVP_MOVED_FAILED : RVP_MOVED_SHAPELESS;
}

static int tell_all(const struct gathered *all, const struct rvp_moved_words *words, uint64_t *length)
{
	uint64_t found[TENSORS_MAX];
	ssize_t count = python->PyList_Size(words->places), at = words->length_place;
	int moved = 0;

	if (count < 0 || count > all->count || !find(all, words->places, count, found))
		return shapeless();
	if (at >= 0 && at < all->count && !ask(all->tensors[at], size_name, words->dimension, length))
		python->PyErr_Clear(); /* it has no such dimension any more */
	for (ssize_t i = 0; i < count; i++) {
		int one = tell(words->addresses, words->names, i, found[i]);

		if (one < 0)
			return RVP_MOVED_FAILED;
		moved |= one;
	}
	return moved;
}

int rvp_adapter_moved_look(void *value, const struct rvp_moved_words *words, uint64_t *length)
{
	struct gathered all; /* its tensors are not cleared: that took as long as the rest */

	all.type = words->type;
	all.plain = words->plain;
	all.count = 0;
	if (!gather(&all, value, DEPTH_MAX) || all.count != words->count)
		return shapeless();
	return tell_all(&all, words, length);
}

void *rvp_adapter_moved(void *self, void *arguments)
{
	struct rvp_moved_words words;
	uint64_t length = 0;
	void *value;
	int moved;

	(void)self;
	if (!python->PyArg_ParseTuple(arguments, "OOOOOOnnO", &value, &words.type, &words.plain, &words.places,
				      &words.addresses, &words.names, &words.count, &words.length_place,
				      &words.dimension))
		return NULL;
	moved = rvp_adapter_moved_look(value, &words, &length);
	if (moved == RVP_MOVED_FAILED)
		return NULL;
	return moved == RVP_MOVED_SHAPELESS ? python->Py_BuildValue("")
					    : python->Py_BuildValue("(iK)", moved, (unsigned long long)length);
}
