/* SPDX-License-Identifier: MIT */
/* text_style.c: see text_style.h.
 *
 * Width of a character: 0 for combining marks, 2 for wide ones, both by wcwidth of the C.UTF-8 locale where
 * there is one, else 1. */
#include "report/text_style.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 40, WIDTH_MAX = 1000 };

static const char *const inks[RVP_INK_COUNT] = {
    [RVP_INK_PLAIN] = "",          [RVP_INK_TITLE] = "\033[1m", [RVP_INK_NUMBER] = "\033[1;33m",
    [RVP_INK_PYTHON] = "\033[36m", [RVP_INK_DIM] = "\033[2m",   [RVP_INK_BAD] = "\033[31m",
};

bool rvp_color_choice_of(const char *word, enum rvp_color_choice *choice)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(word, words[i])) {
			*choice = (enum rvp_color_choice)i;
			return true;
		}
	return false;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool wants_color(int fd, enum rvp_color_choice choice)
{
	const char *terminal = getenv("TERM");

	if (choice != RVP_COLOR_AUTO)
		return choice == RVP_COLOR_ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE"))
		return true;
	return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

static unsigned width_of(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (!isatty(fd))
		return 0;
	if (width <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0)
		width = WIDTH_DEFAULT;
	return (unsigned)(width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width);
}

struct rvp_style rvp_style_for(int fd, enum rvp_color_choice choice)
{
	return (struct rvp_style){wants_color(fd, choice), width_of(fd)};
}

const char *rvp_style_on(const struct rvp_style *style, enum rvp_ink ink)
{
	return style->has_color ? inks[ink] : "";
}

const char *rvp_style_off(const struct rvp_style *style, enum rvp_ink ink)
{
	return style->has_color && *inks[ink] ? "\033[0m" : "";
}

/* A character of UTF-8. */
struct character {
	size_t bytes;
	unsigned columns;
	bool is_bad; /* control or broken: printed as '?' */
};

static locale_t utf8_locale(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return locale;
}

static unsigned columns_of(uint32_t code)
{
	locale_t locale = utf8_locale(), before;
	int columns;

	if (!locale)
		return 1;
	before = uselocale(locale);
	columns = wcwidth((wchar_t)code);
	uselocale(before);
	return columns < 0 ? 1 : (unsigned)columns;
}

/* Code points that turn the direction of text around can make a name read as another one. */
static bool is_steering(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f;
}

static struct character bad_byte(void)
{
	return (struct character){1, 1, true};
}

static struct character first_of(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *at = (const uint8_t *)text;
	size_t bytes = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
	uint32_t code = bytes == 1 ? *at : *at & (0x7fu >> bytes);

	if (*at >= 0xf5 || (*at >= 0x80 && *at < 0xc2))
		return bad_byte();
	for (size_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return bad_byte();
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return bad_byte();
	if (is_steering(code))
		return (struct character){bytes, 1, true};
	return (struct character){bytes, code < 0x80 ? 1 : columns_of(code), false};
}

unsigned rvp_text_columns(const char *text)
{
	unsigned columns = 0;

	while (*text) {
		struct character character = first_of(text);

		columns += character.columns;
		text += character.bytes;
	}
	return columns;
}

/* Prints as much of `text` as fits into `columns`. */
static unsigned print_part(FILE *out, const char *text, unsigned columns)
{
	unsigned printed = 0;

	while (*text) {
		struct character character = first_of(text);

		if (printed + character.columns > columns)
			break;
		if (character.is_bad)
			fputc('?', out);
		else
			fwrite(text, 1, character.bytes, out);
		printed += character.columns;
		text += character.bytes;
	}
	return printed;
}

unsigned rvp_print_safely(FILE *out, const char *text, unsigned columns)
{
	if (!columns || rvp_text_columns(text) <= columns)
		return print_part(out, text, UINT32_MAX);
	if (columns <= 3)
		return print_part(out, text, columns);
	columns = print_part(out, text, columns - 3);
	fputs("...", out);
	return columns + 3;
}

unsigned rvp_print_safely_end(FILE *out, const char *text, unsigned columns)
{
	unsigned all = rvp_text_columns(text), skipped = 0;

	if (!columns || all <= columns)
		return print_part(out, text, UINT32_MAX);
	if (columns <= 3)
		return print_part(out, text, columns);
	while (all - skipped > columns - 3) {
		struct character character = first_of(text);

		skipped += character.columns;
		text += character.bytes;
	}
	fputs("...", out);
	return 3 + print_part(out, text, UINT32_MAX);
}
