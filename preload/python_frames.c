/* SPDX-License-Identifier: MIT */
#include "preload/python_frames.h"
void rvp_python_start(bool is_wanted)
{
	(void)is_wanted;
}
void rvp_python_meet(const struct rvp_object *object)
{
	(void)object;
}
void rvp_python_lose(uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
}
uint32_t rvp_python_path(struct rvp_thread *thread)
{
	(void)thread;
	return 0;
}
void rvp_python_reset(void)
{
}
