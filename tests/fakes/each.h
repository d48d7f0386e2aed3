/* SPDX-License-Identifier: MIT */
/* each.h: an argument list of driver.def and runtime.def as declarations, as names, as members of a struct.
 * An argument is a pair: (type, name). */
#ifndef SIM_EACH_H
#define SIM_EACH_H

#define SIM_DECLARE(T, N) T N
#define SIM_NAME(T, N)    N
#define SIM_MEMBER(T, N)  T N;
#define SIM_COMMA()       ,
#define SIM_NOTHING()

#define SIM_COUNT_(a, b, c, d, e, f, g, h, i, j, k, n, ...) n
#define SIM_COUNT(...)                                      SIM_COUNT_(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SIM_E1(F, S, x)                                     F x
#define SIM_E2(F, S, x, ...)                                F x S() SIM_E1(F, S, __VA_ARGS__)
#define SIM_E3(F, S, x, ...)                                F x S() SIM_E2(F, S, __VA_ARGS__)
#define SIM_E4(F, S, x, ...)                                F x S() SIM_E3(F, S, __VA_ARGS__)
#define SIM_E5(F, S, x, ...)                                F x S() SIM_E4(F, S, __VA_ARGS__)
#define SIM_E6(F, S, x, ...)                                F x S() SIM_E5(F, S, __VA_ARGS__)
#define SIM_E7(F, S, x, ...)                                F x S() SIM_E6(F, S, __VA_ARGS__)
#define SIM_E8(F, S, x, ...)                                F x S() SIM_E7(F, S, __VA_ARGS__)
#define SIM_E9(F, S, x, ...)                                F x S() SIM_E8(F, S, __VA_ARGS__)
#define SIM_E10(F, S, x, ...)                               F x S() SIM_E9(F, S, __VA_ARGS__)
#define SIM_E11(F, S, x, ...)                               F x S() SIM_E10(F, S, __VA_ARGS__)
#define SIM_JOIN_(a, b)                                     a##b
#define SIM_JOIN(a, b)                                      SIM_JOIN_(a, b)
#define SIM_EACH(F, S, ...)                                 SIM_JOIN(SIM_E, SIM_COUNT(__VA_ARGS__))(F, S, __VA_ARGS__)

#define SIM_DECLARATIONS(...) SIM_EACH(SIM_DECLARE, SIM_COMMA, __VA_ARGS__)
#define SIM_NAMES(...)        SIM_EACH(SIM_NAME, SIM_COMMA, __VA_ARGS__)
#define SIM_MEMBERS(...)      SIM_EACH(SIM_MEMBER, SIM_NOTHING, __VA_ARGS__)

#endif
