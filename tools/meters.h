/* SPDX-License-Identifier: MIT */
/* meters.h: what --power names: found and opened before the program starts, read from outside while it runs.
 *
 *     --power gpu=nvml,cpu=rapl,mock:75
 *
 * A source has a name (power.<name>.csv; without one that of its kind, numbered where it is there twice) and one or more figures,
 * which are summed: a graphics card each, a processor package each. A figure is watts now, or a counter of joules.
 *
 * Rules
 *   - What is unknown or can't be read fails at opening, with the file and what mends it; nothing is left half open.
 *   - What can't be read later is an error in its POWER record and a loss; the other sources go on. Its file is looked for again.
 *   - Files are read as they are: a figure is taken at the moment of reading, for all figures of a round in one go.
 */
#ifndef RVP_TOOLS_METERS_H
#define RVP_TOOLS_METERS_H

#include "record/log_writer.h"
#include "record/power.h"

enum { RVP_POWER_PATH_BYTES = 512 };

struct rvp_meters;

struct rvp_meter {
	unsigned source;
	enum rvp_power_kind kind;
	enum rvp_power_unit unit;
	uint64_t range;                  /* of a counter; 0: not known */
	char what[RVP_POWER_PATH_BYTES]; /* the file, or the device */
	int fd;                          /* of a file; -1: none, or gone */
	void *device;                    /* NVML's */
	uint64_t microwatts;             /* of a mock */
	/* 0, or errno. */
	int (*read)(struct rvp_meter *figure, uint64_t *value);
	/* Since the last reading. */
	bool has_last;
	uint64_t last_value, last_stamp;
	char line[64]; /* what a pipe said since its last whole line, and that line's number */
	unsigned line_length;
	bool has_line;
	uint64_t line_value;
};

struct rvp_meter_source {
	char name[RVP_POWER_NAME_BYTES + 1];
	const char *given;
	enum rvp_power_kind kind;
};

struct rvp_meters {
	struct rvp_meter_source sources[RVP_POWER_SOURCES_MAX];
	struct rvp_meter figures[RVP_POWER_FIGURES_MAX];
	unsigned source_count, figure_count;
	char text[1024]; /* --power, cut at its commas */
	void *nvml;      /* its library */
};

/* The sources that `list` names. */
struct rvp_status rvp_meters_open(struct rvp_meters **power, const char *list);
void rvp_meters_close(struct rvp_meters *power);

/* Which there are, into the log. */
void rvp_meters_tell(const struct rvp_meters *power, struct rvp_log_writer *writer, uint64_t stamp);
/* A round. */
void rvp_meters_sample(struct rvp_meters *power, struct rvp_log_writer *writer, uint64_t stamp);

/* ---- for the files that know one kind each ---- */

/* One more figure of the source that is being opened; NULL: there are too many. */
struct rvp_meter *rvp_meters_add(struct rvp_meters *power, enum rvp_power_unit unit, const char *what);

struct rvp_status rvp_meters_open_rapl(struct rvp_meters *power);
struct rvp_status rvp_meters_open_hwmon(struct rvp_meters *power, const char *sensor); /* NULL: the only one */
struct rvp_status rvp_meters_open_file(struct rvp_meters *power, const char *path);
struct rvp_status rvp_meters_open_nvml(struct rvp_meters *power);

#endif
