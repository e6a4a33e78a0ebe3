/* shard{from=self}: options that the file's sharding specs fix (module.shard_ann; frontends/onnx/shard_words.c has the
 * words).
 *
 * If the words about a node say more than "-", the node keeps only the options that agree with the words for all its
 * operands and results.  Words about constants do not count, since a constant is in any state for nothing.  The
 * standard has no word for terms: a tensor that it calls whole may be in terms, where sums are allowed.  For nodes
 * without words, options are chosen as without this setting. O(nodes * options * operands). */
#include "passes/shard/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a word of a node's sharding specs says. */
struct said {
    enum { NOTHING, WHOLE, CUT, ALONE, OTHER } kind;
    int64_t axis; /* CUT: the axis, counted from the last one if below 0 */
    /* CUT: the number of neighbouring positions in each block of a device; 0: each device has one block */
    int64_t run;
    int64_t ways;       /* CUT: number of pieces */
    const char *device; /* ALONE: the device's name, not ended by a 0 */
    size_t len;         /* ALONE: length of the name */
};

/* Reads the word at *at, and moves *at behind the word and the blank that follows it. */
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

/* Returns the words about node n; NULL: there are none. */
static const char *words_of(const struct module *m, nid n)
{
    return m->shard_ann != NULL && m->shard_ann[n] != 0 ? module_str(m, m->shard_ann[n]) : NULL;
}

/* Whether state `st` of value v is the state that the word w asks for; true if the operand or result is omitted
 * (v == 0).  ALONE asks for a state that is not cut. */
static bool agrees(const struct shard *s, vid v, struct shard_state st, const struct said *w)
{
    struct shape shape;
    if (v == 0)
        return true;
    if (w->kind == WHOLE || w->kind == ALONE)
        return !shard_is_cut(st);
    if (w->kind != CUT || !shard_is_cut(st) || w->ways != s->ways || !shape_of(s->f, v, &shape))
        return false;
    return st.axis == w->axis + (w->axis < 0 ? shape.rank : 0) &&
           (w->run != 0 ? st.run == w->run : shard_blocks(s, v, st) == 1);
}

/* Whether option o of node n (0: whole) has operand or result i in the state that word w asks for; true if the word
 * does not count. */
static bool word_agrees(const struct shard *s, nid n, uint32_t o, uint32_t i, const struct said *w)
{
    const bool is_operand = i < s->m->node[n].nformal;
    vid v = shard_value_at(s->m, n, i);
    bool counts = w->kind != NOTHING && !(is_operand && shard_is_constant(s, v));
    struct shard_state st = o != 0 ? s->opt[o].in[i] : (struct shard_state){0};
    return !counts || agrees(s, v, st, w);
}

/* Returns the index of the first word with which option o of node n (0: whole) does not agree; the number of
 * operands and results if it agrees with all. */
static uint32_t first_against(const struct shard *s, nid n, uint32_t o, const char *words)
{
    const uint32_t count = shard_nvalue(s->m, n);
    for (uint32_t i = 0; i < count && *words; i++) {
        const struct said w = take_word(&words);
        if (!word_agrees(s, n, o, i, &w))
            return i;
    }
    return count;
}

/* Whether option o of a node (0: whole) agrees with all words. */
static bool option_agrees(const struct shard *s, nid n, uint32_t o, const char *words)
{
    return first_against(s, n, o, words) == shard_nvalue(s->m, n);
}

/* Returns a state in the words of sharding specs; "R" stands for whole and for terms. */
static const char *state_text(const struct shard *s, struct shard_state st)
{
    return !shard_is_cut(st) ? "R"
                             : arena_fmt(s->a, "S%u,%lld/%u", st.axis, (long long)st.run, s->ways);
}

/* Returns a text with the states of operand or result i, with commas between them, in those options of node n that
 * agree with the first i words. */
static const char *expected_states(const struct shard *s, nid n, uint32_t i, const char *words)
{
    const char *list[SHARD_OPTIONS + 1], *text = "";
    uint32_t count = 0;
    uint32_t o = 0; /* 0: the node whole, which comes before its options */
    do {
        struct shard_state st = o != 0 ? s->opt[o].in[i] : (struct shard_state){0};
        const char *as = state_text(s, st);
        uint32_t k = 0;
        while (k < count && strcmp(list[k], as) != 0)
            k++;
        if (k == count && !(o != 0 && s->opt[o].gone) && first_against(s, n, o, words) >= i) {
            list[count++] = as;
            text = arena_fmt(s->a, "%s%s%s", text, count > 1 ? ", " : "", as);
        }
        o = o != 0 ? s->opt[o].next : s->first_opt[n];
    } while (o != 0 && count < SHARD_OPTIONS);
    return text;
}

/* Reports that no option of node n agrees with the words.  Names a word: of the option that agrees with the most words,
 * counted from the first one on, the word with which it does not agree.  Returns -1. */
static int tell_against(const struct shard *s, nid n, const char *words)
{
    uint32_t at = first_against(s, n, 0, words), count; /* at: index of the word; count: not used */
    for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
        at = s->opt[o].gone ? at : larger_u32(at, first_against(s, n, o, words));
    const char *word = words;
    for (uint32_t i = 0; i < at; i++)
        take_word(&word);
    const int len = (int)strcspn(word, " ");
    /* an operand may be cut where the devices may add up terms */
    bool may_sum = s->sums == SHARDING_SUMS_NONE && *word == 'S' && at < s->m->node[n].nformal &&
                   shard_sum_rows(s->m, n, &count) != NULL;
    return diag_error(
        s->x->use.diag,
        "shard{from=self}: %s: node '%s' (%s): %u devices cannot share it as its sharding specs "
        "say (%s): '%s' is '%.*s'%s, expected %s%s",
        module_str(s->m, s->m->path), node_name(s->m, n), node_op(s->m, n), s->ways, words,
        value_name(s->m, shard_value_at(s->m, n, at)), len, word,
        *word == '?' ? ", several axes, uneven blocks, or pieces on groups of devices" : "",
        expected_states(s, n, at, words), may_sum ? " (or sums=any)" : "");
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

/* Returns the first word about node n that says something; but the word of the first result if both are ALONE.  If the
 * returned word is ALONE, n is on its device alone; any other kind: no word says that of n.  *cut: the index of the
 * last result that is cut; the number of operands and results if none is. */
static struct said home_word(const struct module *m, nid n, const char *words, uint32_t *cut)
{
    const uint32_t nformal = m->node[n].nformal, count = shard_nvalue(m, n);
    struct said home = {.kind = NOTHING};
    *cut = count;
    for (uint32_t i = 0; i < count && *words; i++) {
        const struct said w = take_word(&words);
        if (home.kind == NOTHING || (home.kind == ALONE && w.kind == ALONE && i == nformal))
            home = w;
        if (w.kind == CUT && i >= nformal)
            *cut = i;
    }
    return home;
}

int shard_self_homes(struct shard *s)
{
    const struct graph *g = &s->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *words = words_of(s->m, n);
        uint32_t cut = 0;
        if (words == NULL || s->kind[n] != SHARD_NODE || s->pinned[n])
            continue;
        const struct said w = home_word(s->m, n, words, &cut);
        if (w.kind != ALONE)
            continue;
        char *name = arena_strdup(s->a, w.device, w.len);
        int dev = cluster_device(s->x->scene.cluster, name);
        if (dev < 0)
            return diag_error(
                s->x->use.diag,
                "shard{from=self}: %s: node '%s' (%s) is on '%s' alone by its sharding specs (%s), "
                "which is no device: expected one of %s",
                module_str(s->m, s->m->path), node_name(s->m, n), node_op(s->m, n), name, words,
                cluster_devices(s->x->scene.cluster, s->a));
        if (cut < shard_nvalue(s->m, n))
            return diag_error(s->x->use.diag,
                              "shard{from=self}: %s: node '%s' (%s) is on '%s' alone by its "
                              "sharding specs (%s), but its result '%s' is cut: expected '@%s' or "
                              "no word",
                              module_str(s->m, s->m->path), node_name(s->m, n), node_op(s->m, n),
                              name, words, value_name(s->m, shard_value_at(s->m, n, cut)), name);
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
        /* number of options that agree with the specs, not counting the whole node */
        uint32_t left = 0;
        if (words == NULL || s->kind[n] != SHARD_NODE)
            continue;
        bool whole = option_agrees(s, n, 0, words);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            left += !s->opt[o].gone && option_agrees(s, n, o, words);
        if (!whole && left == 0)
            return tell_against(s, n, words);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            s->opt[o].gone = s->opt[o].gone || !option_agrees(s, n, o, words);
        fixed[n] = !whole;
    }
    return 0;
}
