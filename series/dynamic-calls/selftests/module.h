/* SPDX-License-Identifier: GPL-2.0 */
/* Loads and unloads one kernel module, without any tool. */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>

/* Where NAME.ko is: @given, or where guests have it; NULL when nowhere. */
const char *module_find(const char *name, const char *given);

bool module_loaded(const char *name);

/* errno tells why not. */
bool module_load(const char *path);

/* Tries until @seconds have passed: users may be on their way out. */
bool module_unload(const char *name, int seconds);

#endif
