/* Why vertices must share a device: the reasons of contract's classes. */
#ifndef PCC_PASSES_COARSEN_REASONS_H
#define PCC_PASSES_COARSEN_REASONS_H

#include "ir/base/union_find.h"

/* Bits of classes.why, in the order of their words (reasons_text in contract.c). */
enum {
    WHY_COLOR = 1 << 0,    /* colour of a profile */
    WHY_SHAPE = 1 << 1,    /* a Shape and the maker of its operand */
    WHY_STATE = 1 << 2,    /* state pair */
    WHY_TYPE = 1 << 3,     /* value of unknown type */
    WHY_QDQ = 1 << 4,      /* contract{qdq} */
    WHY_NORM = 1 << 5,     /* contract{norm} */
    WHY_LAYER = 1 << 6,    /* contract{by} */
    WHY_BLOCK = 1 << 7,    /* contract{blocks} */
    WHY_REPEAT = 1 << 8,   /* --keep-blocks */
    WHY_CALL = 1 << 9,     /* contract{calls} */
    WHY_COPLACE = 1 << 10, /* contract{coplace} */
    WHY_CYCLE = 1 << 11,   /* it lies on a cycle through classes */
    WHY_ASKED = WHY_NORM | WHY_LAYER | WHY_BLOCK | WHY_REPEAT | WHY_CALL |
        WHY_COPLACE /* the user named the group */
};

#endif
