/* SPDX-License-Identifier: MIT */
/* schema.c: the table behind schema.h. */
#include "record/schema.h"

#include <stddef.h>

#define RVP_KIND_CHAR_U 'U'
#define RVP_KIND_CHAR_T 'T'
#define RVP_KIND_CHAR_A 'A'
#define RVP_KIND_CHAR_S 'S'
#define RVP_KIND_CHAR_P 'P'
#define RVP_KIND_CHAR_D 'D'
#define RVP_KIND_CHAR_C 'C'
#define RVP_KIND_CHAR_X 'X'
#define RVP_KIND_CHAR_R 'R'

/* The struct's name is not at hand inside RVP_FIELDS_*, so each field's offset is computed from the kinds
 * before it: every number takes 8 bytes and every text 16, in order (asserted below). */
#define RVP_FIELD_ROW(kind, name, what) {RVP_KIND_CHAR_##kind, #name, what, 0},
#define RVP_RECORD(ID, number, name, what)                                                                   \
	static struct rvp_field fields_##ID[] = {RVP_FIELDS_##ID(RVP_FIELD_ROW)};
#include "record/schema.def"

#define RVP_FIELD_COUNT(kind, name, what) +1
#define RVP_RECORD(ID, number, record_name, record_what)                                                     \
	[number] = {.name = record_name, .what = record_what, .fields = fields_##ID,                         \
		    .field_count = sizeof fields_##ID / sizeof fields_##ID[0]},
const struct rvp_schema rvp_schemas[RVP_KIND_COUNT] = {
#include "record/schema.def"
};

static void set_offsets(struct rvp_field *fields, unsigned count)
{
	uint16_t offset = 0;

	for (unsigned i = 0; i < count; i++) {
		fields[i].offset = offset;
		offset += fields[i].kind == 'X' || fields[i].kind == 'R' ? sizeof(struct rvp_text) : sizeof(uint64_t);
	}
}

__attribute__((constructor)) static void set_all_offsets(void)
{
#define RVP_RECORD(ID, number, name, what) set_offsets(fields_##ID, sizeof fields_##ID / sizeof fields_##ID[0]);
#include "record/schema.def"
}

#define RVP_SIZE_U 8
#define RVP_SIZE_T 8
#define RVP_SIZE_A 8
#define RVP_SIZE_S 8
#define RVP_SIZE_P 8
#define RVP_SIZE_D 8
#define RVP_SIZE_C 8
#define RVP_SIZE_X 16
#define RVP_SIZE_R 16
#define RVP_FIELD_SIZE(kind, name, what) +RVP_SIZE_##kind
#define RVP_RECORD(ID, number, name, what)                                                                   \
	_Static_assert(sizeof(struct rvp_record_##ID) == 0 RVP_FIELDS_##ID(RVP_FIELD_SIZE), #ID " is packed");
#include "record/schema.def"

#define RVP_SAME_PLACE(ID, AS, field)                                                                        \
	_Static_assert(offsetof(struct rvp_record_##ID, field) == offsetof(struct rvp_record_##AS, field),   \
		       #ID " is read as " #AS);
RVP_SAME_PLACE(SCOPE_REF, SCOPE, kind)
RVP_SAME_PLACE(SCOPE_REF, SCOPE, source)
RVP_SAME_PLACE(SCOPE_REF, SCOPE, category)
RVP_SAME_PLACE(SCOPE_REF, SCOPE, name)
RVP_SAME_PLACE(SCOPE_REF, SCOPE, args)
RVP_SAME_PLACE(TAG_REF, TAG, address)
RVP_SAME_PLACE(TAG_REF, TAG, bytes)
RVP_SAME_PLACE(TAG_REF, TAG, source)
RVP_SAME_PLACE(TAG_REF, TAG, category)
RVP_SAME_PLACE(TAG_REF, TAG, name)
