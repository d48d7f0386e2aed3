/* SPDX-License-Identifier: MIT */
/* meters_files.c: power that the kernel shows in files (powercap's RAPL, hwmon), and files or pipes of the user's own.
 *
 *   rapl   each package's counter, and the memory's beside it (`dram`); what lies within a package is in it already. The same
 *          packages under another name (intel-rapl-mmio) and the whole platform (psys) would count twice.
 *   hwmon  one chip's power1_average, power1_input or energy1_input. Where several chips have one, it must be named: two of
 *          them may be measuring the same watts.
 *   file   watts as a decimal number: of a file what its first line says now, of a pipe its last whole line.
 *
 * Folders: RVP_TEST_SYSFS takes the place of /sys, for tests alone.
 */
#include "tools/meters.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = 64, NAMES_BYTES = 256, ENTRIES_MAX = 256 };

static const char *sysfs(void)
{
	const char *test = getenv("RVP_TEST_SYSFS");

	return test && *test ? test : "/sys";
}

/* ---- reading ---- */

/* The file may have come back under its name: a driver was loaded again. */
static int reopen(struct rvp_meter *figure)
{
	if (figure->fd >= 0)
		close(figure->fd);
	figure->fd = open(figure->what, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return figure->fd >= 0 ? 0 : errno;
}

static bool is_there(const struct rvp_meter *figure)
{
	struct stat open_file, named;

	return fstat(figure->fd, &open_file) == 0 && stat(figure->what, &named) == 0 &&
	       open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

/* 0, or errno. `text` is terminated. */
static int read_text(struct rvp_meter *figure, char text[TEXT_BYTES])
{
	ssize_t got = figure->fd >= 0 && is_there(figure) ? pread(figure->fd, text, TEXT_BYTES - 1, 0) : -1;
	int error;

	if (got < 0) {
		error = reopen(figure);
		if (error)
			return error;
		got = pread(figure->fd, text, TEXT_BYTES - 1, 0);
	}
	if (got < 0)
		return errno;
	text[got] = '\0';
	return 0;
}

static bool whole_of(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	return isdigit((unsigned char)*text) && !errno && (!*end || *end == '\n');
}

static int read_whole(struct rvp_meter *figure, uint64_t *value)
{
	char text[TEXT_BYTES];
	int error = read_text(figure, text);

	return error ? error : whole_of(text, value) ? 0 : EINVAL;
}

/* Watts as people write them, to microwatts; negative ones are none. */
static bool watts_of(const char *text, uint64_t *value)
{
	char *end;
	double watts = strtod(text, &end);

	if (end == text || (*end && !isspace((unsigned char)*end)) || !(watts >= 0) || watts > 1e9 ||
	    strcspn(text, "xXpP\n") < strcspn(text, "\n"))
		return false;
	*value = (uint64_t)llround(watts * 1e6);
	return true;
}

static int read_watts(struct rvp_meter *figure, uint64_t *value)
{
	char text[TEXT_BYTES];
	int error = read_text(figure, text);

	return error ? error : watts_of(text, value) ? 0 : EINVAL;
}

static void take_byte(struct rvp_meter *figure, char byte)
{
	if (byte != '\n') {
		if (figure->line_length < sizeof figure->line - 1)
			figure->line[figure->line_length] = byte;
		figure->line_length++;
		return;
	}
	figure->line[figure->line_length < sizeof figure->line ? figure->line_length : sizeof figure->line - 1] = '\0';
	figure->has_line = figure->line_length < sizeof figure->line && watts_of(figure->line, &figure->line_value);
	figure->line_length = 0;
}

/* A pipe's writer may be late, or gone: its last word stands until nobody holds the other end. */
static int read_pipe(struct rvp_meter *figure, uint64_t *value)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(figure->fd, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < got; i++)
			take_byte(figure, bytes[i]);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return errno;
	if (got == 0)
		return EPIPE;
	*value = figure->line_value;
	return figure->has_line ? 0 : ENODATA;
}

/* ---- opening ---- */

/* What reads once reads again: a figure is tried before it is believed. */
static struct rvp_status open_figure(struct rvp_meters *power, enum rvp_power_unit unit, const char *path,
				     int (*read)(struct rvp_meter *, uint64_t *), const char *mend)
{
	struct rvp_meter *figure = rvp_meters_add(power, unit, path);
	uint64_t value;
	int error;

	if (!figure)
		return rvp_fail_with("measure power by", path, "there are too many figures");
	figure->read = read;
	error = read(figure, &value);
	if (!error)
		return RVP_OK;
	if (error == EACCES || error == EPERM)
		return rvp_fail_with("read", path, "%s; %s", strerror(error), mend);
	return rvp_fail_with("read", path, "%s",
			     error == EINVAL ? "it does not begin with a number" : strerror(error));
}

static uint64_t number_in(const char *folder, const char *name)
{
	struct rvp_meter file = {.fd = -1};
	uint64_t value = 0;

	snprintf(file.what, sizeof file.what, "%.440s/%.60s", folder, name);
	if (read_whole(&file, &value))
		value = 0;
	if (file.fd >= 0)
		close(file.fd);
	return value;
}

static void word_in(const char *folder, const char *name, char text[TEXT_BYTES])
{
	struct rvp_meter file = {.fd = -1};

	snprintf(file.what, sizeof file.what, "%.440s/%.60s", folder, name);
	if (read_text(&file, text))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file.fd >= 0)
		close(file.fd);
}

/* The names in a folder, in their order; how many. */
static int entries_of(const char *folder, struct dirent ***entries)
{
	int count = scandir(folder, entries, NULL, alphasort);

	return count < 0 ? 0 : count;
}

static void free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count)
		free(entries);
}

/* ---- rapl ---- */

static const char rapl_mend[] =
    "`sudo chmod a+r %s/class/powercap/*/energy_uj` lets everybody read it until the next start, or use sudo";

/* "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it. */
static bool is_zone(const char *entry, int colons)
{
	int count = 0;

	for (const char *at = entry; *at; at++)
		count += *at == ':';
	return count == colons && !strncmp(entry, "intel-rapl:", 11);
}

static bool is_counted(const char *folder, const char *entry)
{
	char name[TEXT_BYTES];

	word_in(folder, "name", name);
	return (is_zone(entry, 1) && !strncmp(name, "package-", 8)) || (is_zone(entry, 2) && !strcmp(name, "dram"));
}

static struct rvp_status open_zone(struct rvp_meters *power, const char *folder)
{
	char path[RVP_POWER_PATH_BYTES], mend[RVP_POWER_PATH_BYTES];
	struct rvp_status status;

	snprintf(path, sizeof path, "%.480s/energy_uj", folder);
	snprintf(mend, sizeof mend, rapl_mend, sysfs());
	status = open_figure(power, RVP_POWER_MICROJOULES, path, read_whole, mend);
	if (!rvp_failed(status))
		power->figures[power->figure_count - 1].range = number_in(folder, "max_energy_range_uj");
	return status;
}

struct rvp_status rvp_meters_open_rapl(struct rvp_meters *power)
{
	char root[RVP_POWER_PATH_BYTES], folder[RVP_POWER_PATH_BYTES];
	struct rvp_status status = RVP_OK;
	unsigned before = power->figure_count;
	struct dirent **entries = NULL;
	int count;

	snprintf(root, sizeof root, "%s/class/powercap", sysfs());
	count = entries_of(root, &entries);
	for (int i = 0; i < count && !rvp_failed(status); i++) {
		snprintf(folder, sizeof folder, "%.240s/%.240s", root, entries[i]->d_name);
		if (is_counted(folder, entries[i]->d_name))
			status = open_zone(power, folder);
	}
	free_entries(entries, count);
	if (rvp_failed(status) || power->figure_count > before)
		return status;
	return rvp_fail_with("measure power by", "rapl",
			     "%s has no package: this processor has no RAPL, `sudo modprobe intel_rapl_msr` was not "
			     "done, or a virtual machine or container hides it",
			     root);
}

/* ---- hwmon ---- */

static const struct {
	const char *file;
	enum rvp_power_unit unit;
} sensors[] = {
    {"power1_average", RVP_POWER_MICROWATTS},
    {"power1_input", RVP_POWER_MICROWATTS},
    {"energy1_input", RVP_POWER_MICROJOULES},
};
enum { SENSORS = sizeof sensors / sizeof *sensors };

static int sensor_in(const char *folder)
{
	char path[RVP_POWER_PATH_BYTES];

	for (int i = 0; i < SENSORS; i++) {
		snprintf(path, sizeof path, "%.480s/%s", folder, sensors[i].file);
		if (access(path, F_OK) == 0)
			return i;
	}
	return -1;
}

/* What --power hwmon can mean. */
struct chips {
	char folder[RVP_POWER_PATH_BYTES]; /* of the last that fits */
	char names[NAMES_BYTES];           /* of all that have a sensor */
	unsigned fitting;
};

static void look_at_chip(struct chips *chips, const char *folder, const char *entry, const char *wanted)
{
	char name[TEXT_BYTES];
	size_t length = strlen(chips->names);

	if (sensor_in(folder) < 0)
		return;
	word_in(folder, "name", name);
	snprintf(chips->names + length, sizeof chips->names - length, "%s%s (%s)", length ? ", " : "", name, entry);
	if (wanted && strcmp(wanted, name) != 0 && strcmp(wanted, entry) != 0)
		return;
	snprintf(chips->folder, sizeof chips->folder, "%s", folder);
	chips->fitting++;
}

static void look_at_chips(struct chips *chips, const char *wanted)
{
	char root[RVP_POWER_PATH_BYTES], folder[RVP_POWER_PATH_BYTES];
	struct dirent **entries = NULL;
	int count;

	snprintf(root, sizeof root, "%s/class/hwmon", sysfs());
	count = entries_of(root, &entries);
	for (int i = 0; i < count; i++) {
		snprintf(folder, sizeof folder, "%.240s/%.240s", root, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			look_at_chip(chips, folder, entries[i]->d_name, wanted);
	}
	free_entries(entries, count);
}

struct rvp_status rvp_meters_open_hwmon(struct rvp_meters *power, const char *wanted)
{
	struct chips chips = {.fitting = 0};
	char path[RVP_POWER_PATH_BYTES], mend[RVP_POWER_PATH_BYTES + 32];
	int sensor;

	look_at_chips(&chips, wanted);
	if (!*chips.names)
		return rvp_fail_with("measure power by", "hwmon", "no chip under %s/class/hwmon tells power", sysfs());
	if (chips.fitting != 1)
		return rvp_fail_with("measure power by", "hwmon", "name one of these as hwmon:CHIP: %s", chips.names);
	sensor = sensor_in(chips.folder);
	snprintf(path, sizeof path, "%.480s/%s", chips.folder, sensors[sensor].file);
	snprintf(mend, sizeof mend, "`sudo chmod a+r %.400s`, or use sudo", path);
	return open_figure(power, sensors[sensor].unit, path, read_whole, mend);
}

/* ---- file ---- */

struct rvp_status rvp_meters_open_file(struct rvp_meters *power, const char *path)
{
	char mend[RVP_POWER_PATH_BYTES + 32];
	struct rvp_meter *figure;
	struct stat file;

	if (!path)
		return rvp_fail_with("measure power by", "file", "what stands behind file: is missing");
	if (strlen(path) >= RVP_POWER_PATH_BYTES)
		return rvp_fail_with("measure power by", path, "the path is too long");
	snprintf(mend, sizeof mend, "`chmod a+r %.400s`", path);
	if (stat(path, &file) != 0 || !S_ISFIFO(file.st_mode))
		return open_figure(power, RVP_POWER_MICROWATTS, path, read_watts, mend);
	figure = rvp_meters_add(power, RVP_POWER_MICROWATTS, path);
	if (!figure)
		return rvp_fail_with("measure power by", path, "there are too many figures");
	figure->read = read_pipe;
	figure->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return figure->fd >= 0 ? RVP_OK : rvp_fail_with("read", path, "%s; %s", strerror(errno), mend);
}
