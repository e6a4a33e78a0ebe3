/* Makes a plan with devices of PipeDream's stages (hier_plan.h).  O(stages * (layers + servers * levels)). */
#include "passes/stages/hier_plan.h"
#include "ir/base/bits.h"
#include "ir/base/numbers.h"

/* The levels of machines that PipeDream's planner uses: levels with more than one machine. */
struct plan_levels {
    struct hier_rules *r;
    /* [level] number of servers in a machine of the level; 0: machines of the level are the devices of a server */
    uint32_t below[HIER_LEVELS];
};

/* Appends a level with `machines` machines, unless it has only one; rate: bytes per second between them. */
static void add_level(struct plan_levels *l, uint32_t machines, int64_t rate, uint32_t below)
{
    if (machines < 2)
        return;
    l->below[l->r->nlevel] = below;
    l->r->machines[l->r->nlevel] = machines;
    l->r->bandwidth[l->r->nlevel++] = rate;
}

/* Fills *l with the levels of t's cluster, from the innermost one to the outermost one.  If there is a single device,
 * it is the only machine of the only level. */
static void find_levels(const struct train *t, struct plan_levels *l)
{
    const struct servers *s = &t->servers;
    uint32_t joined = s->unit ? s->unit : s->n;
    add_level(l, s->size[0], s->inner, 0);
    add_level(l, joined, s->outer, 1);
    for (uint32_t k = 0; k < s->nabove; k++) {
        add_level(l, s->above[k].servers / joined, s->above[k].rate, joined);
        joined = s->above[k].servers;
    }
    if (!l->r->nlevel) { /* there is a single device, which may have no link: any rate above 0 does */
        l->r->machines[l->r->nlevel] = 1;
        l->r->bandwidth[l->r->nlevel++] = larger(s->inner, 1);
    }
}

/* Returns the number of devices that a stage has in server v: 0 if v is in none of the stage's machines. */
static uint32_t count_in_server(const struct plan_levels *l, const struct hier_stage *stage,
                                uint32_t v)
{
    uint32_t n = 1; /* of a server of one device, which is on no level */
    for (uint32_t k = 0; k < l->r->nlevel; k++) {
        if (!l->below[k]) { /* the machines are the devices of a server */
            n = stage->copies[k];
            continue;
        }
        /* the machine that server v belongs to */
        uint32_t machine = v / l->below[k] % l->r->machines[k];
        if (machine < stage->first[k] || machine >= stage->first[k] + stage->copies[k])
            return 0;
    }
    return n;
}

struct stage_layout hier_plan(const struct train *t, const struct stage_states *s,
                              const struct hier_result *r)
{
    struct arena *a = t->x->use.scratch;
    struct hier_rules rules = {0};
    struct plan_levels levels = {.r = &rules};
    uint32_t *stage_of = arena_array(a, (size_t)t->layers.n + 1, sizeof *stage_of);
    struct device_set *set = arena_array(a, r->nstage, sizeof *set);
    find_levels(t, &levels);
    /* state `to` of a stage has the layers of all earlier stages, too: the earliest stage of a layer is written last */
    for (uint32_t k = r->nstage; k-- > 0;) {
        const uint64_t *has = s->set + (size_t)r->stage[k].to * s->words;
        for (uint32_t v = 0; v < t->layers.n; v++)
            if (bits_have(has, v))
                stage_of[v] = k;
        for (uint32_t v = 0; v < t->servers.n; v++)
            set[k].of[v] = (uint16_t)count_in_server(&levels, &r->stage[k], v);
    }
    return (struct stage_layout){.n = r->nstage, .stage_of = stage_of, .set = set};
}

void hier_levels(const struct train *t, struct hier_rules *r)
{
    struct plan_levels levels = {.r = r};
    find_levels(t, &levels);
}
