/* SPDX-License-Identifier: MIT */
/* order.c: the one instance of order.h's table, in pages that are not touched before there are threads. */
#include "preload/order.h"

struct rvp_order rvp_order;
