/* SPDX-License-Identifier: MIT */
/* model_config.h: the shape that a config.json beside a safetensors says (Hugging Face's names, and GPT-2's).
 */
#ifndef RVP_MODEL_CONFIG_H
#define RVP_MODEL_CONFIG_H

#include "model/file_facts.h"

/* Without such a file nothing is set; one that is damaged is a failure. */
struct rvp_status rvp_model_config_read(const char *model_path, struct rvp_model_facts *facts);

#endif
