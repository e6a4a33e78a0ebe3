/* Reasons why vertices must share a device, for the classes that contract makes. */
#ifndef PCC_PASSES_COARSEN_REASONS_H
#define PCC_PASSES_COARSEN_REASONS_H

#include "ir/base/union_find.h"

/* Bits of classes.why (union_find.h), in the order of the words for them in contract.c (reasons_text).  Where a
 * comment names an option, such as contract{qdq}, vertices are joined only if the user gives that option. */
enum {
    WHY_COLOR = 1 << 0,    /* same colour (module.color) */
    WHY_SHAPE = 1 << 1,    /* a Shape and the producer of its operand */
    WHY_STATE = 1 << 2,    /* producer and reader of a state (state pair) */
    WHY_TYPE = 1 << 3,     /* producer and reader of a value of unknown type */
    WHY_QDQ = 1 << 4,      /* contract{qdq}: an operator with its quantisation nodes */
    WHY_NORM = 1 << 5,     /* contract{norm}: the nodes of a normalisation */
    WHY_LAYER = 1 << 6,    /* contract{by}: the vertices of a layer */
    WHY_BLOCK = 1 << 7,    /* contract{blocks}: the vertices of a block of the user's file */
    WHY_REPEAT = 1 << 8,   /* --keep-blocks: the vertices of a layer that repeats */
    WHY_CALL = 1 << 9,     /* contract{calls}: the nodes of an open call */
    WHY_COPLACE = 1 << 10, /* contract{coplace}: a vertex and its only reader */
    WHY_NO_CUT = 1 << 11,  /* --no-cut: the ends of an edge that is to stay whole */
    WHY_MIRROR = 1 << 12,  /* contract{mirror}: a backward node and its forward twin */
    WHY_CYCLE = 1 << 13,   /* the vertex lies on a cycle of classes */
    WHY_ASKED = WHY_NORM | WHY_LAYER | WHY_BLOCK | WHY_REPEAT | WHY_CALL | WHY_COPLACE |
        WHY_NO_CUT | WHY_MIRROR /* reasons that the user has asked for */
};

#endif
