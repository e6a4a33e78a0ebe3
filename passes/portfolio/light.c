/* Planning by what lasts on devices (light.h).
 *
 * List schedulers, and planners for the time per sample, add up the bytes of all that a device's nodes make.  One
 * sample alone needs far less at once: results end with their last use.  So that plans come about that fit only then,
 * the same planners get the problem once more with weights alone, and with as much memory taken off each
 * device as results take at once if everything is on one device.  Whether such a plan fits, its run tells. */
#include "passes/portfolio/light.h"

/* g without the bytes of its vertices. */
static struct wdag *light_level(const struct wdag *g, struct arena *a)
{
    struct wdag *l = arena_alloc(a, sizeof *l);
    *l = *g;
    l->size = arena_array(a, (size_t)g->n + 1, sizeof *l->size);
    return l;
}

/* Equal levels stay equal. */
static void light_levels(struct levels *l, struct arena *a)
{
    struct wdag **level[] = {&l->base, &l->contiguous, &l->any_shape, &l->mandatory, &l->top};
    enum { LEVELS = sizeof level / sizeof *level };
    const struct wdag *from[LEVELS];
    for (uint32_t i = 0; i < LEVELS; i++) {
        from[i] = *level[i];
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
