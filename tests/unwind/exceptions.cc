// SPDX-License-Identifier: MIT
// exceptions.cc: allocates while exceptions are in flight: from destructors, handlers, rethrows, through virtual
// calls and templates, in threads. Arguments: ROUNDS [SEED].
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
thread_local std::mt19937_64 random_source;
thread_local unsigned long caught, rethrown, in_destructors;

unsigned draw(unsigned below)
{
	return static_cast<unsigned>(random_source() % below);
}

std::string text()
{
	return std::string(20 + draw(200), 'x');
}

// Allocates when it goes, in flight or not.
struct Guard {
	std::map<int, std::string> kept;
	~Guard()
	{
		kept[static_cast<int>(draw(8))] = text();
		in_destructors++;
	}
};

struct Shape {
	virtual ~Shape() = default;
	virtual void fall(int depth) = 0;
};

struct Odd : std::runtime_error {
	using std::runtime_error::runtime_error;
	std::vector<std::string> words = {text(), text()};
};

void descend(int depth);

struct Throwing : Shape {
	void fall(int depth) override
	{
		Guard guard;
		if (depth <= 0) {
			if (draw(2))
				throw Odd(text());
			throw std::logic_error(text());
		}
		descend(depth - 1);
	}
};

struct Rethrowing : Shape {
	void fall(int depth) override
	{
		try {
			descend(depth - 1);
		} catch (const Odd &odd) {
			Guard guard;
			guard.kept[0] = odd.what();
			rethrown++;
			throw;
		}
	}
};

struct Wrapping : Shape {
	void fall(int depth) override
	{
		try {
			descend(depth - 1);
		} catch (...) {
			std::exception_ptr held = std::current_exception();
			Guard guard;
			rethrown++;
			std::rethrow_exception(held);
		}
	}
};

struct Nested : Shape {
	void fall(int depth) override
	{
		try {
			descend(depth - 1);
		} catch (const std::exception &error) {
			std::string kept = error.what();
			try {
				throw Odd(kept);
			} catch (const Odd &) {
				Guard guard;
				caught++;
			}
			throw std::logic_error(kept);
		}
	}
};

struct Catching : Shape {
	void fall(int depth) override
	{
		for (int i = 0; i < 2; i++) {
			try {
				descend(depth - 1);
			} catch (const std::exception &error) {
				std::vector<std::string> copies(1 + draw(4), error.what());
				caught++;
			}
		}
	}
};

template <int N> struct Through {
	static void go(int depth, const std::function<void(int)> &next)
	{
		Guard guard;
		Through<N - 1>::go(depth, next);
	}
};
template <> struct Through<0> {
	static void go(int depth, const std::function<void(int)> &next)
	{
		next(depth);
	}
};

std::unique_ptr<Shape> any_shape()
{
	switch (draw(6)) {
	case 0:
		return std::make_unique<Rethrowing>();
	case 1:
		return std::make_unique<Wrapping>();
	case 2:
		return std::make_unique<Nested>();
	case 3:
		return std::make_unique<Catching>();
	default:
		return std::make_unique<Throwing>();
	}
}

void descend(int depth)
{
	std::unique_ptr<Shape> shape = any_shape();
	if (depth > 0 && draw(4) == 0)
		Through<5>::go(depth, [&](int left) { shape->fall(left); });
	else
		shape->fall(depth);
}

void work(long rounds, unsigned long seed)
{
	random_source.seed(seed);
	for (long i = 0; i < rounds; i++) {
		try {
			descend(static_cast<int>(draw(12)));
		} catch (const std::exception &error) {
			std::string kept = error.what();
			caught++;
		}
	}
}
} // namespace

int main(int count, char **words)
{
	long rounds = count > 1 ? atol(words[1]) : 1000;
	unsigned long seed = count > 2 ? strtoul(words[2], nullptr, 10) : 1;
	std::thread other([&] { work(rounds, seed + 1); });

	work(rounds, seed);
	other.join();
	std::printf("caught %lu, rethrown %lu, allocated in %lu destructors\n", caught, rethrown, in_destructors);
	return caught && rethrown && in_destructors ? 0 : 1;
}
