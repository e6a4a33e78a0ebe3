/* Making a plan's makespan smaller (improve.h).
 *
 * What a plan's end waits for is a chain of nodes and transfers (timeline_chain); nothing else can make it end earlier.
 * So a moment is drawn, and what the chain does then is changed: a node, or nodes around it that dear transfers tie
 * together (cluster_growth.c), go to another device; a transfer's ends come together on either device; a node that
 * waited for another one of its device, or a transfer for another one of its port, is brought forward.  The plan that
 * comes of it is run, with each device taking what is ready in the order of the plan, or in just that order.  It is
 * kept if it ends earlier, or later by less than a share that is drawn below a limit (threshold accepting; Dueck and
 * Scheuer, 1990); the limit falls to nothing in the course of a round.
 *
 * The order of the plan that is kept becomes that in which its nodes started.  Each run is O(n log n). */
#include "passes/portfolio/improve.h"

#include "ir/base/keyed.h"
#include "ir/base/random.h"
#include "ir/base/units.h"
#include "ir/exec/makespan/step_verdict.h"
#include "passes/portfolio/cluster_growth.h"

#include <assert.h>
#include <string.h>

enum { MILLION = 1000000, DRAWS = 16 };

/* An item of the critical chain. */
struct link {
    int64_t start;
    uint32_t number;   /* the node, or the net of a transfer */
    uint8_t kind;      /* enum step_kind */
    uint32_t from, to; /* devices */
    bool held;         /* it could have started, but for the item before it */
};

/* A plan and the result of its run. */
struct state {
    int32_t *dev;   /* [node] */
    uint32_t *rank; /* [node] places 0, 1, ... in a topological order */
    int64_t value, lacks;
    uint32_t over; /* the device with the largest lack of memory, if any lacks memory */
};

struct improver {
    struct ctx *x;
    const struct placement *placement;
    struct clock *clock;
    int64_t work;   /* nodes that runs of this round may still have */
    uint32_t tried; /* plans run in the present round */
    struct list_schedule *best;
    struct edges edge;
    struct growth growth;
    struct state now, next;
    struct link *chain; /* of `now` */
    uint32_t nchain;
    uint32_t *order; /* [place] vertex, of `now` */
    uint32_t *mark;  /* [vertex] scratch: the last question that it was marked in */
    uint32_t question;
    uint64_t rng;
    struct arena *run; /* memory of a single run */
};

/* ---- states ------------------------------------------------------------------------------------- */

static struct state state_new(uint32_t nnode, struct arena *a)
{
    struct state s = {0};
    s.dev = arena_array(a, nnode, sizeof *s.dev);
    s.rank = arena_array(a, nnode, sizeof *s.rank);
    return s;
}

static void state_copy(struct state *to, const struct state *from, uint32_t nnode)
{
    memcpy(to->dev, from->dev, nnode * sizeof *to->dev);
    memcpy(to->rank, from->rank, nnode * sizeof *to->rank);
    to->value = from->value;
    to->lacks = from->lacks;
    to->over = from->over;
}

static uint32_t below(struct improver *s, uint32_t n)
{
    return random_below(&s->rng, n);
}

/* Places in the order in which nodes started. */
static void take_order(struct improver *s, const struct step_run *run)
{
    const struct wdag *g = s->placement->base;
    struct keyed *at = arena_array(s->run, (size_t)g->n + 1, sizeof *at);
    uint32_t n = 0;
    for (uint32_t k = 0; k < run->g.ntask && run->g.task[k].kind == STEP_COMPUTE; k++)
        at[n++] = (struct keyed){run->t.start[k], g->vertex[run->g.task[k].number]};
    assert(n == g->n);
    keyed_sort(at, n);
    for (uint32_t i = 0; i < n; i++) {
        s->now.rank[g->node[at[i].item]] = i;
        s->order[i] = at[i].item;
    }
}

static bool waits_for(const struct task_graph *g, uint32_t task, uint32_t on)
{
    for_row (before, g->waits, task)
        if (before == on)
            return true;
    return false;
}

static void take_chain(struct improver *s, const struct step_run *run)
{
    uint32_t n;
    const uint32_t *item = timeline_chain(&run->t, &n, s->run);
    s->nchain = 0;
    for (uint32_t i = 0; i < n && i < s->placement->base->n * 2; i++) {
        uint32_t k = task_of_item(&run->g, item[i]);
        const struct task *x = &run->g.task[k];
        struct link *l = &s->chain[s->nchain++];
        *l = (struct link){run->t.start[item[i]], x->number, x->kind, x->from, x->to, false};
        l->held = i && !waits_for(&run->g, k, task_of_item(&run->g, item[i - 1]));
    }
}

/* ---- running ------------------------------------------------------------------------------------ */

/* Whether `next`, after its run, is accepted, if a plan may take longer by the share `later`, in millionths. */
static bool is_taken(const struct improver *s, uint32_t later)
{
    if (s->next.lacks != s->now.lacks)
        return s->next.lacks < s->now.lacks;
    return s->next.value <= s->now.value + mul_div_ceil(s->now.value, later, MILLION);
}

static void note_best(struct improver *s)
{
    struct list_schedule p = {.dev = s->now.dev, .rank = s->now.rank}, best = *s->best;
    if (s->now.lacks > s->best->lacks ||
        (s->now.lacks == s->best->lacks && s->now.value >= s->best->value))
        return;
    list_try(s->x, &best, &p); /* runs the plan in its own order */
    s->work -= s->placement->base->n;
    if (best.dev != p.dev)
        return;
    size_t n = s->x->scene.m->nnode;
    memcpy(s->best->dev, p.dev, n * sizeof *p.dev);
    memcpy(s->best->rank, p.rank, n * sizeof *p.rank);
    s->best->value = p.value;
    s->best->lacks = p.lacks;
}

/* Runs `next`, but where what it lacks is known, and more than `now` does. */
static struct verdict try_next(struct improver *s, bool exact)
{
    const struct scene *of = &s->x->scene;
    const struct plan p = {.dev = s->next.dev, .rank = s->next.rank};
    uint32_t n = s->placement->base->n;
    if (exec_memory(&of->model) == MEMORY_SUM) { /* that can be told beforehand */
        struct verdict v = plan_check(of, s->next.dev, NULL, CHECK_MEMORY, s->run);
        s->work -= n / 8;
        if (list_lacking(of, &v) > s->now.lacks)
            return v;
    }
    s->work -= n;
    s->tried++;
    return exact ? step_verdict(of, &p, s->run) : step_verdict_ready(of, &p, s->run);
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* 1 .. most, each power of two as likely. */
static uint32_t draw_size(struct improver *s, uint32_t most)
{
    uint32_t powers = 1;
    while (powers < 31 && most >> powers)
        powers++;
    uint32_t size = 1U << below(s, powers);
    size += below(s, size);
    return smaller_u32(size, most);
}

/* Moves the group of v, perhaps with groups around it, to device d; false: d cannot run the group. */
static bool move_around(struct improver *s, uint32_t v, uint32_t d)
{
    const struct placement *r = s->placement;
    uint32_t k = r->group[v], most = r->ngroup / 4 + 1;
    if (growth_home(&s->growth, s->next.dev, k) == (int32_t)d || !growth_can(&s->growth, k, d))
        return false;
    growth_grow(&s->growth, s->next.dev, k, d, draw_size(s, most), s->run);
    growth_move(&s->growth, s->next.dev, d);
    return true;
}

/* A device that one of the set's neighbours is on, or any. */
static uint32_t draw_device(struct improver *s, uint32_t v)
{
    const struct wdag *g = s->placement->base;
    uint32_t np = g->pred.at[v + 1] - g->pred.at[v], ns = g->succ.at[v + 1] - g->succ.at[v];
    if (np + ns && below(s, 3) == 0) {
        uint32_t i = below(s, np + ns);
        uint32_t u = i < np ? g->pred.to[g->pred.at[v] + i] : g->succ.to[g->succ.at[v] + i - np];
        if (s->now.dev[g->node[u]] != s->now.dev[g->node[v]])
            return (uint32_t)s->now.dev[g->node[u]];
    }
    return below(s, s->x->scene.cluster->ndev);
}

/* Marks the vertices before v in the order that v needs, back to place `from`; whether u is none of them. */
static bool mark_needed(struct improver *s, uint32_t v, uint32_t u)
{
    const struct wdag *g = s->placement->base;
    uint32_t from = s->now.rank[g->node[u]];
    s->mark[v] = ++s->question;
    for (uint32_t i = s->now.rank[g->node[v]]; i > from; i--) {
        uint32_t w = s->order[i];
        if (s->mark[w] != s->question)
            continue;
        for_row (p, g->pred, w)
            s->mark[p] = s->question;
    }
    return s->mark[u] != s->question;
}

/* Brings v, with what it needs, to the place before u.  false: u is needed, or comes later. */
static bool bring_forward(struct improver *s, uint32_t v, uint32_t u)
{
    const struct wdag *g = s->placement->base;
    uint32_t from = s->now.rank[g->node[u]], to = s->now.rank[g->node[v]], at = from;
    if (from >= to || !mark_needed(s, v, u))
        return false;
    for (int marked = 1; marked >= 0; marked--)
        for (uint32_t i = from; i <= to; i++)
            if ((s->mark[s->order[i]] == s->question) == marked)
                s->next.rank[g->node[s->order[i]]] = at++;
    return true;
}

/* The device with most memory left. */
static uint32_t most_free(const struct scene *of, const struct verdict *v)
{
    int64_t most = INT64_MIN;
    uint32_t to = 0;
    for (uint32_t d = 0; d < of->cluster->ndev; d++) {
        int64_t memory = of->cluster->cls[cluster_class(of->cluster, d)].memory;
        int64_t left = memory < 0 ? INT64_MAX : memory - v->load[d].used;
        if (left > most) {
            most = left;
            to = d;
        }
    }
    return to;
}

/* The device with the largest lack of memory. */
static uint32_t most_over(const struct scene *of, const struct verdict *v)
{
    int64_t most = INT64_MIN;
    uint32_t over = 0;
    for (uint32_t d = 0; d < of->cluster->ndev; d++) {
        int64_t memory = of->cluster->cls[cluster_class(of->cluster, d)].memory;
        if (memory >= 0 && v->load[d].used - memory > most) {
            most = v->load[d].used - memory;
            over = d;
        }
    }
    return over;
}

/* Takes a group off the device with the largest lack of memory, most often to the device with the most free memory. */
static bool make_room(struct improver *s, const struct verdict *v)
{
    const struct scene *of = &s->x->scene;
    const struct wdag *g = s->placement->base;
    uint32_t from = most_over(of, v), to = most_free(of, v), u = below(s, g->n);
    if (below(s, 3) == 0)
        to = below(s, of->cluster->ndev);
    for (int tries = 0;
         tries < DRAWS && !(s->next.dev[s->placement->node[u]] == (int32_t)from &&
                            s->growth.mark[s->placement->group[u]] != s->growth.turn);
         tries++)
        u = below(s, g->n);
    return move_around(s, u, to);
}

/* Runs `next`, if need be once more with room made; it becomes `now` if it is good enough. */
static void run_next(struct improver *s, bool exact, uint32_t later)
{
    const struct scene *of = &s->x->scene;
    struct arena_mark mark = arena_mark(s->run);
    struct verdict v = try_next(s, exact);
    if (v.runnable && list_lacking(of, &v) > s->now.lacks && make_room(s, &v)) {
        arena_release(s->run, mark);
        v = try_next(s, exact);
    }
    s->next.value = v.value;
    s->next.lacks = v.runnable ? list_lacking(of, &v) : INT64_MAX;
    s->next.over = v.runnable ? most_over(of, &v) : 0;
    if (v.run && is_taken(s, later)) {
        state_copy(&s->now, &s->next, s->x->scene.m->nnode);
        take_order(s, v.run);
        take_chain(s, v.run);
        note_best(s);
    }
    arena_release(s->run, mark);
}

/* The vertex that makes the net of a link, or that is it; UINT32_MAX: the host does. */
static uint32_t vertex_of(const struct improver *s, const struct link *l)
{
    const struct wdag *g = s->placement->base;
    return l->kind == STEP_COMPUTE ? g->vertex[l->number] : g->net_src[l->number];
}

/* The i-th link waited for the one before it: not any more. */
static bool change_turn(struct improver *s, uint32_t i)
{
    while (i < s->nchain && !s->chain[i].held)
        i++;
    if (i >= s->nchain)
        return false;
    uint32_t v = vertex_of(s, &s->chain[i]), u = vertex_of(s, &s->chain[i - 1]);
    return v != UINT32_MAX && u != UINT32_MAX && v != u && bring_forward(s, v, u);
}

/* Ends of the transfer come together. */
static bool change_transfer(struct improver *s, const struct link *l)
{
    const struct wdag *g = s->placement->base;
    const struct csr *pin = &g->net_pin;
    uint32_t u = g->net_src[l->number], n = pin->at[l->number + 1] - pin->at[l->number];
    uint32_t v = n ? pin->to[pin->at[l->number] + below(s, n)] : u;
    for_row (x, *pin, l->number)
        if (l->kind != STEP_OUT && (uint32_t)s->now.dev[g->node[x]] == l->to && below(s, 2) == 0)
            v = x; /* a reader on the device l->to */
    if (u == UINT32_MAX)
        return v != UINT32_MAX && move_around(s, v, draw_device(s, v));
    uint32_t du = (uint32_t)s->now.dev[g->node[u]], dv = (uint32_t)s->now.dev[g->node[v]];
    return below(s, 2) ? move_around(s, u, dv) : move_around(s, v, du);
}

/* Nodes of one device that follow each other on the chain go elsewhere. */
static bool change_stretch(struct improver *s, uint32_t i)
{
    const struct wdag *g = s->placement->base;
    uint32_t dev = s->chain[i].from;
    uint32_t d = below(s, s->x->scene.cluster->ndev), most = draw_size(s, s->nchain);
    bool moved = false;
    for (; i < s->nchain && most && s->chain[i].kind == STEP_COMPUTE && s->chain[i].from == dev;
         i++, most--) {
        uint32_t k = s->placement->group[g->vertex[s->chain[i].number]];
        if (d == dev || !growth_can(&s->growth, k, d))
            continue;
        s->growth.set[0] = k;
        s->growth.n = 1;
        growth_move(&s->growth, s->next.dev, d);
        moved = true;
    }
    return moved;
}

/* The link of a moment that is drawn. */
static uint32_t draw_link(struct improver *s)
{
    int64_t at = mul_div_ceil(s->now.value, below(s, MILLION), MILLION);
    uint32_t i = 0;
    while (i + 1 < s->nchain && s->chain[i + 1].start <= at)
        i++;
    return below(s, 4) ? i : below(s, s->nchain);
}
static bool change(struct improver *s, bool *order)
{
    uint32_t n = s->placement->base->n, i = draw_link(s), dice = below(s, 10);
    const struct link *l = &s->chain[i];
    *order = false;
    state_copy(&s->next, &s->now, s->x->scene.m->nnode);
    if (dice == 0 || (s->now.lacks && dice < 7)) {
        uint32_t v = below(s, n);
        for (int tries = 0; tries < DRAWS && s->now.lacks && dice; tries++)
            if (s->now.dev[s->placement->node[v]] != (int32_t)s->now.over)
                v = below(s, n);
        return move_around(s, v, draw_device(s, v));
    }
    if (dice <= 3) {
        *order = true;
        return change_turn(s, i);
    }
    if (l->kind != STEP_COMPUTE)
        return change_transfer(s, l);
    uint32_t v = s->placement->base->vertex[l->number];
    return dice <= 5 ? change_stretch(s, i) : move_around(s, v, draw_device(s, v));
}

/* ---- the search --------------------------------------------------------------------------------- */

static void start_from_best(struct improver *s)
{
    struct state best = {s->best->dev, s->best->rank, s->best->value, s->best->lacks, 0};
    s->now.value = INT64_MAX / 2;
    s->now.lacks = INT64_MAX;
    state_copy(&s->next, &best, s->x->scene.m->nnode);
    run_next(s, true, 0);
}

struct improver *improver_new(struct ctx *x, const struct placement *placement, struct clock *clock,
                              struct arena *a)
{
    struct improver *s = arena_alloc(a, sizeof *s);
    uint32_t n = placement->base->n, nnode = x->scene.m->nnode;
    *s = (struct improver){
        .x = x, .placement = placement, .clock = clock, .rng = 1, .run = arena_new(a)};
    s->edge = edges_build(&x->scene, placement->base, a);
    s->growth = growth_new(placement, &s->edge, cluster_main_class(x->scene.cluster), a);
    s->now = state_new(nnode, a);
    s->next = state_new(nnode, a);
    s->chain = arena_array(a, (size_t)n * 2 + 1, sizeof *s->chain);
    s->order = arena_array(a, (size_t)n + 1, sizeof *s->order);
    s->mark = arena_array(a, (size_t)n + 1, sizeof *s->mark);
    return s;
}

uint32_t improve_plan(struct improver *s, struct list_schedule *best, int64_t work, uint32_t later)
{
    s->best = best;
    s->work = work;
    s->tried = 0;
    start_from_best(s);
    while (s->nchain && s->work > 0 && !clock_out(s->clock)) {
        bool order, changed = change(s, &order);
        if (!changed) {

            s->work -= s->placement->base->n / 16 + 1;
            continue;
        }
        uint32_t limit = (uint32_t)mul_div_ceil(later, s->work, work);
        run_next(s, order ? below(s, 2) : below(s, 4) == 0, below(s, limit + 1));
    }
    return s->tried;
}
