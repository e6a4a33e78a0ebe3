/* Prints the repeated layers for the summary (layer_table.h): for each kind its number of layers and its contents: the
 * components of the paths that follow the layer's scope or, if there are none, the operators.  Expected O(nodes). */
#include "backends/report/layer_table.h"

#include "ir/base/page.h"

#include "ir/model/layers.h"
#include "ir/base/strings.h"
#include "ir/base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 4,  /* number of kinds of layers that are printed, at most */
    INSIDE = 6, /* number of components of each kind that are named, at most */
    NAME = 64   /* bytes of a component or operator that are shown, at most */
};

/* For qsort(): the most frequent kind of layers first; equally frequent kinds in the order of the model. */
static int most_first(const void *x, const void *y)
{
    const struct repeat *a = x, *b = y;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

/* The nodes of a layer. */
struct inside {
    const struct module *m;
    const nid *node;
    uint32_t n;
    const struct layers *layers;
};

/* Returns the different scopes inside a layer, in the order of its nodes: "attention, mlp"; with ops its different
 * operators.  Lists INSIDE of them at most, then "...".  NULL: the layer has no scopes inside. */
static const char *say_inside(const struct inside *l, bool ops, struct arena *a)
{
    struct strings *seen = strings_new(a);
    uint32_t shown = 0;
    const char *all = "";
    for (uint32_t i = 0; i < l->n; i++) {
        nid v = l->node[i];
        struct scope s = ops ? (struct scope){node_op(l->m, v), strlen(node_op(l->m, v))}
                             : layers_inside(l->m, l->layers, v);
        /* ids count from 1, so a text with such an id came before */
        if (!s.len || strings_id(seen, s.at, s.len) <= shown)
            continue;
        if (++shown <= INSIDE)
            all = arena_fmt(a, "%s%s%s", all, shown > 1 ? ", " : "",
                            utf8_text(a, arena_strdup(a, s.at, smaller_u64(s.len, NAME))));
    }
    return shown > INSIDE ? arena_fmt(a, "%s, ...", all) : shown ? all : NULL;
}

void layers_print(FILE *f, const struct module *m, struct arena *a)
{
    struct layers l = layers_find(m, a);
    struct csr c = layers_nodes(m, &l, a);
    struct repeat *r;
    uint32_t n = layers_repeats(m, &l, a, &r);
    qsort(r, n, sizeof *r, most_first);
    for (uint32_t i = 0, shown = 0; i < n && r[i].count > 1 && shown < KINDS; i++) {
        struct inside in = {m, c.to + c.at[r[i].first], c.at[r[i].first + 1] - c.at[r[i].first],
                            &l};
        if (r[i].nodes < 2)
            continue;
        const char *what = say_inside(&in, /*ops=*/false, a);
        if (!what)
            what = say_inside(&in, /*ops=*/true, a);
        if (!what)
            what = "";
        fprintf(f, "%-11s ", shown++ ? "" : "layers");
        page_words(f, arena_fmt(a, "%u x {%s}, %u nodes each", r[i].count, what, r[i].nodes),
                   /*at=*/12,
                   /*indent=*/12);
    }
}
