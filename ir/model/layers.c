/* Finds the layers of a model, and which of them are equal (layers.h).
 *
 * Scopes are interned, so one pass over the paths finds the layers.  Two layers are of one kind if their sequences of
 * operators are equal: the sequences are hashed, and compared when their hashes are equal.  Expected O(nodes + bytes
 * of their paths). */
#include "ir/model/layers.h"

#include "ir/base/hash.h"
#include "ir/base/map.h"
#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>

/* Whether s[0 .. n) ends in .N, _N or @N, or is a number. */
static bool is_numbered(const char *s, size_t n)
{
    size_t k = n;
    while (k > 0 && s[k - 1] >= '0' && s[k - 1] <= '9')
        k--;
    return k < n && (k == 0 || s[k - 1] == '.' || s[k - 1] == '_' || s[k - 1] == '@');
}

/* Returns the length of the outermost numbered scope around or equal to s; 0: there is none. */
static size_t numbered_length(struct scope s)
{
    for (size_t at = 0, end; at < s.len; at = end + 1) {
        const char *slash = memchr(s.at + at, '/', s.len - at);
        end = slash ? (size_t)(slash - s.at) : s.len;
        if (is_numbered(s.at + at, end - at))
            return end;
    }
    return 0;
}

/* Whether a profile gives a layer for some node of the main graph. */
static bool has_profile(const struct module *m)
{
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; m->layer && n < g->first + g->count; n++)
        if (m->layer[n])
            return true;
    return false;
}

struct layers layers_find(const struct module *m, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    struct layers l = {.of = arena_array(a, m->nnode, sizeof *l.of),
                       .len = arena_array(a, m->nnode, sizeof *l.len)};
    struct strings *scopes = strings_new(a);
    bool profile = has_profile(m);
    struct map known = {0};
    for (nid n = g->first; n < g->first + g->count; n++) {
        struct scope s = node_scope(m, n);
        size_t len = profile ? 0 : numbered_length(s);
        uint64_t key = 0;
        /* the forward and the backward nodes of a layer that a profile gives are layers of their own */
        if (profile && m->layer[n])
            key = map_key(m->backward && m->backward[n] ? 2 : 1, m->layer[n]);
        else if (len)
            key = strings_id(scopes, s.at, len);
        if (!key)
            continue;
        l.of[n] = map_get(&known, key);
        l.len[n] = (uint32_t)len;
        if (!l.of[n]) {
            l.of[n] = ++l.n;
            map_set(&known, a, key, l.of[n]);
        }
    }
    return l;
}

struct scope layers_inside(const struct module *m, const struct layers *l, nid n)
{
    struct scope s = node_scope(m, n);
    size_t from = (size_t)l->len[n] + 1;
    if (!l->len[n] || from >= s.len)
        return (struct scope){0};
    const char *slash = memchr(s.at + from, '/', s.len - from);
    return (struct scope){s.at + from, slash ? (size_t)(slash - s.at) - from : s.len - from};
}

struct csr layers_nodes(const struct module *m, const struct layers *l, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    nid *node = arena_array(a, (size_t)g->count + 1, sizeof *node);
    for (uint32_t i = 0; i < g->count; i++)
        node[i] = g->first + i;
    return csr_build(a, l->n + 1, g->count, l->of + g->first, node);
}

/* Returns a key that is equal for two nodes if and only if they have the same operator and domain. */
static uint64_t op_key(const struct module *m, nid n)
{
    return map_key(m->node[n].domain, m->node[n].op);
}

/* Removes the Constant nodes from the rows of c, in place. */
static void drop_constants(const struct module *m, struct csr *c, uint32_t rows)
{
    uint32_t k = 0, at = 0;
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t end = c->at[r + 1];
        assert(k <= at && at <= end);
        for (; at < end; at++)
            if (!node_is(m, c->to[at], "Constant"))
                c->to[k++] = c->to[at];
        c->at[r + 1] = k;
    }
}

/* Whether rows x and y of c have nodes with the same operators in the same order. */
static bool rows_alike(const struct module *m, const struct csr *c, uint32_t x, uint32_t y)
{
    uint32_t n = c->at[x + 1] - c->at[x];
    if (n != c->at[y + 1] - c->at[y])
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (op_key(m, c->to[c->at[x] + i]) != op_key(m, c->to[c->at[y] + i]))
            return false;
    return true;
}

/* Returns a hash of the operators of the nodes in a row of c, made with the random key `by`; never 0. */
static uint64_t row_hash(const struct module *m, const struct csr *c, uint32_t row,
                         const struct hash_key *by)
{
    uint64_t h = by->k[0];
    for_row (x, *c, row)
        h = (h ^ op_key(m, x)) * (by->k[1] | 1) + (h >> 29);
    return h | 1;
}

uint32_t layers_repeats(const struct module *m, struct layers *l, struct arena *a,
                        struct repeat **out)
{
    struct csr c = layers_nodes(m, l, a);
    struct repeat *r = arena_array(a, (size_t)l->n + 1, sizeof *r);
    struct map kinds = {0};
    const struct hash_key by = hash_key_new();
    uint32_t n = 0;
    drop_constants(m, &c, l->n + 1);
    l->kind = arena_array(a, (size_t)l->n + 1, sizeof *l->kind);
    for (uint32_t i = 1; i <= l->n; i++) {
        uint64_t key = row_hash(m, &c, i, &by);
        uint32_t k = map_get(&kinds, key);
        /* another kind with the same hash: the next key is tried; odd keys are never 0 */
        while (k && !rows_alike(m, &c, r[k - 1].first, i)) {
            key += 2;
            k = map_get(&kinds, key);
        }
        if (!k) {
            r[n++] = (struct repeat){.first = i, .nodes = c.at[i + 1] - c.at[i]};
            k = n;
            map_set(&kinds, a, key, k);
        }
        l->kind[i] = k - 1;
        r[k - 1].count++;
    }
    *out = r;
    return n;
}
