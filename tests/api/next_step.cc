// SPDX-License-Identifier: MIT
// next_step.cc: rvprof.h in C++, in two files of one program and in a library that is opened later; steps by
// rvprof_step().
#include <rvprof.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#ifdef PART
extern "C" void part(void);
extern "C" void part(void)
{
	RVPROF_SCOPE("part");
	rvprof_scope_begin("activation", "of the library");
	free(malloc(500 * 1024));
	rvprof_scope_end();
}
#else
int main(int count, char **words)
{
	void *library = dlopen(count > 1 ? words[1] : "", RTLD_NOW | RTLD_LOCAL);
	auto part = library ? reinterpret_cast<void (*)()>(dlsym(library, "part")) : nullptr;

	if (!part)
		return 2;
	for (int i = 0; i < 4; i++) {
		rvprof_step();
		part();
	}
	try {
		RVPROF_SCOPE("thrown out of");
		throw 1;
	} catch (int) {
	}
	std::printf("steps\n");
	return 0;
}
#endif
