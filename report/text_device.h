/* SPDX-License-Identifier: MIT */
/* text_device.h: the sections of a report about the memory of devices. */
#ifndef RVP_TEXT_DEVICE_H
#define RVP_TEXT_DEVICE_H

#include "report/device_answer.h"
#include "report/symbols_stack.h"
#include "report/text_report.h"

/* A section a device: its totals, categories, what was refused, and the call stacks with most at the peak.
 * Nothing without devices. */
struct rvp_status rvp_text_devices(const struct rvp_view *view, const struct rvp_device_answers *answers,
				   struct rvp_stacks *stacks);

/* The totals of one device, in the place of the host's. */
void rvp_text_device_totals(const struct rvp_view *view, const struct rvp_device_answer *item);

/* `report --ledger`: peak, end and marks of each device. */
void rvp_text_device_ledgers(const struct rvp_view *view, const struct rvp_device_answers *answers);

#endif
