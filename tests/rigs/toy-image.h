/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A toy filesystem with something in it. */
#ifndef TOY_IMAGE_H
#define TOY_IMAGE_H

#include "toy-fs.h"

#define TOY_ROOTS 30u
#define TOY_NODES_OF_ROOT 3u
#define TOY_DATA_OF_NODE 2u
#define TOY_MAP_PARTS 3u
#define TOY_ALL_NODES (TOY_ROOTS * (1 + TOY_NODES_OF_ROOT))
#define TOY_ALL_DATA (TOY_ROOTS * TOY_NODES_OF_ROOT * TOY_DATA_OF_NODE)
#define TOY_ALL_BLOCKS (TOY_MAP_PARTS + TOY_ALL_NODES + TOY_ALL_DATA)

/* Fill an empty one.  cls[] is the class of what lies at each of TOY_NODES
 * places, TOY_CLASSES where there is nothing. */
void toy_make(struct toy_fs *fs, unsigned char *cls);

#endif
