/* Writes what a manifest says of a model whose nodes devices compute together (sharding.h); manifest.md describes all
 * members.  O(states + weights, times devices). */
#include "backends/split/sharding.h"

/* Writes "groups": the names of the devices that share nodes. */
static void put_groups(struct json_out *j, const struct result *r, struct arena *a)
{
    const struct sharding *k = r->sharding;
    json_open(j, "groups", '[', JSON_ROW);
    json_open(j, NULL, '[', JSON_ROW);
    for (uint32_t i = 0; i < k->ways; i++)
        json_text(j, NULL, cluster_device_name(r->scene.cluster, a, k->dev[i]));
    json_close(j, JSON_ROW);
    json_close(j, JSON_ROW);
}

/* Writes "states": the states of which each device keeps a piece. */
static void put_states(struct json_out *j, const struct sharding *k)
{
    json_open(j, "states", '[', /*indent=*/6);
    for (uint32_t i = 0; i < k->npair; i++) {
        const struct sharded_pair *p = &k->pair[i];
        json_open(j, NULL, '{', JSON_ROW);
        json_text(j, "in", p->in.name);
        json_text(j, "out", p->out.name);
        json_int(j, "axis", p->axis);
        json_int(j, "run", p->run);
        json_open(j, "pieces", '[', JSON_ROW);
        for (uint32_t w = 0; w < k->ways; w++) {
            json_open(j, NULL, '{', JSON_ROW);
            json_text(j, "in", p->in.piece[w]);
            json_text(j, "out", p->out.piece[w]);
            json_close(j, JSON_ROW);
        }
        json_close(j, JSON_ROW);
        json_close(j, JSON_ROW);
    }
    json_close(j, 4);
}

/* Writes "weights": the weights of which each device has a piece. */
static void put_weights(struct json_out *j, const struct sharding *k)
{
    json_open(j, "weights", '[', /*indent=*/6);
    for (uint32_t i = 0; i < k->nweight; i++) {
        const struct sharded_weight *w = &k->weight[i];
        json_open(j, NULL, '{', JSON_ROW);
        json_text(j, "name", w->name);
        json_int(j, "axis", w->axis);
        json_int(j, "run", w->run);
        json_int(j, "blocks", w->blocks);
        json_open(j, "pieces", '[', JSON_ROW);
        for (uint32_t d = 0; d < k->ways; d++)
            json_text(j, NULL, w->piece[d]);
        json_close(j, JSON_ROW);
        fputs(w->contiguous ? "true" : "false", json_member(j, "contiguous"));
        json_close(j, JSON_ROW);
    }
    json_close(j, 4);
}

/* Writes the member `kind` of "exchanges": the number of tensors, and the bytes that they have as a whole. */
static void put_exchange(struct json_out *j, const char *kind, struct sharded_exchanges x)
{
    json_open(j, kind, '{', JSON_ROW);
    json_int(j, "count", x.count);
    json_int(j, "bytes", x.bytes);
    json_close(j, JSON_ROW);
}

void sharding_put(struct json_out *j, const struct result *r, struct arena *a)
{
    /* [enum sharding_sums] its word */
    static const char *const sums[] = {"none", "integers", "any"};
    const struct sharding *k = r->sharding;
    json_open(j, "sharding", '{', /*indent=*/4);
    json_int(j, "ways", k->ways);
    put_groups(j, r, a);
    json_text(j, "sums", sums[k->sums.allowed]);
    json_put_decimal(json_member(j, "tolerance"), k->sums.tolerance, 6); /* millionths */
    json_int(j, "source_nodes", k->source_nodes);
    json_seconds(j, "value_one_device_s", k->one_device);
    json_seconds(j, "value_unsharded_s", k->unsharded);
    json_open(j, "nodes", '{', JSON_ROW);
    json_int(j, "cut", k->cut);
    json_int(j, "whole", k->whole);
    json_int(j, "once", k->once);
    json_int(j, "made", k->made);
    json_close(j, JSON_ROW);
    json_open(j, "exchanges", '{', JSON_ROW);
    put_exchange(j, "gather", k->joined);
    put_exchange(j, "slice", k->sliced);
    put_exchange(j, "turn", k->turned);
    if (k->sums.allowed != SHARDING_SUMS_NONE)
        put_exchange(j, "sum", (struct sharded_exchanges){k->sums.count, k->sums.bytes});
    json_close(j, JSON_ROW);
    put_states(j, k);
    put_weights(j, k);
    json_close(j, 2);
}
