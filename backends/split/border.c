/* The rows of the manifest's "inputs" and "outputs" (border.h).
 *
 * The pass shard has put pieces in the place of states that devices share; sharding.pair has the tensors that were
 * cut into the pieces, and the place of each such tensor among the inputs or outputs.  O(inputs + outputs). */
#include "backends/split/border.h"

/* The rows while they are found. */
struct finding {
    const struct sharding *k; /* npair 0: nothing is in pieces */
    bool inputs;              /* rows of inputs; false: of outputs */
    struct border_row *row;   /* [n] rows of tensors that are whole, in the order of the list */
    uint32_t n;
    struct border_row *cut; /* [pair] rows of tensors in pieces */
};

/* Returns one end of a pair of states: the input if f->inputs, else the output. */
static const struct sharded_end *end_of(const struct finding *f, uint32_t pair)
{
    return f->inputs ? &f->k->pair[pair].in : &f->k->pair[pair].out;
}

/* Fills f->row and f->cut with the values of a slice of module.arg, the inputs or outputs of the main graph.  A row of
 * a tensor in pieces comes from its first piece; weights that are listed as inputs get no row. */
static void find_rows(struct finding *f, const struct split *s, struct slice list, struct arena *a)
{
    enum { LATER = UINT32_MAX }; /* the value is a piece, but not the first one of its pair */
    const struct module *m = s->m;
    /* name of a piece -> 1 + pair, or LATER */
    struct names first = names_new(a, f->k->npair * f->k->ways);
    for (uint32_t p = 0; p < f->k->npair; p++)
        for (uint32_t i = 0; i < f->k->ways; i++)
            names_add(&first, end_of(f, p)->piece[i], i == 0 ? p + 1 : LATER);
    for (uint32_t i = 0; i < list.n; i++) {
        vid v = m->arg[list.at + i];
        uint32_t p = names_get(&first, value_name(m, v), 0);
        struct border_row row = {.name = value_name(m, v),
                                 .type = m->value[v].type,
                                 .at = i,
                                 .ways = 1,
                                 .bytes = m->cost->bytes[v]};
        if (p == 0 && !(f->inputs && m->value[v].flags & VALUE_INIT)) {
            f->row[f->n++] = row;
        } else if (p != 0 && p != LATER) {
            const struct sharded_end *e = end_of(f, p - 1);
            f->cut[p - 1] = (struct border_row){.name = e->name,
                                                .type = e->type,
                                                .at = i,
                                                .axis = f->k->pair[p - 1].axis,
                                                .ways = f->k->ways,
                                                .bytes = sat_mul(row.bytes, f->k->ways)};
        }
    }
}

struct border_row *border_rows(const struct split *s, bool inputs, uint32_t *n, struct arena *a)
{
    static const struct sharding none;
    const struct slice list = inputs ? s->m->graph[1].in : s->m->graph[1].out;
    struct finding f = {.k = s->r->sharding ? s->r->sharding : &none, .inputs = inputs};
    uint32_t npair = f.k->npair, at = 0;
    f.row = arena_array(a, (size_t)list.n + 1, sizeof *f.row);
    f.cut = arena_array(a, (size_t)npair + 1, sizeof *f.cut);
    find_rows(&f, s, list, a);
    *n = f.n + npair;
    struct border_row *all = arena_array(a, (size_t)*n + 1, sizeof *all);
    /* tensors in pieces know their places in the list; whole tensors fill the remaining places in order */
    for (uint32_t p = 0; p < npair; p++)
        all[end_of(&f, p)->at] = f.cut[p];
    for (uint32_t i = 0; i < f.n; i++, at++) {
        while (all[at].name)
            at++;
        all[at] = f.row[i];
    }
    return all;
}
