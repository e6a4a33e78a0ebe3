/* Did you mean: edit distance, bounded (see nearest.h).
 *
 * Source: Damerau 1964, in the form that edits no place twice ("optimal string alignment"): insertions,
 * deletions, replacements and swaps of neighbours cost one each.  A name is near when at most two
 * edits make it, and only one for words of less than five letters, of which nearly anything is two
 * edits away.  A word that a name begins with, up to a '-', is one edit from it: "auto" means
 * "auto-place".  Three rows of the usual table, O(product of the lengths). */
#include "ir/base/nearest.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <string.h>

enum { LONGEST = 63, NEAR = 2, SHORT = 5, BEGINNING = 2 };

static uint32_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    assert(n <= LONGEST && m <= LONGEST);
    uint32_t row[3][LONGEST + 1];
    for (uint32_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            now[j] =
                smaller_u32(smaller_u32(now[j - 1], up[j]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller_u32(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

struct nearest nearest_to(const char *word, size_t n)
{
    return (struct nearest){word, n, NULL, n < 2 ? 1 : n < SHORT ? 2 : NEAR + 1};
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
