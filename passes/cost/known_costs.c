/* Keeps what files said of nodes, for the nodes that passes make of them (known_costs.h).  Names are strings of the
 * scene's module, which rewriting passes keep; node.made_from is such a name.  O(nodes * classes + strings) to note,
 * O(1) to ask. */
#include "passes/cost/known_costs.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>

enum { NOTHING = -1 };

struct known_costs {
    uint32_t nname, nclass;
    /* [class][name] ps.  time: the time that files gave; COST_NEVER: the class cannot run the node; NOTHING: files gave
     * no time.  estimate: what pcc estimated when the files were read */
    int64_t **time, **estimate;
    uint8_t *given; /* [name] bit k: files gave the time on class k */
    /* [name] own: the bytes that files gave; NOTHING: none.  made: the bytes of the node's results when the files were
     * read */
    int64_t *own, *made;
};

int64_t share_of_time(int64_t given, int64_t piece, int64_t whole)
{
    if (given == COST_NEVER || whole <= 0 || piece == whole)
        return given;
    __int128 share = ((__int128)given * piece + whole - 1) / whole;
    return share < COST_NEVER ? (int64_t)share : COST_NEVER - 1;
}

int64_t results_bytes(const struct module *m, const struct costs *c, nid n)
{
    int64_t made = 0;
    for (uint32_t i = 0; i < m->node[n].out.n; i++)
        made = sat_add(made, c->bytes[node_out(m, n, i)]);
    return made;
}

/* Returns an array with n entries NOTHING. */
static int64_t *nothing(struct arena *a, uint32_t n)
{
    int64_t *v = arena_array(a, n, sizeof *v);
    for (uint32_t i = 0; i < n; i++)
        v[i] = NOTHING;
    return v;
}

/* Returns the name of node n of m as a string of the scene's module; 0: it has none. */
static sid name_here(const struct ctx *x, const struct module *m, nid n)
{
    const char *name = module_str(m, m->node[n].name);
    if (m->str == x->scene.m->str || !*name)
        return m->node[n].name;
    return strings_id(x->scene.m->str, name, strlen(name));
}

/* Whether files changed the time of node n on class k: a file gave the time, said that the class cannot run n, or was a
 * trace of a run by which the time was scaled. */
static bool is_told(const struct costs *c, const struct told_costs *told, nid n, uint32_t k)
{
    return told->time[n] >> k & 1 || c->time[k][n] == COST_NEVER ||
           c->time[k][n] != told->estimate[k][n];
}

void known_costs_note(struct ctx *x, const struct module *m, const struct costs *c,
                      const struct told_costs *told)
{
    struct arena *a = x->use.mem;
    struct known_costs *k = arena_alloc(a, sizeof *k);
    sid *name = arena_array(x->use.scratch, m->nnode, sizeof *name);
    for (nid n = 1; n < m->nnode; n++) {
        name[n] = name_here(x, m, n);
        k->nname = name[n] >= k->nname ? name[n] + 1 : k->nname;
    }
    k->nclass = c->nclass;
    k->time = arena_array(a, (size_t)c->nclass + 1, sizeof *k->time);
    k->estimate = arena_array(a, (size_t)c->nclass + 1, sizeof *k->estimate);
    k->given = arena_alloc(a, (size_t)k->nname + 1);
    for (uint32_t i = 0; i < c->nclass; i++) {
        k->time[i] = nothing(a, k->nname);
        k->estimate[i] = arena_array(a, k->nname, sizeof **k->estimate);
        for (nid n = 1; n < m->nnode; n++)
            if (is_told(c, told, n, i)) {
                k->time[i][name[n]] = c->time[i][n];
                k->estimate[i][name[n]] = told->estimate[i][n];
                k->given[name[n]] |= told->time[n];
            }
    }
    k->own = nothing(a, k->nname);
    k->made = arena_array(a, k->nname, sizeof *k->made);
    for (nid n = 1; n < m->nnode; n++)
        if (told->own[n]) {
            k->own[name[n]] = c->own[n];
            k->made[name[n]] = results_bytes(m, c, n);
        }
    x->results.known = k;
}

/* Returns the name under which files may have given costs for node n: the name of the node from which n was made or, if
 * no pass made n, n's own name; 0: no node had that name when the files were read. */
static sid known_name(const struct ctx *x, nid n)
{
    const struct node *k = &x->scene.m->node[n];
    sid name = k->made_from != 0 ? k->made_from : k->name;
    return name < x->results.known->nname ? name : 0;
}

int64_t known_costs_time(const struct ctx *x, nid n, uint32_t k, int64_t estimate, bool *given)
{
    const struct known_costs *known = x->results.known;
    sid name = known_name(x, n);
    assert(k < known->nclass);
    *given = name != 0 && known->given[name] >> k & 1;
    if (name == 0 || known->time[k][name] == NOTHING)
        return -1;
    return share_of_time(known->time[k][name], estimate, known->estimate[k][name]);
}

int64_t known_costs_memory(const struct ctx *x, nid n, int64_t made)
{
    const struct known_costs *known = x->results.known;
    sid name = known_name(x, n);
    return name == 0 || known->own[name] == NOTHING
               ? -1
               : share_of_time(known->own[name], made, known->made[name]);
}
