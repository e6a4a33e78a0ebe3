/* Breaks tall frames into columns (columns.h).
 *
 * The level of a box is the number of arrows on the longest path to it within its frame.  A frame with more than TALL
 * levels is broken into columns of about equally many levels.  Boxes of one level whose results no other box of the
 * frame reads stand in rows of ROW boxes. */
#include "backends/picture/columns.h"

#include "ir/base/map.h"

enum {
    TALL = 15, /* the most levels of a column */
    ROW = 4    /* number of boxes side by side in a row */
};

/* Returns an array, in a: [box] its level, from 0.  Writes to depth: [frame] its number of levels.
 * frame_of: [box] 1 + its frame; boxes: the number of the last box.  Boxes of a frame are numbered
 * in topological order, so one pass finds all levels. */
static uint32_t *find_levels(const struct arrows *t, const uint32_t *frame_of, uint32_t boxes,
                             uint32_t *depth, struct arena *a)
{
    uint32_t *level = arena_array(a, (size_t)boxes + 1, sizeof *level);
    struct pairs arrow = pairs_new(a, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->f[i].away && t->f[i].from < t->f[i].to)
            pairs_add(&arrow, t->f[i].from, t->f[i].to);
    struct csr next = pairs_rows(&arrow, boxes + 1);
    for (uint32_t x = 1; x <= boxes; x++) {
        uint32_t f = frame_of[x] - 1;
        depth[f] = larger_u32(level[x] + 1, depth[f]);
        for_row (y, next, x)
            level[y] = larger_u32(level[y], level[x] + 1);
    }
    return level;
}

/* Leaves of one level of a frame: boxes whose results no other box of the frame reads. */
struct leaves {
    uint32_t n;        /* number of leaves so far */
    uint32_t box[ROW]; /* the latest leaves: the k-th leaf is box[k % ROW] */
};

/* Makes rows of ROW leaves, for each level of a frame by itself: sets c->above[] of leaf k to leaf
 * k - ROW, which must stand above leaf k; to 0 for leaves of the first row.  frame_of: [box] 1 +
 * its frame; level: [box]. */
static void wrap_leaves(struct columns *c, const struct arrows *t, const uint32_t *frame_of,
                        const uint32_t *level, struct arena *a)
{
    struct map known = {0}; /* (frame, level) -> 1 + index in of_level[] */
    uint8_t *is_read = arena_alloc(a, (size_t)c->boxes + 1);
    struct leaves *of_level = arena_array(a, (size_t)c->boxes + 1, sizeof *of_level);
    uint32_t levels = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->f[i].away)
            is_read[t->f[i].from] = 1;
    for (uint32_t x = 1; x <= c->boxes; x++) {
        if (is_read[x])
            continue;
        uint32_t i = map_get(&known, map_key(frame_of[x], level[x]));
        if (!i) {
            i = ++levels;
            map_set(&known, a, map_key(frame_of[x], level[x]), i);
        }
        struct leaves *leaves = &of_level[i - 1];
        uint32_t *latest = &leaves->box[leaves->n++ % ROW];
        c->above[x] = *latest; /* the leaf ROW before x */
        *latest = x;
    }
}

/* Returns the number of columns of a frame with this number of levels. */
static uint32_t count_columns(uint32_t levels)
{
    return (levels + TALL - 1) / TALL;
}

struct columns columns_build(const struct arrows *t, const uint32_t *frame_of, uint32_t boxes,
                             uint32_t frames, struct arena *a)
{
    struct columns c = {.boxes = boxes,
                        .of = arena_array(a, (size_t)boxes + 1, sizeof *c.of),
                        .above = arena_array(a, (size_t)boxes + 1, sizeof *c.above),
                        .frame = arena_array(a, (size_t)boxes + 1, sizeof *c.frame)};
    uint32_t *depth = arena_array(a, (size_t)frames + 1, sizeof *depth);
    uint32_t *first = arena_array(a, (size_t)frames + 1, sizeof *first);
    const uint32_t *level = find_levels(t, frame_of, boxes, depth, a);
    /* first: [frame] its first column; a frame that is not tall gets none */
    for (uint32_t i = 0; i < frames; i++) {
        uint32_t n = count_columns(depth[i]);
        first[i] = c.n;
        for (uint32_t k = 0; n > 1 && k < n; k++)
            c.frame[c.n++] = i;
    }
    for (uint32_t x = 1; x <= boxes; x++) {
        uint32_t f = frame_of[x] - 1, n = count_columns(depth[f]);
        if (n > 1)
            c.of[x] = first[f] + level[x] * n / depth[f] + 1;
    }
    wrap_leaves(&c, t, frame_of, level, a);
    return c;
}

bool columns_part(const struct columns *c, const struct arrow *f)
{
    return c->of && c->of[f->from] != c->of[f->to];
}
