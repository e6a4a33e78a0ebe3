/* Computes maximum flows (max_flow.h).
 *
 * Source: Dinic, Soviet Math. Doklady 11 (1970): shortest augmenting paths, found in phases.  A phase numbers the nodes
 * by their distance from s, then sends flow along arcs whose end is one farther from s than their start, by depth-first
 * search with an explicit stack; arcs that did not lead to t are not looked at again in the phase.  O(V^2 E) at
 * worst. */
#include "ir/base/max_flow.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

struct flow flow_new(uint32_t nnode, uint32_t most, struct arena *a)
{
    return (struct flow){.mem = a,
                         .nnode = nnode,
                         .head = arena_array(a, (size_t)nnode + 1, sizeof(uint32_t)),
                         .next = arena_array(a, (size_t)most * 2 + 1, sizeof(uint32_t)),
                         .to = arena_array(a, (size_t)most * 2 + 1, sizeof(uint32_t)),
                         .room = arena_array(a, (size_t)most * 2 + 1, sizeof(int64_t))};
}

/* Appends an arc of capacity c to the arcs of `from`. */
static void append_arc(struct flow *f, uint32_t from, uint32_t to, int64_t c)
{
    f->to[f->narc] = to;
    f->room[f->narc] = c;
    f->next[f->narc] = f->head[from];
    f->head[from] = ++f->narc;
}

void flow_arc(struct flow *f, uint32_t from, uint32_t to, int64_t c)
{
    assert(from < f->nnode && to < f->nnode);
    assert(c >= 0 && c <= FLOW_INF);
    append_arc(f, from, to, c);
    append_arc(f, to, from, 0);
}

/* State of a phase, which sends flow only along shortest paths from s to t. */
struct phase {
    uint32_t *level; /* [node] 1 + the node's distance from s; 0: not reached */
    uint32_t *arc;   /* [node] 1 + the next arc to try; 0: none is left */
    uint32_t *queue; /* the nodes that were reached, in the order of their levels */
    uint32_t *path;  /* the arcs of the current path from s */
};

/* Computes the levels of all nodes up to that of t, through arcs with remaining capacity, and sets p->arc to the first
 * arc of each node.  Returns whether t was reached.  Stops when *work, which is lowered by 1 for each arc, is 0. */
static bool number_nodes(struct flow *f, struct phase *p, uint32_t s, uint32_t t, uint64_t *work)
{
    uint32_t n = 0;
    memset(p->level, 0, f->nnode * sizeof *p->level);
    p->level[s] = 1;
    p->queue[n++] = s;
    for (uint32_t i = 0; i < n && !p->level[t] && *work; i++)
        for (uint32_t a = f->head[p->queue[i]]; a && *work; a = f->next[a - 1], --*work) {
            uint32_t v = f->to[a - 1];
            if (f->room[a - 1] == 0 || p->level[v])
                continue;
            p->level[v] = p->level[p->queue[i]] + 1;
            p->queue[n++] = v;
        }
    memcpy(p->arc, f->head, f->nnode * sizeof *p->arc);
    return p->level[t] != 0;
}

/* Sends as much flow as possible through the arcs path[0 .. n) and adds it to *sum. Returns the number of arcs before
 * the first arc that has no capacity left: these stay the current path. */
static uint32_t send_along(struct flow *f, const uint32_t *path, uint32_t n, int64_t *sum)
{
    int64_t least = FLOW_INF;
    uint32_t stay = n;
    for (uint32_t i = 0; i < n; i++)
        least = smaller(f->room[path[i]], least);
    for (uint32_t i = n; i-- > 0;) {
        f->room[path[i]] -= least;
        f->room[path[i] ^ 1] += least; /* the reverse arc, which flow_arc() adds next to each arc */
        if (f->room[path[i]] == 0)
            stay = i;
    }
    *sum += least;
    return stay;
}

int64_t flow_max(struct flow *f, uint32_t s, uint32_t t, uint64_t *work)
{
    assert(s < f->nnode && t < f->nnode && s != t);
    const size_t nodes = f->nnode;
    uint32_t *all = arena_array(f->mem, nodes * 4, sizeof *all);
    struct phase p = {all, all + nodes, all + 2 * nodes, all + 3 * nodes};
    int64_t sum = 0;
    while (*work && number_nodes(f, &p, s, t, work)) {
        uint32_t n = 0, v = s; /* the current path has n arcs and ends in v */
        for (; *work; --*work) {
            uint32_t a = p.arc[v];
            /* at t: sends flow and goes back to where the path has no capacity left; at a dead end: goes back by an
             * arc; else extends the path by an arc to the next level, or goes on to the next arc of v.  Arc a ^ 1 is
             * the opposite of arc a */
            if (v == t) {
                n = send_along(f, p.path, n, &sum);
                v = f->to[p.path[n] ^ 1];
            } else if (!a) {
                if (n == 0)
                    break;
                p.level[v] = 0;
                v = f->to[p.path[--n] ^ 1];
            } else if (f->room[a - 1] && p.level[f->to[a - 1]] == p.level[v] + 1) {
                p.path[n++] = a - 1;
                v = f->to[a - 1];
            } else {
                p.arc[v] = f->next[a - 1];
            }
        }
    }
    assert(sum >= 0);
    return sum;
}

uint8_t *flow_side(const struct flow *f, uint32_t s)
{
    assert(s < f->nnode);
    uint8_t *in = arena_alloc(f->mem, (size_t)f->nnode + 1);
    uint32_t n = 0, *queue = arena_array(f->mem, (size_t)f->nnode + 1, sizeof *queue);
    in[s] = 1;
    queue[n++] = s;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t a = f->head[queue[i]]; a; a = f->next[a - 1])
            if (f->room[a - 1] && !in[f->to[a - 1]]) {
                in[f->to[a - 1]] = 1;
                queue[n++] = f->to[a - 1];
            }
    return in;
}
