/* SPDX-License-Identifier: MIT */
/* op_layers.h: `rvprof op 'conv2d(3,3,5,5)' --input 16x3x224x224`: operators that are run here. */
#ifndef RVP_TOOLS_OP_LAYERS_H
#define RVP_TOOLS_OP_LAYERS_H

#include <getopt.h>
#include <stdbool.h>

/* Whether the words ask for that, and not for a run or a command. */
bool rvp_op_is_of_layers(int argc, char **argv);
int rvp_op_of_layers(int argc, char **argv);

extern const struct option rvp_op_layer_options[];

#endif
