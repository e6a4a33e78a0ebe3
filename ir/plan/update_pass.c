/* Finds the update of a training graph (update_pass.h).
 *
 * A value varies if it depends on an input of the model that has an axis of the batch; results of Shape and Size do not
 * vary. From each varying output of the backward pass without an axis of the batch, a walk goes back over values
 * without that axis, and always visits next the waiting value that was made last. If this value is the only varying one
 * that waits, all paths from samples to the output lead through it. The last such value of a walk that has the output's
 * type is the gradient, unless the gradient is known by name (named_gradients.h); an initializer of the same type that
 * a visited node reads is the parameter. Source: the description of gradient accumulation in DAPPLE (arXiv 2007.01045),
 * V. */
#include "ir/plan/update_pass.h"

#include "ir/base/heap.h"
#include "ir/model/batch.h"
#include "ir/plan/batch_along.h"
#include "ir/plan/batch_mix.h"
#include "ir/plan/named_gradients.h"

#include <assert.h>
#include <string.h>

const char *const loss_join_name[] = {
    [LOSS_UNKNOWN] = NULL, [LOSS_MEAN] = "mean", [LOSS_SUM] = "sum"};

bool update_pass_wanted(const struct scene *s)
{
    const struct training *t = &s->model.training;
    if (exec_kind(&s->model)->feed != FEED_MICRO_BATCHES || !s->m->ir_version || !s->m->backward ||
        t->schedule == TRAINING_PIPEDREAM)
        return false;
    return t->update == UPDATE_APART || (t->update == UPDATE_AUTO && training_count(t) > 1);
}

/* All walks together may visit WALKS times as many values as the model has. Mostly a value of an optimizer is visited
 * only once for each output of its parameter; but behind a norm of all gradients every walk visits the values of all
 * parameters. */
enum { WALKS = 16 };

/* State of the search. */
struct update_search {
    const struct scene *s;
    const struct module *m;
    const int32_t *axis;   /* [value] the value's axis of the batch; -1: none */
    uint8_t *varies;       /* [value] 1: the value depends on samples */
    const uint8_t *counts; /* [value] 1: the value depends on the number of samples (find_counts) */
    uint8_t *read_forward; /* [value] 1: an initializer that a node of the forward pass reads */
    /* [value] 1 + the number of the last output whose walk has visited the value; 0: none */
    uint32_t *seen;
    struct heap open; /* values still to be visited, in reverse order of the nodes that make them */
    uint32_t open_varying; /* number of values in `open` that vary */
    uint64_t left;         /* number of visits that all walks together may still make */
    struct named_gradients named;
    enum loss_join join; /* how the loss joins samples */
    /* [value] 1: a gradient follows from the value by sums over samples alone */
    uint8_t *to_sum;
    struct arena *a, *own; /* for results; for scratch data */
    struct update_pass *to;
};

/* Returns an array, in a: [value] 1: the value depends on samples, that is on an input with an axis of the batch. */
static uint8_t *find_varying(const struct module *m, const int32_t *axis, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    uint8_t *varies = arena_alloc(a, m->nval);
    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = m->arg[g->in.at + i];
        varies[v] = !(m->value[v].flags & VALUE_INIT) && axis[v] >= 0;
    }
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool any = false;
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            any = any || varies[m->arg[m->node[n].in.at + i]];
        for (uint32_t i = 0; any && !node_tells_sizes(m, n) && i < m->node[n].out.n; i++)
            varies[m->arg[m->node[n].out.at + i]] = 1;
        varies[0] = 0; /* value 0 stands for results and operands that are left out */
    }
    return varies;
}

/* Whether the node takes from a shape only sizes other than the size of the batch: a Gather of a Shape at constant
 * positions, none of which is the axis of the batch. */
static bool takes_other_sizes(const struct module *m, const int32_t *axis, nid n)
{
    enum { MOST = 16 };
    int64_t at[MOST];
    vid shape = node_is(m, n, "Gather") ? node_in(m, n, 0) : 0;
    nid def = m->value[shape].def;
    if (!def || !node_is(m, def, "Shape") || node_attr(m, def, "start") || node_attr(m, def, "end"))
        return false;
    vid x = node_in(m, def, 0);
    int count = constant_ints(m, node_in(m, n, 1), at, MOST);
    int rank = m->type[m->value[x].type].rank;
    bool other = count > 0 && rank > 0;
    for (int i = 0; i < count; i++)
        other = other && (at[i] < 0 ? at[i] + rank : at[i]) != axis[x];
    return other;
}

/* Whether n is a Shape or Size whose result has the size of the operand's axis of the batch, or may have that size,
 * since the operand's rank is not known. */
static bool tells_batch(const struct module *m, const int32_t *axis, nid n)
{
    vid x = node_in(m, n, 0);
    int rank = m->type[m->value[x].type].rank;
    if (!node_tells_sizes(m, n) || axis[x] < 0)
        return false;
    if (node_is(m, n, "Size") || rank < 0)
        return true;
    int64_t from = node_attr_int(m, n, "start", 0), to = node_attr_int(m, n, "end", rank);
    if (from < 0)
        from += rank;
    if (to < 0)
        to += rank;
    return axis[x] >= from && axis[x] < to;
}

/* Returns an array, in a: [value] 1: the value depends on the number of samples, since it follows from sizes of axes of
 * the batch, and has no such axis itself; else 0. */
static uint8_t *find_counts(const struct module *m, const int32_t *axis, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    uint8_t *counts = arena_alloc(a, m->nval);
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool any = tells_batch(m, axis, n);
        for (uint32_t i = 0; i < m->node[n].in.n && !node_tells_sizes(m, n); i++)
            any = any || counts[m->arg[m->node[n].in.at + i]];
        any = any && !takes_other_sizes(m, axis, n);
        for (uint32_t i = 0; any && i < m->node[n].out.n; i++) {
            vid v = m->arg[m->node[n].out.at + i];
            counts[v] = v && axis[v] < 0;
        }
    }
    return counts;
}

/* Whether v is an initializer. */
static bool is_initializer(const struct module *m, vid v)
{
    return v && !m->value[v].def && (m->value[v].flags & VALUE_INIT);
}

/* Puts value v, if a node makes it, among the values still to be visited, once in the walk from an output. */
static void wait_for(struct update_search *k, vid v, uint32_t output)
{
    if (!v || !k->m->value[v].def || k->seen[v] == output + 1)
        return;
    k->seen[v] = output + 1;
    heap_push(&k->open, -(int64_t)k->m->value[v].def, 0, v);
    k->open_varying += k->varies[v];
}

/* What a walk from an output has found. */
struct walk {
    vid from;      /* the output */
    vid parameter; /* the initializer that a new value replaces; 0: none found yet */
    vid gradient;  /* the gradient of the parameter; 0: none found so far */
};

/* Whether the name of output w begins with the name of v. */
static bool begins_with_name(const struct module *m, vid w, vid v)
{
    return strncmp(value_name(m, w), value_name(m, v), strlen(value_name(m, v))) == 0;
}

/* Takes the initializer v, which a node on the way reads, as the walk's parameter if v has the type of the output and
 * suits better than the parameter so far: best is the one with the longest name that the output's name begins with,
 * then one that the forward pass reads, then the one that was met first. */
static void take_parameter(const struct update_search *k, struct walk *w, vid v)
{
    if (!values_alike(k->m, v, w->from))
        return;
    const char *name = value_name(k->m, v);
    const char *had = w->parameter ? value_name(k->m, w->parameter) : "";
    bool named = begins_with_name(k->m, w->from, v);
    bool had_named = w->parameter && begins_with_name(k->m, w->from, w->parameter);
    if (!w->parameter || (named && (!had_named || strlen(name) > strlen(had))) ||
        (!had_named && k->read_forward[v] && !k->read_forward[w->parameter]))
        w->parameter = v;
}

/* Whether the walk can end at a known gradient: the gradient of its parameter P is known by name,
 * and the user has named it, or the output is called P_new. */
static bool knows_gradient(const struct update_search *k, const struct walk *w)
{
    vid p = w->parameter;
    return p && k->named.of[p] && (k->named.said[p] || is_named_after(k->m, w->from, p, "_new"));
}

/* Walks back from the model's output number `output`, w->from, and finds w->parameter and w->gradient.  Ends at a
 * gradient that is known by name, and at the first varying value that has an axis of the batch or that the forward pass
 * makes.  Sets to->why if all walks together have visited too many values. */
static void walk_back(struct update_search *k, struct walk *w, uint32_t output)
{
    const struct module *m = k->m;
    k->open.n = k->open_varying = 0;
    wait_for(k, w->from, output);
    while (k->open.n) {
        vid v = heap_pop(&k->open).item;
        nid n = m->value[v].def;
        if (k->left == 0) {
            k->to->why = arena_fmt(k->a,
                                   "'%s' and other new values follow from gradients of many "
                                   "parameters each, as behind a norm of all",
                                   value_name(m, w->from));
            return;
        }
        k->left--;
        /* alone: no other open value depends on samples, so all that reaches the output from samples passes through
         * v */
        bool varies = k->varies[v], alone = varies && k->open_varying == 1;
        if (varies)
            k->open_varying--;
        if (varies && (k->axis[v] >= 0 || !m->backward[n]))
            return; /* all gradients were made later than v, so the walk has passed them */
        bool named = w->parameter && k->named.of[w->parameter] == v;
        if (named || (alone && v != w->from && values_alike(m, v, w->from)))
            w->gradient = v;
        if (named)
            return;
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            if (is_initializer(m, u))
                take_parameter(k, w, u);
            else
                wait_for(k, u, output);
        }
        if (knows_gradient(k, w)) {
            w->gradient = k->named.of[w->parameter];
            return;
        }
    }
}

/* Checks that each gradient that the user has named, or that the model returns, has an update; sets to->why if not.
 * fresh_of: [parameter] its new value; 0: none. */
static void check_updated(struct update_search *k, const vid *fresh_of)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    uint8_t *returned = arena_alloc(k->own, m->nval);
    for (uint32_t i = 0; i < g->out.n; i++)
        returned[m->arg[g->out.at + i]] = 1;
    for (uint32_t i = 0; i < g->init.n && !k->to->why; i++) {
        vid p = m->arg[g->init.at + i], v = k->named.of[p];
        if (v && !fresh_of[p] && (k->named.said[p] || returned[v]))
            k->to->why = arena_fmt(k->a,
                                   "the gradient '%s' has no update: no output of the model is the "
                                   "new value of '%s'",
                                   value_name(m, v), value_name(m, p));
    }
}

/* Adds what a walk has found to to->of, and the output to fresh_of[parameter].  If two outputs were found to be new
 * values of a parameter P, the one that is called P_new counts, as the other one may be an update that is returned;
 * sets to->why if neither is. */
static void add_gradient(struct update_search *k, const struct walk *w, vid *fresh_of)
{
    const struct module *m = k->m;
    vid had = fresh_of[w->parameter];
    bool named = is_named_after(m, w->from, w->parameter, "_new");
    bool had_named = had && is_named_after(m, had, w->parameter, "_new");
    if (had == w->from)
        return; /* the model lists the output twice */
    if (had && named == had_named) {
        k->to->why =
            arena_fmt(k->a, "'%s' and '%s' are both new values of '%s'", value_name(m, had),
                      value_name(m, w->from), value_name(m, w->parameter));
        return;
    }
    if (had && had_named)
        return;
    uint32_t i = had ? 0 : k->to->n; /* index of the entry of the parameter in to->of */
    while (i < k->to->n && k->to->of[i].parameter != w->parameter)
        i++;
    fresh_of[w->parameter] = w->from;
    k->to->of[i] = (struct gradient){w->parameter, w->gradient, w->from};
    k->to->n += i == k->to->n;
}

/* Fills to->of: walks back from each output that may be the new value of a parameter, and adds the parameter with its
 * gradient.  Sets to->why if there are none, or if an update is ambiguous or missing. */
static void find_gradients(struct update_search *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    /* [parameter] new value of the parameter; 0: none so far */
    vid *fresh_of = arena_array(k->own, m->nval, sizeof *fresh_of);
    k->to->of = arena_array(k->a, (size_t)g->out.n + 1, sizeof *k->to->of);
    k->left = WALKS * ((uint64_t)m->nval + 1);
    for (uint32_t i = 0; i < g->out.n && !k->to->why; i++) {
        struct walk w = {.from = m->arg[g->out.at + i]};
        nid n = m->value[w.from].def;
        if (!n || !k->varies[w.from] || k->axis[w.from] >= 0 || !m->backward[n])
            continue;
        walk_back(k, &w, i);
        if (k->to->why)
            return;
        if (!w.parameter || !w.gradient)
            continue;
        add_gradient(k, &w, fresh_of);
    }
    if (!k->to->why && !k->to->n)
        k->to->why = "no output of the model is the new value of a parameter";
    check_updated(k, fresh_of);
}

/* Whether v is a tensor of floats, as far as its type is known. */
static bool is_float_value(const struct module *m, vid v)
{
    return !m->value[v].type || elem_is_float(m->type[m->value[v].type].elem);
}

/* Whether the operator of node n is in the list of `count` names. */
static bool is_one_of(const struct module *m, nid n, const char *const *list, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = node_is(m, n, list[i]);
    return any;
}

/* Whether the operator of node n keeps sums: its result for sums over samples is the sum of its
 * results for the samples.  If the loss is a mean of samples (k->join), a term that is the same for
 * all samples may be added, too. */
static bool keeps_sums(const struct update_search *k, nid n)
{
    static const char *const of_all[] = {"Add", "Sub", "Sum", "Concat"};
    static const char *const of_first[] = {
        "Identity",  "Reshape", "Transpose", "Cast", "Neg",    "Squeeze", "Unsqueeze", "Flatten",
        "ReduceSum", "Slice",   "Split",     "Pad",  "Gather", "Expand",  "ReduceMean"};
    static const char *const of_one[] = {"Mul", "MatMul", "Gemm"};
    const struct module *m = k->m;
    uint32_t varying = 0, read = 0;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        vid u = m->arg[m->node[n].in.at + i];
        varying += k->varies[u];
        read += u != 0;
    }
    if (is_one_of(m, n, of_all, sizeof of_all / sizeof *of_all))
        return varying == read || k->join == LOSS_MEAN;
    if (node_is(m, n, "Gemm") && node_in(m, n, 2) && k->join != LOSS_MEAN)
        return false;
    if (is_one_of(m, n, of_one, sizeof of_one / sizeof *of_one))
        return varying == 1;
    if (node_is(m, n, "Cast") && !is_float_value(m, node_out(m, n, 0)))
        return false; /* it rounds, or asks whether a sum is 0 */
    return varying == 1 && k->varies[node_in(m, n, 0)] &&
           (node_is(m, n, "Div") || is_one_of(m, n, of_first, sizeof of_first / sizeof *of_first));
}

/* Checks that gradients are sums over samples: only operators that keep sums stand between values with an axis of the
 * batch and the gradients.  Fills k->to_sum on the way; sets to->why if the check fails. */
static void check_sums(struct update_search *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    k->to_sum = arena_alloc(k->own, m->nval);
    uint8_t *up = k->to_sum;
    for (uint32_t i = 0; i < k->to->n; i++)
        up[k->to->of[i].gradient] = 1;
    for (nid n = g->first + g->count; n-- > g->first && !k->to->why;) {
        /* above: the node makes a value from which only operators that keep sums lead to a gradient; batch: the node
         * reads a value with an axis of the batch, so that the sum over samples may begin here */
        bool above = false, batch = false;
        for (uint32_t i = 0; i < m->node[n].out.n; i++)
            above = above || up[m->arg[m->node[n].out.at + i]];
        for (uint32_t i = 0; above && i < m->node[n].in.n; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            batch = batch || (k->varies[u] && k->axis[u] >= 0);
        }
        if (!above || batch)
            continue;
        bool linear = keeps_sums(k, n);
        for (uint32_t i = 0; linear && i < m->node[n].in.n; i++)
            up[m->arg[m->node[n].in.at + i]] |= k->varies[m->arg[m->node[n].in.at + i]];
        if (!linear)
            k->to->why = arena_fmt(k->a,
                                   "'%s' (%s) works on gradients of all samples together, so that "
                                   "gradients of micro-batches cannot be added up behind it",
                                   node_name(m, n), node_op(m, n));
    }
}

/* If node n takes samples together, for the reason `why` (NULL: it does not), adds n to to->mixing if the user allows
 * that, else sets to->why.  cap: capacity of to->mixing. */
static void add_mixing(struct update_search *k, nid n, const char *why, uint32_t *cap)
{
    if (!why || k->to->why)
        return;
    if (!k->s->model.training.mixing) {
        k->to->why = arena_fmt(k->a,
                               "%s, so that micro-batches need not add up to the whole batch; "
                               "--allow-batch-dependence lets that be",
                               why);
        return;
    }
    k->to->mixing = vec_grow(k->a, k->to->mixing, cap, k->to->nmixing + 1, sizeof(nid));
    k->to->mixing[k->to->nmixing++] = n;
}

/* Checks that samples meet nowhere but in the loss and in sums of gradients: hands all other nodes in which they
 * meet, also in bodies, to add_mixing(). */
static void check_batch(struct update_search *k)
{
    const struct graph *g = &k->m->graph[1];
    const struct batch_view v = {.m = k->m,
                                 .axis = k->axis,
                                 .varies = k->varies,
                                 .to_sum = k->to_sum,
                                 .squares = value_batch_squares(k->m, k->own),
                                 .counts = k->counts};
    uint32_t cap = 0;
    for (nid n = g->first; n < g->first + g->count && !k->to->why; n++)
        if (!k->to->own[n])
            add_mixing(k, n, batch_mix_why(&v, n, k->a), &cap);
    for (gid b = 2; b < k->m->ngraph && !k->to->why; b++) {
        nid root = batch_body_root(k->m, b);
        const struct graph *body = &k->m->graph[b];
        for (nid n = body->first; root && !k->to->own[root] && n < body->first + body->count; n++)
            add_mixing(k, n, batch_mix_body_why(&v, n, k->a), &cap);
    }
}

/* Marks in own[] all placed nodes that follow from gradients.  Sets to->why if one of them reads anything else that
 * depends on samples, or makes another gradient. */
static void mark_nodes(struct update_search *k)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    /* sum: [value] 1: a gradient; made: [value] 1: a value that follows from gradients */
    uint8_t *sum = arena_alloc(k->own, m->nval), *made = arena_alloc(k->own, m->nval);
    k->to->own = arena_alloc(k->a, (size_t)m->nnode + 1);
    for (uint32_t i = 0; i < k->to->n; i++)
        sum[k->to->of[i].gradient] = 1;
    for (nid n = g->first; n < g->first + g->count && !k->to->why; n++) {
        bool own = false;
        const struct slice in = m->node[n].in, out = m->node[n].out;
        for (uint32_t i = 0; i < in.n; i++)
            own = own || sum[m->arg[in.at + i]] || made[m->arg[in.at + i]];
        if (!own || k->s->place->kind[n] != PLACE_NODE)
            continue;
        k->to->own[n] = 1;
        for (uint32_t i = 0; i < out.n; i++) {
            made[m->arg[out.at + i]] = m->arg[out.at + i] != 0;
            if (sum[m->arg[out.at + i]])
                k->to->why = arena_fmt(k->a, "the gradient '%s' follows from another gradient",
                                       value_name(m, m->arg[out.at + i]));
        }
        for (uint32_t i = 0; i < in.n; i++) {
            vid u = m->arg[in.at + i];
            if (k->varies[u] && !sum[u] && !made[u])
                k->to->why = arena_fmt(k->a,
                                       "'%s' (%s), which follows from gradients, reads '%s', "
                                       "which each micro-batch makes anew",
                                       node_name(m, n), node_op(m, n), value_name(m, u));
        }
    }
}

/* Finds counters, to->counters; sets to->why if steps would use old values of an initializer. */
static void find_counters(struct update_search *k)
{
    uint8_t *renewed = arena_alloc(k->own, k->m->nval);
    for (uint32_t i = 0; i < k->to->n; i++)
        renewed[k->to->of[i].parameter] = 1;
    const struct counter_search of = {.m = k->m,
                                      .t = &k->s->model.training,
                                      .varies = k->varies,
                                      .samples = k->counts,
                                      .renewed = renewed,
                                      .update = k->to->own};
    struct counters found = counters_find(&of, k->a);
    k->to->counter = found.of;
    k->to->ncounter = found.n;
    k->to->why = found.why;
}

/* Checks that each new value follows from its parameter's gradient; sets to->why if not. */
static void check_followed(struct update_search *k)
{
    const struct module *m = k->m;
    for (uint32_t i = 0; i < k->to->n && !k->to->why; i++) {
        const struct gradient *x = &k->to->of[i];
        if (!k->to->own[m->value[x->fresh].def])
            k->to->why = arena_fmt(
                k->a, "'%s', the new value of '%s', does not follow from the gradient '%s'",
                value_name(m, x->fresh), value_name(m, x->parameter), value_name(m, x->gradient));
    }
}

/* Handles a node n of the pass that reads u, a value of another stage: sets to->joint and, unless the schedule can run
 * such a read, to->why. st: the stages; stage_of: [node] stage of the node. */
static void check_joint(struct update_search *k, const struct stages *st, const int32_t *stage_of,
                        nid n, vid u)
{
    const struct module *m = k->m;
    nid def = m->value[u].def;
    const char *what =
        arena_fmt(k->a, "'%s' (%s) in stage %d updates by '%s' of stage %d", node_name(m, n),
                  node_op(m, n), (int)stage_of[n], value_name(m, u), (int)stage_of[def]);
    if (!k->to->own[def])
        k->to->why = arena_fmt(k->a, "%s: a stage updates by gradients of its own", what);
    else if (k->s->model.training.schedule != TRAINING_GPIPE)
        k->to->why = arena_fmt(k->a,
                               "%s, a value of several stages' gradients, as in clipping by a "
                               "global norm: --schedule=gpipe can do that",
                               what);
    else if (st->device.at[st->n] != st->n)
        k->to->why = arena_fmt(
            k->a,
            "%s, a value of several stages' gradients: stages on several devices cannot do "
            "that",
            what);
    k->to->joint = true;
}

/* Checks that each stage updates its own parameters by its own gradients; values of other stages' gradients may be
 * read only where all gradients are there before any update.  Else check_joint() sets to->why. */
static void check_stages(struct update_search *k, const struct stages *st, const int32_t *stage_of)
{
    const struct module *m = k->m;
    const struct graph *g = &m->graph[1];
    uint8_t *sum = arena_alloc(k->own, m->nval);
    for (uint32_t i = 0; i < k->to->n; i++)
        sum[k->to->of[i].gradient] = 1;
    for (nid n = g->first; n < g->first + g->count && !k->to->why; n++)
        for (uint32_t i = 0; k->to->own[n] && i < m->node[n].in.n && !k->to->why; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            nid def = m->value[u].def;
            if (def && (sum[u] || k->to->own[def]) && stage_of[def] != stage_of[n])
                check_joint(k, st, stage_of, n, u);
        }
}

/* Returns an array, in k->a: to->counts. */
static const uint8_t *find_passed_counts(const struct update_search *k)
{
    const struct module *m = k->m;
    const struct place *p = k->s->place;
    const uint8_t *counts = k->counts;
    uint8_t *passed = arena_alloc(k->a, m->nval);
    for (uint32_t e = 0; e < p->nnet; e++) {
        vid v = p->net_value[e];
        nid def = m->value[v].def;
        passed[v] = counts[v] && !k->varies[v] && def && p->kind[def] == PLACE_NODE;
    }
    return passed;
}

/* Checks that stages on unequal numbers of devices do not pass numbers of samples to each other (to->counts); sets
 * to->why if they do. */
static void check_counts(struct update_search *k, const struct stages *st, const int32_t *stage_of)
{
    const struct module *m = k->m;
    const struct place *p = k->s->place;
    const uint32_t *at = st->device.at;
    for (uint32_t e = 0; e < p->nnet && !k->to->why; e++) {
        vid v = p->net_value[e];
        if (!k->to->counts[v])
            continue;
        int32_t from = stage_of[m->value[v].def];
        for_row (n, p->net_pin, e) {
            int32_t to = stage_of[n];
            if (at[to + 1] - at[to] != at[from + 1] - at[from])
                k->to->why = arena_fmt(k->a,
                                       "'%s' tells how many samples a device of stage %d has, and "
                                       "stage %d reads it, which is on another number of devices",
                                       value_name(m, v), (int)from, (int)to);
        }
    }
}

/* Returns an array: [value] 1: the value can be a gradient, since it depends on samples, has no axis of the batch, and
 * is made by the backward pass; 0: it cannot be one. */
static const uint8_t *may_be_gradients(struct update_search *k)
{
    const struct module *m = k->m;
    uint8_t *may_be = arena_alloc(k->own, m->nval);
    for (vid v = 1; v < m->nval; v++)
        may_be[v] = k->varies[v] && k->axis[v] < 0 && m->backward[m->value[v].def];
    return may_be;
}

/* Sets k->join and to->join to how the loss joins samples: as the model shows it or, if the model does not, as the
 * user says.  Sets to->why if the two differ. */
static void find_loss(struct update_search *k)
{
    enum loss_join said = (enum loss_join)k->s->model.training.loss;
    vid loss = loss_find(k->m, &k->join, k->own);
    if (said && k->join && said != k->join && !k->to->why)
        k->to->why = arena_fmt(k->a, "--loss=%s: the loss '%s' is a %s", loss_join_name[said],
                               value_name(k->m, loss), loss_join_name[k->join]);
    k->to->join_said = said && !k->join;
    if (!k->join)
        k->join = said;
    k->to->join = k->join;
}

struct update_pass update_pass_find(const struct staged_plan *p, const int32_t *stage_of,
                                    struct arena *a)
{
    const struct scene *s = p->scene;
    const struct module *m = s->m;
    const struct graph *g = &m->graph[1];
    struct update_pass to = {0};
    struct update_search k = {.s = s, .m = m, .a = a, .own = arena_new(a), .to = &to};
    k.open.a = k.own;
    k.axis = value_batch_axes(m, k.own);
    if (!m->backward)
        to.why = "the model has no backward pass";
    else if (!k.axis)
        to.why = "the batch has no name in the shapes of the model's inputs";
    if (!to.why) {
        k.varies = find_varying(m, k.axis, k.own);
        k.counts = find_counts(m, k.axis, k.own);
        k.read_forward = arena_alloc(k.own, m->nval);
        k.seen = arena_array(k.own, m->nval, sizeof *k.seen);
        for (nid n = g->first; n < g->first + g->count; n++)
            for (uint32_t i = 0; !m->backward[n] && i < m->node[n].in.n; i++)
                k.read_forward[m->arg[m->node[n].in.at + i]] = 1;
        k.named = named_gradients_find(m, &s->model.training, may_be_gradients(&k), a);
        to.why = k.named.why;
        find_loss(&k);
        if (!to.why)
            find_gradients(&k);
        if (!to.why)
            check_sums(&k);
        if (!to.why)
            mark_nodes(&k);
        if (!to.why)
            check_followed(&k);
        if (!to.why)
            find_counters(&k);
        if (!to.why)
            check_batch(&k);
        if (!to.why && stage_of)
            check_stages(&k, p->stages, stage_of);
        if (!to.why)
            to.counts = find_passed_counts(&k);
        if (!to.why && stage_of)
            check_counts(&k, p->stages, stage_of);
    }
    arena_free(k.own);
    return to;
}

/* ---- the loss ----------------------------------------------------------------------------------- */

/* Returns how a loss joins samples if an operator joins them as `how`. divided: the operator's result is then divided
 * by the number of samples. */
static enum loss_join join_divided(enum loss_join how, bool divided)
{
    return !divided ? how : how == LOSS_SUM ? LOSS_MEAN : LOSS_UNKNOWN;
}

/* Returns how the scalar v joins samples: walks back from v over operators that keep this property to the one that
 * joins samples; LOSS_UNKNOWN if another operator comes in between. varies, axis, counts: [value], as in struct
 * batch_view. */
static enum loss_join join_of(const struct module *m, const uint8_t *varies, const int32_t *axis,
                              const uint8_t *counts, vid v)
{
    /* a Div by the number of samples stands between the operator that joins samples and v */
    bool divided = false;
    for (;;) {
        nid n = m->value[v].def;
        vid x = n ? node_in(m, n, 0) : 0, y = n ? node_in(m, n, 1) : 0;
        if (!n)
            return LOSS_UNKNOWN;
        if (node_is(m, n, "SoftmaxCrossEntropyLoss") ||
            node_is(m, n, "NegativeLogLikelihoodLoss")) {
            const char *how = node_attr_str(m, n, "reduction", "mean");
            return join_divided(strcmp(how, "mean") == 0  ? LOSS_MEAN
                                : strcmp(how, "sum") == 0 ? LOSS_SUM
                                                          : LOSS_UNKNOWN,
                                divided);
        }
        if (axis[x] >= 0 && node_is(m, n, "ReduceMean"))
            return join_divided(LOSS_MEAN, divided);
        if (axis[x] >= 0 && node_is(m, n, "ReduceSum"))
            return join_divided(LOSS_SUM, divided);
        /* passes over a Div by another value, and over the first Div by the number of samples; a second such Div makes
         * neither a mean nor a sum */
        if (node_is(m, n, "Div") && varies[x] && !varies[y] && !(divided && counts[y]))
            divided = divided || counts[y];
        else if (!node_is(m, n, "Neg") && !node_is(m, n, "Identity") && !node_is(m, n, "Squeeze") &&
                 !node_is(m, n, "Reshape") && !node_is(m, n, "Cast"))
            return LOSS_UNKNOWN;
        v = x;
    }
}

vid loss_find(const struct module *m, enum loss_join *how, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    struct arena *own = arena_new(a);
    const int32_t *axis = value_batch_axes(m, own);
    const uint8_t *varies = axis ? find_varying(m, axis, own) : NULL;
    const uint8_t *counts = varies ? find_counts(m, axis, own) : NULL;
    vid loss = 0;
    *how = LOSS_UNKNOWN;
    for (uint32_t i = 0; varies && i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        nid n = m->value[v].def;
        if (!n || !varies[v] || (m->backward && m->backward[n]) ||
            type_elems(m, m->value[v].type) != 1 || !is_float_value(m, v))
            continue;
        enum loss_join join = join_of(m, varies, axis, counts, v);
        *how = !loss || join == *how ? join : LOSS_UNKNOWN;
        if (!loss)
            loss = v;
    }
    arena_free(own);
    return loss;
}
