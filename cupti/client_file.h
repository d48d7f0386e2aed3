/* SPDX-License-Identifier: MIT */
/* client_file.h: whether a library is a client of CUPTI's. */
#ifndef RVP_CUPTI_CLIENT_FILE_H
#define RVP_CUPTI_CLIENT_FILE_H

#include <stdbool.h>

/* It names cuptiSubscribe, as a symbol that it is linked with or a text that it looks up, or needs libcupti. */
bool rvp_file_is_client(const char *path);

#endif
