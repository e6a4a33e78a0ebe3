/* Ways through the states of a model (stage_ways.h).
 *
 * A plan is a way through the states (stage_states.h), from the empty state to the full one; each step of the way is a
 * stage with some number n of devices.  The question is: can an iteration take at most `most` ps?  Let f and b be the
 * times of a stage's forward and backward pass for one micro-batch, r the AllReduce of its parameters among n devices,
 * c the transfer of a micro-batch over the link before the stage, in each direction, and M the number of micro-batches.
 * For each stage let
 *   first  be the time until the first micro-batch reaches it: forward passes and transfers of all stages before;
 *   around be `first` and the time from the stage's last backward pass to the end of the iteration: backward passes and
 *          transfers down to some earlier stage, and the AllReduce of that stage, whichever earlier stage ends last;
 *   rest   be the way of a micro-batch from the stage's end to the last stage and back.
 * Then for each stage
 *   first + M (f + b) + r <= most, and around + M (f + b) <= most.
 * The link before the stage moves M micro-batches in each direction, one after the other.  The last one that goes forth
 * has its way through the stage, the rest, and back; the first one that comes back has had that way.  So with `first`
 * and `around` of the stage before the link, behind its forward pass,
 *   around + M c + (f + b) + rest + c <= most.
 * The AllReduce may take the lane for gradients, too; then, with `first` behind the first transfer,
 *   first + (f + b) + rest + M c + r <= most.
 * With half duplex all transfers and the AllReduce share a lane:
 *   around + 2 M c <= most, and first + 2 M c + r <= most, with `first` and `around` before the link.
 * For each state and number of devices used so far, the least `first` and the least `around` of all ways there are
 * kept, maybe of two different ways; nothing else of a way is needed later.  The least `rest` of all ways from a state
 * to the end, with the devices that are left, is found in the same manner beforehand, backwards.  All other things are
 * counted in favour of plans: n devices are placed as is best for the AllReduce and the transfer to them, for each kind
 * of link that may join them (best_places.h), and get values from where that is fastest; gradients of weights that are
 * computed separately (zb-h1) may all come after a stage's last backward pass; an AllReduce that may overlap passes
 * hides behind a whole pass; memory must hold the weights and one micro-batch.  So if no way is found, no plan takes
 * `most` or less.
 *
 * If the model has too many states, the ways are those through its heaviest path, of which the longest layers are kept.
 * A stage then has the layers of the path between two states, and those beside it that lie between two of these: with
 * 8 devices and 16 micro-batches of a decoder of 24 layers the bound is 250 ms, with all work alone 243, the plan 286.
 *
 * The search assumes that stages are on devices of their own and that all micro-batches of an iteration come from the
 * stage before and go back to it.  That is not so in the steady state of PipeDream's schedule, and with interleaved
 * stages only where each device has one stage; rounds_bound.h is for several stages on each device. */
#include "passes/stages/stage_ways.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/stages/best_places.h"

#include <math.h>
#include <string.h>

/* Figures of layers and stages. */
enum figure {
    FORWARD,
    BACKWARD,
    ACTIVATION,
    PARAMETER,
    FORWARD_OVERHEAD,
    BACKWARD_OVERHEAD,
    STORED,
    FIGURES
};

enum {
    LEAST_PATH = 2,        /* a path of fewer layers says nothing */
    MOST_STATES = 400,     /* the states of a model with more states are not looked for */
    MOST_PIECES = 1 << 20, /* the most pieces for all settings together */
    MOST_STEPS = 24000000, /* the most steps of one question, about: pieces * devices */
    PATH_STEPS = 2000000,  /* MOST_STEPS if the states are those of a path */
    MILLION = 1000000
};
#define NONE UINT32_MAX       /* no layer */
#define NEVER (INT64_MAX / 4) /* ps: more than any time */

/* What a stage of certain layers on certain devices adds to a way, a partial plan: the stages up to some state (head of
 * this file).  In ps. */
struct piece {
    /* way: the partial plan behind which the stage stands, with the link between them.  The stage can extend it only if
     * way.first + first <= most and way.around + around <= most; first is NEVER if the stage can extend no way */
    int64_t first, around;
    /* f, by which the stage makes way.first longer; f + b, by which it makes way.around longer */
    int64_t forward, through;
    int64_t reduce; /* r */
    int64_t leave;  /* f + b + r: the extended way has an `around` of at least way.first + leave */
};

/* ps of a micro-batch on the link from a state to a stage on certain devices: forth; back. */
struct link {
    int64_t forth, back;
};

/* One of the settings in stage_ways_of.model, with the times of all stages and links under it. */
struct choice {
    const struct training *m;
    /* false: ways are not searched, since another choice has all of these ways (is_covered) */
    bool searched;
    /* [pair * nplace + i] the stage between a pair of states, numbered as in make_choice(), on the devices place[i] */
    struct piece *piece;
    /* [state * nplace + i] the link from the state to a stage on the devices place[i] */
    struct link *link;
};

/* Devices that a stage may have: n devices, joined by a certain kind of link. */
struct stage_place {
    uint32_t n;
    struct device_set set;
};

struct stage_ways {
    struct stage_ways_of of;
    uint32_t ndev;
    /* [layer] index of the layer among the nlayer layers of the states; UINT32_MAX: it is not among them */
    uint32_t *index, nlayer;
    bool whole; /* the states are those of all layers */
    /* if the states are those of a path: [figure][from * (nlayer + 1) + to]: the sum of the figure over layers beside
     * the path that are in each stage with the layers from .. to - 1 of the path; NULL: 0 */
    int64_t *beside[FIGURES];
    struct stage_states s;
    /* [nplace] the devices that a stage may have, ascending by their number */
    struct stage_place *place;
    uint32_t nplace;
    /* [state] bytes that the forward passes of the state keep for the backward passes */
    int64_t *stored;
    /* [state] bytes of forward values that the state makes and layers outside the state read */
    int64_t *cut;
    /* [state * (ndev + 1) + devices used] ps: the least of all ways to the state; NEVER: there is no way */
    int64_t *first, *around;
    /* [state * (ndev + 1) + devices left] ps: the least of all ways from the state to the end, with the link behind the
     * state; NEVER: there is no way */
    int64_t *rest;
    /* [state * (ndev + 1) + devices used] the last stage of the way with the least `around` */
    struct last_stage {
        uint32_t from, place; /* state before the stage; its devices, place[place] */
    } *last;
    /* [2 * (n + 1)] work space of stage_ways_turn(): for each state the least weighted sum of all ways to the state,
     * and their least ps */
    double *turn;
    struct choice *choice; /* [of.n] */
    struct arena *a;
};

bool can_share_micro_batch(const struct training *m, uint32_t n)
{
    return m->any_slices || !m->micro_size || m->micro_size % n == 0;
}

int64_t least_exposed(const struct training *m, int64_t reduce, int64_t f, int64_t b)
{
    int64_t hides = 0; /* ps of passes beside which the AllReduce can run */
    if (m->reduce_when == REDUCE_BESIDE)
        hides = b;
    else if (m->reduce_when != REDUCE_AFTER)
        hides = sat_add(f, b);
    return reduce > hides ? reduce - hides : 0;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

/* Returns the sum of a figure over layers that are surely in a stage from state `from` to state `to`.  sum: [state] the
 * figure of all layers of the state. */
static int64_t stage_sum(const struct stage_ways *p, enum figure k, const int64_t *sum,
                         uint32_t from, uint32_t to)
{
    const int64_t *beside = p->beside[k];
    int64_t more = beside ? beside[(size_t)from * (p->nlayer + 1) + to] : 0;
    return sat_add(sum[to] - sum[from], more);
}

/* Returns the stage on the devices place[i] with the layers of state `to` that are not in state `from`; piece.first is
 * NEVER if the stage does not fit the memory or the devices cannot share a micro-batch. */
static struct piece make_piece(const struct stage_ways *p, const struct training *m, uint32_t from,
                               uint32_t to, uint32_t i)
{
    const struct stage_states *s = &p->s;
    const struct scene *scene = &p->of.t->x->scene;
    uint32_t n = p->place[i].n;
    int64_t param = stage_sum(p, PARAMETER, s->parameter, from, to);
    int64_t f = training_time(m, stage_sum(p, FORWARD, s->forward, from, to),
                              stage_sum(p, FORWARD_OVERHEAD, s->forward_overhead, from, to), n);
    int64_t b = training_time(m, stage_sum(p, BACKWARD, s->backward, from, to),
                              stage_sum(p, BACKWARD_OVERHEAD, s->backward_overhead, from, to), n);
    int64_t count = training_count(m);
    int64_t reduce =
        least_exposed(m, servers_reduce(&p->of.t->servers, &p->place[i].set, param), f, b);
    /* millionths of the backward pass in which gradients of weights are computed: half in a profile; in a graph the
     * share depends on the stage's nodes, and may be the whole pass */
    int64_t share = m->weight_share;
    if (!share)
        share = scene->m->ir_version ? MILLION : MILLION / 2;
    int64_t weights = m->schedule == TRAINING_ZB_H1 ? mul_div_ceil(b, share, MILLION) : 0;
    int64_t memory = scene->cluster->cls[cluster_main_class(scene->cluster)].memory;
    int64_t bytes =
        sat_add(sat_mul(param, exec_weight_copies(&scene->model, /*training=*/true)), m->workspace);
    bytes = sat_add(bytes, training_share(m, stage_sum(p, STORED, p->stored, from, to), n));
    if (!can_share_micro_batch(m, n) || (memory >= 0 && bytes > memory))
        return (struct piece){.first = NEVER};
    f = sat_add(f, scene->model.part_cost);
    b = sat_add(b, scene->model.part_cost);
    b = m->recompute == RECOMPUTE_ALL ? sat_add(b, f) : b;
    struct piece x = {.forward = f, .through = sat_add(f, b - weights), .reduce = reduce};
    x.first = sat_add(sat_mul(sat_add(f, b), count), reduce);
    x.around = sat_mul(x.through, count);
    x.leave = sat_add(sat_add(f, b), reduce);
    return x;
}

/* Returns the link from state `from` to a stage on the devices place[i]. */
static struct link make_link(const struct stage_ways *p, const struct training *m, uint32_t from,
                             uint32_t i)
{
    int64_t ps =
        least_move(&p->of.t->servers, &p->place[i].set, training_share(m, p->cut[from], 1));
    /* bytes of gradients are known only in a profile, where they are those of the values */
    return (struct link){ps, p->of.t->x->scene.m->ir_version ? 0 : ps};
}

/* Fills *c for the settings m: pieces for all pairs of states, ordered by the later state, then by the earlier one, and
 * the links. */
static void make_choice(struct stage_ways *p, struct choice *c, const struct training *m)
{
    const struct stage_states *s = &p->s;
    uint32_t pairs = s->before.at[s->n + 1] + s->n, at = 0;
    c->searched = true;
    c->piece = arena_array(p->a, (size_t)pairs * p->nplace + 1, sizeof *c->piece);
    c->link = arena_array(p->a, ((size_t)s->n + 1) * p->nplace, sizeof *c->link);
    for (uint32_t to = 1; to <= s->n; to++) {
        for (uint32_t i = 0; i < p->nplace; i++)
            c->piece[at++] = make_piece(p, m, 0, to, i);
        for_row (u, s->before, to)
            for (uint32_t i = 0; i < p->nplace; i++)
                c->piece[at++] = make_piece(p, m, u, to, i);
        for (uint32_t i = 0; i < p->nplace && to < s->n; i++)
            c->link[(size_t)to * p->nplace + i] = make_link(p, m, to, i);
    }
}

/* ---- a question --------------------------------------------------------------------------------- */

/* A question (most: is there a plan of at most this many ps?), and the piece that is looked at: the stage x from state
 * `from` to state `to`, on the devices place[place], behind the link l. */
struct step {
    const struct choice *c;
    int64_t most;
    uint32_t from, to, place, n; /* n: number of devices */
    const struct piece *x;
    struct link l;
    /* ps on the link of all micro-batches but one, forth and back */
    int64_t others_forth, others_back;
};

/* Calls `act` for each piece that alone takes no longer than q->most, nor its link, with *q filled in for the piece;
 * the pieces are in the order of their later states if `forth`, else in the opposite order. */
static void for_pieces(struct stage_ways *p, struct step *q, bool forth,
                       void (*act)(struct stage_ways *p, const struct step *q))
{
    const struct stage_states *s = &p->s;
    uint32_t pairs = s->before.at[s->n + 1] + s->n, others = training_count(q->c->m) - 1;
    const struct piece *x = forth ? q->c->piece : q->c->piece + (size_t)pairs * p->nplace;
    for (uint32_t k = 1; k <= s->n; k++) {
        q->to = forth ? k : s->n + 1 - k;
        /* x goes through the pieces as make_choice() has ordered them, by the later state; j = 0: from the empty one */
        uint32_t before = s->before.at[q->to + 1] - s->before.at[q->to];
        x -= forth ? 0 : (size_t)(before + 1) * p->nplace;
        q->x = x;
        for (uint32_t j = 0; j <= before; j++) {
            q->from = j ? s->before.to[s->before.at[q->to] + j - 1] : 0;
            for (q->place = 0; q->place < p->nplace; q->place++, q->x++) {
                if (q->x->first > q->most)
                    continue;
                q->n = p->place[q->place].n;
                q->l =
                    q->from ? q->c->link[(size_t)q->from * p->nplace + q->place] : (struct link){0};
                q->others_forth = sat_mul(q->l.forth, others);
                q->others_back = sat_mul(q->l.back, others);
                if (q->l.forth <= q->most && q->others_forth <= q->most)
                    act(p, q);
            }
        }
        x += forth ? (size_t)(before + 1) * p->nplace : 0;
    }
}

/* Lowers `rest` of the state before a piece to what it is by way of this piece. */
static void add_rest(struct stage_ways *p, const struct step *q)
{
    size_t row = (size_t)p->ndev + 1;
    const int64_t *behind = p->rest + q->to * row;
    int64_t *rest = p->rest + q->from * row, own = q->l.forth + q->l.back + q->x->through;
    for (uint32_t d = q->n; d <= p->ndev; d++) {
        int64_t ps = sat_add(own, behind[d - q->n]);
        rest[d] = smaller(ps, rest[d]);
    }
}

/* Returns whether the link before a piece has too little time.  first, around: these fields of the way before the
 * link; turn: ps of a micro-batch through the piece, to the end, and back through the piece. */
static bool is_link_late(const struct step *q, int64_t first, int64_t around, int64_t turn)
{
    const struct training *m = q->c->m;
    int64_t both = q->l.forth + q->l.back, reduce = m->own_reduce_lane ? 0 : q->x->reduce;
    int64_t forth = sat_add(q->others_forth, both), back = sat_add(q->others_back, both);
    int64_t all = sat_add(forth, q->others_back);
    if (sat_add(sat_add(around, turn), larger(forth, back)) > q->most)
        return true;
    if (reduce && sat_add(sat_add(first, turn), sat_add(back, reduce)) > q->most)
        return true;
    return m->half_duplex && (sat_add(around, all) > q->most ||
                              (reduce && sat_add(first, sat_add(all, reduce)) > q->most));
}

/* Extends the ways (partial plans) to the state before a piece by the link and the piece, if that takes at most
 * q->most ps. */
static void add_piece(struct stage_ways *p, const struct step *q)
{
    size_t row = (size_t)p->ndev + 1, from = q->from * row, to = q->to * row;
    const struct piece *x = q->x;
    for (uint32_t d = 0; d + q->n <= p->ndev; d++) {
        int64_t first = p->first[from + d], around = p->around[from + d];
        int64_t rest = p->rest[to + p->ndev - d - q->n];
        if (first > q->most || around > q->most || rest > q->most ||
            (q->from && is_link_late(q, first, around, x->through + rest)))
            continue;
        first += q->l.forth;
        around += q->l.forth + q->l.back;
        if (first > q->most - x->first || around > q->most - x->around)
            continue;
        size_t at = to + d + q->n;
        int64_t past = larger(first + x->leave, around + x->through);
        p->first[at] = smaller(first + x->forward, p->first[at]);
        if (past >= p->around[at])
            continue;
        p->around[at] = past;
        p->last[at] = (struct last_stage){q->from, q->place};
    }
}

bool stage_ways_refute(struct stage_ways *p, uint32_t choice, int64_t most)
{
    size_t row = (size_t)p->ndev + 1, cells = (p->s.n + 1) * row;
    struct step q = {.c = &p->choice[choice], .most = most};
    for (size_t i = 0; i < cells; i++)
        p->first[i] = p->around[i] = p->rest[i] = NEVER;
    for (size_t d = 0; d < row; d++)
        p->rest[p->s.n * row + d] = 0;
    for_pieces(p, &q, /*forth=*/false, add_rest);
    p->first[0] = p->around[0] = 0;
    for_pieces(p, &q, /*forth=*/true, add_piece);
    for (uint32_t d = 0; d <= p->ndev; d++)
        if (p->first[p->s.n * row + d] < NEVER)
            return false;
    return true;
}

/* Returns settings that are searched and have the same pieces and links as settings number `choice`. */
static const struct choice *covering(const struct stage_ways *p, uint32_t choice)
{
    const struct training *own = &p->of.model[choice];
    for (uint32_t i = 0; i < p->of.n; i++)
        if (p->choice[i].searched && p->of.model[i].micro_size == own->micro_size &&
            p->of.model[i].micro_batches == own->micro_batches)
            return &p->choice[i];
    return NULL;
}

/* Returns whether a stage x on n devices cannot be part of a plan that *q is about; around: the least ps of the way of
 * a micro-batch to the stage and of that back from it. */
static bool is_stage_late(const struct piece *x, uint32_t n, double count, double around,
                          const struct stage_turn *q)
{
    double passes = count * (double)(x->leave - x->reduce);
    return x->first == NEVER || n > q->most_devices || around + passes > q->time ||
           passes + (double)x->reduce > q->time;
}

double stage_ways_turn(const struct stage_ways *p, uint32_t choice, const struct stage_turn *q)
{
    const struct stage_states *s = &p->s;
    const struct choice *c = covering(p, choice);
    double count = training_count(c->m), hides = c->m->own_reduce_lane ? 0 : q->places;
    double *least = p->turn, *around = p->turn + s->n + 1;
    const struct piece *x = c->piece;
    for (uint32_t to = 1; to <= s->n; to++) {
        uint32_t before = s->before.at[to + 1] - s->before.at[to];
        least[to] = around[to] = HUGE_VAL;
        for (uint32_t j = 0; j <= before; j++) {
            uint32_t from = j ? s->before.to[s->before.at[to] + j - 1] : 0;
            for (uint32_t i = 0; i < p->nplace; i++, x++) {
                const struct link *l = &c->link[(size_t)from * p->nplace + i];
                double forward = (double)x->forward, both = (double)(x->leave - x->reduce);
                double link = from && q->places > 1 ? (double)l->forth + (double)l->back : 0;
                if (is_stage_late(x, p->place[i].n, count, around[from] + link, q))
                    continue;
                /* `hides` backward passes hide the AllReduces; the first stage has no link, and its own is left out */
                double busy = count * both - hides * (both - forward);
                busy += from && hides > 0 ? (double)x->reduce : 0;
                double ps = least[from] + q->turn * (link + both) + q->price * p->place[i].n * busy;
                double way = around[from] + link + both;
                least[to] = ps < least[to] ? ps : least[to];
                around[to] = way < around[to] ? way : around[to];
            }
        }
    }
    return least[s->n];
}

/* ---- setting up --------------------------------------------------------------------------------- */

/* Returns whether a state has a layer of t->layers. */
static bool in_state(const struct stage_ways *p, uint32_t state, uint32_t layer)
{
    layer = p->index[layer];
    return layer < p->nlayer && bits_have(p->s.set + (size_t)state * p->s.words, layer);
}

/* Returns whether a layer of t->layers is outside a state, but inside a larger state. */
static bool is_beyond(const struct stage_ways *p, uint32_t state, uint32_t layer)
{
    return p->index[layer] < p->nlayer && !in_state(p, state, layer);
}

/* Fills p->cut: adds the bytes of each value of a forward node to all states that have its maker but not all of its
 * forward readers. */
static void sum_cuts(struct stage_ways *p)
{
    const struct scene *s = &p->of.t->x->scene;
    const struct csr *pin = &s->place->net_pin;
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        nid def = s->m->value[s->place->net_value[e]].def;
        if (!def || s->place->kind[def] != PLACE_NODE || s->m->backward[def])
            continue;
        uint32_t maker = train_layer(p->of.t, def);
        for (uint32_t state = 1; state < p->s.n; state++) {
            bool leaves = false;
            for (uint32_t i = pin->at[e]; i < pin->at[e + 1] && !leaves; i++)
                leaves = !s->m->backward[pin->to[i]] &&
                         is_beyond(p, state, train_layer(p->of.t, pin->to[i]));
            if (leaves && in_state(p, state, maker))
                p->cut[state] = sat_add(p->cut[state], s->m->cost->bytes[s->place->net_value[e]]);
        }
    }
}

/* Returns whether ways need not be searched under model[i], one of n settings, since other settings with the same
 * micro-batches allow all of its ways.  Dapple, gpipe and interleaved (with one stage on each device) have the same
 * conditions here, so only the first of these settings is searched; zb-h1 has weaker conditions, so it covers the
 * others. */
static bool is_covered(const struct training *model, uint32_t n, uint32_t i)
{
    const struct training *own = &model[i];
    bool zero_bubble = own->schedule == TRAINING_ZB_H1;
    for (uint32_t k = 0; k < n; k++) {
        bool other = model[k].schedule == TRAINING_ZB_H1;
        bool same =
            model[k].micro_size == own->micro_size && model[k].micro_batches == own->micro_batches;
        if (same && ((other && !zero_bubble) || (k < i && other == zero_bubble)))
            return true;
    }
    return false;
}

/* Finds the states p->s of the layers l.  Returns false if there are too many states, too many pieces, or more than
 * most_steps steps of a question.  (A piece is a stage between two states, the empty one included, on devices of one of
 * the places.) */
static bool find_states(struct stage_ways *p, const struct layers_of *l, int64_t most_steps)
{
    uint32_t most = p->of.states ? p->of.states : MOST_STATES;
    p->nlayer = l->n;
    /* there are at least as many states as layers */
    if (l->n > most || !stage_states_find(&p->s, l, STATES_ALL, /*published=*/false, most, p->a))
        return false;
    int64_t pieces = stage_ways_pieces(p), choices = 0;
    for (uint32_t i = 0; i < p->of.n; i++)
        choices += !is_covered(p->of.model, p->of.n, i);
    return pieces * choices <= MOST_PIECES && pieces * p->ndev <= most_steps;
}

/* Returns the weight of layer v on paths: its share of all time plus its share of all parameters, each in millionths.
 * all: ps of all layers, bytes of all parameters. */
static int64_t weight_of(const struct layers_of *l, const int64_t all[2], uint32_t v)
{
    int64_t time = sat_add(l->forward[v], l->backward[v]);
    return (all[0] ? mul_div_ceil(time, MILLION, all[0]) : 0) +
           (all[1] ? mul_div_ceil(l->parameter[v], MILLION, all[1]) : 0);
}

/* Writes the layers of the heaviest path (weight_of) to path[], in order; returns their number. */
static uint32_t find_path(struct stage_ways *p, const struct layers_of *l, uint32_t *path)
{
    int64_t all[2] = {0}, *sum = arena_array(p->a, (size_t)l->n + 1, sizeof *sum);
    uint32_t *from = arena_array(p->a, (size_t)l->n + 1, sizeof *from), last = 0, n = 0;
    for (uint32_t v = 0; v < l->n; v++) {
        all[0] = sat_add(all[0], sat_add(l->forward[v], l->backward[v]));
        all[1] = sat_add(all[1], l->parameter[v]);
    }
    for (uint32_t v = 0; v < l->n; v++) { /* in a topological order */
        from[v] = NONE;
        for_row (u, l->pred, v)
            if (from[v] == NONE || sum[u] > sum[from[v]])
                from[v] = u;
        sum[v] = (from[v] == NONE ? 0 : sum[from[v]]) + weight_of(l, all, v);
        last = sum[v] > sum[last] ? v : last;
    }
    for (uint32_t v = last; v != NONE; v = from[v])
        path[n++] = v;
    for (uint32_t i = 0; i < n / 2; i++) { /* turns the path round */
        uint32_t v = path[i];
        path[i] = path[n - 1 - i];
        path[n - 1 - i] = v;
    }
    return n;
}

/* Leaves the `most` layers in path[] that take longest there, in their order.  n: number of layers there.  Returns how
 * many are left. */
static uint32_t keep_longest(struct stage_ways *p, const struct layers_of *l, uint32_t *path,
                             uint32_t n, uint32_t most)
{
    struct keyed *by = arena_array(p->a, (size_t)n + 1, sizeof *by);
    uint8_t *kept = arena_alloc(p->a, (size_t)n + 1); /* [index in path] 1: it stays */
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        by[i] = (struct keyed){-sat_add(l->forward[path[i]], l->backward[path[i]]), i};
    keyed_sort(by, n);
    for (uint32_t i = 0; i < n && i < most; i++)
        kept[by[i].item] = 1;
    for (uint32_t i = 0; i < n; i++)
        if (kept[i])
            path[left++] = path[i];
    return left;
}

/* Returns the n layers in path[], which are on a path through the layers l, as layers of their own, and sets p->index.
 * A plan of all layers, restricted to these, is a plan of the path that takes no longer: a bound for the path holds for
 * all layers. */
static struct layers_of take_path(struct stage_ways *p, const struct layers_of *l,
                                  const uint32_t *path, uint32_t n)
{
    /* figure[k] becomes what of[k] is, for the layers of the path alone */
    const int64_t *const of[STORED] = {[FORWARD] = l->forward,
                                       [BACKWARD] = l->backward,
                                       [ACTIVATION] = l->activation,
                                       [PARAMETER] = l->parameter,
                                       [FORWARD_OVERHEAD] = l->forward_overhead,
                                       [BACKWARD_OVERHEAD] = l->backward_overhead};
    struct pairs edge = {.a = p->a};
    int64_t *figure[STORED];
    memset(p->index, 0xff, l->n * sizeof *p->index);
    for (uint32_t i = 0; i < n; i++) {
        p->index[path[i]] = i;
        if (i > 0)
            pairs_add(&edge, i - 1, i);
    }
    for (uint32_t k = 0; k < STORED; k++) {
        figure[k] = arena_array(p->a, (size_t)n + 1, sizeof **figure);
        for (uint32_t i = 0; i < n; i++)
            figure[k][i] = of[k][path[i]];
    }
    return (struct layers_of){.n = n,
                              .succ = pairs_rows(&edge, n),
                              .pred = pairs_rows_back(&edge, n),
                              .forward = figure[FORWARD],
                              .backward = figure[BACKWARD],
                              .activation = figure[ACTIVATION],
                              .parameter = figure[PARAMETER],
                              .forward_overhead = figure[FORWARD_OVERHEAD],
                              .backward_overhead = figure[BACKWARD_OVERHEAD]};
}

/* lo[layer] becomes the last layer of the path that must not be in a later stage than the layer; hi[layer] the first
 * layer of the path that must not be in an earlier stage; NONE: there is none. */
static void find_neighbours(const struct stage_ways *p, const struct layers_of *l, uint32_t *lo,
                            uint32_t *hi)
{
    for (uint32_t v = 0; v < l->n; v++) { /* in a topological order */
        lo[v] = NONE;
        for_row (u, l->pred, v) {
            uint32_t at = p->index[u] < p->nlayer ? p->index[u] : lo[u];
            lo[v] = at != NONE && (lo[v] == NONE || at > lo[v]) ? at : lo[v];
        }
    }
    for (uint32_t v = l->n; v-- > 0;) {
        hi[v] = NONE; /* the largest number */
        for_row (w, l->succ, v)
            hi[v] = smaller_u32(p->index[w] < p->nlayer ? p->index[w] : hi[w], hi[v]);
    }
}

/* Sets p->beside.  A layer beside the path that lies between two layers of the path is in their stage if these are in
 * one stage.  The states are those of the path: state k has its first k layers. */
static void sum_beside(struct stage_ways *p, const struct layers_of *l)
{
    const int64_t *const of[FIGURES] = {[FORWARD] = l->forward,
                                        [BACKWARD] = l->backward,
                                        [PARAMETER] = l->parameter,
                                        [FORWARD_OVERHEAD] = l->forward_overhead,
                                        [BACKWARD_OVERHEAD] = l->backward_overhead,
                                        [STORED] = p->of.t->stored};
    size_t row = (size_t)p->nlayer + 1;
    uint32_t *lo = arena_array(p->a, (size_t)l->n + 1, sizeof *lo);
    uint32_t *hi = arena_array(p->a, (size_t)l->n + 1, sizeof *hi);
    find_neighbours(p, l, lo, hi);
    for (uint32_t k = 0; k < FIGURES; k++) {
        if (!of[k])
            continue;
        int64_t *sum = p->beside[k] = arena_array(p->a, row * row, sizeof *sum);
        for (uint32_t v = 0; v < l->n; v++)
            if (p->index[v] == NONE && lo[v] != NONE && hi[v] != NONE)
                sum[lo[v] * row + hi[v] + 1] = sat_add(sum[lo[v] * row + hi[v] + 1], of[k][v]);
        for (uint32_t from = p->nlayer + 1; from-- > 0;)
            for (uint32_t to = 1; to < row; to++) {
                /* adds the sums of the two shorter ranges, from + 1 .. to and from .. to - 1, less what both contain */
                int64_t later = from < p->nlayer ? sum[(from + 1) * row + to] : 0;
                int64_t shorter = sum[from * row + to - 1];
                int64_t both = from < p->nlayer ? sum[(from + 1) * row + to - 1] : 0;
                sum[from * row + to] =
                    sat_add(sum[from * row + to], sat_add(later, shorter - both));
            }
    }
}

/* Finds the states of the heaviest path through the layers l; of its longest layers alone, if there are too many.
 * Returns false if there are too many devices. */
static bool find_path_states(struct stage_ways *p, const struct layers_of *l)
{
    uint32_t *path = arena_array(p->a, (size_t)l->n + 1, sizeof *path), n = find_path(p, l, path);
    uint32_t most = p->of.states ? p->of.states : MOST_STATES;
    for (;; most -= most / 4 + 1) {
        n = keep_longest(p, l, path, n, most);
        const struct layers_of on_path = take_path(p, l, path, n);
        if (find_states(p, &on_path, PATH_STEPS))
            break;
        if (n <= LEAST_PATH)
            return false;
        most = n;
    }
    sum_beside(p, l);
    return true;
}

/* Sets p->ndev, and p->place: the sets of devices that a stage may have under some of the settings. */
static void find_places(struct stage_ways *p)
{
    const struct servers *s = &p->of.t->servers;
    p->ndev = s->ndev;
    p->place = arena_array(p->a, (size_t)p->ndev * SPREADS + 1, sizeof *p->place);
    for (uint32_t n = 1; n <= p->ndev; n++) {
        bool some = false;
        for (uint32_t i = 0; i < p->of.n; i++)
            some = some || can_share_micro_batch(&p->of.model[i], n);
        const struct spread x = spread_of(s, n);
        for (uint32_t i = 0; some && i < x.n; i++)
            p->place[p->nplace++] = (struct stage_place){n, x.set[i]};
    }
}

struct stage_ways *stage_ways_find(const struct stage_ways_of *of, struct arena *a)
{
    struct stage_ways *p = arena_alloc(a, sizeof *p);
    const struct layers_of *l = &of->t->layers;
    *p = (struct stage_ways){.of = *of, .a = a};
    for (uint32_t i = 0; i < of->n; i++)
        if (of->model[i].schedule == TRAINING_PIPEDREAM)
            return NULL;
    find_places(p);
    p->index = arena_array(a, (size_t)l->n + 1, sizeof *p->index);
    for (uint32_t v = 0; v < l->n; v++)
        p->index[v] = v;
    p->whole = find_states(p, l, MOST_STEPS);
    if (!p->whole && !find_path_states(p, l))
        return NULL;
    p->stored = arena_array(a, (size_t)p->s.n + 1, sizeof *p->stored);
    p->cut = arena_array(a, (size_t)p->s.n + 1, sizeof *p->cut);
    for (uint32_t i = 1; i <= p->s.n; i++)
        for (uint32_t v = 0; v < l->n; v++)
            p->stored[i] = sat_add(p->stored[i], in_state(p, i, v) ? of->t->stored[v] : 0);
    sum_cuts(p);
    size_t cells = ((size_t)p->s.n + 1) * (p->ndev + 1);
    int64_t **const label[] = {&p->first, &p->around, &p->rest};
    for (size_t i = 0; i < sizeof label / sizeof *label; i++)
        *label[i] = arena_array(a, cells, sizeof **label[i]);
    p->last = arena_array(a, cells, sizeof *p->last);
    p->turn = arena_array(a, 2 * ((size_t)p->s.n + 1), sizeof *p->turn);
    p->choice = arena_array(a, of->n, sizeof *p->choice);
    for (uint32_t i = 0; i < of->n; i++) {
        p->choice[i].m = &of->model[i];
        if (!is_covered(of->model, of->n, i))
            make_choice(p, &p->choice[i], &of->model[i]);
    }
    return p;
}

const struct stage_states *stage_ways_states(const struct stage_ways *p)
{
    return &p->s;
}

bool stage_ways_whole(const struct stage_ways *p)
{
    return p->whole;
}

int64_t stage_ways_cut(const struct stage_ways *p, uint32_t state)
{
    return p->cut[state];
}

int64_t stage_ways_pieces(const struct stage_ways *p)
{
    return ((int64_t)p->s.before.at[p->s.n + 1] + p->s.n) * p->nplace;
}

bool stage_ways_searched(const struct stage_ways *p, uint32_t choice)
{
    return p->choice[choice].searched;
}

/* ---- the plan of a way -------------------------------------------------------------------------- */

/* Takes n free devices, and adds them to *used, the devices taken so far.  If a server has n free devices, takes all
 * from one such server, the one with the fewest; else takes from each server as many as it has, until there are n. */
static struct device_set take_devices(const struct servers *s, struct device_set *used, uint32_t n)
{
    struct device_set x = {{0}};
    uint32_t best = UINT32_MAX;
    for (uint32_t v = 0; v < s->n; v++) {
        uint32_t left = (uint32_t)s->size[v] - used->of[v];
        if (left >= n && (best == UINT32_MAX || left < (uint32_t)s->size[best] - used->of[best]))
            best = v;
    }
    for (uint32_t v = 0; v < s->n && n; v++) {
        uint32_t left = (uint32_t)s->size[v] - used->of[v];
        uint32_t take = best == UINT32_MAX || v == best ? smaller_u32(left, n) : 0;
        x.of[v] = (uint16_t)take;
        used->of[v] = (uint16_t)(used->of[v] + take);
        n -= take;
    }
    return x;
}

bool stage_ways_plan(struct stage_ways *p, uint32_t choice, int64_t most, struct stage_layout *plan)
{
    struct arena *a = p->of.t->x->use.scratch;
    size_t row = (size_t)p->ndev + 1;
    uint32_t d = 0, n = 0, state = p->s.n;
    if (!p->whole || stage_ways_refute(p, choice, most))
        return false;
    for (uint32_t k = 1; k <= p->ndev; k++)
        d = p->around[state * row + k] < p->around[state * row + d] ? k : d;
    uint32_t *stage_of = arena_array(a, (size_t)p->nlayer + 1, sizeof *stage_of);
    struct device_set *set = arena_array(a, p->ndev, sizeof *set), used = {{0}};
    uint32_t *count = arena_array(a, p->ndev, sizeof *count);
    /* stages are found from the last one on; for now stage_of counts from there, too */
    while (state) {
        const struct last_stage *last = &p->last[state * row + d];
        for (uint32_t v = 0; v < p->nlayer; v++)
            if (in_state(p, state, v))
                stage_of[v] = n;
        count[n++] = p->place[last->place].n;
        state = last->from;
        d -= count[n - 1];
    }
    for (uint32_t v = 0; v < p->nlayer; v++)
        stage_of[v] = n - 1 - stage_of[v];
    for (uint32_t k = 0; k < n; k++)
        set[k] = take_devices(&p->of.t->servers, &used, count[n - 1 - k]);
    *plan = (struct stage_layout){.n = n, .stage_of = stage_of, .set = set};
    return true;
}
