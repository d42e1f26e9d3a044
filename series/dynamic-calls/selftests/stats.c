// SPDX-License-Identifier: GPL-2.0
/* What a dynamic call says of itself in debugfs. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "stats.h"

#define DIR "/sys/kernel/debug/dynamic_call"
#define PARAMETER "/sys/module/dynamic_call/parameters/enabled"

bool stats_read(const char *call, struct stats *s)
{
	char path[128], line[160], *end;
	FILE *f;

	memset(s, 0, sizeof(*s));
	snprintf(path, sizeof(path), DIR "/%s/stats", call);
	f = fopen(path, "r");
	if (!f)
		return false;

	while (fgets(line, sizeof(line), f)) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (sscanf(line, "branch%*d %*u %79[^\n]",
			   s->target[s->branches]) == 1) {
			if (s->branches < MAX_BRANCHES - 1)
				s->branches++;
			continue;
		}
		sscanf(line, "state %15s", s->state);
		sscanf(line, "hits %llu", &s->hits);
		sscanf(line, "misses %llu", &s->misses);
		sscanf(line, "updates %u", &s->updates);
		sscanf(line, "skips %u", &s->skips);
		sscanf(line, "restarts %u", &s->restarts);
		sscanf(line, "unloads %u", &s->unloads);
		sscanf(line, "pause_ms %u", &s->pause_ms);
	}
	fclose(f);
	return s->state[0];
}

bool stats_calls(const struct stats *s, const char *symbol)
{
	size_t len = strlen(symbol);
	int i;

	for (i = 0; i < s->branches; i++)
		if (!strncmp(s->target[i], symbol, len) &&
		    (s->target[i][len] == '\0' || s->target[i][len] == ' '))
			return true;
	return false;
}

bool stats_calls_module(const struct stats *s, const char *module)
{
	char tag[64];
	int i;

	snprintf(tag, sizeof(tag), "[%s]", module);
	for (i = 0; i < s->branches; i++)
		/* After an unload a stale address would print as a number. */
		if (strstr(s->target[i], tag) || s->target[i][0] == '0')
			return true;
	return false;
}

void stats_note(const char *call, const struct stats *s)
{
	int i;

	ktap_note("%s: %s, hits %llu, misses %llu, updates %u, skips %u, restarts %u, unloads %u, pause %u ms",
		  call, s->state, s->hits, s->misses, s->updates, s->skips,
		  s->restarts, s->unloads, s->pause_ms);
	for (i = 0; i < s->branches; i++)
		ktap_note("%s: branch to %s", call, s->target[i]);
}

bool stats_enable(const char *call, bool on)
{
	char path[128] = PARAMETER;
	bool done;
	int fd;

	if (call)
		snprintf(path, sizeof(path), DIR "/%s/enabled", call);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	done = write(fd, on ? "1\n" : "0\n", 2) == 2;
	close(fd);
	return done;
}
