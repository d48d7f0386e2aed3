/* SPDX-License-Identifier: MIT */
/* The walk as a library that check_python_frames.py calls by ctypes, in whatever Python runs it. */
#include "preload/walk.h"
#include "tests/unit/recorder_double.h"

#define EXPORTED __attribute__((visibility("default"), noinline))

unsigned probe_walk(void);
unsigned probe_parent(unsigned node);
unsigned probe_code(unsigned node);
unsigned probe_instruction(unsigned node);
unsigned probe_is_entry(unsigned node);
const char *probe_name(unsigned code);
const char *probe_file(unsigned code);
unsigned probe_line(unsigned code);
unsigned probe_version(unsigned code);
unsigned probe_lines_bytes(unsigned code);
unsigned long probe_python_lost(void);

static __attribute__((constructor)) void start(void)
{
	rvp_walk_start(true);
}

/* The Python node of the call; the native one must be there too. */
EXPORTED unsigned probe_walk(void)
{
	struct rvp_path path = rvp_walk(double_thread(), RVP_CALLER());

	double_collect();
	return path.stack ? path.python : 0;
}
EXPORTED unsigned probe_parent(unsigned node)
{
	return double_python_nodes[node].is_defined ? double_python_nodes[node].parent : ~0u;
}
EXPORTED unsigned probe_code(unsigned node)
{
	return (unsigned)double_python_nodes[node].pc;
}
EXPORTED unsigned probe_instruction(unsigned node)
{
	return double_python_nodes[node].exact;
}
EXPORTED unsigned probe_is_entry(unsigned node)
{
	return double_python_nodes[node].is_entry;
}
EXPORTED const char *probe_name(unsigned code)
{
	return double_codes[code].name;
}
EXPORTED const char *probe_file(unsigned code)
{
	return double_codes[code].file;
}
EXPORTED unsigned probe_line(unsigned code)
{
	return double_codes[code].first_line;
}
EXPORTED unsigned probe_version(unsigned code)
{
	return double_codes[code].version;
}
EXPORTED unsigned probe_lines_bytes(unsigned code)
{
	return double_codes[code].lines_bytes;
}
EXPORTED unsigned long probe_python_lost(void)
{
	return double_lost[RVP_LOSS_PYTHON];
}
