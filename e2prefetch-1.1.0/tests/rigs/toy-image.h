/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A toy filesystem with content. */
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

/* Fill an empty filesystem.  cls[] gets the class of the block at each of the
 * TOY_NODES places, TOY_CLASSES if there is none. */
void toy_make(struct toy_fs *fs, unsigned char *cls);

#endif
