/* Finds out which stages share their devices (stages.h): stage k has the devices of stage k % places. */
#include "ir/plan/stages.h"

#include <string.h>

/* Returns the first device of stage k. */
static uint32_t first_device(const struct stages *s, uint32_t k)
{
    return s->device.to[s->device.at[k]];
}

uint32_t stages_places(const struct stages *s)
{
    uint32_t n = 1;
    while (n < s->n && first_device(s, n) != first_device(s, 0))
        n++;
    return s->n ? n : 0;
}

/* Whether stages k and `as` have the same devices. */
static bool has_same_devices(const struct stages *s, uint32_t k, uint32_t as)
{
    uint32_t n = s->device.at[k + 1] - s->device.at[k];
    return n == s->device.at[as + 1] - s->device.at[as] &&
           !memcmp(s->device.to + s->device.at[k], s->device.to + s->device.at[as],
                   n * sizeof *s->device.to);
}

bool stages_recompute(const struct stages *s)
{
    bool any = false;
    for (uint32_t k = 0; s && k < s->n; k++)
        any = any || s->recompute[k];
    return any;
}

const char *stages_refuse(const struct stages *s, uint32_t ndev, struct arena *a)
{
    uint32_t places = stages_places(s);
    /* [device] 1 + number of the device's stage; 0: none so far */
    uint32_t *stage = arena_array(a, (size_t)ndev + 1, sizeof *stage);
    for (uint32_t k = 0; k < places; k++)
        for_row (d, s->device, k) {
            uint32_t *of = &stage[d];
            if (*of)
                return arena_fmt(a,
                                 "device %u is in stages %u and %u, which do not share all devices",
                                 d, *of - 1, k);
            *of = k + 1;
        }
    for (uint32_t k = places; k < s->n; k++)
        if (!has_same_devices(s, k, k % places))
            return arena_fmt(
                a,
                "stage %u is not on the devices of stage %u: stages that share devices go "
                "over them in turn",
                k, k % places);
    if (places && s->n % places)
        return arena_fmt(a, "%u stages in turn on %u places: expected as many on each", s->n,
                         places);
    return NULL;
}
