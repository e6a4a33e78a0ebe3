/* Whether the memory of devices has room for a choice (shard.h), before anything is written: weights count by the
 * states in which nodes take them.  O(nodes + values) and an evaluation of the model on one device. */
#include "passes/shard/shard.h"

#include "ir/base/units.h"

struct evaluation shard_evaluate_whole(const struct shard *s)
{
    struct scene scene = s->x->scene;
    int32_t *dev = arena_array(s->a, s->m->nnode, sizeof *dev);
    scene.place = s->place;
    for (nid n = 1; n < s->m->nnode; n++)
        dev[n] = (int32_t)s->dev[0];
    return plan_evaluate(&scene, &(struct plan){.dev = dev}, s->a);
}

/* Adds to taken[value], for the operands of node n that are constants, the states, as bits, in which n takes them by
 * option o (0: whole). */
static void take_constants(const struct shard *s, nid n, uint32_t o, uint32_t *taken)
{
    for (uint32_t i = 0; i < s->m->node[n].nformal; i++) {
        const vid v = node_in(s->m, n, i);
        if (v != 0 && shard_is_constant(s, v))
            taken[v] |= 1u << (o != 0 ? shard_bit(s, v, s->opt[o].in[i]) : 0);
    }
}

/* Returns an array: [value] the states, as bits, in which nodes take a constant by choice c.  A node that computes a
 * constant takes its own operands so that it can make its results in the states in which these are taken. */
static uint32_t *states_taken(const struct shard *s, const struct shard_choice *c)
{
    const struct module *m = s->m;
    uint32_t *taken = arena_array(s->a, m->nval, sizeof *taken);
    for (nid n = m->nnode; n-- > 1;) { /* readers have larger numbers than makers */
        if (s->kind[n] != SHARD_CONSTANT) {
            take_constants(s, n, s->kind[n] == SHARD_NODE ? c->option[n] : 0, taken);
            continue;
        }
        for (uint32_t i = 0; i < m->node[n].out.n; i++) {
            const vid v = node_out(m, n, i);
            for (uint32_t rest = taken[v], bit; rest != 0; rest &= rest - 1) {
                bit = (uint32_t)__builtin_ctz(rest);
                take_constants(
                    s, n, bit != 0 ? shard_constant_option(s, v, shard_state_of(s, v, bit)) : 0,
                    taken);
            }
        }
    }
    return taken;
}

/* Returns about how many bytes of memory choice c takes on the device that holds most: its pieces of the tensors that
 * last (weights and states), and of all others as much as one device alone. */
static int64_t bytes_of_choice(const struct shard *s, const struct shard_choice *c)
{
    const struct place *p = s->place;
    const uint32_t *taken = states_taken(s, c);
    int64_t bytes = shard_evaluate_whole(s).v.load[s->dev[0]].used;
    for (uint32_t w = 0; w < p->nweight; w++) {
        const vid v = p->weight[w];
        const int64_t piece = p->weight_bytes[w] / s->ways;
        const bool whole = s->kept[v].run == 0 && (taken[v] == 0 || (taken[v] & 1) != 0);
        const int64_t pieces = __builtin_popcount(taken[v] & ~1u) + (s->kept[v].run != 0);
        bytes = bytes - (whole ? 0 : p->weight_bytes[w]) + pieces * piece;
    }
    return bytes;
}

int64_t shard_lacks(const struct shard *s, const struct shard_choice *c)
{
    const int64_t memory = s->x->scene.cluster->cls[s->cls].memory;
    return memory < 0 ? 0 : larger(bytes_of_choice(s, c) - memory, 0);
}

bool shard_seems_to_fit(const struct shard *s, const struct shard_choice *c)
{
    return shard_lacks(s, c) == 0;
}
