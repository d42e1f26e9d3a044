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
#include <unistd.h>

#include "agent.h"

#define MODULE_LIST	"modules.list"

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

/*
 * The list has a line for each module: its name, its files in the order in
 * which to load them (what it depends on first), a colon, its aliases.
 */
static int modprobe_one(const char *wanted, const char *params)
{
	char line[16384], path[1024];
	int err = ENOENT;
	FILE *list;

	snprintf(path, sizeof(path), "%s/" MODULE_LIST, modules_dir);
	list = fopen(path, "re");
	if (!list)
		return ENOENT;
	while (fgets(line, sizeof(line), list)) {
		char *files[64], *word, *save = NULL;
		bool match, in_aliases = false;
		int nr = 0, i;

		word = strtok_r(line, " \n", &save);
		if (!word)
			continue;
		match = same_module(word, wanted);
		while ((word = strtok_r(NULL, " \n", &save))) {
			if (!strcmp(word, ":"))
				in_aliases = true;
			else if (!in_aliases && nr < 64)
				files[nr++] = word;
			else if (in_aliases && !fnmatch(word, wanted, 0))
				match = true;
		}
		if (!match || !nr)
			continue;
		for (i = 0; i < nr; i++) {
			snprintf(path, sizeof(path), "%s/%s", modules_dir, files[i]);
			err = load_module(path, i == nr - 1 ? params : "");
			if (err)
				break;
		}
		break;
	}
	fclose(list);
	return err;
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

int module_tool(const char *tool, int argc, char **argv)
{
	bool quiet = false, remove = !strcmp(tool, "rmmod");
	const char *name = NULL, *dir = getenv("KSERIES_MODULES");
	char params[1024] = "";
	int err, i;

	if (dir)
		modules_dir = dir;
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
