/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * All groups of a filesystem in little memory: 5 bytes of each if they are laid
 * out and used alike, 9 to 13 on most filesystems in use, where struct
 * e2pf_group takes 32; at most 36.
 */
#ifndef E2PF_GROUPS_H
#define E2PF_GROUPS_H

#include <stdint.h>

struct e2pf_group;
struct e2pf_groups;

/* Pack `count` groups, each of which tell(ctx, number, &group) tells; the group
 * is zero before.  Returns NULL if memory runs out. */
struct e2pf_groups *e2pf_groups_new(uint32_t count,
				    void (*tell)(void *ctx, uint32_t number,
						 struct e2pf_group *group),
				    void *ctx);
void e2pf_groups_free(struct e2pf_groups *groups);

/* What was told of a group, whose number is less than their count.  From any
 * thread. */
void e2pf_groups_get(const struct e2pf_groups *groups, uint32_t number,
		     struct e2pf_group *group);

/* Bytes that they take. */
uint64_t e2pf_groups_bytes(const struct e2pf_groups *groups);

#endif
