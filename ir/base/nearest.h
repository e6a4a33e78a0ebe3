/* Did you mean: the word of a list that a mistyped one is nearest to.
 *
 *     struct nearest t = nearest_to(word, n);
 *     for (...) nearest_try(&t, name[i]);
 *     diag_error(d, "unknown pass '%s'%s", word, nearest_hint(&t, a)); */
#ifndef PCC_IR_BASE_NEAREST_H
#define PCC_IR_BASE_NEAREST_H

#include "ir/base/arena.h"

struct nearest {
    const char *word; /* word[0 .. n) */
    size_t n;
    const char *best; /* the nearest so far, the first of equals; NULL: none is near enough */
    uint32_t distance;
};

struct nearest nearest_to(const char *word, size_t n);
/* Considers a name, which must live as long as t.  O(n * length of name); words of more than 63 bytes
 * are near to nothing. */
void nearest_try(struct nearest *t, const char *name);
/* "; did you mean 'NAME'?", or "" if nothing is near. */
const char *nearest_hint(const struct nearest *t, struct arena *a);

#endif
