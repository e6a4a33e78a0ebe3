/* Prints a summary of a profile of layers: times of the layers, and the smallest and largest cut between layers. */
#include "backends/report/profile_report.h"

#include "ir/base/units.h"
#include "ir/base/utf8.h"

#include <assert.h>

#include <string.h>

/* Whether node n is of the forward pass and has one result, and all its operands come from earlier nodes. */
static bool is_forward(const struct module *m, nid n)
{
    bool is = !m->backward[n] && m->node[n].out.n == 1;
    for (uint32_t i = 0; i < m->node[n].in.n && is; i++) {
        nid def = m->value[node_in(m, n, i)].def;
        is = def >= m->graph[1].first && def < n;
    }
    return is;
}

/* The reader of profiles (frontends/profiles/layer_profile.c) leaves the nodes in the order that is checked here. */
bool is_layer_profile(const struct module *m)
{
    const struct graph *g = &m->graph[1];
    bool is = m->backward && m->cost && g->count > 0 && g->count % 2 == 0;
    for (nid n = g->first; n < g->first + g->count && is; n++)
        is = !strcmp(module_str(m, m->node[n].domain), "profile") &&
             !strcmp(module_str(m, m->node[n].op), "layer") &&
             (n < g->first + g->count / 2 ? is_forward(m, n) : m->backward[n]);
    return is;
}

/* Returns an array, in a: [i] the cut behind layer i: bytes that layers 0 .. i make for later layers.  n: number of
 * layers. */
static int64_t *find_cuts(const struct module *m, uint32_t n, struct arena *a)
{
    nid first = m->graph[1].first;
    uint32_t *last = arena_array(a, (size_t)n + 1, sizeof *last);
    int64_t *cut = arena_array(a, (size_t)n + 1, sizeof *cut);
    /* last: [layer] the last layer that reads its result */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m->node[first + i].in.n; k++) {
            uint32_t from = m->value[node_in(m, first + i, k)].def - first;
            last[from] = larger_u32(i, last[from]);
        }
    /* a result lies in the cuts from behind its layer up to before its last reader: first the changes from cut to cut,
     * then their sums */
    for (uint32_t i = 0; i < n; i++)
        if (last[i] > i) {
            int64_t bytes = m->cost->bytes[node_out(m, first + i, 0)];
            cut[i] = sat_add(cut[i], bytes);
            cut[last[i]] -= bytes;
        }
    for (uint32_t i = 1; i < n; i++)
        cut[i] = sat_add(cut[i], cut[i - 1]);
    return cut;
}

/* Prints a line about the cut behind layer i: what it is (`what`, such as "largest cut"), its bytes, and the names of
 * the layers before and behind it. */
static void print_cut(FILE *f, const struct module *m, const char *what, uint32_t i, int64_t bytes,
                      struct arena *a)
{
    nid first = m->graph[1].first;
    char buf[UNIT_TEXT];
    fprintf(f, "%-13s %s, from '%s' to '%s'\n", what, bytes_short(buf, bytes),
            utf8_text(a, node_name(m, first + i)), utf8_text(a, node_name(m, first + i + 1)));
}

void profile_summary_print(FILE *f, const struct module *m)
{
    assert(is_layer_profile(m));
    struct arena *a = arena_new(m->mem);
    const struct graph *g = &m->graph[1];
    const struct costs *k = m->cost;
    /* most, least: the layers with the largest and the smallest cut behind them; behind the last layer there is none */
    uint32_t n = g->count / 2, most = 0, least = 0;
    int64_t time[2] = {0, 0}; /* ps of all [0] forward and [1] backward passes */
    int64_t params = 0, made = 0, *cut = find_cuts(m, n, a);
    char forward[UNIT_TEXT], backward[UNIT_TEXT], buf[UNIT_TEXT];
    for (nid v = g->first; v < g->first + g->count; v++) {
        bool back = m->backward[v];
        time[back] = sat_add(time[back], k->time[0][v]);
        params = sat_add(params, back || !k->params ? 0 : k->params[v]);
        made = sat_add(made, back ? 0 : k->bytes[node_out(m, v, 0)]);
    }
    for (uint32_t i = 1; i + 1 < n; i++) {
        most = cut[i] > cut[most] ? i : most;
        least = cut[i] < cut[least] ? i : least;
    }
    fprintf(f, "%s: a profile of %u layers\n", utf8_text(a, module_str(m, m->path)), n);
    fprintf(f, "%-13s %s\n", "forward", time_short(forward, time[0]));
    fprintf(f, "%-13s %s\n", "backward", time_short(backward, time[1]));
    fprintf(f, "%-13s %s\n", "parameters", bytes_short(buf, params));
    fprintf(f, "%-13s %s\n", "activations", bytes_short(buf, made));
    if (n > 1) {
        print_cut(f, m, "largest cut", most, cut[most], a);
        print_cut(f, m, "smallest cut", least, cut[least], a);
    }
    arena_free(a);
}
