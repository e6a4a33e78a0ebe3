/* A changed problem in which only lasting bytes count (light.h).
 *
 * List schedulers, and planners for the time per sample, add up the bytes of all results of a device's nodes.  While
 * one sample runs alone, a device needs far fewer bytes at once, since a result is freed after its last use.  Some
 * plans fit only for this reason.  So that planners find these, too, they get a second problem: nodes need their
 * weights only, and each device has less memory, by the bytes that results need at once if everything is on one
 * device.  Whether such a plan fits is found when it is run. */
#include "passes/portfolio/light.h"

/* Returns a copy of g whose vertices have 0 bytes. */
static struct wdag *light_level(const struct wdag *g, struct arena *a)
{
    struct wdag *l = arena_copy(a, g, sizeof *l);
    l->size = arena_array(a, (size_t)g->n + 1, sizeof *l->size);
    return l;
}

/* Replaces each level by light_level() of it; pointers to one and the same level get the same copy. */
static void light_levels(struct levels *l, struct arena *a)
{
    struct wdag **level[] = {&l->base, &l->contiguous, &l->any_shape, &l->mandatory, &l->top};
    enum { LEVELS = sizeof level / sizeof *level };
    const struct wdag *from[LEVELS];
    for (uint32_t i = 0; i < LEVELS; i++) {
        from[i] = *level[i];
        /* from[j] is the first pointer to this level; if j < i, the level has been copied already */
        for (uint32_t j = 0; j <= i && from[i]; j++)
            if (from[j] == from[i]) {
                *level[i] = j < i ? *level[j] : light_level(from[i], a);
                break;
            }
    }
}

int light_make(struct light *l, const struct ctx *x, const char *planner, int64_t running,
               struct arena *a)
{
    l->x = *x;
    light_levels(&l->x.levels, a);
    l->cluster = *x->scene.cluster;
    for (uint32_t k = 0; k < l->cluster.ncls; k++) {
        int64_t *memory = &l->cluster.cls[k].memory;
        if (*memory >= 0)
            *memory -= smaller(running, *memory / 2);
    }
    l->x.scene.cluster = &l->cluster;
    return placement_build_on(&l->placement, &l->x, planner, l->x.levels.base, a);
}
