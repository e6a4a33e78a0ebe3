/* shard: computes single operators on several equal devices together, each a piece, so that one sample takes less
 * time.
 *
 * No placement makes a model faster than its longest path; cut matrices do.  The module is rewritten: node n becomes
 * n@0, n@1, ..., one on each device, and what crosses between them is joined and cut by Concat and Slice nodes.  The
 * parts are plain ONNX.  Unless sums are allowed nothing is added up over devices, so each element is computed by one
 * operator from the same operands as in the model.  shard.h has the words, search.c the choice, write.c the
 * rewriting.  The plan that follows from the devices of the nodes is taken by plan{from=self}.  O(nodes * options)
 * and the search. */
#include "passes/shard/shard.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "ir/exec/exec_runs.h"
#include "ir/model/dim.h"
#include "passes/coarsen/backward.h"

#include <stdlib.h>
#include <string.h>

struct shard_options {
    const char *ways;
    enum sharding_sums sums;
    int64_t gain, from, draw, number;
};

static const char *const from_names[] = {"search", "self", NULL};
enum { FROM_SEARCH, FROM_SELF }; /* values of the option `from`, in the order of from_names */
enum { MOST_TRIED = 8 };         /* numbers of devices that report_undivided() tries */
static const char *const sums_names[] = {"none", "integers", "any", NULL};

static const struct opt shard_opts[] = {
    {.kind = OPT_TEXT,
     .name = "ways",
     .off = offsetof(struct shard_options, ways),
     .def = "auto",
     .help = "devices that share each node, 2 to 64; auto: as many as pay, or none"},
    {.kind = OPT_CHOICE,
     .name = "sums",
     .off = offsetof(struct shard_options, sums),
     .def = "none",
     .names = sums_names,
     .bytes = sizeof(enum sharding_sums),
     .help = "what may be added up over devices: integers, whose sums are exact, or floats, too"},
    {.kind = OPT_SHARE,
     .name = "gain",
     .off = offsetof(struct shard_options, gain),
     .def = "0.05",
     .help = "ways=auto: time that sharding must save against all plans of whole nodes"},
    {.kind = OPT_CHOICE,
     .name = "from",
     .off = offsetof(struct shard_options, from),
     .def = "search",
     .names = from_names,
     .help = "self: as sharding specs in the file say, where it has some (--annotate=ir11)"},
    {.kind = OPT_INT,
     .name = "draw",
     .off = offsetof(struct shard_options, draw),
     .def = "0",
     .lo = "0",
     .help = "for tests: not the best choice but one drawn at random, by this seed; 0: the best"},
    {.kind = OPT_INT,
     .name = "number",
     .off = offsetof(struct shard_options, number),
     .def = "0",
     .lo = "0",
     .help = "for tests: option 1, 2, ... of each node, counted round; 0: the best choice"},
    {0}};

/* Returns how many devices of class k stand side by side (in one group, if there are groups) and can share nodes:
 * accelerators or, in a cluster without accelerators, CPUs; else 0. */
static uint32_t equal_devices(const struct cluster *c, uint32_t k)
{
    const struct device_class *d = &c->cls[k];
    bool only_cpus = true;
    for (uint32_t i = 0; i < c->ncls; i++)
        only_cpus = only_cpus && c->cls[i].host;
    if (d->host != only_cpus)
        return 0;
    return d->group > 1 && d->group < d->count ? d->group : d->count;
}

/* Returns the largest number of equal devices side by side (equal_devices()).  *cls, if not NULL, becomes their
 * class. */
static uint32_t side_by_side(const struct cluster *c, uint32_t *cls)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < c->ncls; k++) {
        uint32_t count = equal_devices(c, k);
        if (count <= most)
            continue;
        most = count;
        if (cls != NULL)
            *cls = k;
    }
    return most;
}

/* Finds `ways` equal devices side by side to share the nodes.  cls: 1 + their class; 0: the class that has most of
 * them.  Fills s->dev, which has room for all devices, s->ndev and s->cls.  Returns 0, or -1 and reports an error. */
static int find_devices(struct shard *s, uint32_t cls)
{
    const struct cluster *c = s->x->scene.cluster;
    uint32_t *dev = arena_array(s->a, c->ndev, sizeof *dev), first = 0,
             most = side_by_side(c, &s->cls);
    if (most < 2)
        return diag_error(
            s->x->use.diag,
            "shard: there are no two equal devices that could share nodes: "
            "expected 2 accelerators of a class at least, as in -d 2xa100, or, without any, CPUs");
    if (most < s->ways)
        return diag_error(s->x->use.diag,
                          "shard{ways=%u}: the cluster has %u equal devices %s: expected as "
                          "many as ways",
                          s->ways, most, cluster_grouped(c) ? "in a group" : "of a class");
    s->cls = cls != 0 ? cls - 1 : s->cls;
    for (uint32_t k = 0; k < s->cls; k++)
        first += c->cls[k].count;
    for (uint32_t i = 0; i < s->ways; i++)
        dev[i] = first + i;
    s->dev = dev;
    s->ndev = s->ways;
    return 0;
}

/* Returns whether each part may have its own copy of n: SHARD_CONSTANT: all operands are constants; SHARD_SHARED: they
 * are weights, inputs, or results of nodes that each part has its own copy of; SHARD_NODE: no. */
static uint8_t kind_of_copy(const struct shard *s, nid n)
{
    const struct module *m = s->m;
    uint8_t kind = SHARD_CONSTANT;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        vid v = node_in(m, n, i);
        nid def = m->value[v].def;
        if (def != 0 && s->kind[def] != SHARD_SHARED && s->kind[def] != SHARD_CONSTANT)
            return SHARD_NODE;
        if (v != 0 && !shard_is_constant(s, v))
            kind = SHARD_SHARED;
    }
    return kind;
}

/* Whether n reads a value that cannot be sent, such as a sequence, and its maker is on one device; *home becomes
 * that device. */
static bool reads_unsendable(const struct shard *s, nid n, uint32_t *home)
{
    const struct module *m = s->m;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        vid v = node_in(m, n, i);
        nid def = m->value[v].def;
        if (def != 0 && s->kind[def] == SHARD_ONCE && !type_is_declarable(m, m->value[v].type)) {
            *home = s->home[def];
            return true;
        }
    }
    return false;
}

/* Sets shard.kind of all nodes, and shard.home of nodes that must be where an operand is made. */
static void find_kinds(struct shard *s)
{
    const struct graph *g = &s->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint8_t kind = s->place->kind[n];
        uint8_t copy = kind == PLACE_COPY ? kind_of_copy(s, n) : SHARD_NODE;
        if (kind == PLACE_NONE)
            s->kind[n] = SHARD_DEAD;
        else if (copy != SHARD_NODE)
            s->kind[n] = copy;
        else if ((!place_is_pure(s->m, n) && shard_row_of(s->m, n) == NULL) ||
                 reads_unsendable(s, n, &s->home[n]))
            s->kind[n] = SHARD_ONCE;
        else
            s->kind[n] = SHARD_NODE;
    }
}

/* Checks that the model can be sharded.  Returns 0, or -1 and reports what cannot be. */
static int check(struct shard *s)
{
    const struct module *m = s->m;
    if (s->x->results.sharding != NULL)
        return diag_error(s->x->use.diag,
                          "shard: nodes are in pieces already: expected shard once");
    if (module_is_profiled(m))
        return diag_error(s->x->use.diag,
                          "shard: %s is a profile: expected a model, whose operators say "
                          "how they can be cut",
                          module_str(m, m->path));
    if (m->color != NULL)
        return diag_error(s->x->use.diag,
                          "shard: nodes of one colour must share a device: expected a model "
                          "without colours");
    if (m->slot_ann != NULL)
        return diag_error(s->x->use.diag,
                          "shard: nodes have slots: expected a model without slots");
    if (s->f->opset < 7)
        return diag_error(s->x->use.diag, "shard: the model is of opset %lld: expected 7 or later",
                          (long long)s->f->opset);
    /* copies of nodes get at most a quarter of all numbers: the nodes of exchanges need numbers, too */
    if ((int64_t)m->nnode * s->ways > INT32_MAX / 4)
        return diag_error(s->x->use.diag,
                          "shard: %u copies of %u nodes are more than pcc can number", s->ways,
                          m->nnode - 1);
    return 0;
}

int shard_begin(struct shard *s, struct ctx *x, uint32_t ways, uint32_t cls)
{
    const struct settings *set = ctx_settings(x);
    struct module *m = x->scene.m;
    *s = (struct shard){.x = x, .m = m, .a = x->use.scratch, .ways = ways, .nopt = 1, .nitem = 1};
    s->f = infer_values(m, s->a);
    if (check(s) != 0 || find_devices(s, cls) != 0)
        return -1;
    s->place = place_build(m, set->pairs, set->npairs, s->a, x->use.diag);
    if (s->place == NULL)
        return -1;
    if (training_is(x, s->place))
        return diag_error(x->use.diag,
                          "shard: this is a training graph: expected a model for inference");
    shard_count_rounds(s);
    s->price = pricing_begin(x);
    s->kept = arena_array(s->a, m->nval, sizeof *s->kept);
    s->must = arena_alloc(s->a, m->nnode);
    s->kind = arena_alloc(s->a, m->nnode);
    s->first_opt = arena_array(s->a, m->nnode, sizeof *s->first_opt);
    s->moves = arena_array(s->a, m->nval, sizeof *s->moves);
    s->extra = arena_array(s->a, m->nnode, sizeof *s->extra);
    s->first_item = arena_array(s->a, m->nval, sizeof *s->first_item);
    s->opt = vec_grow(s->a, NULL, &s->capopt, 1, sizeof *s->opt);
    s->item = vec_grow(s->a, NULL, &s->capitem, 1, sizeof *s->item);
    s->home = arena_array(s->a, m->nnode, sizeof *s->home);
    find_kinds(s);
    shard_find_quantised(s);
    return shard_pin(s);
}

/* Whether some axis of shape *k can be cut among `ways` devices. */
static bool can_cut_some(const struct shape *k, int64_t ways)
{
    bool some = false;
    for (int i = 0; i < k->rank && !some; i++)
        some = k->d[i].value > 0 &&
               (k->d[i].value % ways == 0 ||
                shard_cuts_unevenly((uint32_t)ways, k->d[i], (k->d[i].value - 1) / ways + 1));
    return some;
}

/* Returns the node that takes longest; 0: there is none.  has_rule: of the nodes that devices may share and whose
 * operator has a rule; else of all nodes that devices may share or that are on one device. */
static nid longest(const struct shard *s, bool has_rule)
{
    const struct graph *g = &s->m->graph[1];
    const int64_t *time = s->m->cost->time[s->cls];
    nid most = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        const bool node = s->kind[n] == SHARD_NODE && !shard_is_copied(s, n);
        bool counts =
            has_rule ? node && shard_row_of(s->m, n) != NULL : node || s->kind[n] == SHARD_ONCE;
        if (counts && (most == 0 || time[n] > time[most]))
            most = n;
    }
    return most;
}

/* Reports that no node can be cut, and names the node that takes longest and why it stays whole: it runs on one device,
 * its result has no known rank, or its operator has no rule.  Returns -1. */
static int report_ruleless(const struct shard *s)
{
    const nid n = longest(s, /*has_rule=*/false);
    const char *why = n == 0 ? ""
                             : arena_fmt(s->a, ": the longest, '%s' (%s), %s", node_name(s->m, n),
                                         node_op(s->m, n),
                                         s->kind[n] == SHARD_ONCE ? "runs whole, on one device"
                                         : shard_row_of(s->m, n) ? "makes no tensor of known rank"
                                                                 : "is an operator without a rule");
    return diag_error(s->x->use.diag, "shard: no node of this model can be cut%s", why);
}

/* Reports that no node can be cut.  Names the longest node whose operator has a rule, and the sizes of its first
 * result.  If these sizes allow a cut, the message says that something else forbids it; if not, it lists the numbers of
 * devices, up to MOST_TRIED, that could cut one of the axes.  If there is no such node, or its result has no known
 * shape, calls report_ruleless().  Returns -1. */
static int report_undivided(const struct shard *s)
{
    const char *ways = "", *sizes = "";
    struct shape k;
    const nid most = longest(s, /*has_rule=*/true);
    if (most == 0 || !shape_of(s->f, node_out(s->m, most, 0), &k))
        return report_ruleless(s);
    for (int i = 0; i < k.rank; i++)
        sizes = arena_fmt(s->a, "%s%s%s", sizes, i == 0 ? "" : ", ", dim_text(s->m, k.d[i], s->a));
    if (can_cut_some(&k, s->ways))
        return diag_error(
            s->x->use.diag,
            "shard{ways=%u}: no node can be cut %u ways: the longest, '%s' (%s), makes "
            "[%s], but its operands, sizes that are not known, or what it computes do "
            "not allow it",
            s->ways, s->ways, node_name(s->m, most), node_op(s->m, most), sizes);
    for (int64_t w = 2; w <= MOST_TRIED; w++)
        if (can_cut_some(&k, w))
            ways = arena_fmt(s->a, "%s%s%lld", ways, *ways == 0 ? "" : ", ", (long long)w);
    return diag_error(s->x->use.diag,
                      "shard{ways=%u}: no axis of known size can be cut %u ways: the longest node, "
                      "'%s' (%s), makes [%s]%s%s",
                      s->ways, s->ways, node_name(s->m, most), node_op(s->m, most), sizes,
                      *ways == 0 ? "" : ", which can be cut by ways=", ways);
}

/* Returns the ps that inputs from the host and outputs to the host take on the first device, one after the other; 0 if
 * they are free.  States stay on the devices, and inputs that no node needs are not sent. */
static int64_t border_time(const struct shard *s)
{
    const struct place *p = s->place;
    int64_t sum = 0;
    for (uint32_t e = 0; e < p->nnet && !s->x->scene.model.io_free; e++)
        if (p->net_host[e] != 0)
            sum = sat_add(sum, cluster_transfer(s->x->scene.cluster, s->cls, /*inner=*/false,
                                                place_moved(p, s->m->cost, e)));
    return sum;
}

/* The settings of choose(). */
struct wanted {
    uint32_t ways;
    uint32_t cls; /* the class of devices, + 1; 0: the class that has most equal devices */
    enum sharding_sums sums;
    int64_t draw; /* the seed of a random choice; 0: the choice is not random */
    /* for tests: each node gets its option number `number`, from 1; 0: the best choice is searched for */
    int64_t number;
    bool self;     /* true: options must agree with the file's sharding specs */
    bool whole;    /* true: no state is kept in pieces */
    int64_t below; /* ps: only choices that take less count; INT64_MAX: all */
    /* ps by which each `of` bytes of weights that a device holds make a choice dearer; 0: they do not */
    int64_t weigh, of;
    struct clock *clock; /* ends the search with the best choice so far; NULL: nothing does */
};

/* A choice for a number of devices, and all that is known of the module for that number; s.ways 0: there is no
 * choice. */
struct chosen {
    struct wanted w; /* what the choice was sought by */
    struct shard s;
    struct shard_choice c;
};

/* Whether w asks for the best choice. */
static bool wants_best(const struct wanted *w)
{
    return w->draw == 0 && w->number == 0;
}

/* Makes *s with the options of all nodes, and finds a choice among them; its value includes border_time().  w->whole:
 * states are whole from run to run; else they are in pieces where the nodes around them allow it.  The best choice is
 * sought among those that take less than w->below; if none is found, its value is -1.  Returns 0, or -1 and reports an
 * error. */
static int choose_with(struct shard *s, struct ctx *x, const struct wanted *w,
                       struct shard_choice *c)
{
    /* [node] 1: the file's sharding specs want it cut */
    uint8_t *fixed = arena_alloc(x->use.scratch, x->scene.m->nnode);
    if (shard_begin(s, x, w->ways, w->cls) != 0 || (w->self && shard_self_homes(s) != 0))
        return -1;
    const int64_t border = border_time(s);
    s->sums = w->sums;
    shard_find_options(s);
    if (s->nopt == 1)
        return report_undivided(s);
    shard_price(s);
    shard_drop_impossible(s);
    if (w->self && shard_self_fix(s, fixed) != 0)
        return -1;
    shard_keep_states(s, w->whole);
    for (nid n = 1; n < s->m->nnode; n++)
        s->must[n] = s->must[n] || (fixed[n] && s->kind[n] == SHARD_NODE);
    if (w->weigh > 0)
        shard_weigh(s, w->weigh, w->of);
    if (wants_best(w) && !w->self)
        shard_prune(s);
    if (w->number > 0) {
        *c = (struct shard_choice){.option = arena_array(s->a, s->m->nnode, sizeof *c->option)};
        shard_take_number(s, (uint32_t)(w->number - 1), c->option);
    } else {
        const bool limited = w->below != INT64_MAX && w->weigh == 0;
        *c = wants_best(w) ? shard_search(s, limited ? w->below - 1 - border : INT64_MAX, w->clock)
                           : shard_draw(s, (uint64_t)w->draw);
    }
    if (w->weigh > 0 && c->value >= 0)
        c->value -= shard_dearer(s, c, w->weigh, w->of);
    c->value = c->value < 0 ? -1 : sat_add(c->value, border);
    c->value = c->value < w->below ? c->value : -1;
    /* whether c->least is a bound of all choices: it is not if options are missing, if states could be in other
     * pieces, or if values of pinned nodes are sent otherwise than the search supposes */
    bool all = !s->capped && s->place->nstate == 0 && ctx_settings(x)->npins == 0 && !w->self;
    c->least = all && wants_best(w) ? sat_add(c->least, border) : -1;
    return 0;
}

/* Whether choice c cuts some node. */
static bool cuts_some(const struct shard *s, const struct shard_choice *c)
{
    nid n = 1;
    while (n < s->m->nnode && c->option[n] == 0)
        n++;
    return n < s->m->nnode;
}

/* Whether choice `found` (for *by) may take the place of choice c (for *s), which takes longer.  It may not if only c
 * cuts a node, or only c seems to fit the devices' memory. */
static bool may_replace(const struct shard *s, const struct shard_choice *c, const struct shard *by,
                        const struct shard_choice *found)
{
    if (c->value < 0)
        return true;
    return (cuts_some(by, found) || !cuts_some(s, c)) &&
           (shard_seems_to_fit(by, found) || !shard_seems_to_fit(s, c));
}

/* Finds a choice as w says that takes less than *c, the choice of *s (value -1: none was found).  Puts that choice and
 * what is known of it in the place of *c and *s; leaves both if there is none, or may_replace() says no.  Reports no
 * errors. */
static void improve(struct shard *s, struct ctx *x, struct wanted w, struct shard_choice *c)
{
    struct shard other;
    struct shard_choice found;
    const enum sharding_sums sums = s->sums;
    struct diag quiet = diag_silent(), *loud = x->use.diag;
    w.below = c->value >= 0 ? c->value : w.below;
    x->use.diag = &quiet;
    int rc = choose_with(&other, x, &w, &found);
    x->use.diag = loud;
    if (rc != 0 || found.value < 0 || !may_replace(s, c, &other, &found))
        return;
    /* a search without sums does not see all choices: bounds of all are those that the search with sums has found */
    if (w.sums != sums) {
        found.floor = c->floor;
        found.least = c->least;
        found.exact = false;
    }
    other.sums = sums;
    *s = other;
    *c = found;
}

/* Puts the choice that is found as w says, with w.weigh and w.of, in the place of *c, the choice of *s, if it seems to
 * fit the devices' memory and cuts a node (or *c cuts none); returns whether it does. */
static bool try_weighed(struct shard *s, struct ctx *x, const struct wanted *w,
                        struct shard_choice *c)
{
    struct shard other;
    struct shard_choice found;
    struct diag quiet = diag_silent(), *loud = x->use.diag;
    x->use.diag = &quiet;
    int rc = choose_with(&other, x, w, &found);
    x->use.diag = loud;
    if (rc != 0 || found.value < 0 || !shard_seems_to_fit(&other, &found) ||
        (cuts_some(s, c) && !cuts_some(&other, &found)))
        return false;
    /* of all choices is known what the search without weights has found */
    found.floor = c->floor;
    found.least = c->least;
    found.exact = false;
    *s = other;
    *c = found;
    return true;
}

/* If *c, the choice of *s, does not seem to fit the devices' memory: puts a choice in its place that seems to, if a
 * search finds one in which weights take time: the fastest one of several prices of a byte. */
static void lighten(struct shard *s, struct ctx *x, struct wanted w, struct shard_choice *c)
{
    /* Prices of a byte.  At the price 1 all weights together take as long as the choice.  The first price is STEP^-LOW,
     * each other one STEP times the one before, the last one STEP^(PRICES-1-LOW). */
    enum { STEP = 4, LOW = 3, PRICES = 7 };
    const struct place *p = s->place;
    int64_t bytes = 1, least = c->value, most;
    for (uint32_t i = 0; i < p->nweight; i++)
        bytes = sat_add(bytes, p->weight_bytes[i]);
    w.of = bytes;
    for (uint32_t i = 0; i < LOW; i++)
        w.of = sat_mul(w.of, STEP);
    most = least;
    for (uint32_t i = 1; i < PRICES; i++)
        most = sat_mul(most, STEP);
    w.weigh = most;
    if (least <= 0 || most == INT64_MAX || w.of == INT64_MAX || shard_seems_to_fit(s, c) ||
        !try_weighed(s, x, &w, c))
        return;
    w.weigh = least;
    w.below = c->value;
    while (w.weigh < most && !clock_out(w.clock) && !try_weighed(s, x, &w, c))
        w.weigh *= STEP;
}

/* Makes *s and finds a choice as w says; its value is -1 if no choice takes less than w.below.  If the best of all
 * choices is sought, tries both to keep states in pieces and to keep them whole from run to run; and if the search with
 * sums over devices has not seen all choices, tries a search without sums, which sees more of its choices.  Returns 0,
 * or -1 and reports an error. */
static int choose(struct shard *s, struct ctx *x, struct wanted w, struct shard_choice *c)
{
    if (choose_with(s, x, &w, c) != 0)
        return -1;
    if (!wants_best(&w) || w.self)
        return 0;
    for (uint32_t k = 0; k < 2 && !clock_out(w.clock); k++) {
        struct wanted plain = w;
        w.whole = plain.whole = k != 0;
        plain.sums = SHARDING_SUMS_NONE;
        if (k != 0 && s->place->nstate == 0)
            break;
        if (k != 0)
            improve(s, x, w, c);
        if (w.sums != SHARDING_SUMS_NONE && (!c->exact || s->capped))
            improve(s, x, plain, c);
    }
    w.whole = false;
    lighten(s, x, w, c);
    return 0;
}

/* Returns what is known of the model without sharding: its time and bytes on one of the devices, and a lower bound on
 * the time of plans of whole nodes (unsharded; -1: the execution model has no bound).  *fits, if fits is not NULL:
 * whether one device can run the model. */
static struct sharding measure_whole(const struct shard *s, bool *fits)
{
    struct scene scene = s->x->scene;
    struct sharding k = {.unsharded = -1};
    scene.place = s->place;
    if (scene.model.io_free)
        place_free_io(scene.m, scene.place, s->a);
    struct evaluation e = shard_evaluate_whole(s);
    const struct exec_runs *runs = exec_kind(&scene.model)->runs;
    if (fits != NULL)
        *fits = evaluation_holds(&e, /*over_memory=*/false);
    k.one_device = e.value;
    k.whole_bytes = e.v.load[s->dev[0]].used;
    if (runs != NULL && runs->bound != NULL)
        k.unsharded = runs->bound(&scene, s->a).value;
    return k;
}

/* Rewrites the module by choice c, and warns of pins that match no node.  Completes *k, which measure_whole() has
 * begun, with what was done; a copy of *k becomes results.sharding. */
static void rewrite(struct shard *s, const struct shard_choice *c, struct sharding *k)
{
    struct arena *mem = s->x->use.mem;
    const struct shard_figures f = shard_figures_begin(s, c, k);
    shard_warn_pins(s);
    shard_list_pins(s, k);
    struct shard_written w = shard_write(s, c);
    uint32_t *dev = arena_array(mem, s->ways, sizeof *dev);
    memcpy(dev, s->dev, s->ways * sizeof *dev);
    k->ways = s->ways;
    k->dev = dev;
    k->value = c->value;
    k->floor = c->floor;
    k->least = c->least;
    k->cut = w.cut;
    k->whole = w.whole;
    k->once = w.once;
    k->made = w.made;
    k->joined = w.joined;
    k->sliced = w.sliced;
    k->turned = w.turned;
    k->sums = w.sums;
    k->sums.allowed = s->sums;
    shard_figures_end(s, &f, &w, k);
    k->pair = w.pair;
    k->npair = w.npair;
    struct sharding *kept = arena_alloc(mem, sizeof *kept);
    *kept = *k;
    s->x->results.sharding = kept;
    s->x->results.offer = (struct shard_offer){0};
}

bool shard_saves(int64_t value, int64_t of, int64_t gain)
{
    return value <= of - mul_div_ceil(of, gain, 1000000);
}

/* Notes choice k in results.offer: pipeline_run() compares it with a plan of whole nodes later. */
static void offer(const struct chosen *k, int64_t gain)
{
    k->s.x->results.offer = (struct shard_offer){.ways = k->s.ways,
                                                 .cls = 1 + k->s.cls,
                                                 .below = k->w.below,
                                                 .value = k->c.value,
                                                 .gain = gain};
}

/* Decides what becomes of `best`, the best choice for all numbers of devices.  Rewrites the module if the choice saves
 * the share `gain` (millionths) of a lower bound of all plans of whole nodes.  If it saves too little even against one
 * device alone, and the model fits that device's memory, leaves the module as it is.  Else leaves an offer: first a
 * planner is to find a plan of whole nodes. */
static void decide(struct chosen *best, int64_t gain)
{
    struct shard *s = &best->s;
    const struct shard_choice *c = &best->c;
    struct ctx *x = s->x;
    char text[2][UNIT_TEXT];
    bool fits_one;
    struct sharding k = measure_whole(s, &fits_one);
    if (k.unsharded >= 0 && shard_saves(c->value, k.unsharded, gain)) {
        rewrite(s, c, &k);
        return;
    }
    if (shard_saves(c->value, k.one_device, gain) || !fits_one) {
        offer(best, gain);
        return;
    }
    diag_note(x->use.diag, "shard: %u ways take %s, one device alone %s: nodes stay whole", s->ways,
              time_short(text[0], c->value), time_short(text[1], k.one_device));
}

/* Finds a choice as w says; returns whether it takes less than *to, which it replaces. */
static bool try_choice(struct ctx *x, struct wanted w, struct chosen *to)
{
    struct diag quiet = diag_silent(), *loud = x->use.diag;
    w.below = to->s.ways != 0 ? to->c.value : INT64_MAX;
    struct chosen found = {.w = w};
    x->use.diag = &quiet;
    int rc = choose(&found.s, x, w, &found.c);
    x->use.diag = loud;
    if (rc != 0 || found.c.value < 0)
        return false;
    *to = found;
    return true;
}

/* ways=auto: tries as numbers of devices all divisors of how many equal devices there are side by side, and calls
 * decide() for the best choice that seems to fit the devices' memory.  If there is none, offers the choice that lacks
 * least memory, of several such the quickest, to be taken only if no plan of whole nodes fits.  Returns 0, or -1 and
 * reports an error. */
static int choose_ways(struct ctx *x, const struct shard_options *o, struct clock *clock)
{
    const struct cluster *c = x->scene.cluster;
    struct chosen *best = arena_alloc(x->use.scratch, sizeof *best),
                  *large = arena_alloc(x->use.scratch, sizeof *large);
    struct diag *loud = x->use.diag;
    uint32_t most = side_by_side(c, NULL);
    int64_t least = 0; /* bytes of memory that a device lacks for *large */
    uint32_t left = 0; /* number of choices still to be searched for, which share the time limit */
    bool tried = false;
    for (uint32_t cls = 0; cls < c->ncls; cls++)
        for (uint32_t ways = 2; ways <= equal_devices(c, cls) && ways <= SHARD_WAYS; ways++)
            left += equal_devices(c, cls) % ways == 0;
    for (uint32_t cls = 1; cls <= c->ncls; cls++) {
        const uint32_t count = equal_devices(c, cls - 1);
        for (uint32_t ways = 2; ways <= count && ways <= SHARD_WAYS; ways++) {
            struct chosen found = *best;
            if (count % ways != 0 || (tried && clock_out(clock)))
                continue;
            struct clock slice = clock_slice(clock, left--);
            const struct wanted w = {.ways = ways, .cls = cls, .sums = o->sums, .clock = &slice};
            tried = true;
            if (!try_choice(x, w, &found))
                continue;
            found.w.clock = NULL; /* the slice ends here */
            const int64_t lacks = shard_lacks(&found.s, &found.c);
            if (lacks == 0)
                *best = found;
            else if (large->s.ways == 0 || lacks < least ||
                     (lacks == least && found.c.value < large->c.value)) {
                *large = found;
                least = lacks;
            }
        }
    }
    if (most >= 2 && !tried) {
        diag_note(loud, "shard: no number from 2 to %d divides %u equal devices: nodes stay whole",
                  SHARD_WAYS, most);
        return 0;
    }
    if (best->s.ways == 0 && large->s.ways != 0) {
        offer(large, /*gain=*/1000000);
        return 0;
    }
    if (best->s.ways == 0) {
        /* no number gave a choice: if the reason is an error, which was silent above, it is reported now */
        if (shard_begin(&best->s, x, smaller_u32(larger_u32(most, 2), SHARD_WAYS), 0) != 0)
            return -1;
        diag_note(loud,
                  "shard: no node has an axis of known size that %u devices, or a divisor of them, "
                  "can share: nodes stay whole",
                  most);
        return 0;
    }
    decide(best, o->gain);
    return 0;
}

/* Returns `said`, the number of devices that the file's sharding specs have, for from=self with ways=auto; 0 and
 * reports an error if the cluster has no such number of equal devices. */
static uint32_t ways_of_specs(const struct ctx *x, int64_t said)
{
    const char *path = module_str(x->scene.m, x->scene.m->path);
    const uint32_t most = side_by_side(x->scene.cluster, NULL);
    if (said < 2 || said > SHARD_WAYS) {
        diag_error(
            x->use.diag,
            "shard{from=self}: %s has sharding specs for %lld devices: expected from 2 to %d", path,
            (long long)said, SHARD_WAYS);
        return 0;
    }
    if (most >= 2 && said > most) { /* for fewer than 2, find_devices() reports the error */
        diag_error(x->use.diag,
                   "shard{from=self}: %s has sharding specs for %lld devices, and of %s no more "
                   "than %u are equal%s: expected as many devices as the specs have",
                   path, (long long)said, cluster_devices(x->scene.cluster, x->use.scratch), most,
                   cluster_grouped(x->scene.cluster) ? " and in a group" : "");
        return 0;
    }
    return (uint32_t)said;
}

/* Returns the number of devices that the options ask for (not ways=auto with from=search); 0 and reports an error if
 * they ask for none. */
static uint32_t asked_ways(const struct ctx *x, const struct shard_options *o)
{
    char *end;
    int64_t said = o->from == FROM_SELF ? shard_self_ways(x->scene.m) : 0;
    if (o->from == FROM_SELF && said == 0) {
        diag_error(x->use.diag,
                   "shard{from=self}: %s has no sharding spec that cuts a tensor: "
                   "pcc --annotate=ir11 -o FILE.onnx writes such specs",
                   module_str(x->scene.m, x->scene.m->path));
        return 0;
    }
    if (strcmp(o->ways, "auto") == 0)
        return ways_of_specs(x, said);
    unsigned long ways = strtoul(o->ways, &end, 10);
    bool number = *end == '\0' && *o->ways >= '0' && *o->ways <= '9';
    if (number && ways >= 2 && ways <= SHARD_WAYS)
        return (uint32_t)ways;
    diag_error(x->use.diag, "shard{ways=%s}: expected auto, or a number from 2 to %d", o->ways,
               SHARD_WAYS);
    return 0;
}

/* Finds choices as w says for devices of other classes than that of *k, and puts one in the place of *k if it takes
 * less, or if it seems to fit the devices' memory and *k does not; but not if *k alone seems to fit. */
static void try_classes(struct ctx *x, const struct wanted *w, struct chosen *k)
{
    const uint32_t first = k->s.cls;
    for (uint32_t i = 0; i < x->scene.cluster->ncls; i++) {
        struct wanted other = *w;
        struct chosen found = *k;
        if (i == first || equal_devices(x->scene.cluster, i) < w->ways || clock_out(w->clock))
            continue;
        const bool fits = shard_seems_to_fit(&k->s, &k->c);
        other.cls = i + 1;
        found.s.ways = fits ? found.s.ways : 0; /* 0: one that takes longer counts, too */
        if (try_choice(x, other, &found) &&
            (shard_seems_to_fit(&found.s, &found.c) || (!fits && found.c.value < k->c.value)))
            *k = found;
    }
}

/* Finds again, as w says, the choice that the pass has offered; the same limit gives the same choice, or mostly a
 * better one if the clock ended the first search.  Runs without a clock, even if the user has ended the planner since:
 * a search cut short might find a choice that takes more than what the offer was compared with.  Returns 0, or -1 and
 * reports an error. */
static int choose_offered(struct ctx *x, struct wanted w, struct chosen *k)
{
    w.cls = x->results.offer.cls;
    w.below = x->results.offer.below;
    w.clock = NULL;
    int rc = choose(&k->s, x, w, &k->c);
    if (rc != 0 || k->c.value >= 0)
        return rc;
    w.below = INT64_MAX; /* the costs have changed since */
    return choose(&k->s, x, w, &k->c);
}

/* pass.run: rewrites the model for several devices.  The objective becomes the makespan, unless the user has chosen
 * one.  Returns 0, or -1 after an error. */
static int run_shard(struct ctx *x, const void *options)
{
    const struct shard_options *o = options;
    struct exec_model *e = &x->scene.model;
    struct chosen k;
    struct clock clock = ctx_clock(x);
    const int objective = exec_objective(e, "makespan"), latency = exec_objective(e, "latency");
    if (!ctx_said(x, "objective") && objective >= 0)
        e->objective = (uint32_t)objective;
    const bool searched = strcmp(o->ways, "auto") == 0 && o->from == FROM_SEARCH;
    if (searched && latency >= 0 && e->objective == (uint32_t)latency) {
        diag_note(x->use.diag,
                  "shard: devices that share nodes wait for each other more than once, so "
                  "there is no latency by subgraphs: nodes stay whole");
        return 0;
    }
    if (searched && !x->results.offer.taken)
        return choose_ways(x, o, &clock);
    const struct wanted w = {.ways = searched ? x->results.offer.ways : asked_ways(x, o),
                             .sums = o->sums,
                             .draw = o->draw,
                             .number = o->number,
                             .self = o->from == FROM_SELF,
                             .below = INT64_MAX,
                             .clock = &clock};
    if (w.ways == 0 || (searched ? choose_offered(x, w, &k) : choose(&k.s, x, w, &k.c)) != 0)
        return -1;
    if (!searched && wants_best(&w))
        try_classes(x, &w, &k);
    struct sharding whole = measure_whole(&k.s, NULL);
    rewrite(&k.s, &k.c, &whole);
    return 0;
}

const struct pass pass_shard = {
    .name = "shard",
    .help = "tensor parallelism: several devices compute an operator together",
    .opts = shard_opts,
    .optsize = sizeof(struct shard_options),
    .needs = NEED_SHAPES | NEED_COST,
    .then = "plan{from=self}",
    .rewrites = true,
    .run = run_shard};
