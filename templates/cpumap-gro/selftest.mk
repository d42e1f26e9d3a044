# SPDX-License-Identifier: GPL-2.0-only

CFLAGS += -O2 -Wall -Wextra -I../.. $(KHDR_INCLUDES)

TEST_GEN_PROGS := cpumap_gro

include ../../lib.mk

$(OUTPUT)/cpumap_gro: aggregation.c cpu.c klog.c lab.c lifecycle.c scene.c
$(OUTPUT)/cpumap_gro: traffic.c xdp.c
