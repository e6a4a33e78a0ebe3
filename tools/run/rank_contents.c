/* Checks whether each tensor came to another rank as it left (ranks.h).
 *
 * A tag says which tensor of which sample a message has, but not whether its bytes are the bytes that were sent.  That
 * is checked by sums: the sender adds a hash of the bytes to a sum of its tensor, the receiver subtracts it, and over
 * all ranks the sums are 0 when the run is through.  A second sum has each hash times the number of its sample: where
 * one message differs, the second sum divided by the first is the number of its sample.  Only the bytes at BLOCKS
 * places of a long tensor are hashed, so that it costs no more than a short one; this shows whether two tensors were
 * exchanged, not whether any single byte changed.  Steps of training (step_ranks.c) send the hash ahead, with the
 * sizes, and compare it when the tensor comes.  O(BLOCKS) a message, O(tensors * ranks) at the end. */
#include "tools/run/ranks.h"

#include "ir/base/hash.h"
#include "ir/base/numbers.h"

#include <inttypes.h>

enum { BLOCKS = 16, BLOCK = 64 }; /* places of a long tensor that are hashed; bytes of each */

uint64_t ranks_hash(const void *data, int64_t bytes)
{
    static const struct hash_key key = {{0, 0}}; /* the same at all ranks */
    const unsigned char *byte = data;
    if (bytes <= (int64_t)BLOCKS * BLOCK)
        return hash_bytes(&key, data, (size_t)bytes) + (uint64_t)bytes;
    uint64_t hash[BLOCKS + 1] = {(uint64_t)bytes};
    for (int64_t i = 0; i < BLOCKS; i++)
        hash[i + 1] = hash_bytes(&key, byte + (bytes - BLOCK) / (BLOCKS - 1) * i, BLOCK);
    return hash_bytes(&key, hash, sizeof hash);
}

void ranks_count(struct runner *r, const struct transfer *t, const void *data)
{
    struct content_sum *s = &r->ranks->tags.sum[ranks_key(r, t)];
    uint64_t hash = ranks_hash(data, t->bytes);
    uint64_t sign = t->step == SEND_TENSOR ? 1 : UINT64_MAX; /* modulo 2^64 */
    s->content += sign * hash;
    s->placed += sign * hash * ((uint64_t)t->sample + 1);
}

/* Returns the sample whose message differs; -1: several do. */
static int64_t sample_of(const struct content_sum *s, int64_t samples)
{
    for (int64_t k = 0; s->content && k < samples; k++)
        if (s->placed == s->content * ((uint64_t)k + 1))
            return k;
    return -1;
}

int ranks_check_contents(struct runner *r)
{
    struct ranks *x = r->ranks;
    size_t keys = (size_t)x->tags.keys, ranks = (size_t)x->m.ranks;
    struct content_sum *all = arena_array(r->a, x->m.rank ? 1 : keys * ranks, sizeof *all);
    if (x->m.face->gather(x->tags.sum, all, (int64_t)(keys * sizeof *all)))
        return diag_error(r->d, "MPI: %s", x->m.why);
    for (size_t key = 0; key < keys && x->m.rank == 0; key++) {
        for (size_t k = 1; k < ranks; k++) {
            all[key].content += all[k * keys + key].content;
            all[key].placed += all[k * keys + key].placed;
        }
        if (!all[key].content && !all[key].placed)
            continue;
        int64_t sample = sample_of(&all[key], r->n);
        const char *where =
            sample < 0 ? "" : arena_fmt(r->a, "sample %" PRId64 ": ", r->set.first + sample);
        return diag_error(r->d,
                          "%s%s'%s' came to another rank with other bytes than it was sent with",
                          ranks_speaker(r), where, ranks_key_name(r, (int64_t)key));
    }
    return 0;
}
