/* Makes settings of ONNX Runtime with which one session of the whole model runs the plan. That is possible only for
 * some plans, since a session has one device of each of three kinds.
 *
 * layer_assignment(): by the annotation of each node, in the annotated model.  O(devices).
 *
 * name_assignment(): by substrings of the nodes' names, in the user's own file.  The setting lists substrings for each
 * device, and a node goes to the device that has a substring of its name.  So the name of each node must contain a
 * substring of its own device, and none of another device.  There are such substrings exactly if no name is part of
 * the name of a node on another device.  Each name has a shortest prefix with which no name of another device begins.
 * All these prefixes are tried first, by an automaton that finds them in all names (Aho and Corasick, CACM 18(6),
 * 1975).  If a prefix is found in a name of another device, the names that begin with it take longer prefixes: up to
 * their next '/' or '.', then the whole name.  The setting takes at most 8192 bytes, so that the automaton is small.
 * O(characters of all names), and a sort. */
#include "backends/split/split.h"
#include "ir/base/memory.h"
#include "ir/cluster/presets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of devices in ONNX Runtime's layer assignment.  A session has one execution provider for each kind, so one
 * device of each. */
enum kind { KIND_CPU, KIND_GPU, KIND_NPU, KINDS };

static const char *const kind_name[KINDS] = {"cpu", "gpu", "npu"};

/* Returns the kind of a device: CPUs of the host, NPUs, all other accelerators. */
static enum kind kind_of(const struct cluster *k, uint32_t dev)
{
    assert(dev < k->ndev);
    const struct device_class *c = &k->cls[cluster_class(k, dev)];
    return c->host ? KIND_CPU : preset_is_gpu(c) ? KIND_GPU : KIND_NPU;
}

/* Returns an array: [device] 1 if the device runs a part, alone or in turn with other devices. */
static uint8_t *used_devices(const struct result *r, struct arena *a)
{
    uint8_t *used = arena_alloc(a, r->scene.cluster->ndev);
    for (uint32_t x = 0; x < r->parts->nparts; x++) {
        uint32_t d = r->parts->part[x].dev;
        assert(d < r->scene.cluster->ndev);
        memset(used + d, 1, r->plan->copies && r->plan->copies[d] ? r->plan->copies[d] : 1);
    }
    return used;
}

/* Returns an array: [device] the words by which ONNX Runtime knows it ("cpu", "npu", "gpu:1"); NULL: it runs no part.
 * Returns NULL, and the reason in *why, if the plan uses two devices that one session cannot tell apart. */
static const char **device_words(const struct result *r, struct arena *a, const char **why)
{
    const struct cluster *k = r->scene.cluster;
    const uint8_t *used = used_devices(r, a);
    const char **word = arena_array(a, k->ndev, sizeof *word), *first[KINDS] = {0};
    int32_t *gpu = arena_array(a, k->ndev, sizeof *gpu);
    *why = NULL;
    cluster_number_gpus(k, a, gpu);
    for (uint32_t d = 0; d < k->ndev; d++) {
        enum kind kind = kind_of(k, d);
        const char *name = cluster_device_name(k, a, d);
        if (!used[d])
            continue;
        if (first[kind]) {
            *why =
                arena_fmt(a,
                          "%s and %s are both '%s' to ONNX Runtime, whose sessions take one device "
                          "per provider: run the parts, each in a session of its own",
                          first[kind], name, kind_name[kind]);
            return NULL;
        }
        first[kind] = name;
        word[d] = kind == KIND_GPU ? arena_fmt(a, "gpu:%d", gpu[d]) : kind_name[kind];
    }
    return word;
}

/* In the setting, '=' before an annotation demands the whole annotation; without it acc1 would match acc10, too. */
const char *layer_assignment(const struct result *r, struct arena *a, const char **why)
{
    const char **word = device_words(r, a, why), *text = "";
    for (uint32_t d = 0; word && d < r->scene.cluster->ndev; d++)
        if (word[d])
            text = arena_fmt(a, "%s%s%s(=%s)", text, *text ? "; " : "", word[d],
                             cluster_device_name(r->scene.cluster, a, d));
    return word ? text : NULL;
}

/* ---- substrings of names ----------------------------------------------------------------------- */

enum {
    SETTING_BYTES = 8192, /* the longest value of a setting */
    /* bytes of the setting that are kept for text between the substrings: "gpu:1023(", ... */
    WORDS_BYTES = 64
};

/* The name of a node, and the substring of that name that stands for the node in the setting. */
struct labelled {
    const char *name;
    uint32_t kind; /* enum kind of the node's device: a plan has one device of each */
    uint32_t size; /* the first `size` bytes of `name` are its substring */
    /* how often the prefix was made longer: 0: it is the shortest one; 1: it goes up to a '/' or '.'; 2: it is the
     * whole name */
    uint32_t tried;
    bool failed; /* the substring is in a name of another device */
};

/* An automaton that finds all substrings in a text.  A state stands for the beginning of a substring that was just
 * read; state 0, the start, for nothing. */
struct finder {
    uint16_t (*next)[256]; /* [state][byte] the next state */
    uint16_t *suffix;      /* [state] the state of its longest proper suffix that is a state */
    uint8_t *ends;         /* [state] bit k: a substring of kind k ends here, or at a suffix */
    uint32_t *first; /* [state] 1 + index of the first name whose substring ends here; 0: none */
    /* [state] bit k: mark_failed() has marked the substrings of other kinds than k that end here */
    uint8_t *told;
    uint32_t n; /* number of states */
};

/* For qsort(): compares by name, then by kind of device. */
static int by_name(const void *one, const void *two)
{
    const struct labelled *x = one, *y = two;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Returns how many bytes at the beginning are the same in both texts. */
static uint32_t common(const char *one, const char *two)
{
    uint32_t n = 0;
    while (one[n] && one[n] == two[n])
        n++;
    return n;
}

/* Sets the size of each entry of l[n], which is sorted by name, to that of the shortest prefix of whole UTF-8
 * characters with which no name of another device begins.  If a name of another device begins with the whole name, the
 * size is above the name's length.  Among the names of other devices, those that share most with a name stand nearest
 * to it in sorted order. */
static void shortest_prefixes(struct labelled *l, uint32_t n)
{
    /* share: bytes that name i shares with the nearest name of another device before it (second loop: behind it); names
     * of the same device between the two share at least as many */
    for (uint32_t i = 0, share = 0; i < n; i++) {
        uint32_t both = i ? common(l[i - 1].name, l[i].name) : 0;
        bool border = i && l[i - 1].kind != l[i].kind;
        share = border ? both : smaller_u32(both, share);
        l[i].size = share;
    }
    for (uint32_t i = n, share = 0; i-- > 0;) {
        uint32_t both = i + 1 < n ? common(l[i].name, l[i + 1].name) : 0;
        bool border = i + 1 < n && l[i + 1].kind != l[i].kind;
        share = border ? both : smaller_u32(both, share);
        l[i].size = larger_u32(l[i].size, share);
        /* one more byte than is shared, and the bytes that continue the UTF-8 character which this byte begins */
        if (l[i].name[l[i].size])
            while (((unsigned char)l[i].name[++l[i].size] & 0xc0) == 0x80)
                ;
        else
            l[i].size++;
    }
}

/* Adds the substring of name l[i] to the automaton, which has memory for its states. */
static void add_substring(struct finder *f, const struct labelled *l, uint32_t i)
{
    uint32_t at = 0;
    for (uint32_t b = 0; b < l[i].size; b++) {
        uint16_t *to = &f->next[at][(unsigned char)l[i].name[b]];
        if (!*to)
            *to = (uint16_t)f->n++;
        at = *to;
    }
    f->ends[at] |= (uint8_t)(1u << l[i].kind);
    f->first[at] = i + 1;
}

/* Completes the automaton when all substrings are in it: sets f->suffix, adds to f->ends the substrings that end at
 * suffixes, and sets f->next for bytes with which no substring goes on.  Goes from shorter states to longer ones. */
static void finish_finder(struct finder *f, struct arena *a)
{
    uint16_t *queue = arena_array(a, f->n, sizeof *queue);
    uint32_t n = 1;
    queue[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t at = queue[i], longest = f->suffix[at];
        f->ends[at] |= f->ends[longest];
        for (uint32_t b = 0; b < 256; b++) {
            uint16_t to = f->next[at][b];
            if (to) {
                f->suffix[to] = at ? f->next[longest][b] : 0;
                queue[n++] = to;
            } else if (at) {
                f->next[at][b] = f->next[longest][b];
            }
        }
    }
}

/* Whether l[i] is, in sorted order, the first name with the substring that it has. */
static bool begins_substring(const struct labelled *l, uint32_t i)
{
    return i == 0 || l[i].size != l[i - 1].size || memcmp(l[i].name, l[i - 1].name, l[i].size) != 0;
}

/* Called when a name of a device of this kind was read up to `state`: marks as failed each name of another kind of
 * device whose substring ends at `state` or at one of its suffixes. */
static void mark_failed(struct finder *f, struct labelled *l, uint32_t state, uint32_t kind)
{
    if (f->told[state] >> kind & 1)
        return;
    f->told[state] |= (uint8_t)(1u << kind);
    for (uint32_t s = state; s; s = f->suffix[s])
        if (f->first[s] && l[f->first[s] - 1].kind != kind)
            l[f->first[s] - 1].failed = true;
}

/* Looks for all substrings in all names.  If a substring is in a name of another device, marks the first name that has
 * this substring as failed.  states: the most states that the automaton may need.  Returns the number of marked
 * names. */
static uint32_t find_failed(struct labelled *l, uint32_t n, uint32_t states, struct arena *a)
{
    struct finder f = {.next = arena_array(a, states, sizeof *f.next),
                       .suffix = arena_array(a, states, sizeof *f.suffix),
                       .ends = arena_array(a, states, sizeof *f.ends),
                       .first = arena_array(a, states, sizeof *f.first),
                       .told = arena_array(a, states, sizeof *f.told),
                       .n = 1};
    uint32_t failed = 0;
    for (uint32_t i = 0; i < n; i++)
        if (begins_substring(l, i))
            add_substring(&f, l, i);
    finish_finder(&f, a);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 0;
        for (const char *c = l[i].name; *c; c++) {
            at = f.next[at][(unsigned char)*c];
            if (f.ends[at] & ~(1u << l[i].kind))
                mark_failed(&f, l, at, l[i].kind);
        }
    }
    for (uint32_t i = 0; i < n; i++)
        failed += l[i].failed;
    return failed;
}

/* Gives longer substrings to the names whose substrings have failed. Names with the same substring stand together
 * in l[n], which is sorted; the first of them is marked. Removes the marks. */
static void lengthen(struct labelled *l, uint32_t n)
{
    bool failed = false; /* whether the substring of the name before has failed */
    uint32_t old = 0;    /* length of the substring of the name before */
    for (uint32_t i = 0; i < n; i++) {
        struct labelled *x = &l[i];
        bool same = i && x->size == old && !memcmp(x->name, l[i - 1].name, old);
        failed = same ? failed : x->failed;
        old = x->size;
        x->failed = false;
        if (!failed)
            continue;
        size_t more = x->tried == 0 ? strcspn(x->name + old, "/.") : strlen(x->name + old);
        x->tried++;
        x->size += (uint32_t)more + (x->name[old + more] != 0);
    }
}

/* Gives neighbours in the sorted list the same substring, if the substring of one is the beginning of the other's: both
 * get the shorter one.  Fewer substrings make a shorter setting. */
static void join_prefixes(struct labelled *l, uint32_t n)
{
    for (uint32_t turn = 0; turn < 2; turn++) /* forwards, then backwards */
        for (uint32_t i = 1; i < n; i++) {
            struct labelled *x = turn ? &l[n - 1 - i] : &l[i], *by = turn ? x + 1 : x - 1;
            if (by->size < x->size && !memcmp(by->name, x->name, by->size))
                x->size = by->size;
        }
}

/* Returns the reason, in a, why there are no substrings: `name`, one of l[n], is a part of the name of a node on
 * another device. */
static const char *why_within(const struct labelled *l, uint32_t n, const struct labelled *name,
                              struct arena *a)
{
    uint32_t i = 0;
    while (i < n && (l[i].kind == name->kind || !strstr(l[i].name, name->name)))
        i++;
    return arena_fmt(a, "the name of node '%s' is part of that of '%s', which runs elsewhere",
                     name->name, i < n ? l[i].name : "");
}

/* Returns the bytes of all substrings, each with a separator behind it; 0, and the reason in *why, if the setting
 * cannot hold a substring or is too short for all. */
static uint32_t substrings_bytes(const struct labelled *l, uint32_t n, struct arena *a,
                                 const char **why)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n && bytes <= SETTING_BYTES; i++) {
        if (!begins_substring(l, i))
            continue;
        const char *s = arena_strdup(a, l[i].name, l[i].size);
        bytes += l[i].size + 1u;
        if (strpbrk(s, "=,;()") || *s == ' ' || s[l[i].size - 1] == ' ') {
            *why = arena_fmt(a, "the setting has no way to write '%s', of the node '%s'", s,
                             l[i].name);
            return 0;
        }
    }
    if (bytes + WORDS_BYTES > SETTING_BYTES) {
        *why = arena_fmt(a,
                         "substrings that tell the devices apart take more than the %d bytes of a "
                         "setting",
                         SETTING_BYTES);
        return 0;
    }
    return (uint32_t)bytes;
}

/* Finds substrings for all names, in sorted order.  Returns NULL, or the reason why there are none, in a. */
static const char *find_substrings(struct labelled *l, uint32_t n, struct arena *a)
{
    const char *why = NULL;
    shortest_prefixes(l, n);
    for (uint32_t i = 0; i < n; i++)
        if (l[i].size > strlen(l[i].name)) /* a name of another device begins with the whole name */
            return why_within(l, n, &l[i], a);
    join_prefixes(l, n);
    for (;;) { /* until no substring fails, or a whole name does */
        uint32_t bytes = substrings_bytes(l, n, a, &why);
        if (!bytes || !find_failed(l, n, bytes + 1, a))
            return why;
        for (uint32_t i = 0; i < n; i++)
            if (l[i].failed && !l[i].name[l[i].size])
                return why_within(l, n, &l[i], a);
        lengthen(l, n);
    }
}

/* Fills *l for node n, which runs on a device of this kind.  Returns NULL, or the reason, in a, why the user's file
 * does not have a node of its name. */
static const char *add_node(const struct module *m, nid n, uint32_t kind, struct labelled *l,
                            struct arena *a)
{
    const struct node *k = &m->node[n];
    bool inside = m->graph[k->graph].owner != 0;
    const char *name = node_name(m, n);
    *l = (struct labelled){.name = name, .kind = kind};
    /* a node in a body goes where its owner goes, whether or not the file has its name */
    if (inside)
        return NULL;
    if (k->flags & NODE_UNNAMED)
        return arena_fmt(a, "a node has no name in the file, '%s' (%s)", name, node_op(m, n));
    if (k->flags & NODE_MADE || k->made_from)
        return arena_fmt(a, "node '%s' is not in the file: a pass made it", name);
    if (k->flags & NODE_CALL)
        return arena_fmt(a, "node '%s' calls a function, whose nodes have names of their own",
                         name);
    return NULL;
}

/* Collects the names of all nodes of the parts and of their bodies in *list, in a, sorted, and writes their number to
 * *n.  Returns NULL, or the reason why the user's file does not name all of these nodes. */
static const char *collect_names(const struct result *r, struct labelled **list, uint32_t *n,
                                 struct arena *a)
{
    const struct module *m = r->scene.m;
    const gid *order = graphs_outer_first(m, a);
    uint8_t *kind = arena_alloc(a, m->nnode); /* [node] enum kind of its device */
    struct labelled *l = arena_array(a, m->nnode, sizeof *l);
    memset(kind, KINDS, m->nnode);
    *n = 0;
    for (nid i = 1; i < m->nnode; i++)
        if (r->parts->part_of[i] >= 0)
            kind[i] = (uint8_t)kind_of(r->scene.cluster, r->parts->part[r->parts->part_of[i]].dev);
    for (uint32_t g = 0; g + 1 < m->ngraph; g++) {
        const struct graph *at = &m->graph[order[g]];
        for (nid i = at->first; i < at->first + at->count; i++) {
            kind[i] = at->owner ? kind[at->owner] : kind[i]; /* outer graphs come first */
            /* a node without a name in the body of another node goes where that node goes */
            bool unnamed = at->owner && m->node[i].flags & NODE_UNNAMED;
            if (kind[i] == KINDS || unnamed)
                continue;
            const char *why = add_node(m, i, kind[i], &l[(*n)++], a);
            if (why)
                return why;
        }
    }
    qsort(l, *n, sizeof *l, by_name);
    *list = l;
    return NULL;
}

/* Returns the setting, in a: for each device its words and the substrings of its names, "gpu:0(/h.1/,/h.2/);
 * cpu(/h.0/)". word: as device_words() returns it; l[n]: the names, sorted.  NULL after an error. */
static const char *setting_text(const struct result *r, const char *const *word,
                                const struct labelled *l, uint32_t n, struct arena *a)
{
    const struct cluster *c = r->scene.cluster;
    struct memory m;
    const char *close = "";
    memory_begin(&m, a);
    for (uint32_t d = 0; m.f && d < c->ndev; d++) {
        uint32_t some = 0;
        for (uint32_t i = 0; word[d] && i < n; i++) {
            if (l[i].kind != kind_of(c, d) || !begins_substring(l, i))
                continue;
            if (some++)
                putc(',', m.f);
            else
                fprintf(m.f, "%s%s(", close, word[d]);
            fprintf(m.f, "%.*s", (int)l[i].size, l[i].name);
            close = "); ";
        }
    }
    if (m.f && *close)
        putc(')', m.f);
    return memory_end(&m, /*ok=*/true, "the names of nodes", a, r->diag);
}

const char *name_assignment(const struct result *r, struct arena *a, const char **why)
{
    struct arena *own = arena_new(a);
    struct labelled *l = NULL;
    uint32_t n = 0;
    const char **word = device_words(r, a, why), *text = NULL;
    const char *reason = word ? collect_names(r, &l, &n, own) : *why;
    if (!reason)
        reason = n ? find_substrings(l, n, own) : "no node runs";
    if (!reason)
        text = setting_text(r, word, l, n, a);
    /* without a reason only setting_text() can have failed */
    *why = reason ? arena_strdup(a, reason, strlen(reason)) : "memory ran out";
    arena_free(own);
    return text;
}
