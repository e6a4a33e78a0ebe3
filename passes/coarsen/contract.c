/* contract: makes one vertex of nodes that must share a device.  If that closes a cycle, the vertices on the cycle
 * become one, too.
 *
 * Cycles matter to contiguous plans only: a device that holds part of a cycle would come both before and after another
 * device.  Plans of any shape may cut a cycle, so they have a level of their own, whose vertices are the classes.
 * Bounds for every plan, whatever options the user gives, come from a third level: its vertices are the mandatory
 * classes.
 *
 * Source: the preprocessing of the placement paper (Tarnawski et al., NeurIPS 2020).  Classes come from the input
 * (colour classes of profiles, Shape with its producer, state pairs).  Strongly connected components of the quotient
 * are joined (Tarjan).  Then trivial vertices are merged: a vertex that takes no time anywhere and has a single
 * neighbour is merged into it, again and again.  These merges cannot raise the optimum, and reduce the number of
 * ideals (GNMT: from 3,310,714 to 17,914).  A vertex is merged only where sizes cannot matter: the vertex is empty, or
 * everything fits on one device.  O(V + E).
 *
 * In a training graph (backward.c) a vertex holds forward nodes and the backward nodes that belong to them, and the
 * edges are those of the forward pass: the ideals are prefixes of the forward pass, and the backward pass of a device
 * runs over the same layers in the other direction.  The edges of a backward group without a forward node are
 * reversed.
 *
 * Classes by rules (qdq: qdq_groups.c, norm: norm_groups.c, calls: call_groups.c) and classes that the user asks for
 * (by=layer, blocks=FILE: user_groups.c; coplace: Baechi's co-placement) are joined in the same way.  Like pins they
 * limit the possible plans: "optimal" then means the best of the plans that keep them together.  A quantised tensor is
 * cheaper to transfer than a float one, so qdq=first, the default, costs next to nothing.  qdq=all can close cycles
 * around residual branches; if every layer reads the same mask, the cycles join nearly the whole model, and a warning
 * tells so. */
#include "ir/exec/sample/sample_memory.h"
#include "ir/plan/update_pass.h"
#include "passes/coarsen/cut_rules.h"
#include "passes/coarsen/layer_cycles.h"
#include "passes/coarsen/user_groups.h"
#include "passes/coarsen/mirror_groups.h"
#include "passes/coarsen/norm_groups.h"
#include "passes/coarsen/qdq_groups.h"
#include "passes/coarsen/backward.h"

#include <assert.h>
#include <string.h>

/* Options; contract_opts says what each means. */
struct contract_options {
    bool training;
    bool trivial, norm, coplace, pins;
    int64_t by, qdq, calls, mirror;
    const char *blocks;
};

enum { BY_NOTHING, BY_LAYER };
enum { QDQ_NONE, QDQ_FIRST, QDQ_ALL };
enum { MIRROR_AUTO, MIRROR_FALSE, MIRROR_TRUE };

static const char *const by_names[] = {"none", "layer", NULL};
static const char *const mirror_names[] = {"auto", "false", "true", NULL};
static const char *const qdq_names[] = {"none", "first", "all", NULL};

static const struct opt contract_opts[] = {
    {OPT_CHOICE, "by", offsetof(struct contract_options, by), "none", .names = by_names,
     .help = "keep each layer together: by scope (/h.3/...) or layer of a profile"},
    {OPT_TEXT, "blocks", offsetof(struct contract_options, blocks), "",
     .help = "keep blocks together: a file with a line of regular expressions for each"},
    {OPT_INT, "calls", offsetof(struct contract_options, calls), "5", .lo = "0", .hi = "100",
     .help = "keep calls that open-functions opened together, up to so many percent of the time"},
    {OPT_CHOICE, "qdq", offsetof(struct contract_options, qdq), "first", .names = qdq_names,
     .help =
         "keep QuantizeLinear with its producer, DequantizeLinear with its first or all readers"},
    {OPT_BOOL, "norm", offsetof(struct contract_options, norm), "false",
     .help = "keep decomposed normalisations, Softmax and Gelu together"},
    {OPT_BOOL, "coplace", offsetof(struct contract_options, coplace), "false",
     .help = "keep each node with what reads it, where that is a single node (Baechi)"},
    {OPT_CHOICE, "mirror", offsetof(struct contract_options, mirror), "auto", .names = mirror_names,
     .help = "keep each backward node with the forward node that it is named after (Baechi); auto: "
             "before Baechi's planners"},
    {OPT_BOOL, "training", offsetof(struct contract_options, training), "true",
     .help = "find the backward pass of a training graph: a stage is both passes of some layers"},
    {OPT_BOOL, "pins", offsetof(struct contract_options, pins), "false",
     .help =
         "list schedules are of nodes all the same, each group on one device (so with coplace)"},
    {OPT_BOOL, "trivial", offsetof(struct contract_options, trivial), "true",
     .help = "merge vertices that take no time into their only neighbour"},
    {0}};

/* Adds a note with the number of nodes that must be in one part with other nodes, because values of unknown type go
 * between them; no note if there are none. */
static void say_atoms(struct ctx *x)
{
    const nid *atom = x->scene.place->atom;
    /* [first node of an atom] 1: the node has been counted */
    uint8_t *counted = arena_alloc(x->use.scratch, x->scene.m->nnode);
    uint32_t n = 0;
    nid first = 0;
    for (nid v = x->scene.m->nnode; atom && v-- > 1;)
        if (x->scene.place->kind[v] == PLACE_NODE && atom[v] != v) {
            first = atom[v];
            n += counted[first] ? 1 : 2; /* v and, once, the first node */
            counted[first] = 1;
        }
    if (n)
        diag_note(
            x->use.diag,
            "contract: %u nodes, such as '%s', stay in one part with others: the types of values "
            "between them are not known",
            n, node_name(x->scene.m, first));
}

/* Joins the vertices that must share a device in every plan: Shape and its operand's producer, state pairs, vertices of
 * one colour.  Sets follows[vertex] to 1 for each Shape.  Adds a note about values of unknown type (say_atoms). */
static void join_colocated(struct ctx *x, struct classes *c, uint8_t *follows)
{
    static const int why[] = {
        [SAME_SHAPE] = WHY_SHAPE, [SAME_STATE] = WHY_STATE, [SAME_TYPE] = WHY_TYPE};
    const struct wdag *g = x->levels.base;
    for (uint32_t i = 0; i < x->scene.place->nsame; i++) {
        const struct same_pair *s = &x->scene.place->same[i];
        classes_join(c, g->vertex[s->a], g->vertex[s->b], why[s->why]);
        follows[g->vertex[s->b]] |= s->why == SAME_SHAPE;
    }
    say_atoms(x);
    if (!x->scene.m->color)
        return;
    uint32_t *group = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *group);
    for (uint32_t v = 0; v < g->n; v++)
        group[v] = x->scene.m->color[g->node[v]];
    classes_join_groups(c, group, WHY_COLOR, x->use.scratch);
}

/* Joins vertices with the same group[vertex] (0: no group) for the reason `why`.  Sets group[] of vertices in follows[]
 * to 0 first: the Shape of a value of the layer before, or its DequantizeLinear, would join the two layers. */
static void join_named(struct ctx *x, struct classes *c, uint32_t *group, int why,
                       const uint8_t *follows)
{
    for (uint32_t v = 0; v < c->n; v++)
        group[v] = follows[v] ? 0 : group[v];
    classes_join_groups(c, group, why, x->use.scratch);
}

/* Joins each vertex that has a single reader with that reader (Baechi); returns the number of such vertices.  Readers
 * are counted before all joins, so that one sweep is enough. */
static uint32_t join_only_readers(const struct ctx *x, struct classes *c)
{
    const struct csr *succ = &x->levels.base->succ;
    uint32_t n = 0;
    for (uint32_t v = 0; v < c->n; v++)
        if (succ->at[v + 1] - succ->at[v] == 1) {
            classes_join(c, v, succ->to[succ->at[v]], WHY_COPLACE);
            n++;
        }
    return n;
}

/* Joins the vertices of each edge that --no-cut keeps whole. */
static void join_uncut(const struct ctx *x, struct classes *c)
{
    const struct place *p = x->scene.place;
    const uint32_t *vertex = x->levels.base->vertex;
    for (uint32_t i = 0; i < p->nruled; i++)
        if (!p->ruled[i].cut)
            classes_join(c, vertex[p->ruled[i].from], vertex[p->ruled[i].to], WHY_NO_CUT);
}

/* Returns an array: [node] 1 if it is a node of the update that may run once in an iteration of several micro-batches;
 * NULL if no node is.  Planners of stages join what their schedule cannot run apart (../stages/train_layers.c). */
static const uint8_t *find_update(const struct ctx *x)
{
    const struct staged_plan p = {.scene = &x->scene};
    if (!x->scene.m->ir_version || exec_kind(&x->scene.model)->feed != FEED_MICRO_BATCHES)
        return NULL;
    struct update_pass u = update_pass_find(&p, NULL, x->use.scratch);
    return u.why ? NULL : u.own;
}

/* Returns the pairs of vertices whose order the stages of a training graph must keep: the edges between forward nodes,
 * and the reversed edges between backward nodes.  An edge from a forward to a backward node gives no pair.  In the
 * paper's workloads (models without ir_version) a backward edge counts only if one of its ends is in a group without
 * forward nodes: there the backward layers are copies of the forward layers, with the same edges.  Within an update
 * that runs once an iteration no edge counts: such as clipping by a norm of all gradients, it may go on from stage to
 * stage in any direction.  group[vertex]: number of its group, below ngroup. */
static struct pairs stage_order(struct ctx *x, const struct wdag *g, const uint32_t *group,
                                uint32_t ngroup)
{
    const uint8_t *backward = x->scene.m->backward;
    bool paper = x->scene.m->ir_version == 0;
    const uint8_t *update = find_update(x);
    struct pairs o = pairs_new(x->use.mem, g->succ.at[g->n]);
    uint8_t *has_forward = arena_alloc(x->use.mem, (size_t)ngroup + 1);
    for (uint32_t v = 0; v < g->n; v++)
        has_forward[group[v]] |= !backward[g->node[v]];
    for (uint32_t u = 0; u < g->n; u++)
        for_row (v, g->succ, u) {
            bool bu = backward[g->node[u]], bv = backward[g->node[v]];
            if (bu != bv || (bu && paper && has_forward[group[u]] && has_forward[group[v]]) ||
                (update && update[g->node[u]] && update[g->node[v]]))
                continue;
            pairs_add(&o, bu ? v : u, bu ? u : v);
        }
    return o;
}

/* Sets group[vertex of the base level] to the vertex's layer, but to 0 for classes that close cycles through
 * layers. */
static void find_layers(struct ctx *x, struct classes *c, uint32_t *group)
{
    const struct wdag *g = x->levels.base;
    struct pairs stages, *order = NULL;
    groups_by_layer(x, group);
    if (x->scene.m->backward) {
        uint32_t *class_of = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *class_of);
        uint32_t n = classes_number(c, class_of);
        stages = stage_order(x, g, class_of, n);
        order = &stages;
    }
    layers_open_cycles(x, c, order, group);
}

/* Joins the groups that the options, --no-cut and --keep-blocks ask for, with notes.  Sets follows[vertex] to 1 for
 * each quantisation node that joins its operator.  Returns 0, or -1 after an error. */
static int join_asked(struct ctx *x, const struct contract_options *o, struct classes *c,
                      uint8_t *follows)
{
    uint32_t *group = arena_array(x->use.scratch, (size_t)x->levels.base->n + 1, sizeof *group);
    uint32_t n = o->qdq == QDQ_NONE ? 0 : qdq_join(x, o->qdq == QDQ_ALL, c, follows);
    if (n)
        diag_note(x->use.diag,
                  "contract: %u QuantizeLinear and DequantizeLinear stay with their operators "
                  "(contract{qdq=none} lets them go)",
                  n);
    if (o->norm)
        diag_note(x->use.diag, "contract: %u normalisations and activations stay together",
                  norms_join(x, c));
    if (o->coplace)
        diag_note(x->use.diag, "contract: %u nodes stay with the one node that reads them",
                  join_only_readers(x, c));
    uint32_t twins = o->mirror == MIRROR_TRUE ? mirror_join(x, c) : 0;
    if (twins)
        diag_note(x->use.diag,
                  "contract: %u backward nodes stay with their forward nodes "
                  "(contract{mirror=false:pins} lets them go)",
                  twins);
    if (o->calls > 0 && x->results.opened) {
        groups_by_call(x, o->calls, group);
        join_named(x, c, group, WHY_CALL, follows);
    }
    if (o->by == BY_LAYER) {
        find_layers(x, c, group);
        join_named(x, c, group, WHY_LAYER, follows);
    }
    if (ctx_settings(x)->keep_blocks) {
        groups_by_repeat(x, group);
        join_named(x, c, group, WHY_REPEAT, follows);
    }
    join_uncut(x, c);
    if (*o->blocks) {
        if (groups_by_block(x, o->blocks, group))
            return -1;
        join_named(x, c, group, WHY_BLOCK, follows);
    }
    return 0;
}

/* Returns the reasons `why` (WHY_*) in words, such as "contract{qdq}, the cycles that makes", in a. */
static const char *reasons_text(int why, struct arena *a)
{
    /* [number of the bit of WHY_*] words for the reason */
    static const char *const reason[] = {"colours",
                                         "Shape with its operand",
                                         "state pairs",
                                         "values of unknown type",
                                         "contract{qdq}",
                                         "contract{norm}",
                                         "contract{by=layer}",
                                         "contract{blocks}",
                                         "--keep-blocks",
                                         "contract{calls}",
                                         "contract{coplace}",
                                         "--no-cut",
                                         "contract{mirror}",
                                         "the cycles that makes"};
    const char *text = "";
    for (size_t i = 0; i < sizeof reason / sizeof *reason; i++)
        if (why >> i & 1)
            text = arena_fmt(a, "%s%s%s", text, *text ? ", " : "", reason[i]);
    return text;
}

/* Warns of each vertex of g with several nodes that takes more than a tenth of the time on class 0 (more than half if
 * the user asked for the group), since it limits every plan.  why[vertex]: its reasons, WHY_*.  Unless qdq_all (option
 * qdq=all), does not warn of vertices joined for WHY_QDQ alone: an operator with its quantisation nodes.  Does
 * nothing for a model whose nodes are shared among devices: in such a model every node has its devices already. */
static void warn_large(struct ctx *x, const struct wdag *g, const int *why, bool qdq_all)
{
    int64_t total = 0;
    if (x->results.sharding)
        return;
    uint32_t *members = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *members);
    uint32_t *first = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *first);
    uint32_t *last = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *last);
    for (uint32_t v = 0; v < g->n; v++)
        total = sat_add(total, g->time[0][v] == COST_NEVER ? 0 : g->time[0][v]);
    /* first, last: [vertex of g] its first and last vertex in the finer level */
    for (uint32_t u = 0; u < g->finer->n; u++) {
        uint32_t v = g->map[u];
        if (!members[v]++)
            first[v] = u;
        last[v] = u;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->finer->node[first[v]] == g->finer->node[last[v]] ||
            (why[v] == WHY_QDQ && !qdq_all) || g->time[0][v] == COST_NEVER ||
            g->time[0][v] <= total / (why[v] & WHY_ASKED ? 2 : 10))
            continue;
        diag_warning(x->use.diag, WARN_LARGE_CLASS,
                     "contract: %u nodes from '%s' to '%s' must stay together (%s) and take %d %% "
                     "of the time",
                     members[v], node_name(x->scene.m, g->finer->node[first[v]]),
                     node_name(x->scene.m, g->finer->node[last[v]]),
                     reasons_text(why[v], x->use.scratch),
                     (int)((__int128)g->time[0][v] * 100 / total));
    }
}

/* Writes the number of the class of each vertex's node to group[vertex of the top level]; returns the number of
 * classes.  The top level is the base level or a subdivided one, in which a node may have several vertices. */
static uint32_t class_groups(const struct ctx *x, struct classes *c, uint32_t *group)
{
    const struct wdag *g = x->levels.base, *top = x->levels.top;
    uint32_t *class_of = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *class_of);
    uint32_t n = classes_number(c, class_of);
    for (uint32_t v = 0; v < top->n; v++)
        group[v] = class_of[g->vertex[top->node[v]]];
    return n;
}

/* Returns the top level with its groups merged; NULL after an error. */
static struct wdag *merge_top(struct ctx *x, const struct wdag_groups *groups)
{
    return wdag_merge_ordered(x->levels.top, groups, "contract", x->use.mem, x->use.diag);
}

/* Returns the level for plans of any shape: a vertex for each of n classes, without edges.  group[vertex of the top
 * level]: number of its class.  NULL after an error. */
static struct wdag *loose_level(struct ctx *x, const uint32_t *group, uint32_t n)
{
    const struct pairs none = {0};
    return merge_top(x, &(struct wdag_groups){group, n, &none});
}

/* Sets in_conflict[group] to 1, and adds a note, for each of the n groups with vertices that are pinned to different
 * devices.  Returns an array: [vertex of the top level] its pin, but -1 in all such groups. */
static int32_t *pins_without_conflicts(struct ctx *x, const uint32_t *group, uint32_t n,
                                       uint8_t *in_conflict)
{
    const struct wdag *top = x->levels.top;
    uint32_t *first = arena_array(x->use.scratch, (size_t)n + 1, sizeof *first);
    int32_t *pin = arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *pin);
    for (uint32_t v = 0; v < top->n; v++) {
        uint32_t k = group[v];
        if (top->pin[v] < 0)
            continue;
        /* first[group]: 1 + the group's first pinned vertex */
        first[k] = first[k] ? first[k] : v + 1;
        if (in_conflict[k] || top->pin[first[k] - 1] == top->pin[v])
            continue;
        in_conflict[k] = 1;
        diag_note(
            x->use.diag,
            "contract: no plan is contiguous: nodes '%s' and '%s' lie on a cycle of nodes that must "
            "share a device, and are pinned to two",
            node_name(x->scene.m, top->node[first[k] - 1]), node_name(x->scene.m, top->node[v]));
    }
    for (uint32_t v = 0; v < top->n; v++)
        pin[v] = in_conflict[group[v]] ? -1 : top->pin[v];
    return pin;
}

/* Sets in_conflict[group] to 1, and adds a note, for each group with vertices that must not share a device.  Returns
 * those pairs of vertices that must not share a device and are in two groups, in the form of wdag.apart. */
static struct csr cuts_without_conflicts(struct ctx *x, const uint32_t *group, uint8_t *in_conflict)
{
    const struct wdag *top = x->levels.top;
    if (!top->apart.at)
        return top->apart;
    struct csr rest = {
        arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *rest.at),
        arena_array(x->use.scratch, (size_t)top->apart.at[top->n] + 1, sizeof *rest.to)};
    uint32_t n = 0;
    for (uint32_t v = 0; v < top->n; v++) {
        for_row (w, top->apart, v) {
            if (group[v] != group[w])
                rest.to[n++] = w;
            else if (!in_conflict[group[v]])
                diag_note(x->use.diag,
                          "contract: no plan is contiguous: nodes '%s' and '%s', which --cut-at "
                          "cuts apart, lie on a cycle of nodes that must share a device",
                          node_name(x->scene.m, top->node[v]), node_name(x->scene.m, top->node[w]));
            in_conflict[group[v]] |= group[v] == group[w];
        }
        rest.at[v + 1] = n;
    }
    return rest;
}

/* Returns the level for contiguous plans, with a vertex for each group of classes that lie on a cycle, and one for
 * each other class; NULL after an error.  A group with nodes that must be on two devices, by pins or --cut-at, can
 * run on no class in this level; plans of any shape may cut it. */
static struct wdag *closed_level(struct ctx *x, const struct wdag_groups *groups)
{
    struct wdag fine = *x->levels.top;
    uint8_t *in_conflict = arena_alloc(x->use.scratch, (size_t)groups->n + 1);
    fine.pin = pins_without_conflicts(x, groups->of, groups->n, in_conflict);
    fine.apart = cuts_without_conflicts(x, groups->of, in_conflict);
    struct wdag *level = wdag_merge_ordered(&fine, groups, "contract", x->use.mem, x->use.diag);
    if (!level)
        return NULL;
    level->finer = x->levels.top;
    for (uint32_t v = 0; v < fine.n; v++)
        for (uint32_t k = 0; k < level->ncls && in_conflict[groups->of[v]]; k++)
            level->time[k][level->map[v]] = COST_NEVER;
    return level;
}

/* Warns of the large vertices of `level` (warn_large).  class_of[vertex of the top level]: number of its class in c.
 * Does nothing for profiles. */
static void warn_of_large(struct ctx *x, const struct wdag *level, const struct classes *c,
                          const uint32_t *class_of, bool qdq_all)
{
    /* in profiles most layers are two nodes of one colour, so large classes are normal */
    if (x->scene.m->cost->measured)
        return;
    const struct wdag *g = x->levels.base, *top = x->levels.top;
    /* [vertex of `level`] 1 + the class of the finer vertex in it that was looked at last; 0: none yet */
    uint32_t *seen = arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *seen);
    int *why = arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *why);
    /* the reasons of a class stand at its root; if a vertex has several classes, a cycle joined them */
    for (uint32_t v = 0; v < top->n; v++) {
        uint32_t to = level->map[v], base = g->vertex[top->node[v]];
        why[to] |= c->parent[base] == base ? c->why[base] : 0;
        if (seen[to] && seen[to] - 1 != class_of[v])
            why[to] |= WHY_CYCLE;
        seen[to] = class_of[v] + 1;
    }
    warn_large(x, level, why, qdq_all);
}

/* Returns the end of a message about nodes that stay together for the reasons `why` (WHY_*): which option lets them
 * be cut apart; "": no option does, since the model or the user wants the nodes together. */
static const char *apart_hint(int why)
{
    return why == WHY_QDQ    ? ": contract{qdq=none} lets them be cut apart"
           : why == WHY_CALL ? ": contract{calls=0} lets them be cut apart"
                             : "";
}

/* Checks that no class has both ends of an edge that the user wants cut.  Returns 0; or -1, an error and
 * results.misused. */
static int check_cut_classes(struct ctx *x, struct classes *c)
{
    const uint32_t *vertex = x->levels.base->vertex;
    const struct place *p = x->scene.place;
    for (uint32_t i = 0; i < p->nruled; i++) {
        const struct ruled_edge *e = &p->ruled[i];
        uint32_t root = classes_find(c, vertex[e->from]);
        if (!e->cut || root != classes_find(c, vertex[e->to]))
            continue;
        x->results.misused = true;
        return diag_error(x->use.diag, "--cut-at=%s: nodes '%s' and '%s' must stay together (%s)%s",
                          e->pattern, node_name(x->scene.m, e->from), node_name(x->scene.m, e->to),
                          reasons_text(c->why[root], x->use.scratch), apart_hint(c->why[root]));
    }
    return 0;
}

/* Joins classes, then the cycles that they make: fills contiguous, any_shape and mandatory of x->levels.  any_shape
 * stays NULL if it would equal contiguous, mandatory if it would equal any_shape.  Returns 0, or -1 after an error. */
static int join_classes(struct ctx *x, const struct contract_options *o)
{
    struct wdag *top = x->levels.top;
    struct classes c = classes_new(x->use.scratch, x->levels.base->n);
    /* must_of, class_of, group: [vertex of the top level] the number of its mandatory class; of its class; and of
     * its group (a class, or several classes on one cycle) */
    uint32_t *must_of = arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *must_of);
    uint32_t *class_of = arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *class_of);
    uint32_t *group = arena_array(x->use.scratch, (size_t)top->n + 1, sizeof *group);
    uint8_t *follows = arena_alloc(x->use.scratch, (size_t)x->levels.base->n + 1);
    join_colocated(x, &c, follows);
    uint32_t must = class_groups(x, &c, must_of);
    struct pairs stages, *order = NULL;
    if (join_asked(x, o, &c, follows) || check_cut_classes(x, &c))
        return -1;
    uint32_t n = class_groups(x, &c, class_of);
    x->levels.any_shape = x->levels.mandatory = NULL;
    if (n != must) {
        x->levels.mandatory = loose_level(x, must_of, must);
        if (!x->levels.mandatory)
            return -1;
    }
    memcpy(group, class_of, top->n * sizeof *group);
    if (x->scene.m->backward) {
        stages = stage_order(x, top, group, n);
        order = &stages;
    }
    uint32_t joined = wdag_join_cycles(top, order, group, n);
    assert(joined <= n && must >= n);
    if (joined != n) {
        x->levels.any_shape = loose_level(x, class_of, n);
        if (!x->levels.any_shape)
            return -1;
    }
    const struct wdag_groups groups = {group, joined, order};
    x->levels.contiguous = joined != n ? closed_level(x, &groups) : merge_top(x, &groups);
    if (!x->levels.contiguous)
        return -1;
    warn_of_large(x, x->levels.contiguous, &c, class_of, o->qdq == QDQ_ALL);
    return 0;
}

/* Whether a single device of any class could hold all of g: the sum of its bytes or, where live memory counts,
 * weights, states, and all values of as many samples as can be on their way. */
static bool memory_is_ample(const struct scene *s, const struct wdag *g)
{
    const struct cluster *c = s->cluster;
    int64_t all = exec_live_parts(&s->model) ? sample_memory_most(s) : wdag_bytes(g);
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].memory >= 0 && c->cls[k].memory < all)
            return false;
    return true;
}

/* Whether net e, which has the pin v, costs no more if v is merged into w: w has made e, or v has made e and either w
 * reads e or all pins of e have been merged into v.  c: the merges so far. */
static bool net_follows(const struct wdag *g, struct classes *c, uint32_t e, uint32_t v, uint32_t w)
{
    uint32_t src = g->net_src[e], mine = classes_find(c, v), other = classes_find(c, w);
    bool alone = true;
    if (src == UINT32_MAX)
        return false;
    if (classes_find(c, src) == other)
        return true;
    if (classes_find(c, src) != mine)
        return false;
    for_row (x, g->net_pin, e) {
        uint32_t pin = classes_find(c, x);
        if (pin == other)
            return true;
        alone = alone && pin == mine;
    }
    return alone;
}

/* Returns whether merging v into its only neighbour w cannot make any plan worse: v takes no time, is not pinned, and
 * may share a device with any vertex; its bytes are 0 or memory is ample; none of its nets has a pin on the host or
 * gets more expensive (net_follows); if running parts costs something, w has nodes of v's passes; if stages may have
 * copies in training, v has no bytes, which could be parameters; if the model runs in micro-batches, v has no bytes,
 * since devices exchange parameters and hold activations of several micro-batches. */
static bool is_trivial(const struct ctx *x, const struct wdag *g, struct classes *c, uint32_t v,
                       uint32_t w, bool ample)
{
    for (uint32_t k = 0; k < g->ncls; k++)
        if (g->time[k][v] != 0)
            return false;
    if (wdag_has_apart(g, v))
        return false;
    for_row (e, g->net_of, v)
        if (g->net_host[e] || !net_follows(g, c, e, v, w))
            return false;
    if (x->scene.model.replicate && x->scene.m->backward &&
        (g->size[v] || g->shared_of.at[v] != g->shared_of.at[v + 1]))
        return false; /* copies of the stage of w would have to keep the parameters of v equal */
    if (x->scene.model.part_cost && g->pass && (g->pass[v] & ~g->pass[w]))
        return false; /* the device of w would have to run a part for another pass, too */
    /* where live memory counts, sizes are all 0, and say nothing */
    bool empty = g->size[v] == 0 && g->shared_of.at[v] == g->shared_of.at[v + 1] &&
                 !exec_live_parts(&x->scene.model);
    ample = ample && exec_kind(&x->scene.model)->feed != FEED_MICRO_BATCHES;
    return g->pin[v] < 0 && (empty || ample);
}

/* Returns the first neighbour of v that is not gone; v itself if there is no such neighbour. */
static uint32_t only_neighbour(const struct wdag *g, uint32_t v, const uint8_t *gone)
{
    for_row (w, g->succ, v)
        if (!gone[w])
            return w;
    for_row (u, g->pred, v)
        if (!gone[u])
            return u;
    return v;
}

/* Merges each trivial vertex that has a single neighbour into that neighbour, again and again.  Returns the level that
 * results, or g itself if nothing was merged; NULL after an error. */
static struct wdag *merge_trivial(struct ctx *x, struct wdag *g)
{
    bool ample = memory_is_ample(&x->scene, g);
    struct classes c = classes_new(x->use.scratch, g->n);
    uint32_t *group = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *group);
    uint32_t *degree = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *degree);
    uint32_t *queue = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *queue), n = 0;
    uint8_t *gone = arena_alloc(x->use.scratch, (size_t)g->n + 1);
    /* degree[v]: number of neighbours that are not merged yet; queue: vertices whose degree became 1 */
    for (uint32_t v = 0; v < g->n; v++) {
        degree[v] = g->succ.at[v + 1] - g->succ.at[v] + g->pred.at[v + 1] - g->pred.at[v];
        if (degree[v] == 1)
            queue[n++] = v;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = queue[i];
        uint32_t w = only_neighbour(g, v, gone);
        assert(degree[v] != 1 || w != v);
        /* degree 0: w has been merged into v since */
        if (degree[v] != 1 || !is_trivial(x, g, &c, v, w, ample))
            continue;
        gone[v] = 1;
        classes_join(&c, v, w, 0);
        if (--degree[w] == 1)
            queue[n++] = w;
    }
    uint32_t count = classes_number(&c, group);
    assert(count <= g->n);
    return count == g->n ? g : wdag_merge(g, group, count, "contract", x->use.mem, x->use.diag);
}

/* pass.run: fills contiguous, any_shape and mandatory of x->levels (head of this file), and pushes the first of
 * them. */
static int contract_run(struct ctx *x, const void *options)
{
    const struct contract_options *o = options;
    if (ctx_base(x))
        return -1;
    if (!x->levels.top->node)
        return diag_error(x->use.diag, "contract: it must come before fuse and linearize");
    if (o->training)
        training_mark(x);
    if (cut_rules_apply(x) || join_classes(x, o))
        return -1;
    /* duplex links add up incoming and outgoing transfers apart, and a merge could turn an incoming one into an
     * outgoing one */
    bool duplex = x->scene.m->backward && x->scene.model.overlap == OVERLAP_DUPLEX;
    if (o->trivial && !duplex)
        x->levels.contiguous = merge_trivial(x, x->levels.contiguous);
    if (!x->levels.contiguous)
        return -1;
    x->levels.any_shape = x->levels.any_shape ? x->levels.any_shape : x->levels.contiguous;
    x->levels.mandatory = x->levels.mandatory ? x->levels.mandatory : x->levels.any_shape;
    /* list planners then schedule nodes, each group on one device, and not the vertices of this level */
    if (o->pins || o->coplace)
        x->levels.contract_requested = false;
    ctx_push(x, x->levels.contiguous);
    return 0;
}

const struct pass pass_contract = {
    "contract",         "merge nodes that must share a device, and the cycles that makes",
    contract_opts,      sizeof(struct contract_options),
    .needs = NEED_COST, .run = contract_run};
