/* SPDX-License-Identifier: MIT */
/* symbols_file.c: one file of code, opened by libdwfl away from any process. The table of
 * librvprof_symbols.so.
 *
 * The file is reported at base 0 with its own addresses, so an address is looked up as addr2line would.
 * Separate debug files (.build-id folders, .gnu_debuglink, debuginfod when DEBUGINFOD_URLS is set) are
 * libdwfl's work. A file that is gone or replaced is asked for by its build-id at debuginfod, by way of
 * that library's client, if it is here.
 *
 *   (F1) Nothing is taken from a file whose identity differs from the recorded one: a wrong name is
 *        worse than none.
 *   (F2) A symbol speaks for its own bytes only (value to value + size): "the nearest one below" is a
 *        guess in a stripped library.
 */
#include "report/symbols_dwarf.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYMBOLS_BACK_MAX = 64 };

struct symbol {
	uint64_t low, high; /* high == low: of no size */
	const char *name;
	uint8_t binding;
	const char *readable; /* the name without version, demangled; NULL: not asked for yet */
};
struct symbols {
	struct symbol *symbols; /* by_address */
	size_t count;
};
struct rvp_symbols_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct rvp_dwarf *dwarf;
	Dwarf_Addr dwarf_bias;
	struct symbols all; /* of the file and its separate debug file */
	struct symbols own; /* of the file alone */
	struct rvp_symbols_texts texts;
	bool is_loaded, is_own_loaded;
};

static char *debug_path; /* NULL: libdwfl's default, ":.debug:/usr/lib/debug" */
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

static bool build_id_differs(int fd, const struct rvp_symbols_identity *identity)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *bytes = NULL;
	ssize_t length = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
	bool differs = length < 0 || (uint64_t)length != identity->build_id_bytes ||
		       memcmp(bytes, identity->build_id, (size_t)length) != 0;

	elf_end(elf);
	return differs;
}

static bool is_replaced(int fd, const struct rvp_symbols_identity *identity)
{
	struct stat now;
	uint64_t modified_ns;

	if (identity->build_id_bytes)
		return build_id_differs(fd, identity);
	if (fstat(fd, &now) != 0)
		return true;
	modified_ns = (uint64_t)now.st_mtim.tv_sec * 1000000000u + (uint64_t)now.st_mtim.tv_nsec;
	return (identity->file_bytes && identity->file_bytes != (uint64_t)now.st_size) ||
	       (identity->modified_ns && identity->modified_ns != modified_ns);
}

/* The file of that build-id from debuginfod, or -1. */
static int fetch_by_build_id(const struct rvp_symbols_identity *identity)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *library, *client;
	void *(*begin)(void);
	int (*find)(void *, const unsigned char *, int, char **);
	void (*end)(void *);
	int fd = -1;

	if (!urls || !*urls || !identity->build_id_bytes)
		return -1;
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	begin = (void *(*)(void))dlsym(library, "debuginfod_begin");
	find = (int (*)(void *, const unsigned char *, int, char **))dlsym(library,
									   "debuginfod_find_executable");
	end = (void (*)(void *))dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		fd = find(client, identity->build_id, (int)identity->build_id_bytes, NULL);
		end(client);
	}
	return fd < 0 ? -1 : fd; /* the library stays open: curl in it does not like to go */
}

/* A descriptor of the file that ran, or -1 with the reason in *state. */
static int open_same(const struct rvp_symbols_identity *identity, enum rvp_symbols_state *state)
{
	struct stat kind;
	int fd = open(identity->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), fetched;

	*state = RVP_SYMBOLS_GOOD;
	if (fd >= 0 && (fstat(fd, &kind) != 0 || !S_ISREG(kind.st_mode))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && !is_replaced(fd, identity))
		return fd;
	*state = fd < 0 ? RVP_SYMBOLS_MISSING : RVP_SYMBOLS_REPLACED;
	if (fd >= 0)
		close(fd);
	fetched = fetch_by_build_id(identity);
	if (fetched >= 0 && !build_id_differs(fetched, identity)) {
		*state = RVP_SYMBOLS_GOOD;
		return fetched;
	}
	if (fetched >= 0)
		close(fetched);
	return -1;
}

/* Takes `fd`. False where it is no ELF file. */
static bool report_file(struct rvp_symbols_file *file, const char *path, int fd)
{
	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (file->module)
		return true;
	close(fd);
	return false;
}

static struct rvp_symbols_file *file_open(const struct rvp_symbols_identity *identity,
					  enum rvp_symbols_state *state)
{
	struct rvp_symbols_file *file = calloc(1, sizeof *file);
	int fd;

	if (!file)
		return NULL;
	elf_version(EV_CURRENT);
	fd = open_same(identity, state);
	if (fd >= 0 && !report_file(file, identity->path, fd))
		*state = RVP_SYMBOLS_MISSING;
	return file;
}

static void file_close(struct rvp_symbols_file *file)
{
	rvp_dwarf_close(file->dwarf);
	rvp_symbols_texts_free(&file->texts);
	free(file->all.symbols);
	free(file->own.symbols);
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file);
}

static bool is_executable(Elf *elf, GElf_Word section)
{
	GElf_Shdr header;
	Elf_Scn *found = elf_getscn(elf, section);

	return found && gelf_getshdr(found, &header) && (header.sh_flags & SHF_EXECINSTR);
}

static bool is_code(const GElf_Sym *symbol, GElf_Word section, Elf *elf)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	if (section == SHN_UNDEF || section == SHN_ABS)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && is_executable(elf, section);
}

/* Of several names of one function the one that people know: not `__libc_malloc`. Negative: `a` is better. */
static int by_fame(const struct symbol *a, const struct symbol *b)
{
	int a_hidden = strncmp(a->name, "__", 2) == 0, b_hidden = strncmp(b->name, "__", 2) == 0;
	size_t a_length = strlen(a->name), b_length = strlen(b->name);

	if (a_hidden != b_hidden)
		return a_hidden - b_hidden;
	if ((a->binding == STB_LOCAL) != (b->binding == STB_LOCAL))
		return a->binding == STB_LOCAL ? 1 : -1;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* By address; at one address the sized and famous last, so that a search from above meets them first. */
static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if ((a->high == a->low) != (b->high == b->low))
		return a->high == a->low ? -1 : 1;
	return by_fame(b, a);
}

static void sort(struct symbols *symbols)
{
	if (symbols->count)
		qsort(symbols->symbols, symbols->count, sizeof *symbols->symbols, by_address);
}

static void load_symbols(struct rvp_symbols_file *file)
{
	int count = dwfl_module_getsymtab(file->module);

	if (count <= 0)
		return;
	file->all.symbols = calloc((size_t)count, sizeof *file->all.symbols);
	for (int i = 1; file->all.symbols && i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		Elf *elf;
		const char *name =
		    dwfl_module_getsym_info(file->module, i, &symbol, &address, &section, &elf, NULL);

		if (!name || !*name || !is_code(&symbol, section, elf))
			continue;
		file->all.symbols[file->all.count++] = (struct symbol){
		    address, address + symbol.st_size, name, (uint8_t)GELF_ST_BIND(symbol.st_info), NULL};
	}
	sort(&file->all);
}

/* .symtab, or .dynsym where it was stripped. */
static Elf_Scn *symbol_section(Elf *elf, GElf_Shdr *header)
{
	Elf_Scn *section = NULL, *dynamic = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		if (header->sh_type == SHT_SYMTAB)
			return section;
		if (header->sh_type == SHT_DYNSYM)
			dynamic = section;
	}
	return dynamic && gelf_getshdr(dynamic, header) ? dynamic : NULL;
}

static void load_own(struct rvp_symbols_file *file)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	GElf_Shdr header;
	Elf_Scn *section = elf ? symbol_section(elf, &header) : NULL;
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;

	file->own.symbols = count ? calloc(count, sizeof *file->own.symbols) : NULL;
	for (size_t i = 1; file->own.symbols && i < count; i++) {
		GElf_Sym symbol;
		const char *name = gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_XINDEX
				       ? elf_strptr(elf, header.sh_link, symbol.st_name)
				       : NULL;

		if (!name || !*name || !is_code(&symbol, symbol.st_shndx, elf))
			continue;
		file->own.symbols[file->own.count++] =
		    (struct symbol){symbol.st_value + bias, symbol.st_value + bias + symbol.st_size, name,
				    (uint8_t)GELF_ST_BIND(symbol.st_info), NULL};
	}
	sort(&file->own);
}

static void load(struct rvp_symbols_file *file)
{
	Dwarf *dwarf;

	if (file->is_loaded)
		return;
	file->is_loaded = true;
	dwarf = dwfl_module_getdwarf(file->module, &file->dwarf_bias);
	if (dwarf)
		file->dwarf = rvp_dwarf_open(dwarf);
	load_symbols(file);
}

static struct symbol *find_symbol(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols->symbols[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < SYMBOLS_BACK_MAX && low > back; back++) {
		struct symbol *symbol = &symbols->symbols[low - back - 1];

		if (address < symbol->high)
			return symbol;
	}
	return NULL;
}

/* `memcpy@@GLIBC_2.14` is memcpy. */
static const char *symbol_name(struct rvp_symbols_file *file, const struct symbol *symbol)
{
	const char *version = strchr(symbol->name, '@');
	const char *name = symbol->name;

	if (version && version > name)
		name = rvp_symbols_keep(&file->texts, strndup(name, (size_t)(version - name)));
	return name ? rvp_symbols_readable(&file->texts, name) : symbol->name;
}

static bool file_has_names(struct rvp_symbols_file *file)
{
	if (file->module && !file->is_own_loaded)
		load_own(file);
	file->is_own_loaded = true;
	return file->own.count != 0;
}

static const char *file_name(struct rvp_symbols_file *file, uint64_t address)
{
	struct symbol *symbol;

	if (!file_has_names(file))
		return NULL;
	symbol = find_symbol(&file->own, address);
	if (symbol && !symbol->readable)
		symbol->readable = symbol_name(file, symbol);
	return symbol ? symbol->readable : NULL;
}

static void file_lookup(struct rvp_symbols_file *file, uint64_t address, rvp_symbols_emit *emit,
			void *context)
{
	const struct symbol *symbol;
	const char *name;

	if (!file->module)
		return;
	load(file);
	symbol = find_symbol(&file->all, address);
	name = symbol ? symbol_name(file, symbol) : NULL;
	if (file->dwarf &&
	    rvp_dwarf_lookup(file->dwarf, address - file->dwarf_bias, name, &file->texts, emit, context))
		return;
	if (name)
		emit(context, &(struct rvp_symbols_hit){.function = name});
}

extern const struct rvp_symbols_table rvp_symbols_table;
__attribute__((visibility("default"))) const struct rvp_symbols_table rvp_symbols_table = {
    .abi = RVP_SYMBOLS_ABI,
    .open = file_open,
    .lookup = file_lookup,
    .name = file_name,
    .has_names = file_has_names,
    .close = file_close,
    .demangle = rvp_symbols_demangle,
};
