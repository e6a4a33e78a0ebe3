/* Finds the nearest word by edit distance (nearest.h).
 *
 * Source: Damerau 1964, in the form that edits no place twice ("optimal string alignment"): each insertion, deletion,
 * replacement and swap of neighbours is one edit.  A name is near to a word if at most two edits turn the word into the
 * name; if the word has less than five letters, at most one, since nearly everything is two edits away from it; nothing
 * is near to a word of one letter.  If a name begins with the word and a '-', that counts as one edit: "auto" means
 * "auto-place".  Three rows of the usual table are kept, O(product of the lengths). */
#include "ir/base/nearest.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <string.h>

enum {
    LONGEST = 63, /* bytes of the longest word or name that is compared */
    NEAR = 2,     /* the most edits from a word to a name that is near */
    SHORT = 5,    /* words of fewer bytes may be one edit away only */
    /* bytes of the shortest word for which a name that begins with the word is suggested */
    BEGINNING = 2
};

/* Returns the number of edits that turn a[0 .. n) into b[0 .. m).  row[i % 3][j] is the distance from a[0 .. i) to
 * b[0 .. j). */
static uint32_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    assert(n <= LONGEST && m <= LONGEST);
    uint32_t row[3][LONGEST + 1];
    for (uint32_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        /* the rows i, i - 1 and i - 2 */
        uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            /* the cheapest of an insertion, a deletion and a replacement (which is free for equal letters) */
            now[j] =
                smaller_u32(smaller_u32(now[j - 1], up[j]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            /* two neighbouring letters are swapped */
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller_u32(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

struct nearest nearest_to(const char *word, size_t n)
{
    uint32_t near = n < 2 ? 0 : n < SHORT ? 1 : NEAR; /* edits to a name that is still near */
    return (struct nearest){word, n, NULL, near + 1};
}

void nearest_try(struct nearest *t, const char *name)
{
    size_t m = strlen(name);
    if (t->n > LONGEST || m > LONGEST)
        return;
    uint32_t d = edit_distance(t->word, t->n, name, m);
    bool begins = t->n >= BEGINNING && m > t->n && !memcmp(name, t->word, t->n);
    if (begins && name[t->n] == '-')
        d = smaller_u32(d, 1);
    if (d < t->distance) {
        t->distance = d;
        t->best = name;
    }
}

const char *nearest_hint(const struct nearest *t, struct arena *a)
{
    return t->best ? arena_fmt(a, "; did you mean '%s'?", t->best) : "";
}
