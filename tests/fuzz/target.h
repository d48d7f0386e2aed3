/* SPDX-License-Identifier: MIT */
/* target.h: what a fuzz target is: one function over bytes. libFuzzer calls it (clang -fsanitize=fuzzer), or
 * replay.c with the files of tests/data/corpus, so that every input that was ever worth keeping is a test.
 *
 * A target returns 0. It fails by abort(), or by what a sanitizer finds.
 */
#ifndef RVP_TESTS_FUZZ_TARGET_H
#define RVP_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
