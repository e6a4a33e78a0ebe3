/* A tree of stretches of positions, by which fuse finds the best beginning of a cluster without trying all
 * (cut_tree.h).
 *
 * Two neighbouring stretches join into one: their sums are added, and `least` of the earlier stretch is lowered by the
 * sum of the later one.  The parameter `first` never decreases.  So a stretch that begins before `first` is never
 * needed as a whole again, and a stretch that begins at `first` is put together from smaller stretches: neither kind
 * of stretch is kept up to date. */
#include "passes/coarsen/cut_tree.h"

#include <assert.h>

#define NO_POSITIONS (INT64_C(1) << 62) /* the least of a stretch without positions */

/* Returns the stretch that consists of l and of r, which begins where l ends. */
static struct stretch join(struct stretch l, struct stretch r)
{
    int64_t least = l.least - r.sum;
    return least < r.least ? (struct stretch){l.sum + r.sum, least, l.from}
                           : (struct stretch){l.sum + r.sum, r.least, r.from};
}

struct cut_tree cut_tree_new(uint32_t n, struct arena *a)
{
    struct cut_tree t = {.width = 1};
    while (t.width < n)
        t.width *= 2;
    t.at = arena_array(a, 2 * (size_t)t.width, sizeof *t.at);
    for (uint32_t i = 0; i < 2 * t.width; i++)
        t.at[i].least = NO_POSITIONS;
    return t;
}

void cut_tree_set(struct cut_tree *t, uint32_t first, uint32_t y, int64_t base, int64_t saves)
{
    assert(first <= y && y < t->width);
    uint32_t i = t->width + y, from = y;
    t->at[i] = (struct stretch){saves, base - saves, y};
    /* bring the stretches that hold y up to date, the smallest first */
    for (uint32_t size = 2; i > 1; size *= 2) {
        i /= 2;
        from &= ~(size - 1);
        if (from <= first)
            return;
        t->at[i] = join(t->at[2 * i], t->at[2 * i + 1]);
    }
}

struct stretch cut_tree_best(const struct cut_tree *t, uint32_t first, uint32_t last)
{
    assert(first <= last && last < t->width);
    uint32_t i = t->width + first, end = first;
    struct stretch best = t->at[i];
    /* on the way up the tree, join the stretch to the right of the present one */
    for (uint32_t size = 1; end < last; size *= 2, i /= 2)
        if (i % 2 == 0) {
            best = join(best, t->at[i + 1]);
            end += size;
        }
    return best;
}
