/* SPDX-License-Identifier: MIT */
/* find_program.h: which file a word of a command line means, as execvp would find it. */
#ifndef RVP_FIND_PROGRAM_H
#define RVP_FIND_PROGRAM_H

enum { RVP_PROGRAM_PATH_BYTES = 4096 };

/* The path of `word` into `path`. 0, ENOENT (not found), or EACCES and others (found, but can not be
 * executed). */
int rvp_find_program(const char *word, char *path);

/* librvprof.so's absolute path, beside `rvprof` itself; 0 or an errno. */
int rvp_find_library(char *path);

#endif
