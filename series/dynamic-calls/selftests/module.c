// SPDX-License-Identifier: GPL-2.0
/* Loads and unloads one kernel module, without any tool. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "module.h"

static char found[512], wanted[80];

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	(void)st;
	if (type != FTW_F || strcmp(path + ftw->base, wanted))
		return 0;
	snprintf(found, sizeof(found), "%s", path);
	return 1;
}

const char *module_find(const char *name, const char *given)
{
	static const char *const roots[] = { ".", "/modules", "/tests" };
	struct utsname uts;
	char root[160];
	size_t i;

	if (given)
		return access(given, R_OK) ? NULL : given;

	snprintf(wanted, sizeof(wanted), "%s.ko", name);
	for (i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		snprintf(found, sizeof(found), "%s/%s", roots[i], wanted);
		if (!access(found, R_OK))
			return found;
	}
	found[0] = '\0';
	if (!uname(&uts)) {
		snprintf(root, sizeof(root), "/lib/modules/%s", uts.release);
		nftw(root, visit, 8, FTW_PHYS);
	}
	if (!found[0])
		nftw("/lib/modules", visit, 8, FTW_PHYS);
	return found[0] ? found : NULL;
}

bool module_loaded(const char *name)
{
	char line[512];
	size_t len = strlen(name);
	bool loaded = false;
	FILE *f;

	f = fopen("/proc/modules", "r");
	if (!f)
		return false;
	while (!loaded && fgets(line, sizeof(line), f))
		loaded = !strncmp(line, name, len) && line[len] == ' ';
	fclose(f);
	return loaded;
}

bool module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long ret;

	if (fd < 0)
		return false;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return !ret || errno == EEXIST;
}

bool module_unload(const char *name, int seconds)
{
	time_t end = time(NULL) + seconds;

	while (syscall(SYS_delete_module, name, O_NONBLOCK)) {
		if ((errno != EAGAIN && errno != EBUSY) || time(NULL) > end)
			return false;
		usleep(20 * 1000);
	}
	return true;
}
