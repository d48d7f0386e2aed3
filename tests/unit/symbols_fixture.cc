// SPDX-License-Identifier: MIT
// symbols_fixture.cc: functions of every shape that check_symbols looks up; addr2line is the referee.
// Nothing here runs but main, which returns at once.
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace fixture
{
namespace
{
int hidden_count;
__attribute__((noinline)) void *hidden(std::size_t bytes)
{
	hidden_count++;
	return std::malloc(bytes);
}
} // namespace

inline __attribute__((always_inline)) void *innermost(std::size_t bytes)
{
	void *block = hidden(bytes);
	std::memset(block, 1, bytes);
	return block;
}

inline __attribute__((always_inline)) void *middle(std::size_t bytes)
{
	return innermost(bytes + 1);
}

template <typename T> struct cache {
	std::vector<T> rows;

	__attribute__((noinline)) void append(const T &row)
	{
		rows.push_back(row);
		if (rows.size() > 3) {
			std::vector<T> copy(rows);
			copy.swap(rows);
		}
	}
	~cache();
};
template <typename T> cache<T>::~cache()
{
	std::free(middle(rows.size()));
}

__attribute__((noinline)) void *outer(std::size_t bytes)
{
	void *first = middle(bytes);

	if (bytes > 100)
		std::free(innermost(bytes * 2));
	return first;
}

__attribute__((noinline)) int with_lambda(int count)
{
	std::map<std::string, int> seen;
	auto note = [&](const std::string &name) { return ++seen[name]; };

	for (int i = 0; i < count; i++)
		note(std::to_string(i));
	try {
		note(std::string(static_cast<std::size_t>(count), 'x'));
	} catch (const std::exception &) {
		return -1;
	}
	return static_cast<int>(seen.size());
}
} // namespace fixture

extern "C" __attribute__((noinline)) void *plain_c_name(std::size_t bytes)
{
	return fixture::outer(bytes);
}

int main(int argc, char **)
{
	fixture::cache<float> floats;

	for (int i = 0; i < argc; i++)
		floats.append(1.0f);
	std::free(plain_c_name(static_cast<std::size_t>(argc)));
	return fixture::with_lambda(argc) < 0;
}
