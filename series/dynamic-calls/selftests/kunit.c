// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites named on the command line said at boot.
 *
 * The kernel keeps it in debugfs, one file a suite, as a KTAP block that is
 * indented as a subtest but for the suite's own result. Printed are all blocks
 * as subtests of one document; a suite that is not there has failed, unless it
 * is one of another machine (what uname -m says) alone.
 *
 * Usage: kunit SUITE[@MACHINE]…
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>

#define DIR "/sys/kernel/debug/kunit"

/* The verdict of an unindented result line: 1, 0, or -1 when it is none. */
static int verdict(const char *line)
{
	if (!strncmp(line, "ok ", 3))
		return 1;
	if (!strncmp(line, "not ok ", 7))
		return 0;
	return -1;
}

static int show(char *suite, int number)
{
	char path[256], line[1024];
	struct utsname here;
	int ok = -1, v;
	char *machine;
	FILE *f;

	machine = strchr(suite, '@');
	if (machine)
		*machine++ = '\0';
	snprintf(path, sizeof(path), DIR "/%s/results", suite);
	f = fopen(path, "r");
	if (!f && machine && !uname(&here) && strcmp(here.machine, machine)) {
		printf("ok %d - %s # SKIP a suite of %s, and this is %s\n",
		       number, suite, machine, here.machine);
		return 1;
	}
	if (!f)
		printf("# %s: %s\n", path, strerror(errno));
	while (f && fgets(line, sizeof(line), f)) {
		v = verdict(line);
		if (v >= 0)
			ok = v;
		else if (isspace((unsigned char)line[0]) && line[0] != '\n')
			fputs(line, stdout);
	}
	if (f)
		fclose(f);
	printf("%s %d - %s\n", ok == 1 ? "ok" : "not ok", number, suite);
	return ok == 1;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	printf("KTAP version 1\n1..%d\n", argc - 1);
	for (i = 1; i < argc; i++)
		failed |= !show(argv[i], i);
	return failed || argc < 2;
}
