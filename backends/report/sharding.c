/* What the report says of a model that devices share (the pass shard). */
#include "backends/report/sharding.h"

#include "ir/base/units.h"

void report_sharding(FILE *f, const struct result *r, struct arena *a)
{
    const struct sharding *k = r->sharding;
    char text[5][UNIT_TEXT];
    if (k == NULL)
        return;
    plan_print_words(
        f, r,
        arena_fmt(
            a,
            "sharded over %u devices: %u nodes in pieces, %u whole on each, %u on one; %u tensors "
            "joined, %s, %u cut%s",
            k->ways, k->cut, k->whole, k->once, k->joined, bytes_short(text[0], k->joined_bytes),
            k->sliced,
            k->allowed == SHARDING_SUMS_NONE
                ? ""
                : arena_fmt(a, ", and %u added up over devices, %s", k->sums.count,
                            bytes_short(text[4], k->sums.bytes))),
        /*at=*/0, /*indent=*/2);
    plan_print_words(
        f, r,
        arena_fmt(
            a,
            "in lock step %s, %s; at least %s if each device has a share of every node; at least "
            "%s if nodes stay whole",
            time_short(text[1], k->value), k->optimal ? "the least of all choices" : "feasible",
            time_short(text[2], k->floor),
            k->unsharded < 0 ? "(not known)" : time_short(text[3], k->unsharded)),
        /*at=*/0, /*indent=*/2);
}
