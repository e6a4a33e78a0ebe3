/* Prints a level as comment lines, which --print-ir-after shows below the module.  O(vertices + nodes). */
#include "ir/dag/wdag.h"

#include "ir/base/units.h"
#include "ir/base/utf8.h"

/* Prints one vertex of g; members: vertex of g -> vertices of the base level. */
static void print_vertex(FILE *f, const struct wdag *g, uint32_t v, const struct csr *members,
                         const struct wdag *base, const struct module *m)
{
    char buf[UNIT_TEXT];
    fprintf(f, "#   %u: time=[", v);
    for (uint32_t k = 0; k < g->ncls; k++)
        fprintf(f, "%s%s", k ? "," : "",
                g->time[k][v] == COST_NEVER ? "never" : time_print(buf, g->time[k][v]));
    fprintf(f, "] size=%s", bytes_print(buf, g->size[v]));
    if (g->pin[v] >= 0)
        fprintf(f, " pin=%d", g->pin[v]);
    fputs(" {", f);
    for (uint32_t i = members->at[v]; i < members->at[v + 1]; i++) {
        fputs(i > members->at[v] ? ", " : "", f);
        utf8_put(f, node_name(m, base->node[members->to[i]]));
    }
    fputs("}\n", f);
}

void wdag_print(FILE *f, const struct wdag *top, const struct module *m)
{
    if (!top)
        return;
    struct arena *a = arena_new(top->mem);
    const struct wdag *base = top;
    while (base->finer)
        base = base->finer;
    struct csr members = csr_build(a, top->n, base->n, wdag_flatten(top, a), NULL);
    fprintf(f, "# level %s: %u vertices, %u nets\n", top->maker, top->n, top->nnet);
    for (uint32_t v = 0; v < top->n; v++)
        print_vertex(f, top, v, &members, base, m);
    arena_free(a);
}
