/* Shape inference: finds types of values that no rule could infer.
 *
 * The schema of an operator says which of its operands and results have the same type, whatever their shapes
 * (type_table.h).  So the first operand of a MatMul has the type of its weights, and the result of a Tanh has the
 * type of its operand.  For each letter in the schema of a node's operator, the operands and results with this
 * letter are a group.  Types spread through the groups, breadth first, from values with known types.  Values whose
 * types contradict each other (no runtime would accept such a model) keep them. O(nodes + operands); nothing is done
 * if all types are known. */
#include "passes/shapes/infer.h"
#include "passes/shapes/type_table.h"

#include <assert.h>
#include <string.h>

enum { LETTERS = 26 };

/* State of types_from_schemas(). */
struct spread {
    struct infer *f;
    sid domain[TYPE_DOMAINS];      /* names of the domains of type_domain[] */
    int64_t version[TYPE_DOMAINS]; /* versions that the model imports; INT64_MAX: none given */
    /* for each pair, the value member[pair] is in the group group[pair]; groups are numbered from 1 */
    uint32_t *group, *member;
    uint32_t npair, capgroup, capmember, ngroup;
    vid *queue; /* values with a known type, in the order in which types became known */
    uint32_t nqueue;
    bool learned; /* some type was found */
};

/* Whether the type of v is known, but for its shape. */
static bool is_known(const struct infer *f, vid v)
{
    const struct module *m = f->m;
    if (m->type[f->type[v]].kind == TYPE_NONE && m->value[v].tensor != 0)
        return m->tensor[m->value[v].tensor].elem != ELEM_NONE;
    return type_is_declarable(m, f->type[v]);
}

/* Gives v the type (0: none), for this run and for the next run; queues v if the type is known.  A tensor of unknown
 * element type keeps its shape. */
static void learn_type(struct spread *s, vid v, uint32_t type)
{
    struct infer *f = s->f;
    uint32_t *of[] = {&f->type[v], &f->start[v]};
    for (int i = 0; i < 2; i++) {
        struct type t = f->m->type[*of[i]];
        if (t.kind == TYPE_NONE) {
            *of[i] = type;
        } else if (t.kind == TYPE_TENSOR && f->m->type[type].kind == TYPE_TENSOR) {
            t.elem = f->m->type[type].elem;
            *of[i] = module_add_type(f->m, t);
        }
    }
    if (is_known(f, v)) {
        s->queue[s->nqueue++] = v;
        s->learned = true;
    }
}

/* Returns the type of a tensor of unknown shape. */
static uint32_t tensor_of(struct infer *f, enum elem e)
{
    return module_add_tensor_type(f->m, e, -1, NULL);
}

/* Returns the known type of v without shapes; 0: a container other than a sequence of tensors. */
static uint32_t drop_shape(struct infer *f, vid v)
{
    assert(v < f->m->nval && f->type[v] < f->m->ntype);
    const struct type *t = &f->m->type[f->type[v]];
    if (t->kind == TYPE_NONE)
        return tensor_of(f, (enum elem)f->m->tensor[f->m->value[v].tensor].elem);
    if (t->kind == TYPE_TENSOR)
        return tensor_of(f, (enum elem)t->elem);
    return t->kind == TYPE_SEQ ? type_without_shape(f, f->type[v]) : 0;
}

/* Returns the letters of operator op in this version of domain d; NULL: the table has no row for it. */
static const char *find_letters(const struct type_domain *d, const char *op, int64_t version)
{
    uint32_t lo = 0, hi = d->n;
    /* bisection: finds the first row behind the operator's rows up to this version */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = strcmp(d->row[mid].op, op);
        assert(mid == 0 || strcmp(d->row[mid - 1].op, d->row[mid].op) <= 0); /* sorted */
        if (c < 0 || (c == 0 && d->row[mid].since <= version))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && strcmp(d->row[lo - 1].op, op) == 0 ? d->row[lo - 1].letters : NULL;
}

/* Returns the letters of the operator of node n; NULL: the table has none. */
static const char *letters_of(const struct spread *s, nid n)
{
    const struct module *m = s->f->m;
    const struct node *x = &m->node[n];
    int k = 0;
    while (k < TYPE_DOMAINS && s->domain[k] != x->domain)
        k++;
    if (k == TYPE_DOMAINS || (x->flags & (NODE_CALL | NODE_LOST)) != 0)
        return NULL;
    int64_t version = s->version[k];
    if (k == 0 && s->f->versions != NULL)
        version = s->f->versions[n] < 0 ? INT64_MAX : s->f->versions[n];
    return find_letters(&type_domain[k], module_str(m, x->op), version);
}

/* Returns the element type that a small letter stands for (type_table.h); ELEM_NONE: another character. */
static enum elem fixed_type(char letter)
{
    static const char letters[] = "fhdcilubse";
    static const uint8_t elem[] = {ELEM_F32, ELEM_F16, ELEM_F64,  ELEM_I8,  ELEM_I32,
                                   ELEM_I64, ELEM_U8,  ELEM_BOOL, ELEM_STR, ELEM_F8E4M3FN};
    const char *at = strchr(letters, letter);
    return at != NULL && *at != '\0' ? (enum elem)elem[at - letters] : ELEM_NONE;
}

/* Puts v into the node's group for the letter.  group: [letter - 'A'] number of that group of the node; 0: it is not
 * made yet. */
static void add_member(struct spread *s, uint32_t *group, char letter, vid v)
{
    uint32_t *g = &group[letter - 'A'];
    if (*g == 0)
        *g = ++s->ngroup;
    s->group = vec_grow(s->f->mem, s->group, &s->capgroup, s->npair + 1, sizeof *s->group);
    s->member = vec_grow(s->f->mem, s->member, &s->capmember, s->npair + 1, sizeof *s->member);
    s->group[s->npair] = *g;
    s->member[s->npair++] = v;
}

/* Reads the letters from *at on, up to a colon, for the n values v[]: puts each value into the group of its letter,
 * or sets its type.  *at becomes the text after the colon. */
static void read_letters(struct spread *s, const char **at, const vid *v, uint32_t n,
                         uint32_t *group)
{
    for (uint32_t i = 0; i < n; i++) {
        char c = **at;
        if (c == '\0' || c == ':')
            break;
        if (v[i] != 0 && c >= 'A' && c <= 'Z')
            add_member(s, group, c, v[i]);
        else if (v[i] != 0 && fixed_type(c) != ELEM_NONE && !is_known(s->f, v[i]))
            learn_type(s, v[i], tensor_of(s->f, fixed_type(c)));
        if ((*at)[1] != '*') /* a letter with a star stays, for all further values */
            ++*at;
    }
    while (**at != '\0' && **at != ':')
        ++*at;
    *at += **at == ':';
}

/* Makes the groups of all nodes. */
static void make_groups(struct spread *s)
{
    const struct module *m = s->f->m;
    for (nid n = 1; n < m->nnode; n++) {
        const char *at = letters_of(s, n);
        uint32_t group[LETTERS] = {0};
        if (at == NULL)
            continue;
        read_letters(s, &at, &m->arg[m->node[n].in.at], m->node[n].nformal, group);
        read_letters(s, &at, &m->arg[m->node[n].out.at], m->node[n].out.n, group);
    }
}

/* Takes each queued value, whose type is known: gives its type to the values of unknown type in the value's groups, and
 * queues these. */
static void spread_types(struct spread *s)
{
    struct infer *f = s->f;
    struct csr of_group = csr_build(f->mem, s->ngroup + 1, s->npair, s->group, s->member);
    struct csr of_value = csr_build(f->mem, f->m->nval, s->npair, s->member, s->group);
    uint8_t *done = arena_array(f->mem, (size_t)s->ngroup + 1, 1);
    for (uint32_t i = 0; i < s->nqueue; i++) { /* learn_type() makes the queue longer */
        vid v = s->queue[i];
        uint32_t type = 0; /* the type of v without shapes, once a member of a group wants it */
        for_row (g, of_value, v) {
            if (done[g] != 0)
                continue;
            done[g] = 1; /* the first known type of a member becomes the type of all members */
            for_row (w, of_group, g) {
                if (is_known(f, w))
                    continue;
                type = type != 0 ? type : drop_shape(f, v);
                learn_type(s, w, type);
            }
        }
    }
}

bool types_from_schemas(struct infer *f)
{
    const struct module *m = f->m;
    struct spread s = {.f = f};
    s.queue = arena_array(f->mem, m->nval, sizeof *s.queue);
    for (vid v = 1; v < m->nval; v++) {
        if (is_known(f, v))
            s.queue[s.nqueue++] = v;
    }
    if (s.nqueue + 1 == m->nval) /* all types are known (value 0 is none) */
        return false;
    for (int k = 0; k < TYPE_DOMAINS; k++) {
        s.domain[k] = k == 0 ? 0 : str_id(f->m, type_domain[k].name);
        s.version[k] = module_opset(m, s.domain[k]);
        s.version[k] = s.version[k] < 0 ? INT64_MAX : s.version[k];
    }
    make_groups(&s);
    spread_types(&s);
    return s.learned;
}
