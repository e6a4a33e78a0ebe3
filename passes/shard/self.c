/* shard{from=self}: options that the file's sharding specs fix (module.shard_ann; frontends/onnx/shard_words.c has the
 * words).
 *
 * A node whose words say more than "-" keeps the options that agree with them in all operands and results that have a
 * word; constants have each state for nothing, so that words about them do not count.  What is said of no node is
 * chosen as ever.  O(nodes * options). */
#include "passes/shard/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a word says. */
struct said {
    enum { NOTHING, WHOLE, CUT, ALONE, OTHER } kind;
    int64_t axis, run, ways; /* of CUT; axis < 0: counted from the last; run 0: one block */
    const char *device;      /* of ALONE: its name, up to the next blank */
    size_t len;
};

/* Reads the word at *at, and moves *at behind it and the blank that follows. */
static struct said take_word(const char **at)
{
    const char *w = *at;
    size_t n = strcspn(w, " ");
    struct said s = {.kind = OTHER};
    int end = 0;
    if (n == 1 && *w == '-')
        s.kind = NOTHING;
    else if (n == 1 && *w == 'R')
        s.kind = WHOLE;
    else if (n > 1 && *w == '@')
        s = (struct said){.kind = ALONE, .device = w + 1, .len = n - 1};
    else if (sscanf(w, "S%" SCNd64 ",%" SCNd64 "/%" SCNd64 "%n", &s.axis, &s.run, &s.ways, &end) ==
                 3 &&
             (size_t)end == n && s.run > 0)
        s.kind = CUT;
    else if (sscanf(w, "S%" SCNd64 "/%" SCNd64 "%n", &s.axis, &s.ways, &end) == 2 &&
             (size_t)end == n)
        s = (struct said){.kind = CUT, .axis = s.axis, .ways = s.ways};
    *at += n + (w[n] == ' ');
    return s;
}

/* Returns the words about node n; NULL: nothing is said of it. */
static const char *words_of(const struct module *m, nid n)
{
    return m->shard_ann != NULL && m->shard_ann[n] != 0 ? module_str(m, m->shard_ann[n]) : NULL;
}

/* Whether state `st` of value v is the state that the word w of the user's list asks for. */
static bool agrees(const struct shard *s, vid v, struct shard_state st, const struct said *w)
{
    struct shape shape;
    if (w->kind == WHOLE || w->kind == ALONE || v == 0)
        return st.run == 0;
    if (w->kind != CUT || !shard_is_cut(st) || w->ways != s->ways || !shape_of(s->f, v, &shape))
        return false;
    return st.axis == w->axis + (w->axis < 0 ? shape.rank : 0) &&
           (w->run != 0 ? st.run == w->run : shard_blocks(s, v, st) == 1);
}

/* Whether option o of a node, 0 for whole, is what the words say. */
static bool option_agrees(const struct shard *s, nid n, uint32_t o, const char *words)
{
    const struct node *k = &s->m->node[n];
    for (uint32_t i = 0; i < k->nformal + k->out.n && *words; i++) {
        const struct said w = take_word(&words);
        vid v = i < k->nformal ? node_in(s->m, n, i) : node_out(s->m, n, i - k->nformal);
        struct shard_state st = o == 0           ? (struct shard_state){0}
                                : i < k->nformal ? s->opt[o].in[i]
                                                 : s->opt[o].out[i - k->nformal];
        bool counts = w.kind != NOTHING && !(i < k->nformal && shard_is_constant(s, v));
        if (counts && !agrees(s, v, st, &w))
            return false;
    }
    return true;
}

int64_t shard_self_ways(const struct module *m)
{
    for (nid n = 1; n < m->nnode; n++)
        for (const char *at = words_of(m, n); at != NULL && *at;) {
            const struct said w = take_word(&at);
            if (w.kind == CUT)
                return w.ways;
        }
    return 0;
}

int shard_self_homes(struct shard *s)
{
    const struct graph *g = &s->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *at = words_of(s->m, n);
        struct said w = {.kind = NOTHING};
        while (at != NULL && *at && w.kind == NOTHING)
            w = take_word(&at);
        if (w.kind != ALONE || s->kind[n] != SHARD_NODE || s->pinned[n])
            continue;
        char *name = arena_strdup(s->a, w.device, w.len);
        int dev = cluster_device(s->x->scene.cluster, name);
        if (dev < 0)
            return diag_error(
                s->x->use.diag,
                "shard{from=self}: node '%s' says '%s', which is no device; the first "
                "is '%s'",
                node_name(s->m, n), name, cluster_device_name(s->x->scene.cluster, s->a, 0));
        s->kind[n] = SHARD_ONCE;
        s->home[n] = shard_home(s, (uint32_t)dev);
    }
    return 0;
}

int shard_self_fix(struct shard *s, uint8_t *fixed)
{
    const struct graph *g = &s->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *words = words_of(s->m, n);
        uint32_t left = 0;
        if (words == NULL || s->kind[n] != SHARD_NODE)
            continue;
        bool whole = option_agrees(s, n, 0, words);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next) {
            s->opt[o].gone = s->opt[o].gone || !option_agrees(s, n, o, words);
            left += !s->opt[o].gone;
        }
        fixed[n] = !whole;
        if (!whole && left == 0)
            return diag_error(s->x->use.diag,
                              "shard{from=self}: node '%s' (%s): %u devices cannot share it as its "
                              "sharding specs say (%s)",
                              node_name(s->m, n), node_op(s->m, n), s->ways, words);
    }
    return 0;
}
