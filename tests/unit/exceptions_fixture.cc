// SPDX-License-Identifier: MIT
// C++ exceptions in flight: `compare` is called by destructors while they unwind, in handlers, and after.
#include <stdexcept>
#include <string>

namespace
{
struct Guard {
	void (*compare)(void);
	~Guard()
	{
		compare();
	}
};

void fall(int depth, void (*compare)(void))
{
	Guard guard = {compare};

	if (!depth)
		throw std::runtime_error(std::string(100, 'x'));
	fall(depth - 1, compare);
}
} // namespace

extern "C" int exceptions_in_flight(int rounds, void (*compare)(void))
{
	int caught = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			try {
				fall(i, compare);
			} catch (const std::exception &) {
				compare();
				throw;
			}
		} catch (const std::runtime_error &error) {
			compare();
			caught += std::string(error.what()).size() == 100;
		}
		compare();
	}
	return caught;
}
