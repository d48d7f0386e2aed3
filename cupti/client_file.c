/* SPDX-License-Identifier: MIT */
/* client_file.c: see client_file.h. The file's bytes are searched: a symbol's name, a needed library's and a text that
 * is handed to dlsym all stand there as they are. */
#include "cupti/client_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool rvp_file_is_client(const char *path)
{
	static const char subscribe[] = "cuptiSubscribe", needed[] = "libcupti.so";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	bool is_client = false;
	struct stat stat;

	if (fd < 0)
		return false;
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0)
		bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	is_client = memmem(bytes, (size_t)stat.st_size, subscribe, sizeof subscribe - 1) ||
		    memmem(bytes, (size_t)stat.st_size, needed, sizeof needed - 1);
	munmap(bytes, (size_t)stat.st_size);
	return is_client;
}
