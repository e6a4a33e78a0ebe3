/* What the schemas of operators say about element types (type_table.c, made by tools/type_table.py).
 *
 * A letter for each operand and, after a colon, for each result.  Capitals: those with the same letter are
 * of one type.  Small ones: always a tensor of f32 (f), f16 (h), f64 (d), i8 (c), i32 (i), i64 (l), u8 (u),
 * bool (b), str (s), f8e4m3fn (e).  A dot: nothing is said.  A star: all that follow are like that, too. */
#ifndef PCC_PASSES_SHAPES_TYPE_TABLE_H
#define PCC_PASSES_SHAPES_TYPE_TABLE_H

#include <stdint.h>

struct type_row {
    const char *op;
    int32_t since; /* version of the domain */
    const char *letters;
};

/* Sorted by operator (bytewise) and version; nothing is known about operators without a row. */
struct type_domain {
    const char *name;
    const struct type_row *row;
    uint32_t n;
};

enum { TYPE_DOMAINS = 6 };
extern const struct type_domain type_domain[TYPE_DOMAINS]; /* the first is ai.onnx */

#endif
