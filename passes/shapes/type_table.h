/* What the schemas of operators say about element types (type_table.c, made by tools/type_table.py).
 *
 * A row has one letter for each operand and, after a colon, one for each result, such as "TTU:T".  Operands and results
 * with the same capital letter have the same type, apart from shapes.  A small letter means a tensor of f32 (f), f16
 * (h), f64 (d), i8 (c), i32 (i), i64 (l), u8 (u), bool (b), str (s), or f8e4m3fn (e).  A dot: any type.  A star: all
 * further operands (or results) have the letter before the star. */
#ifndef PCC_PASSES_SHAPES_TYPE_TABLE_H
#define PCC_PASSES_SHAPES_TYPE_TABLE_H

#include <stdint.h>

/* The letters for the types of an operator's operands and results, from one version of the domain on, up to the version
 * of the operator's next row. */
struct type_row {
    const char *op;
    int32_t since; /* the first version of the domain that the row holds for */
    const char *letters;
};

/* The rows of a domain, sorted by operator.  Nothing is known about the types of an operator without rows. */
struct type_domain {
    const char *name;
    const struct type_row *row; /* [n], sorted by operator (bytewise), then version */
    uint32_t n;
};

enum { TYPE_DOMAINS = 6 };
extern const struct type_domain type_domain[TYPE_DOMAINS]; /* the first is ai.onnx */

#endif
