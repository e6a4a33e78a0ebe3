/* Joins small boxes (blocks.h).
 *
 * The boxes of a frame are put into a topological order in which small boxes stand together as far as possible: big
 * boxes are taken as long as one is ready, then small boxes as long as one is ready, and so on in turn. That makes
 * the fewest runs of small boxes.  Each run of small boxes becomes one box.  Every path between two boxes of a run
 * stays in the run, as the order is topological, so no cycle arises.  O(pins + boxes). */
#include "backends/picture/blocks.h"

#include <assert.h>
#include <string.h>

/* A box is small if it takes less than 1/TIME of its device's time and reads at most 1/WEIGHTS of its frame's weights
 * and state. */
enum { TIME = 200, WEIGHTS = 20 };

/* What the sorting and joining of boxes works with; boxes are numbered from 0 here. */
struct joiner {
    const struct result *r;
    const struct frames *f;
    struct blocks *b;
    struct arena *a;
    struct csr next;  /* box -> consumers of its results in the same frame */
    uint32_t *before; /* [box] number of its operands from boxes that are not yet in `order` */
    uint32_t *order;  /* the boxes, sorted within each frame */
    uint8_t *small;   /* [box] 1: the box is small */
};

/* Finds the pairs of boxes of a frame where one reads results of the other: sets j->next and j->before.  Small
 * tensors (arrow_is_small) do not count. */
static void link_boxes(struct joiner *j)
{
    const struct place *pl = j->r->scene.place;
    const struct module *m = j->r->scene.m;
    struct pairs next = pairs_new(j->a, pl->net_pin.at[pl->nnet]);
    for (uint32_t e = 0; e < pl->nnet; e++) {
        nid u = m->value[pl->net_value[e]].def;
        uint32_t x = u && pl->kind[u] == PLACE_NODE ? j->b->of[u] : 0;
        if (!x || arrow_is_small(j->r, e))
            continue;
        for_row (pin, pl->net_pin, e) {
            uint32_t y = j->b->of[pin];
            if (!y || y == x || j->b->block[x - 1].frame != j->b->block[y - 1].frame)
                continue;
            pairs_add(&next, x - 1, y - 1);
            j->before[y - 1]++;
        }
    }
    j->next = pairs_rows(&next, j->b->n);
}

/* Sets j->small: whether a box takes little time of its device and reads few of its frame's weights and states. */
static void find_small(struct joiner *j)
{
    const struct holdings *box = holdings_of(j->r, j->b->of, j->b->n, j->a);
    const struct holdings *frame = holdings_of(j->r, j->f->of, j->f->n, j->a);
    for (uint32_t i = 0; i < j->b->n; i++) {
        const struct block *k = &j->b->block[i];
        const struct holdings *all = &frame[k->frame];
        int64_t time = j->r->verdict->load[j->f->dev[k->frame]].compute;
        int64_t reads = sat_add(box[i].weights, box[i].state);
        j->small[i] = k->time < time / TIME && reads <= sat_add(all->weights, all->state) / WEIGHTS;
    }
}

/* Writes the boxes of a frame, [lo, hi), to order[lo .. hi), sorted topologically: as many big
 * boxes as can come next, then as many small boxes as can come next, and so on. */
static void sort_frame(struct joiner *j, uint32_t lo, uint32_t hi)
{
    /* queues of ready boxes: [0] big ones, [1] small ones */
    uint32_t *queue[2], head[2] = {0, 0}, tail[2] = {0, 0}, n = lo;
    for (int s = 0; s < 2; s++)
        queue[s] = arena_array(j->a, hi - lo, sizeof *queue[s]);
    for (uint32_t i = lo; i < hi; i++)
        if (!j->before[i])
            queue[j->small[i]][tail[j->small[i]]++] = i;
    for (int s = 0; head[0] < tail[0] || head[1] < tail[1]; s = !s) /* big and small ones in turn */
        while (head[s] < tail[s]) {
            uint32_t x = queue[s][head[s]++];
            j->order[n++] = x;
            for_row (y, j->next, x)
                if (!--j->before[y])
                    queue[j->small[y]][tail[j->small[y]]++] = y;
        }
    assert(n == hi); /* boxes make no cycle */
}

/* Returns the end, in j->order, of the run of small boxes of one frame that begins at index i; i + 1 if the box at i is
 * big.  old: [n] the boxes. */
static uint32_t run_end(const struct joiner *j, const struct block *old, uint32_t i, uint32_t n)
{
    uint32_t end = i + 1;
    while (end < n && j->small[j->order[i]] && j->small[j->order[end]] &&
           old[j->order[end]].frame == old[j->order[i]].frame)
        end++;
    return end;
}

/* Returns a copy of the first box of the run [i, end) of j->order; its node[] has room for the nodes of all boxes of
 * the run.  old: [n] the boxes. */
static struct block begin_run(const struct joiner *j, const struct block *old, uint32_t i,
                              uint32_t end)
{
    struct block first = old[j->order[i]];
    size_t nodes = 0;
    if (end == i + 1)
        return first;
    for (uint32_t k = i; k < end; k++)
        nodes += old[j->order[k]].nodes;
    nid *node = arena_array(j->b->a, nodes, sizeof *node);
    memcpy(node, first.node, first.nodes * sizeof *node);
    first.node = node;
    return first;
}

/* Adds the nodes of box k to box `into`, whose node[] has room for them. */
static void join(struct block *into, const struct block *k)
{
    memcpy(into->node + into->nodes, k->node, k->nodes * sizeof *k->node);
    into->nodes += k->nodes;
    into->time = sat_add(into->time, k->time);
    into->repeats = 1;
    into->layered = false;
    into->small = true;
}

void blocks_join_small(const struct result *r, const struct frames *f, struct blocks *b)
{
    struct joiner j = {.r = r, .f = f, .b = b, .a = arena_new(b->a)};
    struct block *old = arena_array(j.a, (size_t)b->n + 1, sizeof *old);
    uint32_t n = b->n;
    j.before = arena_array(j.a, (size_t)n + 1, sizeof *j.before);
    j.order = arena_array(j.a, (size_t)n + 1, sizeof *j.order);
    j.small = arena_alloc(j.a, (size_t)n + 1);
    link_boxes(&j);
    find_small(&j);
    /* blocks lo .. hi - 1 are the blocks of one frame */
    for (uint32_t lo = 0, hi; lo < n; lo = hi) {
        for (hi = lo; hi < n && b->block[hi].frame == b->block[lo].frame; hi++)
            ;
        sort_frame(&j, lo, hi);
    }
    memcpy(old, b->block, n * sizeof *old);
    b->n = 0;
    /* end: index behind the run that the last new box stands for */
    for (uint32_t i = 0, end = 0; i < n; i++) {
        const struct block *k = &old[j.order[i]];
        if (i < end) {
            join(&b->block[b->n - 1], k);
        } else {
            end = run_end(&j, old, i, n);
            b->block[b->n++] = begin_run(&j, old, i, end);
        }
        for (uint32_t x = 0; x < k->nodes; x++)
            b->of[k->node[x]] = b->n;
    }
    arena_free(j.a);
}
