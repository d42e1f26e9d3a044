/* SPDX-License-Identifier: GPL-2.0 */
/*
 * {{ series.title }}
 */
#ifndef _LINUX_@IDENT@_H
#define _LINUX_@IDENT@_H

#include <linux/types.h>

/**
 * @ident@_enabled() - whether the feature is there
 *
 * Return: true where this kernel has it.
 */
static inline bool @ident@_enabled(void)
{
	return true;
}

#endif /* _LINUX_@IDENT@_H */
