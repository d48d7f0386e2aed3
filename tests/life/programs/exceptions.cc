// SPDX-License-Identifier: MIT
// exceptions.cc: C++ exceptions thrown through C frames (qsort), rethrown, out of destructors' reach, from operator new,
// in threads, and with the allocations that they make themselves.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
	int *count;
	explicit Guard(int *c) : count(c)
	{
	}
	~Guard()
	{
		++*count;
	}
};

static int calls, unwound;

static int compare(const void *a, const void *b)
{
	Guard guard(&unwound);
	std::string text(200, 'x');
	if (++calls % 7 == 0)
		throw std::runtime_error("in compare " + std::to_string(calls));
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static int through_qsort(int rounds)
{
	int caught = 0;
	for (int i = 0; i < rounds; i++) {
		std::vector<int> numbers(50 + i % 50);
		for (size_t j = 0; j < numbers.size(); j++)
			numbers[j] = static_cast<int>(j * 7919 % 101);
		try {
			std::qsort(numbers.data(), numbers.size(), sizeof(int), compare);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return caught;
}

static int deep(int depth)
{
	std::vector<char> block(static_cast<size_t>(depth) * 100 + 1);
	Guard guard(&unwound);
	if (depth == 0)
		throw 5;
	try {
		return deep(depth - 1) + block[0];
	} catch (int &value) {
		value++;
		throw;
	}
}

static int too_much()
{
	volatile size_t huge = static_cast<size_t>(-1) / 4;
	try {
		delete[] new char[huge];
	} catch (const std::bad_alloc &) {
		return 1;
	}
	return 0;
}

int main()
{
	int depth_value = 0, thread_value = 0;
	std::printf("caught %d\n", through_qsort(500));
	try {
		deep(40);
	} catch (int value) {
		depth_value = value;
	}
	std::printf("rethrown %d, unwound %d\n", depth_value, unwound);
	std::printf("bad_alloc %d, nothrow %d\n", too_much(),
		    new (std::nothrow) char[static_cast<size_t>(-1) / 4 - static_cast<size_t>(calls % 2)] == nullptr);
	std::thread thread([&] {
		try {
			deep(20);
		} catch (int value) {
			thread_value = value;
		}
	});
	thread.join();
	std::printf("thread %d\n", thread_value);
	struct alignas(128) Wide {
		char bytes[256];
	};
	delete new Wide;
	return 24;
}
