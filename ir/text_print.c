/* Printing the textual IR (grammar: text.md).
 *
 * One line per input, initializer, node and output; whatever has its default is left out, and nothing
 * depends on addresses or on how the pools are laid out, so equal modules print alike.
 * Values are printed by name.  Where a body's own name hides the one that is meant, the graph is
 * added ("%x@main"); a sorted list of (graph, name) tells.  O(m log m). */
#include "ir/text_parse.h"

#include "ir/dim.h"
#include "ir/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64 }; /* elements of an inline tensor that are written as numbers */

struct printer {
    FILE *f;
    const struct module *m;
    struct arena *a;
    struct module *dims; /* where spellings of dimensions are tried */
    uint64_t *defined;   /* (graph, name) of all values, sorted; only if there are bodies */
    uint32_t ndefined;
    uint32_t *lost; /* [value] its number */
    uint32_t nlost;
};

static void put(const struct printer *p, const char *s)
{
    fputs(s, p->f);
}

static void put_quoted(const struct printer *p, const char *s)
{
    static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";

    putc('"', p->f);
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        const char *e = strchr(from, c);
        if (e != NULL) {
            putc('\\', p->f);
            putc(to[e - from], p->f);
        } else if (c < 0x20 || c >= 0x7f) {
            fprintf(p->f, "\\x%02x", c);
        } else {
            putc(c, p->f);
        }
    }
    putc('"', p->f);
}

static bool is_word(const char *s)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";

    return *s != '\0' && strchr(first, *s) != NULL && s[strspn(s, all)] == '\0';
}

/* A word as it is, anything else quoted. */
static void put_name(const struct printer *p, const char *s)
{
    if (is_word(s)) {
        put(p, s);
    } else {
        put_quoted(p, s);
    }
}

/* What may follow % without quotes: word characters, '/', '-', and ':' before a digit. */
static void put_value_name(const struct printer *p, const char *s)
{
    bool bare = *s != '\0';

    for (const char *c = s; bare && *c != '\0'; c++) {
        bool digit = *c >= '0' && *c <= '9';
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        bare = digit || letter || strchr("_./-", *c) != NULL ||
               (*c == ':' && c[1] >= '0' && c[1] <= '9');
    }
    putc('%', p->f);
    if (bare) {
        put(p, s);
    } else {
        put_quoted(p, s);
    }
}

static void put_lost(struct printer *p, vid v)
{
    fprintf(p->f, "%%~%u", p->lost[v]);
}

/* A value where it is defined. */
static void put_definition(struct printer *p, vid v)
{
    if (v == 0) {
        put(p, "_");
    } else if (p->m->value[v].name == 0) {
        if (p->lost[v] == 0) {
            p->lost[v] = ++p->nlost;
        }
        put_lost(p, v);
    } else {
        put_value_name(p, value_name(p->m, v));
    }
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void collect_names(struct printer *p)
{
    const struct module *m = p->m;

    p->lost = arena_array(p->a, m->nval, sizeof *p->lost);
    if (m->ngraph <= 2) {
        return;
    }
    p->defined = arena_array(p->a, m->nval, sizeof *p->defined);
    for (vid v = 1; v < m->nval; v++) {
        p->defined[p->ndefined++] = (uint64_t)m->value[v].graph << 32 | m->value[v].name;
    }
    qsort(p->defined, p->ndefined, sizeof *p->defined, compare_keys);
}

static void put_label(const struct printer *p, gid g)
{
    if (g == 1) {
        put(p, "@main");
    } else {
        fprintf(p->f, "@g%u", g);
    }
}

/* Value v as something in graph g reads it. */
static void put_value(struct printer *p, vid v, gid g)
{
    const struct module *m = p->m;
    bool hidden = false;

    if (v == 0) {
        put(p, "_");
        return;
    }
    const struct value *x = &m->value[v];
    if (x->name == 0) {
        put_lost(p, v);
        return;
    }
    for (uint32_t depth = 0; g != x->graph && g != 0 && !hidden && depth <= TEXT_DEPTH; depth++) {
        uint64_t key = (uint64_t)g << 32 | x->name;
        hidden = p->ndefined > 0 && bsearch(&key, p->defined, p->ndefined, sizeof key,
                                            compare_keys) != NULL;
        g = m->node[m->graph[g].owner].graph;
    }
    put_value_name(p, str(m, x->name));
    if (hidden) {
        put_label(p, x->graph);
    }
}

/* Whether the spelling of an expression, without quotes, is read as the same one. */
static bool dim_is_plain(struct printer *p, const char *s)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
                              " .+-*/(),";
    int depth = 0;

    if (s[0] == '\0' || strchr(" .+-*/),", s[0]) != NULL || s[strspn(s, all)] != '\0' ||
        strlen(s) >= 1024 || s[strlen(s) - 1] == ' ') {
        return false;
    }
    for (const char *c = s; *c != '\0'; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth < 0 || (*c == ',' && depth == 0)) {
            return false;
        }
    }
    struct dim d = dim_parse(p->dims, s);
    return d.sym != 0 && strcmp(str(p->dims, d.sym), s) == 0;
}

static void put_dim(struct printer *p, struct dim d)
{
    if (d.sym == 0 && d.value < 0) {
        put(p, "?");
    } else if (d.sym == 0) {
        fprintf(p->f, "%lld", (long long)d.value);
    } else if (dim_is_plain(p, str(p->m, d.sym))) {
        put(p, str(p->m, d.sym));
    } else {
        put_quoted(p, str(p->m, d.sym));
    }
}

static void put_type(struct printer *p, uint32_t type)
{
    const struct module *m = p->m;
    const struct type *t = &m->type[type];
    uint32_t open = 0;

    for (; open < TEXT_DEPTH; open++, t = &m->type[t->inner]) {
        if (t->kind == TYPE_MAP) {
            fprintf(p->f, "map(%s, ", elem_name((enum elem)t->elem));
        } else if (t->kind == TYPE_SEQ || t->kind == TYPE_OPT) {
            put(p, t->kind == TYPE_SEQ ? "seq(" : "opt(");
        } else {
            break;
        }
    }
    if (t->kind == TYPE_OPAQUE) {
        put(p, "opaque");
    } else if (t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE) {
        fprintf(p->f, "%s%s[%s", t->kind == TYPE_SPARSE ? "sparse " : "",
                elem_name((enum elem)t->elem), t->rank < 0 ? "*" : "");
        for (int i = 0; i < t->rank; i++) {
            put(p, i > 0 ? "," : "");
            put_dim(p, m->dim[t->dim + (uint32_t)i]);
        }
        put(p, "]");
    } else {
        put(p, "?");
    }
    while (open-- > 0) {
        put(p, ")");
    }
}

/* The shortest digits that are read as the same number, with a '.', 'e' or letter in it. */
static void put_double(const struct printer *p, double v, bool single)
{
    char buf[40];

    if (isinf(v)) {
        put(p, v < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (single ? strtof(buf, NULL) == (float)v : strtod(buf, NULL) == v) {
            break;
        }
    }
    put(p, buf);
    if (strpbrk(buf, ".en") == NULL) {
        put(p, ".0");
    }
}

static void put_float(const struct printer *p, float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    if (!isnan(v)) {
        put_double(p, (double)v, true);
    } else if (bits == UINT32_C(0x7fc00000)) {
        put(p, "nan");
    } else {
        fprintf(p->f, "nan(0x%08x)", bits);
    }
}

/* Element i of inline data, little endian. */
static uint64_t element(const struct tensor *t, uint32_t size, uint64_t i)
{
    const unsigned char *b = (const unsigned char *)t->data + i * size;
    uint64_t v = 0;

    for (uint32_t k = 0; k < size; k++) {
        v |= (uint64_t)b[k] << (8 * k);
    }
    return v;
}

static double element_float(const struct tensor *t, uint64_t i)
{
    uint64_t bits = element(t, t->elem == ELEM_F32 ? 4 : 8, i);
    uint32_t word = (uint32_t)bits;
    double d;
    float f;

    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &word, sizeof f);
    return t->elem == ELEM_F32 ? (double)f : d;
}

/* Whether an inline tensor can be written as numbers. */
static bool is_short(const struct tensor *t, int64_t elems)
{
    enum elem e = (enum elem)t->elem;
    bool real = e == ELEM_F32 || e == ELEM_F64;

    if (elems < 0 || elems > SHOWN || (!real && !elem_is_integer(e)) || elem_bits(e) < 8 ||
        (uint64_t)elem_bytes(e, elems) != t->len) {
        return false;
    }
    for (uint64_t i = 0; i < (uint64_t)elems; i++) {
        if ((real && isnan(element_float(t, i))) || (e == ELEM_BOOL && element(t, 1, i) > 1)) {
            return false;
        }
    }
    return true;
}

static void put_numbers(const struct printer *p, const struct tensor *t, uint64_t elems)
{
    uint32_t bits = elem_bits((enum elem)t->elem);

    put(p, "[");
    for (uint64_t i = 0; i < elems; i++) {
        put(p, i > 0 ? ", " : "");
        if (t->elem == ELEM_F32 || t->elem == ELEM_F64) {
            put_double(p, element_float(t, i), t->elem == ELEM_F32);
            continue;
        }
        uint64_t v = element(t, bits / 8, i);
        bool narrow = t->elem == ELEM_I8 || t->elem == ELEM_I16 || t->elem == ELEM_I32 ||
                      t->elem == ELEM_I64;
        if (narrow) { /* extend the sign */
            fprintf(p->f, "%lld", (long long)((int64_t)(v << (64 - bits)) >> (64 - bits)));
        } else {
            fprintf(p->f, "%llu", (unsigned long long)v);
        }
    }
    put(p, "]");
}

static void put_hex(const struct printer *p, const unsigned char *data, uint64_t n)
{
    static const char digits[] = "0123456789abcdef";

    put(p, "bytes \"");
    for (uint64_t i = 0; i < n; i++) {
        putc(digits[data[i] >> 4], p->f);
        putc(digits[data[i] & 15], p->f);
    }
    put(p, "\"");
}

/* Everything but the shape; `name`: the one that it has if none is given. */
static void put_payload(struct printer *p, tid id, sid name)
{
    const struct tensor *t = &p->m->tensor[id];
    int64_t elems = tensor_elems(p->m, id);

    if (t->where == TENSOR_OPAQUE) {
        put(p, "opaque");
    } else if (t->where == TENSOR_FILE) {
        fprintf(p->f, "file %u at %llu len %llu", t->file, (unsigned long long)t->off,
                (unsigned long long)t->len);
    } else if (t->where == TENSOR_STRINGS) {
        put(p, "strings [");
        for (uint64_t i = 0; i < t->len; i++) {
            put(p, i > 0 ? ", " : "");
            put_quoted(p, str(p->m, p->m->sids[t->off + i]));
        }
        put(p, "]");
    } else if (is_short(t, elems)) {
        put_numbers(p, t, (uint64_t)elems);
    } else {
        put_hex(p, t->data, t->len);
    }
    if (t->name != name) {
        put(p, " named ");
        put_quoted(p, str(p->m, t->name));
    }
}

static void put_shape(struct printer *p, const struct tensor *t)
{
    fprintf(p->f, "%s[", elem_name((enum elem)t->elem));
    for (uint32_t i = 0; i < t->rank; i++) {
        fprintf(p->f, "%s%lld", i > 0 ? "," : "", (long long)p->m->ints[t->dim + i]);
    }
    put(p, "] ");
}

/* Whether the type of the value says the same as the tensor. */
static bool same_shape(const struct module *m, const struct tensor *t, uint32_t type)
{
    const struct type *y = &m->type[type];
    bool same = y->kind == TYPE_TENSOR && y->elem == t->elem && y->rank >= 0 &&
                (uint32_t)y->rank == t->rank;

    for (uint32_t i = 0; same && i < t->rank; i++) {
        struct dim d = m->dim[y->dim + i];
        same = d.sym == 0 && d.value == m->ints[t->dim + i];
    }
    return same;
}

static void put_tensor_value(struct printer *p, tid t, bool sparse)
{
    put(p, sparse ? "sparse " : "tensor ");
    put_shape(p, &p->m->tensor[t]);
    put_payload(p, t, 0);
}

static void put_list_element(struct printer *p, enum attr_kind kind, uint32_t i)
{
    const struct module *m = p->m;

    if (kind == ATTR_INTS) {
        fprintf(p->f, "%lld", (long long)m->ints[i]);
    } else if (kind == ATTR_FLOATS) {
        put_float(p, m->floats[i]);
    } else if (kind == ATTR_STRINGS) {
        put_quoted(p, str(m, m->sids[i]));
    } else if (kind == ATTR_GRAPHS) {
        put_label(p, m->refs[i]);
    } else {
        put_tensor_value(p, m->refs[i], kind == ATTR_SPARSES);
    }
}

static void put_attr(struct printer *p, const struct attr *a)
{
    const struct module *m = p->m;

    put_name(p, str(m, a->name));
    put(p, "=");
    if (a->ref != 0) {
        fprintf(p->f, "ref %s ", text_attr_kind[a->kind]);
        put_quoted(p, str(m, a->ref));
        return;
    }
    switch ((enum attr_kind)a->kind) {
    case ATTR_FLOAT:
        put_float(p, a->u.f);
        return;
    case ATTR_INT:
        fprintf(p->f, "%lld", (long long)a->u.i);
        return;
    case ATTR_STRING:
        put_quoted(p, str(m, a->u.s));
        return;
    case ATTR_GRAPH:
        put_label(p, a->u.g);
        return;
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        put_tensor_value(p, a->u.t, a->kind == ATTR_SPARSE);
        return;
    case ATTR_NONE:
    case ATTR_TYPE:
    case ATTR_TYPES:
        put(p, text_attr_kind[a->kind]);
        return;
    default:
        break;
    }
    put(p, a->u.list.n == 0 ? text_attr_kind[a->kind] : "");
    put(p, "[");
    for (uint32_t i = 0; i < a->u.list.n; i++) {
        put(p, i > 0 ? ", " : "");
        put_list_element(p, (enum attr_kind)a->kind, a->u.list.at + i);
    }
    put(p, "]");
}

static void put_time(const struct printer *p, int64_t ps)
{
    char buf[UNIT_TEXT];

    put(p, ps == COST_NEVER ? "never" : time_print(buf, ps));
}

/* " key=" and the number with the largest unit of powers of ten that divides it. */
static void put_count(const struct printer *p, const char *key, int64_t n, const char *units)
{
    int u = 0;

    while (n != 0 && n % 1000 == 0 && units[u + 1] != '\0') {
        n /= 1000;
        u++;
    }
    fprintf(p->f, "%s%lld", key, (long long)n);
    if (u > 0) {
        putc(units[u], p->f);
    }
}

static void put_bytes(const struct printer *p, const char *key, int64_t b)
{
    char buf[UNIT_TEXT];

    fprintf(p->f, "%s%s", key, bytes_print(buf, b));
}

static void put_value_facts(struct printer *p, vid v)
{
    const struct costs *k = p->m->cost;

    if (k == NULL || v == 0) {
        return;
    }
    if (k->bytes != NULL && k->bytes[v] != 0) {
        put_bytes(p, " !bytes=", k->bytes[v]);
    }
    if (k->elems != NULL && k->elems[v] >= 0) {
        put_count(p, " !elems=", k->elems[v], " kMGT");
    }
    if (k->xfer != NULL && k->xfer[v] >= 0) {
        put(p, " !xfer=");
        put_time(p, k->xfer[v]);
    }
}

static void put_node_costs(struct printer *p, nid n)
{
    const struct costs *k = p->m->cost;
    bool any = false, same = true;

    for (uint32_t c = 0; c < k->nclass; c++) {
        any |= k->time[c][n] != 0;
        same &= k->time[c][n] == k->time[0][n];
    }
    if (any) {
        put(p, same ? " !time=" : " !time=[");
        for (uint32_t c = 0; c < (same ? 1 : k->nclass); c++) {
            put(p, c > 0 ? "," : "");
            put_time(p, k->time[c][n]);
        }
        put(p, same ? "" : "]");
    }
    if (k->flops != NULL && k->flops[n] != 0) {
        put_count(p, " !flops=", k->flops[n], " kMGT");
    }
    if (k->traffic != NULL && k->traffic[n] != 0) {
        put_bytes(p, " !traffic=", k->traffic[n]);
    }
    if (k->own != NULL && k->own[n] != 0) {
        put_bytes(p, " !own=", k->own[n]);
    }
}

static void put_node_facts(struct printer *p, nid n)
{
    const struct module *m = p->m;

    if (m->cost != NULL) {
        put_node_costs(p, n);
    }
    if (m->color != NULL && m->color[n] != 0) {
        fprintf(p->f, " !color=%u", m->color[n]);
    }
    if (m->layer != NULL && m->layer[n] != 0) {
        fprintf(p->f, " !layer=%u", m->layer[n]);
    }
    put(p, m->backward != NULL && m->backward[n] != 0 ? " !backward" : "");
    put(p, m->node[n].flags & NODE_UNNAMED ? " !unnamed" : "");
    put(p, m->node[n].flags & NODE_LOST ? " !lost" : "");
    put(p, m->node[n].flags & NODE_CALL ? " !call" : "");
}

static void put_operator(struct printer *p, const struct node *n)
{
    if (n->domain != 0 || n->overload != 0) {
        if (strcmp(str(p->m, n->domain), "ai.onnx") == 0) { /* bare, it would be the default */
            put(p, "\"ai.onnx\"");
        } else {
            put_name(p, str(p->m, n->domain));
        }
        put(p, ":");
    }
    put_name(p, str(p->m, n->op));
    if (n->overload != 0) {
        put(p, ":");
        put_name(p, str(p->m, n->overload));
    }
}

static void put_operands(struct printer *p, const struct node *n)
{
    put(p, "(");
    for (uint32_t i = 0; i < n->in.n; i++) {
        if (i == n->nformal) {
            put(p, i > 0 ? " | " : "| ");
        } else {
            put(p, i > 0 ? ", " : "");
        }
        put_value(p, p->m->arg[n->in.at + i], n->graph);
    }
    put(p, ")");
}

/* " : f32[2] !bytes=8B, ?" unless there is nothing to say. */
static void put_result_types(struct printer *p, const struct node *n)
{
    const struct module *m = p->m;
    const struct costs *k = m->cost;
    bool any = false;

    for (uint32_t i = 0; i < n->out.n; i++) {
        vid v = m->arg[n->out.at + i];
        any |= v != 0 && (m->type[m->value[v].type].kind != TYPE_NONE ||
                          (k != NULL && ((k->bytes != NULL && k->bytes[v] != 0) ||
                                         (k->elems != NULL && k->elems[v] >= 0) ||
                                         (k->xfer != NULL && k->xfer[v] >= 0))));
    }
    for (uint32_t i = 0; any && i < n->out.n; i++) {
        vid v = m->arg[n->out.at + i];
        put(p, i > 0 ? ", " : " : ");
        if (v == 0) {
            put(p, "_");
        } else {
            put_type(p, m->value[v].type);
            put_value_facts(p, v);
        }
    }
}

static void put_node(struct printer *p, nid id)
{
    const struct module *m = p->m;
    const struct node *n = &m->node[id];
    vid first = node_out(m, id, 0);

    put(p, n->out.n == 0 ? "  ()" : "  ");
    for (uint32_t i = 0; i < n->out.n; i++) {
        put(p, i > 0 ? ", " : "");
        put_definition(p, m->arg[n->out.at + i]);
    }
    put(p, " = ");
    put_operator(p, n);
    put_operands(p, n);
    for (uint32_t i = 0; i < n->attr.n; i++) {
        put(p, i > 0 ? ", " : " {");
        put_attr(p, &m->attr[n->attr.at + i]);
    }
    put(p, n->attr.n > 0 ? "}" : "");
    put_result_types(p, n);
    if (n->name != m->value[first].name) {
        put(p, " name=");
        put_quoted(p, str(m, n->name));
    }
    put_node_facts(p, id);
    put(p, "\n");
}

static void put_inputs(struct printer *p, const struct graph *g)
{
    const struct module *m = p->m;

    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = m->arg[g->in.at + i];
        put(p, "  in ");
        put_definition(p, v);
        put(p, " : ");
        put_type(p, m->value[v].type);
        put_value_facts(p, v);
        put(p, "\n");
    }
    for (uint32_t i = 0; i < g->init.n; i++) {
        vid v = m->arg[g->init.at + i];
        const struct value *x = &m->value[v];
        put(p, "  init ");
        put_definition(p, v);
        if ((x->flags & VALUE_INPUT) == 0) {
            put(p, " : ");
            put_type(p, x->type);
        }
        put(p, " = ");
        if (!same_shape(m, &m->tensor[x->tensor], x->type)) {
            put(p, "tensor ");
            put_shape(p, &m->tensor[x->tensor]);
        }
        put_payload(p, x->tensor, x->name);
        if ((x->flags & VALUE_INPUT) == 0) {
            put_value_facts(p, v);
        }
        put(p, "\n");
    }
}

static void put_graph(struct printer *p, gid id)
{
    const struct module *m = p->m;
    const struct graph *g = &m->graph[id];
    char label[16];

    snprintf(label, sizeof label, id == 1 ? "main" : "g%u", id);
    put(p, "\ngraph ");
    put_label(p, id);
    if (g->owner != 0) {
        put(p, " of ");
        put_quoted(p, node_name(m, g->owner));
    }
    if (strcmp(str(m, g->name), label) != 0) {
        put(p, " name=");
        put_quoted(p, str(m, g->name));
    }
    put(p, " {\n");
    put_inputs(p, g);
    for (nid n = g->first; n < g->first + g->count; n++) {
        put_node(p, n);
    }
    for (uint32_t i = 0; i < g->out.n; i++) {
        put(p, "  out ");
        put_value(p, m->arg[g->out.at + i], id);
        put(p, "\n");
    }
    put(p, "}\n");
}

static void put_class(const struct printer *p, const struct device_class *k)
{
    char buf[UNIT_TEXT];
    bool any = false;

    put(p, "class ");
    put_quoted(p, k->name != NULL ? k->name : "");
    fprintf(p->f, " x%u%s", k->count, k->host ? " host" : "");
    if (k->memory >= 0) {
        put_bytes(p, " memory=", k->memory);
    }
    if (k->overhead != 0) {
        fprintf(p->f, " overhead=%s", time_print(buf, k->overhead));
    }
    if (k->bandwidth != 0) {
        put_count(p, " bandwidth=", k->bandwidth, " kMGT");
        put(p, "B/s");
    }
    if (k->link_bandwidth != 0 || k->link_latency != 0) {
        put_count(p, " link=", k->link_bandwidth, " kMGT");
        fprintf(p->f, "B/s,%s", time_print(buf, k->link_latency));
    }
    for (unsigned e = 1; e < ELEM_COUNT; e++) {
        if (k->peak[e] != 0) {
            put(p, any ? ", " : " peak=[");
            put(p, elem_name((enum elem)e));
            put_count(p, ":", k->peak[e], " kMGT");
            any = true;
        }
    }
    put(p, any ? "]\n" : "\n");
}

static void put_header(const struct printer *p, const struct cluster *c)
{
    const struct module *m = p->m;

    put(p, "pcc 1\npath ");
    put_quoted(p, str(m, m->path));
    fprintf(p->f, "\nir_version %lld\n", (long long)m->ir_version);
    put(p, m->nopset <= 1 ? "opset none\n" : "");
    for (uint32_t i = 1; i < m->nopset; i++) {
        const char *domain = str(m, m->opset[i].domain);
        put(p, "opset ");
        if (m->opset[i].domain == 0) {
            put(p, "ai.onnx");
        } else if (strcmp(domain, "ai.onnx") == 0 || strcmp(domain, "none") == 0) {
            put_quoted(p, domain);
        } else {
            put_name(p, domain);
        }
        fprintf(p->f, " %lld\n", (long long)m->opset[i].version);
    }
    for (uint32_t i = 1; i < m->nfile; i++) {
        const struct file *f = &m->file[i];
        fprintf(p->f, "file %u ", i);
        put_quoted(p, str(m, f->path));
        fprintf(p->f, " size=%llu", (unsigned long long)f->size);
        if (f->location != 0) {
            put(p, " location=");
            put_quoted(p, str(m, f->location));
        }
        put(p, "\n");
    }
    if (c != NULL) {
        fprintf(p->f, "cluster%s efficiency=%lld\n", c->io_free ? " io_free" : "",
                (long long)c->efficiency);
        for (uint32_t i = 0; i < c->ncls; i++) {
            put_class(p, &c->cls[i]);
        }
    }
    if (m->cost != NULL) {
        fprintf(p->f, "costs %u\n", m->cost->nclass);
    }
}

static void put_plan_time(const struct printer *p, const char *key, int64_t ps)
{
    put(p, key);
    if (ps < 0) {
        put(p, "none");
    } else {
        put_time(p, ps);
    }
}

static void put_plan(const struct printer *p, const struct plan *plan, const struct cluster *c)
{
    put(p, "\nplan ");
    put_quoted(p, plan->planner != NULL ? plan->planner : "");
    fprintf(p->f, " status=%s", plan_status_name(plan->status));
    put_plan_time(p, " value=", plan->value);
    if (plan->bound >= 0) {
        put_plan_time(p, " bound=", plan->bound);
    }
    if (plan->scope_bound >= 0) {
        put_plan_time(p, " scope_bound=", plan->scope_bound);
    }
    if (plan->states != 0) {
        fprintf(p->f, " states=%llu", (unsigned long long)plan->states);
    }
    if (plan->argument != NULL && plan->argument[0] != '\0') {
        put(p, " argument=");
        put_quoted(p, plan->argument);
    }
    put(p, " {\n");
    for (nid n = 1; n < p->m->nnode; n++) {
        if (plan->dev[n] < 0) {
            continue;
        }
        put(p, "  ");
        put_quoted(p, node_name(p->m, n));
        if (c != NULL && (uint32_t)plan->dev[n] < c->ndev) {
            struct arena_mark mark = arena_mark(p->a);
            fprintf(p->f, " = %s\n", cluster_device_name(c, p->a, (uint32_t)plan->dev[n]));
            arena_release(p->a, mark);
        } else {
            fprintf(p->f, " = %d\n", plan->dev[n]);
        }
    }
    put(p, "}\n");
}

void module_print(FILE *f, const struct module *m, const struct cluster *c,
                  const struct plan *plan)
{
    struct printer p = {.f = f, .m = m, .a = arena_new(), .dims = module_new(NULL)};

    collect_names(&p);
    put_header(&p, c);
    for (gid g = 1; g < m->ngraph; g++) {
        put_graph(&p, g);
    }
    if (plan != NULL) {
        put_plan(&p, plan, c);
    }
    arena_free(p.dims->mem);
    arena_free(p.a);
}
