// SPDX-License-Identifier: MIT
// overhead_mix.cc: a program of many call paths: documents are made, written as JSON, parsed into maps, vectors and
// strings, copied, changed and dropped, by recursion. The hard case of every unwinder that remembers.
//
//     overhead_mix ROUNDS [FILE]     writes wall and processor microseconds a round: the best of five parts
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace
{
struct Value {
	enum Kind { Null, Number, Text, List, Object } kind = Null;
	double number = 0;
	std::string text;
	std::vector<Value> list;
	std::map<std::string, Value> object;
};

std::mt19937 source(5);

unsigned draw(unsigned below)
{
	return source() % below;
}

Value make(int depth)
{
	Value value;
	switch (depth == 0 ? 1 + draw(2) : 1 + draw(4)) {
	case Value::Number:
		value.kind = Value::Number;
		value.number = draw(100000);
		break;
	case Value::Text:
		value.kind = Value::Text;
		value.text.assign(4 + draw(60), static_cast<char>('a' + draw(26)));
		break;
	case Value::List:
		value.kind = Value::List;
		for (unsigned i = draw(6); i > 0; i--)
			value.list.push_back(make(depth - 1));
		break;
	default:
		value.kind = Value::Object;
		for (unsigned i = draw(6); i > 0; i--)
			value.object.emplace("key of some length " + std::to_string(draw(1000)), make(depth - 1));
	}
	return value;
}

void dump(const Value &value, std::string &out)
{
	const char *between = "";
	switch (value.kind) {
	case Value::Null: out += "null"; break;
	case Value::Number: out += std::to_string(value.number); break;
	case Value::Text: out += '"' + value.text + '"'; break;
	case Value::List:
		out += '[';
		for (const Value &entry : value.list) {
			out += between;
			dump(entry, out);
			between = ",";
		}
		out += ']';
		break;
	case Value::Object:
		out += '{';
		for (const auto &entry : value.object) {
			out += between + ('"' + entry.first + "\":");
			dump(entry.second, out);
			between = ",";
		}
		out += '}';
	}
}

struct Parser {
	const std::string &text;
	size_t at = 0;

	std::string word()
	{
		std::string word;
		for (at++; text[at] != '"'; at++)
			word += text[at];
		at++;
		return word;
	}
	Value list()
	{
		Value value;
		value.kind = Value::List;
		for (at++; text[at] != ']';) {
			value.list.push_back(parse());
			at += text[at] == ',';
		}
		at++;
		return value;
	}
	Value object()
	{
		Value value;
		value.kind = Value::Object;
		for (at++; text[at] != '}';) {
			std::string key = word();
			at++;
			value.object[key] = parse();
			at += text[at] == ',';
		}
		at++;
		return value;
	}
	Value parse()
	{
		Value value;
		switch (text[at]) {
		case '[': return list();
		case '{': return object();
		case '"':
			value.kind = Value::Text;
			value.text = word();
			return value;
		default:
			char *end;
			value.kind = Value::Number;
			value.number = strtod(text.c_str() + at, &end);
			at = static_cast<size_t>(end - text.c_str());
			return value;
		}
	}
};

void grow(Value &value, int depth)
{
	for (Value &entry : value.list)
		grow(entry, depth + 1);
	for (auto &entry : value.object)
		grow(entry.second, depth + 1);
	if (value.kind == Value::Text)
		value.text += " and more of it, so that it moves " + std::to_string(depth);
}

size_t one_round()
{
	std::string text, again;
	Value document;
	document.kind = Value::List;
	for (int i = 0; i < 12; i++)
		document.list.push_back(make(5));
	dump(document, text);
	Value parsed = Parser{text}.parse();
	Value copy = parsed;
	grow(copy, 0);
	auto held = std::make_unique<Value>(std::move(copy));
	dump(*held, again);
	return again.size();
}

double now_us(clockid_t clock)
{
	timespec now;
	clock_gettime(clock, &now);
	return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}
} // namespace

int main(int count, char **words)
{
	constexpr int parts = 5;
	long rounds = count > 1 ? atol(words[1]) : 0;
	std::FILE *file = count > 2 ? std::fopen(words[2], "w") : stdout;
	double wall_us = 0, cpu_us = 0;
	size_t sum = 0;

	if (rounds < 1 || !file)
		return 2;
	for (int part = 0; part < parts; part++) {
		double wall = now_us(CLOCK_MONOTONIC), cpu = now_us(CLOCK_PROCESS_CPUTIME_ID);
		source.seed(5); // every part does the same
		for (long i = 0; i < rounds; i++)
			sum += one_round();
		wall = (now_us(CLOCK_MONOTONIC) - wall) / static_cast<double>(rounds);
		cpu = (now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu) / static_cast<double>(rounds);
		wall_us = part == 0 || wall < wall_us ? wall : wall_us;
		cpu_us = part == 0 || cpu < cpu_us ? cpu : cpu_us;
	}
	std::fprintf(file, "%.3f %.3f\n", wall_us, cpu_us);
	return sum == 0;
}
