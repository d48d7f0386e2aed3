/* SPDX-License-Identifier: MIT */
/* run_folder.h: where a run's folder is made and how it is called, the same for `rvprof run` and a bare
 * preload.
 *
 * Template letters: %p pid, %h host, %r rank, %e program, %t start time (20261121T130135Z), %q{NAME} a
 * variable of the environment, %% a percent sign. What is not known (no rank, no such variable) is empty. A
 * relative template is below the current folder. Without a template: rvprof.%e.%p in the current folder, else
 * $TMPDIR, else /tmp.
 *
 * Nothing is allocated; no stdio. Functions return 0 or an errno.
 */
#ifndef RVP_RUN_FOLDER_H
#define RVP_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RVP_FOLDER_TEMPLATE "rvprof.%e.%p"

enum { RVP_FOLDER_BYTES = 4096 };

struct rvp_folder_facts {
	uint32_t pid;
	uint64_t start_unix_s;
	const char *host, *exe;   /* exe: basename as typed */
	char *const *environment; /* for %r, %q and $TMPDIR */
};

/* `template` with its letters filled in. ENAMETOOLONG: does not fit; EINVAL: a letter that is none. */
int rvp_folder_name(char *into, size_t bytes, const char *template, const struct rvp_folder_facts *facts);

/* Makes the folder (0700) and its missing parents. EEXIST: it is there already. */
int rvp_folder_make(const char *path);

/* The folders above `path` that are missing; `path` is as it was afterwards. */
int rvp_folder_make_parents(char *path, unsigned mode);

/* Names and makes a run's folder; `path` (RVP_FOLDER_BYTES) becomes its absolute path. `template` may be
 * empty: the default. When the place is taken, with `numbered` NAME.1, NAME.2, ... are tried, else EEXIST.
 * `moved` becomes true when the default could not be made in the current folder and is elsewhere. On failure
 * `path` is what was tried. */
int rvp_folder_place(char *path, const char *template, const struct rvp_folder_facts *facts, bool numbered,
		     bool *moved);

/* Basename of the program's path as typed; never empty. */
const char *rvp_folder_exe(const char *typed);

/* The value of `name` in `environment`, or NULL. */
const char *rvp_environment_value(char *const *environment, const char *name);

/* RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID, the first that is set; else "". */
const char *rvp_environment_rank(char *const *environment);

#endif
