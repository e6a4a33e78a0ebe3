/* Finds the name in a list that is nearest to a mistyped word, for messages ("did you mean ...?").  Use:
 *
 *     struct nearest t = nearest_to(word, n);
 *     for (...) nearest_try(&t, name[i]);
 *     diag_error(d, "unknown pass '%s'%s", word, nearest_hint(&t, a)); */
#ifndef PCC_IR_BASE_NEAREST_H
#define PCC_IR_BASE_NEAREST_H

#include "ir/base/arena.h"

/* A search for the name nearest to a word. */
struct nearest {
    const char *word; /* the mistyped word[0 .. n) */
    size_t n;
    const char *best; /* the nearest name so far, of equal ones the first; NULL: none is near */
    /* number of edits that turn word into `best`; if best is NULL: one more than the edits to a near name may be */
    uint32_t distance;
};

/* Begins a search for the name that is nearest to word[0 .. n). */
struct nearest nearest_to(const char *word, size_t n);
/* Makes `name` the best name if it is nearer than the best one so far. `name` must live as long as t. Words and names
 * of more than 63 bytes are never near. O(n * length of name). */
void nearest_try(struct nearest *t, const char *name);
/* Returns "; did you mean 'NAME'?", in a, or "" if no name is near. */
const char *nearest_hint(const struct nearest *t, struct arena *a);

#endif
