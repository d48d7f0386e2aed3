/* SPDX-License-Identifier: MIT */
/* names.c: the name tables of names.h, from the same .def files as the enums. */
#include "record/names.h"

const char *const rvp_category_names[RVP_CATEGORY_COUNT] = {
#define RVP_CATEGORY(id, name) [RVP_CATEGORY_##id] = name,
#include "record/category.def"
};

const char *const rvp_loss_names[RVP_LOSS_COUNT] = {
#define RVP_LOSS(id, name, whole, what) [RVP_LOSS_##id] = name,
#include "record/loss.def"
};

const char *const rvp_loss_texts[RVP_LOSS_COUNT] = {
#define RVP_LOSS(id, name, whole, what) [RVP_LOSS_##id] = what,
#include "record/loss.def"
};

const unsigned char rvp_loss_is_whole[RVP_LOSS_COUNT] = {
#define RVP_LOSS(id, name, whole, what) [RVP_LOSS_##id] = whole,
#include "record/loss.def"
};

const char *const rvp_family_names[RVP_FAMILY_COUNT] = {
#define X(id, name) [RVP_FAMILY_##id] = name,
    RVP_FAMILIES(X)
#undef X
};
