/* SPDX-License-Identifier: MIT */
/* framework.c: see framework.h.
 *
 * The libraries of one framework are mapped together, and which of them stands on a recorded stack first is
 * chance. So each of them has all looked at: a handful of times in a process, by the loader's own list.
 */
#include "preload/framework.h"

#include "preload/adapter.h"
#include "preload/tensor.h"

#include <link.h>
#include <string.h>

static const char *name_of(const struct rvp_object *object)
{
	const struct link_map *map = object->link_map;
	const char *path = map && map->l_name ? map->l_name : "", *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

void rvp_framework_meet(struct rvp_thread *thread, const struct rvp_object *object)
{
	const char *name = name_of(object);

	if (!begins(name, "libtorch") && !begins(name, "libc10"))
		return;
	rvp_tensor_meet(thread);
	rvp_adapter_meet(thread);
}
