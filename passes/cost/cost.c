/* cost: computes operations, bytes and, for each class of devices, the time of every node.
 *
 * Roofline: t = overhead + max(ceil(flops * 10^12 / peak), ceil(bytes * 10^12 / bandwidth)) picoseconds.  Peak and
 * bandwidth are multiplied by the execution model's efficiency; where facts about a class's kernels are known, flops,
 * bytes, peak and bandwidth are what these kernels have (kernels.h).  bytes = distinct operands read + results written
 * (Gather and Slice read as much as they return).  Reshape, Identity, Shape, Constant and the like take no time; a
 * node whose results are all empty takes the overhead only.  The peak is that of the element type of the first operand
 * of floating type.  The overhead is noted by itself, too, since each of several devices that share a batch takes it
 * whole.  A node with a body takes the time of the body's nodes times the trip count (16 for a Loop of unknown count),
 * but at most a time that sums can have; an If takes the time of its larger branch; nodes of bodies also have costs of
 * their own.  A call of a function of the model takes the time of the function's placed nodes, with the shapes of that
 * call (opened_calls.h).  Times and memory from files (measured.h) replace the computed ones.  A class that does not
 * support an operator can run neither nodes with that operator nor nodes with such nodes in their bodies.  Sizes come
 * from the types for planning (infer_shapes.h); a value of unknown shape counts as large as the largest operand of its
 * node, at least one element.  O(nodes * classes + operands). */
#include "ir/base/units.h"
#include "passes/shapes/bind_dims.h"
#include "passes/functions/opened_calls.h"
#include "passes/cost/measured.h"
#include "passes/cost/support.h"
#include "passes/cost/flops.h"
#include "passes/cost/kernels.h"
#include "passes/cost/known_costs.h"
#include "passes/cost/open_sizes.h"
#include "passes/cost/pricing.h"
#include "passes/shapes/infer_shapes.h"

#include <string.h>

enum {
    LOOP_TRIPS = 16,   /* assumed trips of a Loop whose number of trips is not known */
    STRING_BYTES = 16, /* assumed bytes of a string element */
    CALLS_SHOWN = 8    /* number of reasons that report_calls() shows, at most */
};

/* State of computing the costs of a module. */
struct cost_builder {
    struct ctx *x;
    /* the module that is priced: the scene's, with function calls replaced by their nodes where possible */
    struct module *m;
    struct inlined_module *inside; /* the inlined module that has `m`; NULL: m is the scene's */
    struct costs *c;               /* result: costs of m */
    struct flops *flops;
    uint32_t *type;                 /* [value] its type for planning, index in m->type */
    struct open_sizes sizes;        /* numbers of elements, estimated if c->elems is -1 */
    uint32_t *stamp;                /* [value] the last node that counted the value's bytes */
    gid *order;                     /* graphs 1, 2, ..., outer before inner */
    int64_t **body_time;            /* [class][graph] ps of the graph's nodes that can run */
    int64_t **body_overhead;        /* [class][graph] ps of body_time that are overhead */
    uint32_t *body_never;           /* [graph] bit k: class k cannot run all of its nodes */
    const struct cost_table *given; /* times and memory from files; NULL: no files */
    /* [node] bit k: class k cannot run it, by --support; NULL: the user gave no such file */
    const uint8_t *lacks;
    /* what files gave, and pcc's estimates that it replaces; the fields estimate and own are NULL if no files are
     * read */
    struct told_costs told;
    int64_t *body_flops, *body_traffic; /* [graph] operations; bytes read and written */
    /* the bodies of a node as a list: first_body[node], then next_body[graph] behind each body; 0 ends the list; NULL:
     * the model has no bodies */
    gid *first_body, *next_body;
    /* ps: the longest time that a Loop or Scan may have, so that sums over all Loops and Scans do not overflow */
    int64_t longest;
    /* numbers of nodes, for warnings.  unknown: nodes with a result of unknown size; nodes: all nodes; loops: Loops
     * and Scans of unknown trip count; long_loops: Loops and Scans whose time was cut to `longest`; calls: calls of
     * functions that were not replaced by their nodes */
    uint32_t unknown, nodes, loops, long_loops, calls;
    nid first_unknown; /* the first node that `unknown` counts; 0: none */
};

/* Fills first_body, next_body and longest; without bodies they stay NULL and 0. */
static void index_bodies(struct cost_builder *p)
{
    const struct module *m = p->m;
    if (m->ngraph <= 2) /* graph 0 is none, graph 1 the model's */
        return;
    p->first_body = arena_array(p->x->use.scratch, m->nnode, sizeof *p->first_body);
    p->next_body = arena_array(p->x->use.scratch, m->ngraph, sizeof *p->next_body);
    for (gid g = m->ngraph - 1; g > 1; g--) {
        nid owner = m->graph[g].owner;
        if (owner != 0) {
            p->next_body[g] = p->first_body[owner];
            p->first_body[owner] = g;
        }
    }
    p->longest = CTX_SUM_MAX / 2 / m->ngraph; /* there are no more loops than graphs */
}

/* --- sizes of values --- */

/* Returns the bytes of n elements; those of unknown type count as f32. */
static int64_t bytes_of(enum elem e, int64_t n)
{
    return e == ELEM_STR ? sat_mul(STRING_BYTES, n) : elem_bytes(e == ELEM_NONE ? ELEM_F32 : e, n);
}

/* Sets the number of elements of v (costs.elems) and its estimate (open_sizes.elems), and the bytes of v by that
 * estimate; costs.xfer becomes -1: it follows from the link.  maker: the node that makes v; 0: none does. */
static void size_value(struct cost_builder *p, vid v, nid maker)
{
    const struct module *m = p->m;
    const struct type *t = &m->type[p->type[v]];
    int64_t n = -1;
    enum elem e = ELEM_NONE;
    if (t->kind == TYPE_TENSOR) {
        n = type_elems(m, p->type[v]);
        e = (enum elem)t->elem;
    } else if (t->kind == TYPE_NONE && m->value[v].tensor != 0) {
        /* an initializer without a declared type */
        n = tensor_elems(m, m->value[v].tensor);
        e = (enum elem)m->tensor[m->value[v].tensor].elem;
    }
    p->c->elems[v] = n;
    p->sizes.elems[v] = n >= 0 ? n : maker ? open_elems(&p->sizes, maker, v) : 1;
    p->c->bytes[v] = bytes_of(e, p->sizes.elems[v]);
    /* nothing tells the size of this input: its bytes are 0, and count_unsized() counts the input */
    if (!maker && n < 0)
        p->c->bytes[v] = 0;
    p->c->xfer[v] = -1;
}

/* Sets costs.unsized, the number of inputs of which neither elements nor bytes are known, and costs.first_unsized of a
 * module with costs.  In a profile no input counts, since a profile states the memory of nodes, not of inputs. */
static void count_unsized(const struct module *m)
{
    const struct graph *g = &m->graph[1];
    m->cost->unsized = 0;
    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = m->arg[g->in.at + i];
        if (m->cost->elems[v] >= 0 || m->cost->bytes[v] > 0 || m->value[v].flags & VALUE_INIT ||
            module_is_profiled(m))
            continue;
        m->cost->first_unsized = m->cost->unsized++ ? m->cost->first_unsized : v;
    }
}

/* Sizes the results of node n and adds up their bytes in costs.own.  Counts n in the numbers for warnings, unless n is
 * lost. */
static void size_results(struct cost_builder *p, nid n)
{
    const struct node *k = &p->m->node[n];
    bool open = false; /* whether a result has no known size */
    for (uint32_t i = 0; i < k->out.n; i++) {
        vid v = p->m->arg[k->out.at + i];
        if (v == 0)
            continue;
        size_value(p, v, n);
        uint8_t kind = p->m->type[p->type[v]].kind;
        open = open || (p->c->elems[v] < 0 && (kind == TYPE_TENSOR || kind == TYPE_NONE));
        p->c->own[n] = sat_add(p->c->own[n], p->c->bytes[v]);
    }
    if ((k->flags & NODE_LOST) != 0)
        return;
    p->nodes++;
    p->calls += (k->flags & NODE_CALL) != 0;
    p->unknown += open;
    if (open && p->first_unknown == 0)
        p->first_unknown = n;
}

/* Sizes all values: first those that no node makes, then results in an order in which operands come first. */
static void size_values(struct cost_builder *p)
{
    const struct module *m = p->m;
    for (vid v = 1; v < m->nval; v++) {
        if (m->value[v].def == 0)
            size_value(p, v, 0);
    }
    for (uint32_t i = 0; i + 1 < m->ngraph; i++) {
        const struct graph *g = &m->graph[p->order[i]];
        for (nid n = g->first; n < g->first + g->count; n++)
            size_results(p, n);
    }
}

/* --- times --- */

/* Whether v has f32 elements. */
static bool has_f32(const struct cost_builder *p, vid v)
{
    const struct module *m = p->m;
    const struct type *t = &m->type[p->type[v]];
    uint32_t tensor = m->value[v].tensor;
    return t->kind == TYPE_TENSOR ? t->elem == ELEM_F32
                                  : tensor != 0 && m->tensor[tensor].elem == ELEM_F32;
}

/* Returns the bytes that node n reads and writes, and sets *f32 to the share of them that is f32 elements.  Each
 * operand counts once; if n gathers, operand 0 counts as many bytes as the results have. */
static int64_t node_traffic(struct cost_builder *p, nid n, int64_t *f32)
{
    const struct node *k = &p->m->node[n];
    bool gathers = node_gathers(p->flops, n);
    int64_t out = 0, in = 0;
    *f32 = 0;
    for (uint32_t i = 0; i < k->out.n; i++) {
        vid v = p->m->arg[k->out.at + i];
        out = v != 0 ? sat_add(out, p->c->bytes[v]) : out;
        *f32 = v != 0 && has_f32(p, v) ? sat_add(*f32, p->c->bytes[v]) : *f32;
    }
    for (uint32_t i = 0; i < k->nformal; i++) {
        vid v = p->m->arg[k->in.at + i];
        if (v == 0 || p->stamp[v] == n)
            continue;
        p->stamp[v] = n;
        int64_t read = gathers && i == 0 ? out : p->c->bytes[v];
        in = sat_add(in, read);
        *f32 = has_f32(p, v) ? sat_add(*f32, read) : *f32;
    }
    return sat_add(in, out);
}

/* Returns the ps of a node on devices of class k by the roofline model.  e: element type that it computes in. */
static int64_t roofline(const struct cost_builder *p, uint32_t k, enum elem e,
                        const struct kernel_work *w)
{
    const struct device_class *d = &p->x->scene.cluster->cls[k];
    int64_t share = exec_efficiency(&p->x->scene.model);
    return sat_add(d->overhead,
                   larger(kernel_compute(d, e, w, share), kernel_memory(d, e, w, share)));
}

/* Limits the times of Loop or Scan n to p->longest; if a time was longer, counts n in p->long_loops. */
static void limit_loop(struct cost_builder *p, nid n)
{
    bool too_long = false;
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        int64_t *t = &p->c->time[k][n];
        too_long = too_long || *t > p->longest;
        *t = smaller(*t, p->longest);
        p->c->overhead[k][n] = smaller(p->c->overhead[k][n], *t);
    }
    p->long_loops += too_long;
}

/* Sets the costs of node n, which has bodies.  Each cost of an If is that of the branch where the cost is largest (its
 * overhead: that of the branch with the longest time); each cost of another node is the sum over its bodies, times the
 * trip count.  Counts n in p->loops if the trip count is not known. */
static void price_owner(struct cost_builder *p, nid n)
{
    bool branch = node_is(p->m, n, "If");
    int64_t trips = branch ? 1 : trip_count(p->flops, n);
    if (trips < 0) {
        trips = LOOP_TRIPS;
        p->loops++;
    }
    for (gid g = p->first_body[n]; g != 0; g = p->next_body[g]) {
        int64_t ops = sat_mul(trips, p->body_flops[g]), bytes = sat_mul(trips, p->body_traffic[g]);
        int64_t *f = &p->c->flops[n], *b = &p->c->traffic[n];
        *f = !branch ? sat_add(*f, ops) : larger(ops, *f);
        *b = !branch ? sat_add(*b, bytes) : larger(bytes, *b);
        for (uint32_t k = 0; k < p->c->nclass; k++) {
            int64_t *t = &p->c->time[k][n], body = sat_mul(trips, p->body_time[k][g]);
            int64_t *overhead = &p->c->overhead[k][n], own = sat_mul(trips, p->body_overhead[k][g]);
            if (!branch) {
                *t = sat_add(*t, body);
                *overhead = sat_add(*overhead, own);
            } else if (body > *t) { /* the branch that takes longer, with its overhead */
                *t = body;
                *overhead = own;
            }
        }
    }
    if (!branch)
        limit_loop(p, n);
    /* sums saturate at INT64_MAX, which would mean COST_NEVER */
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        p->c->time[k][n] -= p->c->time[k][n] == COST_NEVER;
        p->c->overhead[k][n] = smaller(p->c->overhead[k][n], p->c->time[k][n]);
    }
}

/* Returns the ps of node n on class k that files give; -1: none. */
static int64_t given_time(const struct cost_builder *p, nid n, uint32_t k)
{
    return p->given != NULL ? cost_table_time(p->given, n, k) : -1;
}

/* Sets c->own of node n to the given bytes, but at least to the bytes of n's results; does nothing if given < 0. */
static void set_memory(const struct module *m, struct costs *c, nid n, int64_t given)
{
    if (given >= 0)
        c->own[n] = larger(given, results_bytes(m, c, n));
}

/* Returns the bytes that files give for node n, and notes in p->told whether they give any.  In a model that a pass has
 * rewritten, returns the bytes that follow from what files gave for the node that n was made from.  -1: there are
 * none. */
static int64_t told_memory(const struct cost_builder *p, nid n)
{
    if (p->given == NULL)
        return p->x->results.known != NULL ? known_costs_memory(p->x, n, p->c->own[n]) : -1;
    int64_t given = cost_table_memory(p->given, n);
    p->told.own[n] = given >= 0;
    return given;
}

/* Returns the ps that files give for node n on class k; in a model that a pass has rewritten, the ps that follow from
 * what files gave for the node that n was made from.  -1: there are none.  Notes in p->told whether files gave the time
 * and, if files are read in this run, pcc's own estimate, which the time is going to replace. */
static int64_t told_time(struct cost_builder *p, nid n, uint32_t k)
{
    bool given = false;
    int64_t t = -1;
    if (p->told.estimate != NULL) {
        p->told.estimate[k][n] = p->c->time[k][n];
        t = given_time(p, n, k);
        given = t >= 0;
    } else if (p->x->results.known != NULL) {
        t = known_costs_time(p->x, n, k, p->c->time[k][n], &given);
    }
    p->told.time[n] |= (uint8_t)(given << k);
    return t;
}

/* Replaces the costs of node n by the costs that files give, and its time on classes that cannot run n by
 * COST_NEVER. */
static void adjust_node(struct cost_builder *p, nid n)
{
    const struct cluster *c = p->x->scene.cluster;
    uint32_t never = 0;
    if ((p->m->node[n].flags & NODE_LOST) != 0)
        return;
    for (gid g = p->first_body != NULL ? p->first_body[n] : 0; g != 0; g = p->next_body[g])
        never |= p->body_never[g];
    set_memory(p->m, p->c, n, told_memory(p, n));
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        int64_t t = told_time(p, n, k);
        if ((never >> k & 1) != 0 || !cluster_supports(&c->cls[k], node_op(p->m, n)) ||
            (p->lacks != NULL && (p->lacks[n] >> k & 1) != 0))
            t = COST_NEVER;
        if (t >= 0) {
            p->c->time[k][n] = t;
            p->c->overhead[k][n] = 0; /* files do not say what of a time is overhead */
        }
    }
}

/* Whether node n has results and all of them are empty tensors, so that there is nothing to compute. */
static bool makes_nothing(const struct cost_builder *p, nid n)
{
    const struct node *k = &p->m->node[n];
    bool any = false, full = false;
    for (uint32_t i = 0; i < k->out.n; i++) {
        vid v = p->m->arg[k->out.at + i];
        any = any || v != 0;
        full = full || (v != 0 && p->c->elems[v] != 0);
    }
    return any && !full;
}

/* Sets the costs of node n by the roofline model.  The costs of a node that is lost or takes no time stay as they
 * are. */
static void price_node(struct cost_builder *p, nid n)
{
    if ((p->m->node[n].flags & NODE_LOST) != 0 || node_is_free(p->flops, n))
        return;
    if (p->first_body != NULL && p->first_body[n] != 0) {
        price_owner(p, n);
        return;
    }
    enum elem e = compute_type(p->flops, n);
    bool nothing = makes_nothing(p, n);
    p->c->flops[n] = nothing ? 0 : flops_of(p->flops, n);
    int64_t f32 = 0;
    p->c->traffic[n] = nothing ? 0 : node_traffic(p, n, &f32);
    struct kernel_work w = kernel_work_of(p->flops, n, p->c->flops[n], p->c->traffic[n],
                                          p->c->bytes[node_in(p->m, n, 0)]);
    w.f32 = smaller(f32, p->c->traffic[n]);
    nid product = node_biases(p->flops, n);
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        if (product != 0 && p->x->scene.cluster->cls[k].kernel[KERNEL_UNITS] != 0 &&
            (p->told.time[product] >> k & 1) == 0)
            continue; /* the Add of a bias is part of the product's kernel, unless files gave the product's own time */
        int64_t t = roofline(p, k, e, &w);
        p->c->time[k][n] = t == COST_NEVER ? COST_NEVER - 1 : t;
        p->c->overhead[k][n] = smaller(p->x->scene.cluster->cls[k].overhead, p->c->time[k][n]);
    }
}

/* Whether an operand or a result of node n has a size that is only estimated. */
static bool is_estimated(const struct cost_builder *p, nid n)
{
    const struct node *k = &p->m->node[n];
    const struct slice lists[] = {k->in, k->out};
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lists[l].n; i++) {
            vid v = p->m->arg[lists[l].at + i];
            if (v != 0 && p->c->elems[v] < 0)
                return true;
        }
    return false;
}

/* Returns which share, in thousandths, of the time of all nodes of the model's graph follows from estimated sizes.
 * Each node counts with its time on the quickest class.  The overhead of a class depends on no size, and counts as not
 * estimated; so do the times of a node for which files gave one. */
static uint32_t estimated_share(const struct cost_builder *p)
{
    const struct graph *g = &p->m->graph[1];
    __int128 all = 0, estimated = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        int64_t least = COST_NEVER, overhead = 0;
        bool given = p->told.time[n] != 0;
        for (uint32_t k = 0; k < p->c->nclass; k++)
            if (p->c->time[k][n] < least) {
                least = p->c->time[k][n];
                overhead = p->x->scene.cluster->cls[k].overhead;
            }
        if (least == COST_NEVER)
            continue;
        all += least;
        estimated += !given && is_estimated(p, n) ? larger(least - overhead, 0) : 0;
    }
    return all ? (uint32_t)(estimated * 1000 / all) : 0;
}

/* Sets the costs of all nodes, and the sums of each body over its nodes. */
static void price_nodes(struct cost_builder *p)
{
    const struct module *m = p->m;
    for (uint32_t i = m->ngraph - 1; i-- > 0;) { /* inner graphs first */
        gid id = p->order[i];
        const struct graph *g = &m->graph[id];
        for (nid n = g->first; n < g->first + g->count; n++) {
            price_node(p, n);
            adjust_node(p, n);
            p->body_flops[id] = sat_add(p->body_flops[id], p->c->flops[n]);
            p->body_traffic[id] = sat_add(p->body_traffic[id], p->c->traffic[n]);
            for (uint32_t k = 0; k < p->c->nclass; k++) {
                int64_t t = p->c->time[k][n];
                p->body_never[id] |= t == COST_NEVER ? 1u << k : 0;
                p->body_time[k][id] = sat_add(p->body_time[k][id], t == COST_NEVER ? 0 : t);
                p->body_overhead[k][id] = sat_add(p->body_overhead[k][id], p->c->overhead[k][n]);
            }
        }
    }
}

/* Returns the name of node n of p->m, after the name of the call that it is in: "call/node". */
static const char *place_name(const struct cost_builder *p, nid n)
{
    if (p->inside == NULL || p->inside->names || p->inside->within[n] == 0)
        return node_name(p->m, n);
    return arena_fmt(p->x->use.scratch, "%s/%s", node_name(p->x->scene.m, p->inside->origin[n]),
                     node_name(p->m, n));
}

/* Returns the reason why call n was not replaced by its nodes, words for a message. */
static const char *why_closed(const struct cost_builder *p, const struct functions *f, nid n)
{
    uint32_t callee = p->m->node[n].callee;
    if (callee == 0)
        return "of unknown functions";
    if (f->fate[callee] == FATE_CYCLE)
        return "recursive";
    if (f->fate[callee] == FATE_DEEP)
        return arena_fmt(p->x->use.scratch, "calls nested %u deep, at most %d are opened",
                         f->depth[callee], CALL_DEPTH);
    if (p->inside == NULL)
        return arena_fmt(p->x->use.scratch, "more than %d nodes in all", CALLS_MOST);
    return "what they give does not fit";
}

/* Warns of calls that were not replaced by their nodes, once for each reason, at most CALLS_SHOWN times. */
static void report_calls(const struct cost_builder *p)
{
    struct functions *f = functions_study(p->x->scene.m, p->x->use.scratch);
    const char *why[CALLS_SHOWN] = {NULL};
    uint32_t count[CALLS_SHOWN] = {0}, shown = 0;
    for (nid n = 1; n < p->m->nnode; n++) {
        if ((p->m->node[n].flags & NODE_CALL) == 0 || (p->m->node[n].flags & NODE_LOST) != 0)
            continue;
        const char *reason = why_closed(p, f, n);
        uint32_t k = 0;
        while (k < shown && strcmp(why[k], reason) != 0)
            k++;
        if (k == CALLS_SHOWN)
            continue;
        why[k] = reason;
        shown = k == shown ? k + 1 : shown;
        count[k]++;
    }
    for (uint32_t k = 0; k < shown; k++)
        diag_warning(
            p->x->use.diag, WARN_FUNCTION_COST,
            "%u calls of functions cannot be looked into (%s): each counts as one operation "
            "per element of its result",
            count[k], why[k]);
}

/* Warns of estimated sizes, of loops whose time is assumed or limited, and of calls that were not opened. */
static void report_costs(const struct cost_builder *p)
{
    struct diag *d = p->x->use.diag;
    char text[UNIT_TEXT];
    if (p->unknown > 0) {
        uint64_t permille = (uint64_t)p->unknown * 1000 / p->nodes;
        diag_warning(
            d, WARN_UNKNOWN_SIZE,
            "the sizes of %u of %u nodes' results (%llu.%llu %%) are not known, the first is "
            "'%s' (%s): they are estimated from operands; --dim '?=N' sets dimensions without a name",
            p->unknown, p->nodes, (unsigned long long)(permille / 10),
            (unsigned long long)(permille % 10), place_name(p, p->first_unknown),
            node_op(p->m, p->first_unknown));
    }
    if (p->loops > 0)
        diag_warning(d, WARN_LOOP_COUNT, "%u loop%s no known trip count: each counts as %d passes",
                     p->loops, p->loops == 1 ? " has" : "s have", LOOP_TRIPS);
    if (p->long_loops > 0)
        diag_warning(d, WARN_LOOP_COUNT, "%u loop%s longer than can be counted: each counts as %s",
                     p->long_loops, p->long_loops == 1 ? " runs" : "s run",
                     time_short(text, p->longest));
    if (p->calls > 0)
        report_calls(p);
}

/* Whether all dimensions of a type (index in m->type) are known, but their product is too large for a number. */
static bool is_overflow(const struct module *m, uint32_t type)
{
    const struct type *t = &m->type[type];
    bool known = t->kind == TYPE_TENSOR && t->rank >= 0 && type_elems(m, type) < 0;
    for (int i = 0; known && i < t->rank; i++)
        known = m->dim[t->dim + (uint32_t)i].value >= 0;
    return known;
}

/* Whether the sums that planning makes stay below CTX_SUM_MAX if all nodes are placed: of the times and transfers of
 * each class, and of all bytes, each value counted once for its producer and once for each reader. */
static bool is_countable(const struct cost_builder *p)
{
    const struct module *m = p->m;
    const struct cluster *c = p->x->scene.cluster;
    int64_t *uses = arena_array(p->x->use.scratch, m->nval, sizeof *uses), bytes = 0;
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            uses[m->arg[m->node[n].in.at + i]]++;
    for (vid v = 1; v < m->nval; v++)
        bytes = is_overflow(m, p->type[v]) ? INT64_MAX
                                           : sat_add(bytes, sat_mul(p->c->bytes[v], uses[v] + 1));
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        int64_t time = 0;
        for (nid n = 1; n < m->nnode; n++)
            time = p->c->time[k][n] == COST_NEVER ? time : sat_add(time, p->c->time[k][n]);
        for (vid v = 1; v < m->nval; v++)
            time = sat_add(
                time,
                sat_mul(cluster_transfer(c, k, /*inner=*/false,
                                         (struct moved_value){p->c->bytes[v], -1, false}),
                        m->value[v].flags & VALUE_INIT ? 0
                                                       : uses[v] + 1)); /* weights do not move */
        if (time >= CTX_SUM_MAX)
            return false;
    }
    return bytes < CTX_SUM_MAX;
}

/* Checks that the sum of all times of each class and the sum of all bytes are below 2^61.  Returns 0, or -1 and reports
 * an error. */
static int check_range(const struct cost_builder *p)
{
    const struct module *m = p->m;
    const int64_t limit = INT64_MAX / 4; /* 2^61 */
    int64_t bytes = 0, most = -1;
    nid worst = 0;
    bool fits = true;
    for (vid v = 1; v < m->nval; v++)
        bytes = sat_add(bytes, p->c->bytes[v]);
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        int64_t time = 0;
        for (nid n = 1; n < m->nnode; n++) {
            if (p->c->time[k][n] == COST_NEVER)
                continue;
            time = sat_add(time, p->c->time[k][n]);
            if (p->c->time[k][n] > most) {
                most = p->c->time[k][n];
                worst = n;
            }
        }
        fits = fits && time < limit;
    }
    if (fits && bytes < limit)
        return 0;
    const char *where = worst == 0 ? ""
                                   : arena_fmt(p->x->use.scratch, ", the largest at node '%s' (%s)",
                                               place_name(p, worst), node_op(m, worst));
    return diag_error(p->x->use.diag,
                      "the sizes of this model are beyond what can be planned%s: expected times "
                      "and bytes whose sums are below 2^61%s",
                      where, bind_excuse(p->x));
}

/* Checks that some class can run each placed node.  Returns 0; or reports an error and returns PASS_INFEASIBLE, or -1
 * if it cannot be found out which nodes are placed. */
static int check_support(struct ctx *x)
{
    const struct module *m = x->scene.m;
    const struct graph *g = &m->graph[1];
    const struct place *place = NULL;
    uint32_t count = 0;
    nid first = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool runs = false;
        for (uint32_t k = 0; k < m->cost->nclass; k++)
            runs = runs || m->cost->time[k][n] != COST_NEVER;
        if (runs)
            continue;
        if (place == NULL &&
            (place = place_build(x->scene.m, ctx_settings(x)->pairs, ctx_settings(x)->npairs,
                                 x->use.scratch, x->use.diag)) == NULL)
            return -1;
        if (place->kind[n] != PLACE_NODE)
            continue;
        first = count++ == 0 ? n : first;
    }
    if (count == 0)
        return 0;
    const char *others =
        count == 1 ? ": expected one that supports it"
                   : arena_fmt(x->use.scratch, ", nor %u other%s: expected one that supports each",
                               count - 1, count == 2 ? "" : "s");
    diag_error(x->use.diag, "no class of the cluster can run node '%s' (%s)%s", node_name(m, first),
               node_op(m, first), others);
    return PASS_INFEASIBLE;
}

/* Replaces the memory of nodes by that of the files, for a module that came with costs.  For a profile (its ir_version
 * is 0) that is an error, since its bytes include weights.  Returns 0, or -1 and reports an error. */
static int adjust_memory(struct ctx *x, const struct cost_table *t)
{
    struct module *m = x->scene.m;
    for (nid n = 1; n < m->nnode; n++) {
        int64_t given = cost_table_memory(t, n);
        if (given >= 0 && m->ir_version == 0)
            return diag_error(
                x->use.diag,
                "--costs gives the memory of node '%s', but %s brings the bytes of its "
                "nodes, weights among them: expected times only",
                node_name(m, n), module_str(m, m->path));
        set_memory(m, m->cost, n, given);
    }
    return 0;
}

/* Runs the pass on a module that came with costs: replaces times and memory where files give some, but not the time of
 * a node on a class that cannot run the node.  Returns 0, -1 or PASS_INFEASIBLE after an error. */
static int adjust_given(struct ctx *x)
{
    const struct cost_table *t = NULL;
    const uint8_t *lacks;
    count_unsized(x->scene.m);
    if (ctx_settings(x)->nmeasured > 0)
        return diag_error(
            x->use.diag,
            "--profile-at: %s brings costs of its own, for one batch size: expected a "
            "model without; --costs can replace its times",
            module_str(x->scene.m, x->scene.m->path));
    if (ctx_check_costs(x) != 0 || support_read(x, x->scene.m, NULL, &lacks) != 0 ||
        (cost_table_wanted(x) && (t = cost_table_read(x, x->scene.m)) == NULL))
        return -1;
    if (lacks != NULL)
        support_apply(x, lacks);
    for (uint32_t k = 0; t != NULL && k < x->scene.m->cost->nclass; k++) {
        for (nid n = 1; n < x->scene.m->nnode; n++) {
            int64_t given = cost_table_time(t, n, k);
            int64_t *time = &x->scene.m->cost->time[k][n];
            if (given < 0 || *time == COST_NEVER)
                continue;
            *time = given;
            if (x->scene.m->cost->overhead != NULL)
                x->scene.m->cost->overhead[k][n] = 0;
        }
    }
    if (t != NULL && (cost_table_scale(t, x) != 0 || adjust_memory(x, t) != 0))
        return -1;
    return lacks != NULL ? check_support(x) : 0;
}

/* If node n of the scene's module is a call, replaces its time and memory by those that files give for the call. */
static void adjust_call(struct ctx *x, const struct cost_table *given, nid n)
{
    const struct module *m = x->scene.m;
    if (m->node[n].callee == 0)
        return;
    set_memory(m, m->cost, n, cost_table_call_memory(given, n));
    for (uint32_t k = 0; k < m->cost->nclass; k++) {
        int64_t t = cost_table_call(given, n, k), *time = &m->cost->time[k][n];
        if (t >= 0 && *time != COST_NEVER) {
            *time = t;
            m->cost->overhead[k][n] = 0;
        }
    }
}

/* Computes the costs of p->m with the types p->type, as p->c, and sets all other fields of *p that serve this.  The
 * costs live in x->use.mem; those of an inlined module, which fold_calls() copies from, in the scratch arena. */
static void price(struct cost_builder *p)
{
    const struct module *m = p->m;
    struct arena *a = p->x->use.scratch;
    struct arena *kept = p->inside != NULL ? a : p->x->use.mem;
    p->c = costs_new(m, kept, p->x->scene.cluster->ncls);
    costs_add_overhead(p->c, m, kept);
    p->told = (struct told_costs){.time = arena_alloc(a, m->nnode)};
    if (p->given != NULL || p->lacks != NULL) {
        p->told.own = arena_array(a, m->nnode, sizeof *p->told.own);
        p->told.estimate = arena_array(a, (size_t)p->c->nclass + 1, sizeof *p->told.estimate);
        for (uint32_t k = 0; k < p->c->nclass; k++)
            p->told.estimate[k] = arena_array(a, m->nnode, sizeof **p->told.estimate);
    }
    p->body_never = arena_array(a, m->ngraph, sizeof *p->body_never);
    p->sizes.elems = arena_array(a, m->nval, sizeof *p->sizes.elems);
    p->sizes.open = arena_array(a, m->nval, sizeof *p->sizes.open);
    for (vid v = 0; v < m->nval; v++)
        p->sizes.open[v] = 1;
    p->sizes.each = bind_nameless(p->x);
    p->stamp = arena_array(a, m->nval, sizeof *p->stamp);
    p->body_time = arena_array(a, p->c->nclass, sizeof *p->body_time);
    p->body_overhead = arena_array(a, p->c->nclass, sizeof *p->body_overhead);
    for (uint32_t k = 0; k < p->c->nclass; k++) {
        p->body_time[k] = arena_array(a, m->ngraph, sizeof **p->body_time);
        p->body_overhead[k] = arena_array(a, m->ngraph, sizeof **p->body_overhead);
    }
    p->body_flops = arena_array(a, m->ngraph, sizeof *p->body_flops);
    p->body_traffic = arena_array(a, m->ngraph, sizeof *p->body_traffic);
    p->flops = flops_new(p->m, p->type, p->sizes.elems, a);
    p->sizes.f = &p->flops->f;
    p->order = graphs_outer_first(p->m, p->x->use.scratch);
    index_bodies(p);
    size_values(p);
    price_nodes(p);
    p->c->estimated = estimated_share(p);
}

/* Sets the costs of the scene's module from those of p->m, which is e->m: a call gets the sum of the costs of the nodes
 * that replace it, or the costs that files give for the call itself.  Gives e->m its types and costs, too.  Returns 0,
 * or -1 after an error. */
static int fold_calls(struct ctx *x, struct cost_builder *p, struct inlined_module *e)
{
    for (vid v = 1; v < e->m.nval; v++)
        e->m.value[v].type = p->type[v];
    e->m.cost = p->c;
    struct place *place = place_build(&e->m, ctx_settings(x)->pairs, ctx_settings(x)->npairs,
                                      x->use.scratch, x->use.diag);
    if (place == NULL)
        return -1;
    x->scene.m->cost = calls_fold(x->scene.m, e, p->c, place, x->use.mem);
    x->scene.m->cost->estimated = p->c->estimated;
    for (nid n = 1; p->given != NULL && n < x->scene.m->nnode; n++)
        adjust_call(x, p->given, n);
    return 0;
}

/* Computes the costs with the types for planning, which become p->type; as long as sums would overflow, again with
 * smaller guesses for unknown dimensions. */
static void price_guessed(struct cost_builder *p)
{
    const struct cost_builder start = *p;
    do {
        *p = start;
        p->type = p->inside != NULL ? planning_types_inside(p->x, p->inside) : planning_types(p->x);
        price(p);
    } while (!is_countable(p) && guess_smaller(p->x));
}

/* pass.run: computes the costs of all nodes and values; if the input has costs, replaces them by those of files.
 * Returns 0, -1 or PASS_INFEASIBLE after an error. */
static int run_cost(struct ctx *x, const void *opts)
{
    struct module *m = x->scene.m;
    (void)opts;
    if (m->cost != NULL) /* the input came with costs */
        return adjust_given(x);
    struct inlined_module *e =
        calls_expand(m, cost_table_wanted(x) || support_wanted(x), x->use.scratch);
    struct cost_builder p = {.x = x, .m = e != NULL ? &e->m : m, .inside = e};
    /* whether this is the first run of the pass; later runs do not read the files again, since passes have replaced
     * nodes that the files name */
    bool first = x->results.known == NULL;
    if (first && support_read(x, p.m, e, &p.lacks) != 0)
        return -1;
    if (first && cost_table_wanted(x) &&
        ((p.given = cost_table_read(x, p.m)) == NULL || cost_table_check(p.given, x) != 0))
        return -1;
    price_guessed(&p);
    bind_warn_guesses(x);
    report_costs(&p);
    if (check_range(&p) != 0)
        return -1;
    m->cost = p.c;
    x->results.priced = true;
    if ((e != NULL && fold_calls(x, &p, e) != 0) ||
        (p.given != NULL && cost_table_scale(p.given, x) != 0))
        return -1;
    if (p.told.estimate != NULL)
        known_costs_note(x, p.m, p.c, &p.told);
    count_unsized(m);
    return check_support(x);
}

/* ---- single nodes with other sizes (pricing.h) ------------------------------------------------ */

struct pricing {
    struct cost_builder b;
};

/* Sets bytes and number of elements of v to those of its type in p->type, if that tells the number. */
static void size_again(struct cost_builder *p, vid v)
{
    const struct type *t = &p->m->type[p->type[v]];
    int64_t n = t->kind == TYPE_TENSOR ? type_elems(p->m, p->type[v]) : -1;
    if (n < 0)
        return;
    p->c->elems[v] = p->sizes.elems[v] = n;
    p->c->bytes[v] = bytes_of((enum elem)t->elem, n);
}

struct pricing *pricing_begin(struct ctx *x)
{
    struct pricing *p = arena_alloc(x->use.scratch, sizeof *p);
    const struct costs *known = x->scene.m->cost;
    p->b = (struct cost_builder){.x = x, .m = x->scene.m};
    p->b.type = planning_types(x);
    price(&p->b); /* a second set of costs, which pricing_time() may change */
    /* the scene's costs may know more sizes, such as those found inside calls */
    for (vid v = 1; v < x->scene.m->nval; v++)
        p->b.c->bytes[v] = known->bytes[v];
    return p;
}

uint32_t pricing_type(const struct pricing *p, vid v)
{
    return p->b.type[v];
}

/* What pricing_time() changes of a value v, to put it back: its type, its number of elements (-1: not known), the
 * estimate of that number, its bytes. */
struct sized {
    vid v;
    uint32_t type;
    int64_t elems, guess, bytes;
};

/* Gives value v another type, and notes in *old the type and size that v had. */
static void retype(struct cost_builder *b, vid v, uint32_t type, struct sized *old)
{
    *old = (struct sized){v, b->type[v], b->c->elems[v], b->sizes.elems[v], b->c->bytes[v]};
    b->type[v] = type;
    size_again(b, v);
}

/* Returns a value of the main graph that node n neither reads nor makes; 0: there is none. */
static vid value_elsewhere(const struct module *m, nid n)
{
    const struct node *k = &m->node[n];
    for (vid v = 1; v < m->nval; v++) {
        bool elsewhere = m->value[v].graph == 1;
        for (uint32_t i = 0; i < k->in.n && elsewhere; i++)
            elsewhere = node_in(m, n, i) != v;
        for (uint32_t i = 0; i < k->out.n && elsewhere; i++)
            elsewhere = node_out(m, n, i) != v;
        if (elsewhere)
            return v;
    }
    return 0;
}

/* Sets operand i of node n to the value that stands for the operand while the node is priced.  That is the operand's
 * own value, unless an earlier operand is the same value but is to have another type: types belong to values, so
 * another value stands for the later operand.  Operands with the same value and type get the same value.  type:
 * [operand] the type that it is to have; of: [operand] its own value. */
static void part_operand(struct cost_builder *b, nid n, uint32_t i, const uint32_t *type,
                         const vid *of)
{
    vid v = of[i];
    /* there: an earlier operand is the same value; same: an earlier operand is the same value of the same type */
    bool there = false, same = false;
    for (uint32_t k = 0; k < i && !same; k++) {
        there = there || of[k] == of[i];
        same = of[k] == of[i] && type[k] == type[i];
        v = same ? node_in(b->m, n, k) : v;
    }
    if (v != 0 && there && !same)
        v = value_elsewhere(b->m, n);
    b->m->arg[b->m->node[n].in.at + i] = v != 0 ? v : of[i];
}

int64_t pricing_time(struct pricing *p, nid n, uint32_t cls, const uint32_t *in,
                     const uint32_t *out)
{
    struct cost_builder *b = &p->b;
    const struct node k = b->m->node[n];
    struct sized *old = arena_array(b->x->use.scratch, k.nformal + k.out.n + 1, sizeof *old);
    vid *operand = arena_array(b->x->use.scratch, k.nformal + 1, sizeof *operand);
    uint32_t *type = arena_array(b->x->use.scratch, k.nformal + 1, sizeof *type), changed = 0;
    /* gives operands and results the types asked for */
    memcpy(operand, b->m->arg + k.in.at, k.nformal * sizeof *operand);
    for (uint32_t i = 0; i < k.nformal; i++)
        type[i] = in[i] != 0 ? in[i] : b->type[operand[i]];
    for (uint32_t i = 0; i < k.nformal; i++) {
        part_operand(b, n, i, type, operand);
        bool parted = node_in(b->m, n, i) != operand[i];
        if ((in[i] != 0 || parted) && operand[i] != 0)
            retype(b, node_in(b->m, n, i), type[i], &old[changed++]);
    }
    for (uint32_t i = 0; i < k.out.n; i++)
        if (out[i] != 0 && node_out(b->m, n, i) != 0)
            retype(b, node_out(b->m, n, i), out[i], &old[changed++]);
    for (uint32_t i = 0; i < k.nformal; i++)
        b->stamp[node_in(b->m, n, i)] = 0; /* so that the operand's bytes are counted again */
    b->c->time[cls][n] = 0; /* price_node() does not change the time of a node that is free */
    price_node(b, n);
    int64_t time = b->c->time[cls][n];
    /* puts back what was changed, in the opposite order, since a value may have been changed twice */
    while (changed-- > 0) {
        b->type[old[changed].v] = old[changed].type;
        b->c->elems[old[changed].v] = old[changed].elems;
        b->sizes.elems[old[changed].v] = old[changed].guess;
        b->c->bytes[old[changed].v] = old[changed].bytes;
    }
    memcpy(b->m->arg + k.in.at, operand, k.nformal * sizeof *operand);
    return time;
}

int64_t pricing_apart(const struct pricing *p, nid n, uint32_t cls)
{
    const struct cost_builder *b = &p->b;
    int64_t bytes = b->c->bytes[node_out(b->m, n, 0)];
    if (b->c->time[cls][n] > 0 || node_biases(b->flops, n) == 0)
        return 0;
    for (uint32_t i = 0; i < b->m->node[n].nformal; i++)
        bytes = sat_add(bytes, b->c->bytes[node_in(b->m, n, i)]);
    return pricing_move(p, cls, bytes);
}

int64_t pricing_move(const struct pricing *p, uint32_t cls, int64_t bytes)
{
    struct kernel_work w = {.traffic = bytes};
    return roofline(&p->b, cls, ELEM_F32, &w);
}

const struct pass pass_cost = {
    .name = "cost",
    .help = "FLOPs, bytes and picoseconds of every node, per class of devices",
    .needs = NEED_SHAPES,
    .run = run_cost,
};
