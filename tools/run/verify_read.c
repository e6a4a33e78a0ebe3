/* Reads the model, the parts and the model in the folder for pcc-verify (verify.h), and finds without a run which
 * outputs can be compared.
 *
 * Rounding.  ONNX Runtime's processor kernels compute chains of operators on floats of 16 bits in 32 bits, without
 * rounding between them, so a cut within such a chain adds a rounding.  A value that crosses is marked CUT if it is a
 * float of 16 bits or, within the part that makes it, a cast or moved copy of such a float.  The computed values that
 * it is a copy of are marked CUT, too, but not the indices, shapes and conditions by which it was moved.  All values
 * computed from marked values, node by node through the parts, may be off by rounding.
 *
 * Random operators.  Values computed from a random operator's results cannot be compared.
 *
 * The source.  The nodes of the model should be those of the folder's model, by name, operator, operands and results.
 * Passes that rewrite models leave out nodes and make others, so a difference is an error only if outputs differ, too.
 * O(nodes + operands). */
#include "ir/base/json_in.h"
#include "ir/base/strings.h"
#include "frontends/frontends.h"
#include "tools/lib/handle.h"
#include "tools/run/resize.h"
#include "tools/run/verify.h"

#include <assert.h>
#include <string.h>

/* ---- rounding --------------------------------------------------------------------------------- */

/* Marks of a value of a part, as bits. */
enum {
    HALF = 1,    /* a float of 16 bits */
    OF_HALF = 2, /* a float of 16 bits, or a cast or moved copy of one */
    /* an OF_HALF value that crosses, or a value whose cast or moved copy is such a value */
    CUT = 4,
    REACHED = 8 /* computed from a value that is CUT */
};

/* The marks of all values of all parts, by name. */
struct marking {
    const struct verifying *v;
    bool *crosses; /* [value of the split] a part reads it that does not make it */
    struct names names;
    /* [number in `names`] marks of the value with that name: HALF, OF_HALF, CUT, REACHED, as bits */
    uint8_t *mark;
    uint32_t n, cap;
};

/* Returns the address of the marks of the value with this name, valid until the next call.  A name without marks gets
 * 0. */
static uint8_t *mark_of(struct marking *k, const char *name)
{
    uint32_t at = names_get(&k->names, name, UINT32_MAX);
    if (at == UINT32_MAX) {
        at = k->n++;
        k->mark = vec_grow(k->v->a, k->mark, &k->cap, k->n, sizeof *k->mark);
        k->mark[at] = 0;
        names_add(&k->names, name, at);
    }
    return &k->mark[at];
}

/* Whether a node only moves, copies or casts numbers. */
static bool moves(const struct module *m, nid n)
{
    static const char *const known[] = {
        "Cast",         "CastLike",     "Identity",        "Transpose",      "Reshape",
        "Squeeze",      "Unsqueeze",    "Flatten",         "Slice",          "Split",
        "Concat",       "Gather",       "Expand",          "GatherElements", "GatherND",
        "Tile",         "Pad",          "Where",           "Compress",       "ReverseSequence",
        "DepthToSpace", "SpaceToDepth", "ScatterElements", "ScatterND",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(node_op(m, n), known[i]))
            return true;
    return false;
}

/* Whether the results of a node that moves() have the numbers of operand i; false if the operand is an index, a size or
 * a condition. */
static bool is_moved(const struct module *m, nid n, uint32_t i)
{
    if (node_is(m, n, "Concat"))
        return true;
    if (node_is(m, n, "Where"))
        return i > 0;
    if (node_is(m, n, "Pad") || node_is(m, n, "ScatterElements") || node_is(m, n, "ScatterND"))
        return i == 0 || i == 2;
    return i == 0;
}

/* Returns the element type of a value of a module; ELEM_NONE: it is not known. */
static enum elem elem_of(const struct module *m, vid v)
{
    const struct type *t = &m->type[m->value[v].type];
    return t->kind == TYPE_TENSOR ? (enum elem)t->elem : ELEM_NONE;
}

/* Whether a type is one of floats of 16 bits. */
static bool is_half(enum elem e)
{
    return e == ELEM_F16 || e == ELEM_BF16;
}

/* Marks values of the main graph as HALF, and OF_HALF, by their types. */
static void mark_types(struct marking *k, const struct module *m)
{
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].graph == 1 && m->value[v].name && is_half(elem_of(m, v)))
            *mark_of(k, value_name(m, v)) |= HALF | OF_HALF;
}

/* Returns the bits that are set for at least one value of a list. */
static uint8_t marks_of(struct marking *k, const struct module *m, struct slice list)
{
    uint8_t all = 0;
    for (uint32_t i = 0; i < list.n; i++)
        if (m->arg[list.at + i])
            all |= *mark_of(k, value_name(m, m->arg[list.at + i]));
    return all;
}

/* Whether operand i of node n is a copy of floats of 16 bits whose numbers the node moves into its results. */
static bool moves_half(struct marking *k, const struct module *m, nid n, uint32_t i)
{
    vid v = moves(m, n) && is_moved(m, n, i) ? node_in(m, n, i) : 0;
    return v && *mark_of(k, value_name(m, v)) & OF_HALF;
}

/* Whether a node of the main graph computes the value v; false for inputs, initializers and constants, which are
 * exact. */
static bool is_computed(const struct module *m, vid v)
{
    return m->value[v].def && !node_is(m, m->value[v].def, "Constant");
}

/* Adds bits to the marks of the results of node n; untyped: only of results whose type is not known. */
static void mark_results(struct marking *k, const struct module *m, nid n, uint8_t bits,
                         bool untyped)
{
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = node_out(m, n, i);
        if (v && !(untyped && elem_of(m, v)))
            *mark_of(k, value_name(m, v)) |= bits;
    }
}

/* Marks as CUT the values that cross from part p and are OF_HALF, and the values that they are copies of.  Returns the
 * number of such values that cross.
 *
 * The first loop finds, in the order of the nodes, the values that are OF_HALF; the second one marks those that cross;
 * the third one goes back through the nodes, to the values that these are copies of. */
static uint32_t mark_cuts(struct marking *k, const struct module *m, const struct split_part *p)
{
    const struct graph *g = &m->graph[1];
    uint32_t found = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint8_t read = marks_of(k, m, m->node[n].in);
        bool cast = node_is(m, n, "Cast") || node_is(m, n, "CastLike");
        if (read & HALF && !cast) /* results of unknown type have the operands' type */
            mark_results(k, m, n, HALF | OF_HALF, /*untyped=*/true);
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            if (moves_half(k, m, n, i))
                mark_results(k, m, n, OF_HALF, /*untyped=*/false);
    }
    for (uint32_t i = 0; i < p->nout; i++) {
        uint8_t *mark = mark_of(k, p->out_name[i]);
        if (k->crosses[p->out[i]] && *mark & OF_HALF) {
            *mark |= CUT;
            found++;
        }
    }
    for (nid n = g->first + g->count; n-- > g->first;)
        if (moves(m, n) && marks_of(k, m, m->node[n].out) & CUT)
            for (uint32_t i = 0; i < m->node[n].in.n; i++)
                if (moves_half(k, m, n, i) && is_computed(m, node_in(m, n, i)))
                    *mark_of(k, value_name(m, node_in(m, n, i))) |= CUT;
    return found;
}

/* Sets verify_output.rounded of all outputs, v->ncrossing, and the marks that verify_rounds() reads.  An output that is
 * joined from pieces is rounded if one of these is. */
static void find_rounded(struct verifying *v)
{
    struct marking k = {.v = v, .names = names_new(v->a, v->whole.m[0]->nval)};
    k.crosses = arena_array(v->a, (size_t)v->s->nvalue + 1, sizeof *k.crosses);
    for (uint32_t p = 0; p < v->parts.npart; p++)
        for (uint32_t i = 0; i < v->parts.part[p].nin; i++)
            k.crosses[v->parts.part[p].in[i]] = true;
    mark_types(&k, v->whole.m[0]);
    for (uint32_t p = 0; p < v->parts.npart; p++)
        mark_types(&k, v->parts.m[p]);
    for (uint32_t p = 0; p < v->parts.npart; p++)
        v->ncrossing += mark_cuts(&k, v->parts.m[p], &v->parts.part[p]);
    for (uint32_t p = 0; p < v->parts.npart && v->ncrossing > 0; p++) {
        const struct module *m = v->parts.m[p];
        for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
            if (marks_of(&k, m, m->node[n].in) & (CUT | REACHED))
                mark_results(&k, m, n, REACHED, /*untyped=*/false);
    }
    v->marked = k.names;
    v->mark = k.mark;
    bool *rounded = arena_array(v->a, (size_t)v->s->nvalue + 1, sizeof *rounded);
    for (uint32_t i = 0; i < v->noutput; i++)
        rounded[v->output[i].value] = verify_rounds(v, v->s->value[v->output[i].value].name);
    for (uint32_t i = 0; i < v->s->ncut; i++)
        for (uint32_t p = 0; p < v->s->joined[i].ways; p++)
            rounded[v->s->joined[i].whole] |=
                verify_rounds(v, v->s->value[v->s->joined[i].piece[p]].name);
    for (uint32_t i = 0; i < v->noutput; i++)
        v->output[i].rounded = rounded[v->output[i].value];
}

bool verify_rounds(const struct verifying *v, const char *value)
{
    uint32_t at = names_get(&v->marked, value, UINT32_MAX);
    return at != UINT32_MAX && v->mark[at] & REACHED;
}

/* ---- random operators ------------------------------------------------------------------------- */

/* Whether operand i of node n, a flag, may be true: it is given and no constant 0. */
static bool may_be_true(const struct module *m, nid n, uint32_t i)
{
    vid v = i < m->node[n].nformal ? node_in(m, n, i) : 0;
    int64_t said = 1;
    if (!v)
        return false;
    tid t = m->value[v].flags & VALUE_INPUT ? 0 : m->value[v].tensor;
    if (!t && m->value[v].def && node_is(m, m->value[v].def, "Constant")) {
        const struct attr *a = node_attr(m, m->value[v].def, "value");
        t = a && a->kind == ATTR_TENSOR ? a->u.t : 0;
    }
    return !t || tensor_ints(m, t, &said, 1) != 1 || said != 0;
}

/* Whether node n itself gives other results in each session: a random operator of ONNX without a seed, or a Dropout
 * that trains. */
static bool is_random(const struct module *m, nid n)
{
    static const char *const known[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                        "RandomUniformLike", "Multinomial",      "Bernoulli"};
    if (m->node[n].domain || node_attr(m, n, "seed"))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(node_op(m, n), known[i]))
            return true;
    return !strcmp(node_op(m, n), "Dropout") && may_be_true(m, n, 2);
}

/* Sets random[node of m] for each node that is random, has a random node in one of its bodies, or calls a function that
 * has one.  calls: [function of the model] the function has a random node. */
static void mark_random(const struct module *m, const bool *calls, bool *random)
{
    for (nid n = 1; n < m->nnode; n++) {
        bool call = m->node[n].flags & NODE_CALL && m->node[n].callee && calls[m->node[n].callee];
        nid at = is_random(m, n) || call ? n : 0;
        for (; at && !random[at]; at = m->graph[m->node[at].graph].owner) /* n, and its owners */
            random[at] = true;
    }
}

/* Returns an array, in a: [function of the model] it has a random operator, or calls a function with one.
 * O(nodes * depth of calls). */
static bool *random_functions(const struct module *m, struct arena *a)
{
    bool *calls = arena_array(a, (size_t)m->nfunction + 1, sizeof *calls), changed = true;
    while (changed) {
        changed = false;
        for (uint32_t f = 1; f < m->nfunction; f++) {
            const struct module *body = m->function[f].body;
            if (calls[f])
                continue;
            bool *random = arena_array(a, (size_t)body->nnode + 1, sizeof *random);
            mark_random(body, calls, random);
            for (nid n = 1; n < body->nnode && !calls[f]; n++)
                calls[f] = random[n];
            changed |= calls[f];
        }
    }
    return calls;
}

/* Sets verify_output.random of all outputs, v->of_random, and v->random, the first random node. */
static void find_random(struct verifying *v)
{
    const struct module *m = v->whole.m[0];
    const struct graph *g = &m->graph[1];
    bool *random = arena_array(v->a, (size_t)m->nnode + 1, sizeof *random);
    bool *of_random = arena_array(v->a, (size_t)m->nval + 1, sizeof *of_random);
    v->of_random = of_random;
    mark_random(m, random_functions(m, v->a), random);
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool is = random[n];
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            is |= of_random[node_in(m, n, i)];
        for (uint32_t i = 0; i < m->node[n].out.n && is; i++)
            of_random[node_out(m, n, i)] = node_out(m, n, i) != 0; /* 0: no operand, never random */
        if (random[n] && !v->random)
            v->random = node_name(m, n);
    }
    /* check_list(): outputs of the manifest are those of the model, in the same order */
    for (uint32_t i = 0; i < v->noutput; i++)
        v->output[i].random = of_random[m->arg[g->out.at + i]];
}

/* ---- the source of the split ------------------------------------------------------------------ */

/* Whether two lists of values have the same names, in the same order. */
static bool same_names(const struct module *a, struct slice x, const struct module *b,
                       struct slice y)
{
    bool same = x.n == y.n;
    for (uint32_t i = 0; i < x.n && same; i++)
        same = !strcmp(value_name(a, a->arg[x.at + i]), value_name(b, b->arg[y.at + i]));
    return same;
}

/* Returns the first node of the main graph of a that b lacks, by its name, or has with another operator, other operands
 * or other results; 0: there is no such node.  Writes to *there the node of b with its name; 0: b has none. */
static nid first_other(const struct module *a, const struct module *b, struct arena *mem,
                       nid *there)
{
    const struct graph *g = &a->graph[1], *h = &b->graph[1];
    struct names names = names_new(mem, h->count);
    for (nid n = h->first; n < h->first + h->count; n++)
        names_add(&names, node_name(b, n), n);
    for (nid n = g->first; n < g->first + g->count; n++) {
        *there = names_get(&names, node_name(a, n), 0);
        if (!*there || strcmp(node_op(a, n), node_op(b, *there)) != 0 ||
            !same_names(a, a->node[n].in, b, b->node[*there].in) ||
            !same_names(a, a->node[n].out, b, b->node[*there].out))
            return n;
    }
    return 0;
}

/* Sets v->other, words for how the model differs from the source of the split.  If devices share nodes it stays NULL,
 * as the folder then has other nodes than the source. */
static void find_other(struct verifying *v)
{
    if (json_object_get(v->s->manifest, "sharding"))
        return;
    const struct module *m = v->whole.m[0], *f = v->annotated.m[0];
    nid there = 0, n = first_other(m, f, v->a, &there);
    if (n && there && strcmp(node_op(f, there), node_op(m, n)) != 0)
        v->other = arena_fmt(v->a, "node '%s' is %s in the split and %s in the model",
                             node_name(m, n), node_op(f, there), node_op(m, n));
    else if (n && there)
        v->other = arena_fmt(v->a, "node '%s' (%s) has other operands or results in the split",
                             node_name(m, n), node_op(m, n));
    else if (n)
        v->other =
            arena_fmt(v->a, "the split lacks node '%s' (%s)", node_name(m, n), node_op(m, n));
    else if ((n = first_other(f, m, v->a, &there)))
        v->other =
            arena_fmt(v->a, "the model lacks node '%s' (%s)", node_name(f, n), node_op(f, n));
}

/* Passes on errors, but no warnings, such as those about guesses, which pcc shows when it plans. */
static void pass_errors(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    if (level == DIAG_ERROR)
        diag_error(user, "%s", line);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Returns where each value of the split comes from, in v->a. */
static enum verify_source *sources_of(const struct verifying *v)
{
    const struct split *s = v->s;
    enum verify_source *from = arena_array(v->a, (size_t)s->nvalue + 1, sizeof *from);
    for (uint32_t k = 0; k < s->nvalue; k++)
        from[k] = FROM_WEIGHTS;
    for (uint32_t k = 0; k < s->ngiven; k++)
        from[s->given[k]] = FROM_INPUT;
    for (uint32_t k = 0; k < s->npart; k++)
        for (uint32_t i = 0; i < s->part[k].nout; i++)
            from[s->part[k].out[i]] = FROM_PART;
    for (uint32_t k = 0; k < s->ncut; k++) /* an output is joined from pieces, which parts make */
        from[s->joined[k].whole] = from[*s->joined[k].piece];
    return from;
}

/* Reads "outputs" of the manifest into v->output, and checks that each comes from where the manifest says; fills in
 * v->values.  Returns 0, or -1 and an error. */
static int read_outputs(struct verifying *v)
{
    json_t *all = (json_t *)(uintptr_t)split_list(v->s, "outputs"), *row;
    const enum verify_source *sources = sources_of(v);
    size_t i;
    v->values = names_new(v->a, v->s->nvalue);
    for (uint32_t k = 0; k < v->s->nvalue; k++)
        names_add(&v->values, v->s->value[k].name, k);
    v->output = arena_array(v->a, json_array_size(all) + 1, sizeof *v->output);
    json_array_foreach(all, i, row)
    {
        const char *name = json_get_text(row, "name"), *from = json_get_text(row, "from");
        if (!name || !from)
            return diag_error(v->d, "%s/manifest.json: outputs: expected \"name\" and \"from\"",
                              v->s->folder);
        uint32_t value = names_get(&v->values, name, UINT32_MAX);
        assert(value != UINT32_MAX); /* split_read_manifest() knows all outputs */
        enum verify_source said = !strcmp(from, "input")     ? FROM_INPUT
                                  : !strcmp(from, "weights") ? FROM_WEIGHTS
                                                             : FROM_PART;
        if (sources[value] != said)
            return diag_error(
                v->d, "%s/manifest.json: output '%s' is said to come from %s, but not found there",
                v->s->folder, name, from);
        v->output[v->noutput++] = (struct verify_output){.value = value, .from = said};
    }
    return 0;
}

/* Checks that outputs that come from no part are initializers of the model in the folder.  Returns 0, or -1 and an
 * error. */
static int check_weights(const struct verifying *v)
{
    const struct module *m = v->annotated.m[0];
    const struct graph *g = &m->graph[1];
    struct names init = names_new(v->a, g->init.n);
    for (uint32_t k = 0; k < g->init.n; k++)
        names_add(&init, value_name(m, m->arg[g->init.at + k]), 1);
    for (uint32_t i = 0; i < v->noutput; i++) {
        const char *name = v->s->value[v->output[i].value].name;
        if (v->output[i].from == FROM_WEIGHTS && !names_get(&init, name, 0))
            return diag_error(v->d, "%s/manifest.json: output '%s' is no weight of %s",
                              v->s->folder, name, v->annotated.who);
    }
    return 0;
}

/* Adds an output to a part. */
static void add_output(const struct verifying *v, struct split_part *p, uint32_t value)
{
    p->out[p->nout] = value;
    p->out_bytes[p->nout] = v->s->value[value].bytes;
    p->out_name[p->nout++] = v->s->value[value].name;
}

/* Returns a part that is a whole model: it makes all outputs but those that are inputs.  pieces: where devices have
 * tensors in pieces, it reads and makes these. */
static struct split_part *whole_part(const struct verifying *v, const char *path, bool pieces)
{
    struct split_part *p = arena_alloc(v->a, sizeof *p);
    size_t most = (size_t)v->noutput + 1;
    bool *cut = arena_array(v->a, (size_t)v->s->nvalue + 1, sizeof *cut);
    for (uint32_t k = 0; k < v->s->ncut; k++) {
        most += v->s->joined[k].ways;
        cut[v->s->joined[k].whole] = pieces;
    }
    *p = (struct split_part){.file = path_base(path), .path = path, .device = ""};
    p->in = pieces ? v->s->input : v->s->given;
    p->nin = pieces ? v->s->ninput : v->s->ngiven;
    p->in_name = arena_array(v->a, (size_t)p->nin + 1, sizeof *p->in_name);
    p->out = arena_array(v->a, most, sizeof *p->out);
    p->out_name = arena_array(v->a, most, sizeof *p->out_name);
    p->out_bytes = arena_array(v->a, most, sizeof *p->out_bytes);
    for (uint32_t i = 0; i < p->nin; i++)
        p->in_name[i] = v->s->value[p->in[i]].name;
    for (uint32_t i = 0; i < v->noutput; i++)
        if (v->output[i].from != FROM_INPUT && !cut[v->output[i].value])
            add_output(v, p, v->output[i].value);
    for (uint32_t k = 0; k < v->s->ncut && pieces; k++)
        for (uint32_t i = 0; i < v->s->joined[k].ways; i++)
            add_output(v, p, v->s->joined[k].piece[i]);
    return p;
}

/* Reports an error: if nodes differ, that the split is of another model; else the text `what`.  Returns -1. */
static int report_other(const struct verifying *v, const char *what)
{
    const char *path = module_str(v->whole.m[0], v->whole.m[0]->path);
    return v->other ? verify_tell_other(v) : diag_error(v->d, "%s: %s", path, what);
}

/* Checks that the names of a list of values of m are those of the manifest's list `key`, in its order; inputs that
 * have an initializer do not count.  Returns 0, or -1 and an error. */
static int check_list(struct verifying *v, const struct module *m, struct slice list,
                      const char *key)
{
    const json_t *said = split_list(v->s, key);
    size_t at = 0;
    for (uint32_t i = 0; i < list.n; i++) {
        vid x = m->arg[list.at + i];
        if (!strcmp(key, "inputs") && m->value[x].flags & VALUE_INIT)
            continue;
        const char *name = json_get_text(json_array_get(said, at++), "name");
        if (!name || strcmp(name, value_name(m, x)) != 0)
            return report_other(
                v, arena_fmt(v->a, "%s: expected '%s', as %s/manifest.json has it, found '%s'", key,
                             name ? name : "no more", v->s->folder, value_name(m, x)));
    }
    return at == json_array_size(said)
               ? 0
               : report_other(
                     v, arena_fmt(v->a, "expected %zu %s, as %s/manifest.json has them, found %zu",
                                  json_array_size(said), key, v->s->folder, at));
}

int verify_tell_other(const struct verifying *v)
{
    const char *source = json_get_text(json_object_get(v->s->manifest, "model"), "source");
    return diag_error(
        v->d,
        "%s: not the source of the split, '%s' by its manifest, or passes have rewritten it: %s",
        module_str(v->whole.m[0], v->whole.m[0]->path), source ? source : "", v->other);
}

/* Fills a side that is one file, a whole model; pieces: as whole_part() takes it. */
static void one_file(struct verifying *v, struct verify_side *side, const char *path,
                     const struct module *m, bool pieces)
{
    const struct module **list = arena_alloc(v->a, sizeof *list);
    *list = m;
    side->part = whole_part(v, path, pieces);
    side->m = list;
    side->npart = 1;
}

/* Reads the model in the folder, and the parts, and fills in their sides.  Returns 0, or -1 and an error. */
static int read_folder(struct verifying *v)
{
    const struct onnx_options links = {.allow_links = true};
    const char *file = json_get_text(json_object_get(v->s->manifest, "model"), "file");
    const struct module **list = arena_array(v->a, v->s->npart, sizeof *list);
    if (!file || strchr(file, '/') || *file == '.')
        return diag_error(v->d, "%s/manifest.json: model: expected \"file\", a file of the folder",
                          v->s->folder);
    const char *path = arena_fmt(v->a, "%s/%s", v->s->folder, file);
    const struct module *m = onnx_read(path, &links, v->a, v->d);
    if (!m)
        return -1;
    one_file(v, &v->annotated, path, m, /*pieces=*/true);
    v->annotated.who = file;
    for (uint32_t k = 0; k < v->s->npart; k++) {
        list[k] = onnx_read(v->s->part[k].path, &links, v->a, v->d);
        if (!list[k])
            return -1;
    }
    v->parts = (struct verify_side){
        .who = "the parts", .part = v->s->part, .m = list, .npart = v->s->npart};
    return 0;
}

int verify_read(struct verifying *v, const char *model, const char *const *dim, uint32_t ndim)
{
    if (read_outputs(v))
        return -1;
    struct diag *errors = arena_alloc(v->a, sizeof *errors); /* lives as long as the handle */
    *errors = (struct diag){.emit = pass_errors, .user = v->d};
    const struct pcc *p = split_model(v->s, model, dim, ndim, v->a, errors);
    if (!p)
        return 1;
    v->whole.who = "the model";
    one_file(v, &v->whole, model, p->x.scene.m, /*pieces=*/false);
    v->bytes = p->x.scene.m->cost->bytes;
    if (read_folder(v) || check_weights(v))
        return -1;
    find_other(v);
    const struct module *m = v->whole.m[0];
    if (check_list(v, m, m->graph[1].in, "inputs") || check_list(v, m, m->graph[1].out, "outputs"))
        return -1;
    find_rounded(v);
    find_random(v);
    return 0;
}
