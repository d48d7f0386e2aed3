/* SPDX-License-Identifier: MIT */
/* doctor_python.c: whether the PyTorch adapter (docs/pytorch.md) will work in a Python program. The
 * interpreter is not run: PyTorch is looked for where it stands beside one, in site-packages and
 * dist-packages of its prefixes (a virtual environment's and the one it was made of), and its version is read
 * from its version.py.
 *
 * An interpreter without PyTorch beside it has no finding: there the adapter does nothing, and a program may
 * still bring its own sys.path.
 */
#include "tools/doctor.h"

#include "record/options.h"
#include "tools/find_program.h"

#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As MEASURED in python/rvprof_adapter_torch.py. */
static const char measured[] = "1.13";

static const char *const places[] = {
    "lib/python3*/site-packages",
    "lib64/python3*/site-packages",
    "lib/python3*/dist-packages",
    "local/lib/python3*/dist-packages",
};

/* The word in quotes of `__version__ = '1.13.1'`. */
static bool version_of(const char *file, char version[64])
{
	FILE *stream = fopen(file, "re");
	char line[256];
	bool is_found = false;

	if (!stream)
		return false;
	while (!is_found && fgets(line, sizeof line, stream))
		is_found = sscanf(line, "__version__ = %*['\"]%63[^'\"]", version) == 1;
	fclose(stream);
	return is_found;
}

static bool find_torch(const char *prefix, char *path, char version[64])
{
	char pattern[PATH_MAX + 64];
	bool is_found = false;

	for (size_t i = 0; i < sizeof places / sizeof *places && !is_found; i++) {
		glob_t files = {0};

		snprintf(pattern, sizeof pattern, "%s/%s/torch/version.py", prefix, places[i]);
		if (!glob(pattern, 0, NULL, &files)) {
			is_found = version_of(files.gl_pathv[0], version);
			snprintf(path, PATH_MAX, "%s", dirname(files.gl_pathv[0]));
		}
		globfree(&files);
	}
	return is_found;
}

/* The folder above the interpreter's: of its link, as in a virtual environment, then of the file itself. */
static bool find_beside(const char *interpreter, char *path, char version[64])
{
	char copy[PATH_MAX], real[PATH_MAX];

	snprintf(copy, sizeof copy, "%s", interpreter);
	if (find_torch(dirname(dirname(copy)), path, version))
		return true;
	return realpath(interpreter, real) && find_torch(dirname(dirname(real)), path, version);
}

static bool is_measured(const char *version)
{
	size_t length = sizeof measured - 1;

	return strncmp(version, measured, length) == 0 && (version[length] < '0' || version[length] > '9');
}

static bool is_off(void)
{
	char complaint[RVP_COMPLAINT_BYTES];
	struct rvp_options options;

	(void)rvp_options_read(&options, environ, complaint,
			       sizeof complaint); /* doctor_system.c complains */
	return !options.adapters;
}

void rvp_doctor_python(struct rvp_findings *findings, const struct rvp_elf *elf, const char *interpreter)
{
	char path[PATH_MAX], version[64];

	if ((!rvp_elf_defines(elf, "Py_AddPendingCall") && !rvp_elf_needs(elf, "libpython3")) ||
	    !find_beside(interpreter, path, version))
		return;
	if (is_off())
		rvp_found(
		    findings, RVP_FINDING_NOTE, "adapter", "unset RVPROF_NO_ADAPTERS",
		    "PyTorch %s (%s): its adapter is off by RVPROF_NO_ADAPTERS, so weights, KV caches and "
		    "steps are found by other evidence only",
		    version, path);
	else if (is_measured(version))
		rvp_found(
		    findings, RVP_FINDING_NOTE, "adapter", "",
		    "PyTorch %s (%s): its adapter tells weights, KV caches, gradients, optimizer state and "
		    "steps",
		    version, path);
	else
		rvp_found(findings, RVP_FINDING_NOTE, "adapter",
			  "if a report says that it failed, --no-adapters leaves it out",
			  "PyTorch %s (%s): its adapter was not run with this version, only with %s", version,
			  path, measured);
}
