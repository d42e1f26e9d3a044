// SPDX-License-Identifier: GPL-2.0-only
/* Loads and unloads the modules that were put into the guest. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"

const char *modules_dir = "/lib/modules";

int load_module(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, params, 0) && errno != EEXIST)
		err = errno;
	close(fd);
	return err;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Module names have '_' where file names may have '-'. */
static bool same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		char x = *a == '-' ? '_' : *a, y = *b == '-' ? '_' : *b;

		if (x != y)
			return false;
	}
	return *a == *b;
}

/* The module that an alias, as the kernel asks for it, stands for. */
static const char *resolve_alias(const char *wanted)
{
	static char line[4096];
	const char *found = NULL;
	char path[1200];
	FILE *list;

	snprintf(path, sizeof(path), "%s/modules.alias", modules_dir);
	list = fopen(path, "re");
	if (!list)
		return NULL;
	while (!found && fgets(line, sizeof(line), list)) {
		char *save = NULL, *word = strtok_r(line, " \n", &save);
		char *pattern = strtok_r(NULL, " \n", &save);
		char *name = strtok_r(NULL, " \n", &save);

		if (word && name && !strcmp(word, "alias") && !fnmatch(pattern, wanted, 0))
			found = name;
	}
	fclose(list);
	return found;
}

/* A line of modules.dep: a file, a colon, the files to load before it, last first. */
static int load_line(char *line, const char *wanted, const char *params, bool *match)
{
	char *files[64], *word, *save = NULL, path[1200], name[128];
	int nr = 0, err = 0;

	for (word = strtok_r(line, " :\n", &save); word && nr < 64;
	     word = strtok_r(NULL, " :\n", &save))
		files[nr++] = word;
	if (!nr)
		return 0;
	snprintf(name, sizeof(name), "%s", base_name(files[0]));
	name[strcspn(name, ".")] = '\0';
	*match = same_module(name, wanted);
	if (!*match)
		return 0;
	while (!err && nr--) {
		snprintf(path, sizeof(path), "%s/%s", modules_dir, files[nr]);
		err = load_module(path, nr ? "" : params);
	}
	return err;
}

static int modprobe_one(const char *wanted, const char *params)
{
	char line[4096], path[1200];
	const char *name;
	bool match = false;
	int err = 0;
	FILE *list;

	name = resolve_alias(wanted);
	snprintf(path, sizeof(path), "%s/modules.dep", modules_dir);
	list = fopen(path, "re");
	if (!list)
		return ENOENT;
	while (!match && fgets(line, sizeof(line), list))
		err = load_line(line, name ? name : wanted, params, &match);
	fclose(list);
	return match ? err : ENOENT;
}

static int remove_module(const char *name)
{
	char plain[128];
	size_t i;

	for (i = 0; i < sizeof(plain) - 1 && name[i] && name[i] != '.'; i++)
		plain[i] = name[i] == '-' ? '_' : name[i];
	plain[i] = '\0';
	return syscall(SYS_delete_module, plain, O_NONBLOCK) ? errno : 0;
}

/*
 * The kernel calls without our environment: the modules are those of its release,
 * or lie beside the folder that we were called from.
 */
static void find_modules(const char *self)
{
	static char path[1024];
	const char *dir = getenv("KSERIES_MODULES");
	struct utsname u;

	if (dir) {
		modules_dir = dir;
		return;
	}
	snprintf(path, sizeof(path), "%.*s/../modules", (int)(base_name(self) - self), self);
	if (access(path, X_OK) && !uname(&u))
		snprintf(path, sizeof(path), "/lib/modules/%s", u.release);
	modules_dir = path;
}

int module_tool(const char *tool, int argc, char **argv)
{
	bool quiet = false, remove = !strcmp(tool, "rmmod");
	const char *name = NULL;
	char params[1024] = "";
	int err, i;

	find_modules(argv[0]);
	for (i = 1; i < argc; i++) {
		if (argv[i][0] == '-') {
			quiet |= argv[i][1] == 'q';
			remove |= argv[i][1] == 'r';
		} else if (!name) {
			name = argv[i];
		} else if (strlen(params) + strlen(argv[i]) + 2 < sizeof(params)) {
			strcat(params, params[0] ? " " : "");
			strcat(params, argv[i]);
		}
	}
	if (!name) {
		fprintf(stderr, "usage: %s MODULE\n", tool);
		return 2;
	}
	if (remove)
		err = remove_module(base_name(name));
	else if (!strcmp(tool, "insmod"))
		err = load_module(name, params);
	else
		err = modprobe_one(name, params);
	if (err && !quiet)
		fprintf(stderr, "%s: %s: %s\n", tool, name, strerror(err));
	return err ? 1 : 0;
}
