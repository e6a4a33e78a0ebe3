/* Prints what the report says of a model that devices share (the pass shard). */
#include "backends/report/sharding.h"

#include "ir/base/units.h"
#include "ir/base/utf8.h"

enum { KINDS = 3 }; /* the most kinds of layers whose exchanges are printed */

/* Prints a text as a paragraph, whose lines but the first are indented. */
static void put(FILE *f, const struct result *r, const char *text)
{
    plan_print_words(f, r, text, /*at=*/0, /*indent=*/2);
}

/* Returns how many tensors are joined, brought from one cut to another, cut, and added up in each of some equal layers,
 * in a: "4 tensors joined, 1.5 MiB, 1 cut along another axis, 1.5 MiB, 2 cut, and 4 added up over devices, 2.0 MiB".
 * sums: devices may add up terms; false: the text says nothing of that. */
static const char *exchanges(const struct sharded_layers *l, bool sums, struct arena *a)
{
    char text[UNIT_TEXT];
    const char *joined = arena_fmt(a, "%u tensor%s joined, %s", l->joined,
                                   l->joined == 1 ? "" : "s", bytes_short(text, l->bytes));
    if (l->turned != 0)
        joined = arena_fmt(a, "%s, %u cut along another axis, %s", joined, l->turned,
                           bytes_short(text, l->turned_bytes));
    if (sums)
        return arena_fmt(a, "%s, %u cut, and %u added up over devices, %s", joined, l->cut,
                         l->added, bytes_short(text, l->added_bytes));
    return l->cut ? arena_fmt(a, "%s, and %u cut", joined, l->cut) : joined;
}

/* Prints the exchanges of tensors between devices: of the whole model, of each kind of layers, and outside of
 * layers. */
static void put_exchanges(FILE *f, const struct result *r, struct arena *a)
{
    const struct sharding *k = r->sharding;
    const bool sums = k->sums.allowed != SHARDING_SUMS_NONE;
    const struct sharded_layers all = {.joined = k->joined.count,
                                       .cut = k->sliced.count,
                                       .added = k->sums.count,
                                       .turned = k->turned.count,
                                       .bytes = k->joined.bytes,
                                       .added_bytes = k->sums.bytes,
                                       .turned_bytes = k->turned.bytes};
    const char *text = "";
    for (uint32_t i = 1; i < k->nlayers && i <= KINDS; i++)
        text = arena_fmt(a, "%s; %s%u layer%s: %s", text, k->layers[i].layers > 1 ? "each of " : "",
                         k->layers[i].layers, k->layers[i].layers > 1 ? "s" : "",
                         exchanges(&k->layers[i], sums, a));
    if (k->nlayers > KINDS + 1)
        text = arena_fmt(a, "%s; other layers differ", text);
    if (k->nlayers > 1)
        text = arena_fmt(a, "%s; elsewhere: %s", text, exchanges(&k->layers[0], sums, a));
    const char *pins = k->npin ? arena_fmt(a, " (%u by --pin)", k->npin) : "";
    put(f, r,
        arena_fmt(
            a, "sharded over %u devices: %u nodes in pieces, %u whole on each, %u on one%s; %s%s",
            k->ways, k->cut, k->whole, k->once, pins, exchanges(&all, sums, a), text));
}

/* Prints the memory that the devices need, and the memory that one device with the whole model would need. */
static void put_memory(FILE *f, const struct result *r, struct arena *a)
{
    const struct sharding *k = r->sharding;
    const struct device_load *l = r->verdict->load;
    char text[3][UNIT_TEXT];
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t i = 0; i < k->ways; i++) {
        least = smaller(least, l[k->dev[i]].used);
        most = larger(most, l[k->dev[i]].used);
    }
    bytes_short(text[0], least);
    bytes_short(text[1], most);
    put(f, r,
        arena_fmt(a, "memory of each %s%s%s, of one device alone %s", text[0],
                  least == most ? "" : " to ", least == most ? "" : text[1],
                  bytes_short(text[2], k->whole_bytes)));
}

/* Prints the axes that could not be cut because the number of devices does not divide them, and how much time padding
 * would save. */
static void put_undivided(FILE *f, const struct result *r, struct arena *a)
{
    const struct sharding *k = r->sharding;
    char text[UNIT_TEXT];
    for (uint32_t i = 0; i < k->nundivided; i++) {
        const struct sharded_axis *x = &k->undivided[i];
        const char *more = x->nodes > 1 ? arena_fmt(a, " and %u more", x->nodes - 1) : "";
        put(f, r,
            arena_fmt(a,
                      "an axis of %lld is whole, in '%s' (%s)%s: %u does not divide it; padded to "
                      "%lld it would save at most %s",
                      (long long)x->size, utf8_text(a, x->node), utf8_text(a, x->op), more, k->ways,
                      (long long)x->padded, time_short(text, x->saves)));
    }
}

void report_sharding(FILE *f, const struct result *r, struct arena *a)
{
    const struct sharding *k = r->sharding;
    char text[5][UNIT_TEXT];
    if (k == NULL)
        return;
    const char *proven = k->least == k->value ? "the least of all choices"
                         : k->least < 0 ? "feasible"
                                        : arena_fmt(a, "feasible, of which no choice is below %s",
                                                    time_short(text[4], k->least));
    put_exchanges(f, r, a);
    put(f, r,
        arena_fmt(
            a,
            "in lock step %s, %s; at least %s if each device has a share of every node; at least "
            "%s if nodes stay whole; one device alone %s",
            time_short(text[0], k->value), proven, time_short(text[1], k->floor),
            k->unsharded < 0 ? "(not known)" : time_short(text[2], k->unsharded),
            time_short(text[3], k->one_device)));
    put_memory(f, r, a);
    put_undivided(f, r, a);
}
