/* Makes a plan's makespan smaller (improve.h).
 *
 * The critical chain is the sequence of nodes and transfers that each hold up the next one until the plan ends
 * (timeline_chain); the plan can end earlier only if something on the chain changes.  So a moment is drawn at random,
 * and the item of the chain at that moment is changed: a node, maybe with neighbours to which it has long transfers
 * (cluster_growth.c), is moved to another device; or both ends of a transfer are put on one device; or a node that
 * waited for another node of its device, or a transfer that waited for its port, is moved forward in the order.  The
 * changed plan is run, with each device running its ready nodes in the order of the plan, or all nodes in exactly that
 * order.  It is kept if it ends earlier, or later by less than a share, which is drawn at random below a limit
 * (threshold accepting; Dueck and Scheuer, 1990); the limit falls to 0 in the course of a round.
 *
 * The nodes of a plan that is kept are put in the order in which they started.  Each run is O(n log n). */
#include "passes/portfolio/improve.h"

#include "ir/base/keyed.h"
#include "ir/base/random.h"
#include "ir/base/units.h"
#include "ir/exec/makespan/step_verdict.h"
#include "passes/portfolio/cluster_growth.h"

#include <assert.h>
#include <string.h>

enum {
    MILLION = 1000000,
    DRAWS = 16,       /* the most random draws to find a vertex with a certain property */
    CHECK_SHARE = 8,  /* a check of memory counts as 1 / CHECK_SHARE of the work of a run */
    CHANGE_SHARE = 16 /* a change that is not possible counts as 1 / CHANGE_SHARE of it */
};

/* An item of the critical chain: a node or a transfer. */
struct link {
    int64_t start;     /* ps at which the item starts */
    uint32_t number;   /* the node, or the net of a transfer */
    uint8_t kind;      /* enum step_kind */
    uint32_t from, to; /* devices of a transfer (task.from, task.to); both the device of a node */
    /* true: the item waited for the item before it only because that one used the same device or port */
    bool held;
};

/* A plan and the result of its run. */
struct state {
    int32_t *dev;   /* [node] its device */
    uint32_t *rank; /* [node] its position, 0, 1, ..., in a topological order */
    int64_t value;  /* ps: makespan */
    /* bytes that device `over` lacks; 0: the plan fits; INT64_MAX: the plan cannot be run */
    int64_t lacks;
    uint32_t over; /* the device with the largest lack of memory */
};

/* The state of a round of changes. */
struct improver {
    struct ctx *x;
    const struct placement *placement;
    struct clock *clock;
    /* number of nodes that may still be run in this round: a run of a plan of n nodes counts n */
    int64_t work;
    uint32_t tried; /* number of plans run in the round */
    struct list_schedule *best;
    struct edges edge;
    struct growth growth;
    /* now: the plan that was kept last; next: the changed plan that is tried */
    struct state now, next;
    struct link *chain; /* [nchain] the critical chain of `now`, in order of time */
    uint32_t nchain;
    uint32_t *order; /* [position] vertex of `now` */
    /* [vertex] the number (`question`) of the last call of mark_needed() that marked the vertex */
    uint32_t *mark;
    uint32_t question; /* number of calls of mark_needed */
    uint64_t rng;      /* state of the random numbers */
    struct arena *run; /* memory of a single run */
};

/* ---- states ------------------------------------------------------------------------------------- */

/* Returns a state with arrays for nnode nodes, in a. */
static struct state state_new(uint32_t nnode, struct arena *a)
{
    struct state s = {0};
    s.dev = arena_array(a, nnode, sizeof *s.dev);
    s.rank = arena_array(a, nnode, sizeof *s.rank);
    return s;
}

/* Copies a state; both have arrays for nnode nodes. */
static void state_copy(struct state *to, const struct state *from, uint32_t nnode)
{
    memcpy(to->dev, from->dev, nnode * sizeof *to->dev);
    memcpy(to->rank, from->rank, nnode * sizeof *to->rank);
    to->value = from->value;
    to->lacks = from->lacks;
    to->over = from->over;
}

/* Returns a random number from 0 to n - 1. */
static uint32_t draw_below(struct improver *s, uint32_t n)
{
    return random_below(&s->rng, n);
}

/* Puts the nodes of `now` in the order in which they started in its run: sets now.rank and order. */
static void set_order(struct improver *s, const struct step_run *run)
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

/* Returns whether a task must wait for the results of task `on`. */
static bool waits_for(const struct task_graph *g, uint32_t task, uint32_t on)
{
    for_row (before, g->waits, task)
        if (before == on)
            return true;
    return false;
}

/* Sets chain and nchain by the run of `now`; the chain ends when its array is full. */
static void set_chain(struct improver *s, const struct step_run *run)
{
    uint32_t n;
    const uint32_t *item = timeline_chain(&run->t, &n, s->run);
    s->nchain = 0;
    for (uint32_t i = 0; i < n && i < s->placement->base->n * 2; i++) {
        uint32_t k = task_of_item(&run->g, item[i]);
        const struct task *x = &run->g.task[k];
        struct link *l = &s->chain[s->nchain++];
        *l = (struct link){.start = run->t.start[item[i]],
                           .number = x->number,
                           .kind = x->kind,
                           .from = x->from,
                           .to = x->to};
        l->held = i && !waits_for(&run->g, k, task_of_item(&run->g, item[i - 1]));
    }
}

/* ---- running ------------------------------------------------------------------------------------ */

/* Returns whether `next`, which has been run, replaces `now`: it lacks less memory, or as much and takes longer by at
 * most the share `later`, in millionths. */
static bool is_accepted(const struct improver *s, uint32_t later)
{
    if (s->next.lacks != s->now.lacks)
        return s->next.lacks < s->now.lacks;
    return s->next.value <= s->now.value + mul_div_ceil(s->now.value, later, MILLION);
}

/* If `now` is better than *best, and stays better when it is run in exactly its order, copies it to *best. */
static void update_best(struct improver *s)
{
    struct list_schedule p = {.dev = s->now.dev, .rank = s->now.rank}, best = *s->best;
    if (s->now.lacks > s->best->lacks ||
        (s->now.lacks == s->best->lacks && s->now.value >= s->best->value))
        return;
    list_try(s->x, &best, &p); /* runs the plan in exactly its own order */
    s->work -= s->placement->base->n;
    if (best.dev != p.dev)
        return;
    size_t n = s->x->scene.m->nnode;
    memcpy(s->best->dev, p.dev, n * sizeof *p.dev);
    memcpy(s->best->rank, p.rank, n * sizeof *p.rank);
    s->best->value = p.value;
    s->best->lacks = p.lacks;
}

/* Returns the verdict on `next`.  Runs `next`, unless its bytes alone show that it lacks more memory than `now`;
 * exact: in exactly its order, else each device runs the first node of the order that is ready. */
static struct verdict try_next(struct improver *s, bool exact)
{
    const struct scene *of = &s->x->scene;
    const struct plan p = {.dev = s->next.dev, .rank = s->next.rank};
    uint32_t n = s->placement->base->n;
    if (exec_memory(&of->model) == MEMORY_SUM) { /* memory is known without a run */
        struct verdict v = plan_check(of, s->next.dev, /*copies=*/NULL, CHECK_MEMORY, s->run);
        s->work -= n / CHECK_SHARE;
        if (list_lacking(of, &v) > s->now.lacks)
            return v;
    }
    s->work -= n;
    s->tried++;
    return exact ? step_verdict(of, &p, s->run) : step_verdict_ready(of, &p, s->run);
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* Returns a random number from 1 to `most`, about equally often between any two powers of two. */
static uint32_t draw_size(struct improver *s, uint32_t most)
{
    uint32_t powers = 1;
    while (powers < 31 && most >> powers)
        powers++;
    uint32_t size = 1U << draw_below(s, powers);
    size += draw_below(s, size);
    return smaller_u32(size, most);
}

/* Moves the group of v, maybe with neighbouring groups, to device d in `next`.  Returns false, without a change, if the
 * group is on d or d cannot run it. */
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

/* Returns a device to which to move v: sometimes the device of a neighbour of v, else any device at random. */
static uint32_t draw_device(struct improver *s, uint32_t v)
{
    const struct wdag *g = s->placement->base;
    uint32_t np = g->pred.at[v + 1] - g->pred.at[v], ns = g->succ.at[v + 1] - g->succ.at[v];
    if (np + ns && draw_below(s, 3) == 0) {
        uint32_t i = draw_below(s, np + ns);
        uint32_t u = i < np ? g->pred.to[g->pred.at[v] + i] : g->succ.to[g->succ.at[v] + i - np];
        if (s->now.dev[g->node[u]] != s->now.dev[g->node[v]])
            return (uint32_t)s->now.dev[g->node[u]];
    }
    return draw_below(s, s->x->scene.cluster->ndev);
}

/* Marks v, and those vertices between u and v in the order that must come before v.  Returns whether u need not
 * come before v. */
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

/* Moves v, with the vertices that must come before it, to the positions before u in the order of `next`.  Returns
 * false, without a change, if u must come before v, or comes later anyway. */
static bool bring_forward(struct improver *s, uint32_t v, uint32_t u)
{
    const struct wdag *g = s->placement->base;
    uint32_t from = s->now.rank[g->node[u]], to = s->now.rank[g->node[v]], at = from;
    if (from >= to || !mark_needed(s, v, u))
        return false;
    /* first the marked vertices, then the others, each in their present order */
    for (int marked = 1; marked >= 0; marked--)
        for (uint32_t i = from; i <= to; i++)
            if ((s->mark[s->order[i]] == s->question) == marked)
                s->next.rank[g->node[s->order[i]]] = at++;
    return true;
}

/* Returns the device with the most free memory; v: the verdict on a plan. */
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

/* Returns the device with the largest lack of memory; 0 if no device has a limit. */
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

/* Moves a random group, in `next`, from the device with the largest lack of memory to the device with the most free
 * memory, sometimes to any device; not a group that has just been moved.  If DRAWS draws find no such group, moves any
 * group.  v: the verdict on `next`.  Returns whether a group was moved. */
static bool free_memory(struct improver *s, const struct verdict *v)
{
    const struct scene *of = &s->x->scene;
    const struct wdag *g = s->placement->base;
    uint32_t from = most_over(of, v), to = most_free(of, v), u = draw_below(s, g->n);
    if (draw_below(s, 3) == 0)
        to = draw_below(s, of->cluster->ndev);
    for (int tries = 0; tries < DRAWS; tries++) {
        bool just_moved = s->growth.mark[s->placement->group[u]] == s->growth.turn;
        if (s->next.dev[s->placement->node[u]] == (int32_t)from && !just_moved)
            break;
        u = draw_below(s, g->n);
    }
    return move_around(s, u, to);
}

/* Runs `next`; if it lacks more memory than `now`, once more after free_memory().  Copies it to `now` if it is accepted
 * with the share `later`, and updates the best plan.  exact: as in try_next. */
static void run_next(struct improver *s, bool exact, uint32_t later)
{
    const struct scene *of = &s->x->scene;
    struct arena_mark mark = arena_mark(s->run);
    struct verdict v = try_next(s, exact);
    if (v.runnable && list_lacking(of, &v) > s->now.lacks && free_memory(s, &v)) {
        arena_release(s->run, mark);
        v = try_next(s, exact);
    }
    s->next.value = v.value;
    s->next.lacks = v.runnable ? list_lacking(of, &v) : INT64_MAX;
    s->next.over = v.runnable ? most_over(of, &v) : 0;
    if (v.run && is_accepted(s, later)) {
        state_copy(&s->now, &s->next, s->x->scene.m->nnode);
        set_order(s, v.run);
        set_chain(s, v.run);
        update_best(s);
    }
    arena_release(s->run, mark);
}

/* Returns the vertex of a node on the chain or, for a transfer, the vertex that makes the value; UINT32_MAX: the
 * host has it. */
static uint32_t vertex_of(const struct improver *s, const struct link *l)
{
    const struct wdag *g = s->placement->base;
    return l->kind == STEP_COMPUTE ? g->vertex[l->number] : g->net_src[l->number];
}

/* Changes the order of `next`: of the items from the i-th on, takes the first that waited for its device or port,
 * and moves it before the item that used the device or port.  Returns false if nothing can be changed, as do the
 * other change functions. */
static bool change_order(struct improver *s, uint32_t i)
{
    while (i < s->nchain && !s->chain[i].held)
        i++;
    if (i >= s->nchain)
        return false;
    uint32_t v = vertex_of(s, &s->chain[i]), u = vertex_of(s, &s->chain[i - 1]);
    return v != UINT32_MAX && u != UINT32_MAX && v != u && bring_forward(s, v, u);
}

/* Puts the ends of a transfer of the chain on one device: moves the maker of the value, or a reader of it, mostly a
 * reader on the device to which the transfer leads; if the host has the value, moves a reader to some device. */
static bool change_transfer(struct improver *s, const struct link *l)
{
    const struct wdag *g = s->placement->base;
    const struct csr *pin = &g->net_pin;
    uint32_t u = g->net_src[l->number], n = pin->at[l->number + 1] - pin->at[l->number];
    uint32_t v = n ? pin->to[pin->at[l->number] + draw_below(s, n)] : u;
    for_row (x, *pin, l->number)
        if (l->kind != STEP_OUT && (uint32_t)s->now.dev[g->node[x]] == l->to &&
            draw_below(s, 2) == 0)
            v = x; /* a reader on the device l->to */
    if (u == UINT32_MAX)
        return v != UINT32_MAX && move_around(s, v, draw_device(s, v));
    uint32_t du = (uint32_t)s->now.dev[g->node[u]], dv = (uint32_t)s->now.dev[g->node[v]];
    return draw_below(s, 2) ? move_around(s, u, dv) : move_around(s, v, du);
}

/* Moves the nodes of items i, i + 1, ... of the chain, all on the device of item i, to one other device.  That
 * device, and the largest number of items to move, are drawn at random.  An item on another device, or an item that
 * is no node, ends the stretch. */
static bool change_stretch(struct improver *s, uint32_t i)
{
    const struct wdag *g = s->placement->base;
    uint32_t dev = s->chain[i].from;
    uint32_t d = draw_below(s, s->x->scene.cluster->ndev), most = draw_size(s, s->nchain);
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

/* Returns the number of the item on the chain at a random moment, sometimes of any item. */
static uint32_t draw_link(struct improver *s)
{
    int64_t at = mul_div_ceil(s->now.value, draw_below(s, MILLION), MILLION);
    uint32_t i = 0;
    while (i + 1 < s->nchain && s->chain[i + 1].start <= at)
        i++;
    return draw_below(s, 4) ? i : draw_below(s, s->nchain);
}

/* Makes `next` from `now` by a random change of the plan; *order: whether only the order is changed.  Returns false
 * if the change that was drawn is not possible. */
static bool change_plan(struct improver *s, bool *order)
{
    uint32_t n = s->placement->base->n, i = draw_link(s), dice = draw_below(s, 10);
    const struct link *l = &s->chain[i];
    *order = false;
    state_copy(&s->next, &s->now, s->x->scene.m->nnode);
    /* one time in ten moves any node; while memory is lacking, six times more, a node of the device that lacks most */
    if (dice == 0 || (s->now.lacks && dice < 7)) {
        uint32_t v = draw_below(s, n);
        for (int tries = 0; tries < DRAWS && s->now.lacks && dice; tries++)
            if (s->now.dev[s->placement->node[v]] != (int32_t)s->now.over)
                v = draw_below(s, n);
        return move_around(s, v, draw_device(s, v));
    }
    /* else changes the item drawn: its place in the order, its transfer, or its device */
    if (dice <= 3) {
        *order = true;
        return change_order(s, i);
    }
    if (l->kind != STEP_COMPUTE)
        return change_transfer(s, l);
    uint32_t v = s->placement->base->vertex[l->number];
    return dice <= 5 ? change_stretch(s, i) : move_around(s, v, draw_device(s, v));
}

/* ---- the search --------------------------------------------------------------------------------- */

/* Runs *best and makes it the state `now`, from which the round's changes start. */
static void start_from_best(struct improver *s)
{
    struct state best = {.dev = s->best->dev,
                         .rank = s->best->rank,
                         .value = s->best->value,
                         .lacks = s->best->lacks};
    /* any plan is better than this state; / 2, so that is_accepted() can add a share to the value */
    s->now.value = INT64_MAX / 2;
    s->now.lacks = INT64_MAX;
    state_copy(&s->next, &best, s->x->scene.m->nnode);
    run_next(s, /*exact=*/true, 0);
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
        bool order, changed = change_plan(s, &order);
        if (!changed) {
            s->work -= s->placement->base->n / CHANGE_SHARE + 1;
            continue;
        }
        /* falls from `later` to 0 as the work is used up */
        uint32_t limit = (uint32_t)mul_div_ceil(later, s->work, work);
        /* a changed order is run exactly half of the time, else a quarter of the time (try_next) */
        bool exact = order ? draw_below(s, 2) : draw_below(s, 4) == 0;
        run_next(s, exact, draw_below(s, limit + 1));
    }
    return s->tried;
}
