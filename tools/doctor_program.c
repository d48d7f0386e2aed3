/* SPDX-License-Identifier: MIT */
/* doctor_program.c: what a program's file says about whether it can be seen. */
#include "tools/doctor.h"

#include "tools/elf_file.h"
#include "tools/find_program.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPTS_FOLLOWED = 4 };

void rvp_found(struct rvp_findings *findings, enum rvp_finding_level level, const char *id, const char *mend,
	       const char *format, ...)
{
	struct rvp_finding *row;
	va_list arguments;

	if (findings->count == RVP_FINDINGS_MAX)
		return;
	row = &findings->rows[findings->count++];
	row->level = level;
	row->id = id;
	snprintf(row->mend, sizeof row->mend, "%s", mend);
	va_start(arguments, format);
	vsnprintf(row->text, sizeof row->text, format, arguments);
	va_end(arguments);
}

bool rvp_findings_have(const struct rvp_findings *findings, enum rvp_finding_level level)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->rows[i].level == level)
			return true;
	return false;
}

/* The loader ignores LD_PRELOAD where a program gains rights. */
static void check_rights(struct rvp_findings *findings, const char *path)
{
	static const char mend[] = "run a copy of it without the extra rights, as a user who has them";
	struct stat file;
	bool gains_user, gains_group;

	if (stat(path, &file))
		return;
	gains_user = (file.st_mode & S_ISUID) && file.st_uid != getuid();
	gains_group = (file.st_mode & S_ISGID) && file.st_gid != getgid();
	if (gains_user || gains_group)
		rvp_found(findings, RVP_FINDING_NO, "setuid", mend,
			  "%s is set%s: the loader takes no library from LD_PRELOAD into it", path,
			  gains_user ? "uid" : "gid");
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		rvp_found(findings, RVP_FINDING_NO, "capabilities", mend,
			  "%s has file capabilities: the loader takes no library from LD_PRELOAD into it",
			  path);
}

static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_386: return "32-bit x86";
	case EM_AARCH64: return "aarch64";
	case EM_ARM: return "32-bit ARM";
	case EM_RISCV: return "RISC-V";
	case EM_PPC64: return "64-bit POWER";
	case EM_S390: return "S/390";
	default: return "another kind of machine";
	}
}

/* False when there is nothing more to look at. */
static bool check_kind(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	if (elf->shape == RVP_ELF_NONE) {
		rvp_found(findings, RVP_FINDING_NO, "no_program", "name the program that runs it",
			  "%s is neither an ELF program nor a script with a #! line", path);
		return false;
	}
	if (elf->shape == RVP_ELF_32) {
		rvp_found(findings, RVP_FINDING_NO, "bits", "use a 64-bit build of it",
			  "%s is a 32-bit program", path);
		return false;
	}
	if (elf->machine != EM_X86_64) {
		rvp_found(findings, RVP_FINDING_NO, "machine", "use an x86-64 build of it", "%s is for %s",
			  path, machine_name(elf->machine));
		return false;
	}
	if (!elf->segments) {
		rvp_found(findings, RVP_FINDING_NO, "damaged", "get a whole copy of it",
			  "%s is a damaged ELF file", path);
		return false;
	}
	return true;
}

static void check_linking(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	if (!elf->interpreter)
		rvp_found(findings, RVP_FINDING_NO, "static",
			  "link it dynamically; `rvprof run` still shows its resident memory from outside",
			  "%s is statically linked: there is no loader that could take a library into it",
			  path);
	else if (strstr(elf->interpreter, "ld-musl"))
		rvp_found(findings, RVP_FINDING_NO, "musl", "use a build for glibc",
			  "%s runs on musl (%s), librvprof.so on glibc", path, elf->interpreter);
}

static const struct {
	const char *symbol, *allocator;
} allocators[] = {
    {"__asan_init", "AddressSanitizer's"},
    {"je_mallocx", "jemalloc's"},
    {"_rjem_mallocx", "jemalloc's (Rust)"},
    {"mallocx", "jemalloc's"},
    {"mi_malloc", "mimalloc's"},
    {"tc_malloc", "tcmalloc's"},
    {"rpmalloc", "rpmalloc's"},
    {"malloc", "its own"},
};

static void check_allocator(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	if (rvp_elf_defines(elf, "runtime.mallocgc"))
		rvp_found(
		    findings, RVP_FINDING_LESS, "go", "use Go's own heap profile for its side",
		    "%s is a Go program: Go's allocator asks the kernel itself, by no call that can be seen",
		    path);
	for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
		if (!rvp_elf_defines(elf, allocators[i].symbol))
			continue;
		rvp_found(findings, RVP_FINDING_LESS, "own_allocator",
			  "link the allocator as a shared library, or build without it",
			  "%s has an allocator linked in (%s): its blocks are not seen, only what it maps",
			  path, allocators[i].allocator);
		return;
	}
}

static void check_sanitizer(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	const char *sanitizer = rvp_elf_needs(elf, "libasan.so");

	if (sanitizer)
		rvp_found(
		    findings, RVP_FINDING_LESS, "sanitizer", "profile a build without -fsanitize=address",
		    "%s uses AddressSanitizer (%s), whose allocator comes before ours", path, sanitizer);
}

static void check_dlopen(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	if (rvp_elf_imports(elf, "dlmopen"))
		rvp_found(findings, RVP_FINDING_NOTE, "dlmopen", "",
			  "%s can open libraries in a namespace of their own (dlmopen): what they allocate "
			  "is not seen",
			  path);
	if (rvp_elf_imports(elf, "dlopen"))
		rvp_found(findings, RVP_FINDING_NOTE, "deepbind", "open them without RTLD_DEEPBIND",
			  "%s opens libraries at run time: one that it opens with RTLD_DEEPBIND calls libc's "
			  "malloc "
			  "directly, which is not seen",
			  path);
}

static void check_io_uring(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	if (rvp_elf_needs(elf, "liburing.so"))
		rvp_found(findings, RVP_FINDING_NOTE, "io_uring", "",
			  "%s is linked with liburing: what it reads by that way is not seen, so weights "
			  "that it loads so are "
			  "not known by their file",
			  path);
}

/* The interpreter of a #! line, found as it would be run: `env` is looked through. */
static bool follow_script(const struct rvp_elf *elf, char *path)
{
	char line[256], found[RVP_PROGRAM_PATH_BYTES], *rest = NULL, *word;
	const char *base;

	snprintf(line, sizeof line, "%.*s", (int)elf->script_length, elf->script);
	word = strtok_r(line, " \t\r", &rest);
	if (!word)
		return false;
	base = strrchr(word, '/');
	if (base && !strcmp(base, "/env")) {
		do
			word = strtok_r(NULL, " \t\r", &rest);
		while (word && (word[0] == '-' || strchr(word, '=')));
		if (!word)
			return false;
	}
	if (rvp_find_program(word, found))
		return false;
	memcpy(path, found, sizeof found);
	return true;
}

static void check_elf(struct rvp_findings *findings, const struct rvp_elf *elf, const char *path)
{
	if (!check_kind(findings, elf, path))
		return;
	check_linking(findings, elf, path);
	if (!elf->interpreter)
		return;
	check_allocator(findings, elf, path);
	check_sanitizer(findings, elf, path);
	check_dlopen(findings, elf, path);
	check_io_uring(findings, elf, path);
}

void rvp_doctor_program(struct rvp_findings *findings, const char *program)
{
	char path[RVP_PROGRAM_PATH_BYTES];
	struct rvp_status status;
	struct rvp_elf elf;

	snprintf(path, sizeof path, "%s", program);
	for (int i = 0; i < SCRIPTS_FOLLOWED; i++) {
		status = rvp_elf_open(&elf, path);
		if (rvp_failed(status)) {
			rvp_found(findings, RVP_FINDING_NO, "unreadable", "make it readable for you",
				  "%s can not be read, so nothing is known about it", path);
			return;
		}
		if (!elf.script)
			break;
		if (!follow_script(&elf, path)) {
			rvp_found(findings, RVP_FINDING_NO, "no_interpreter",
				  "install the interpreter of its #! line",
				  "the interpreter of %s is not found", path);
			rvp_elf_close(&elf);
			return;
		}
		rvp_elf_close(&elf);
	}
	if (elf.bytes) {
		check_rights(findings, path);
		check_elf(findings, &elf, path);
		rvp_doctor_python(findings, &elf, path);
	}
	rvp_elf_close(&elf);
}
