/* PipeDream's stages on the devices of a plan (hier_plan.h).  O(stages * layers). */
#include "passes/stages/hier_plan.h"

struct trained hier_plan(const struct train *t, const struct stage_states *s,
                         const struct hier_result *r)
{
    struct arena *a = t->x->use.scratch;
    uint32_t *stage_of = arena_array(a, (size_t)t->layers.n + 1, sizeof *stage_of);
    struct device_set *set = arena_array(a, r->nstage, sizeof *set);
    for (uint32_t k = r->nstage; k-- > 0;) {
        const uint64_t *has = s->set + (size_t)r->stage[k].to * s->words;
        for (uint32_t v = 0; v < t->layers.n; v++)
            if (has[v / 64] >> v % 64 & 1)
                stage_of[v] = k;
        for (uint32_t v = 0; v < t->servers.n; v++) {
            bool grouped = t->servers.size[0] > 1;
            uint32_t level = grouped && t->servers.n > 1; /* that of servers */
            bool in =
                t->servers.n == 1 || (v >= r->stage[k].first[level] &&
                                      v < r->stage[k].first[level] + r->stage[k].copies[level]);
            set[k].of[v] = (uint16_t)(!in ? 0 : grouped ? r->stage[k].copies[0] : 1);
        }
    }
    return (struct trained){.n = r->nstage, .stage_of = stage_of, .set = set};
}

void hier_levels(const struct train *t, struct hier_rules *r)
{
    const struct servers *s = &t->servers;
    if (s->size[0] > 1 || s->n == 1) {
        r->machines[r->nlevel] = s->size[0];
        r->bandwidth[r->nlevel++] = s->inner;
    }
    if (s->n > 1) {
        r->machines[r->nlevel] = s->n;
        r->bandwidth[r->nlevel++] = s->outer;
    }
}
