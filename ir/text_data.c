/* Types, tensors and attributes of the textual IR (grammar: text.md).
 *
 * Nested types are read with a stack, not by recursion; lists are collected in the parser's buffers
 * and then appended to the module's pools.  O(text). */
#include "ir/text_parse.h"

#include "ir/dim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PUSH(p, vec, cap, count, x)                                                                \
    ((vec) = vec_grow((p)->a, (vec), &(cap), (count) + 1, sizeof *(vec)), (vec)[(count)++] = (x))
