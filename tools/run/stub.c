/* A stub in place of ONNX Runtime, for tests (engine.h): parts that sleep and hash their inputs.
 *
 * A part's file is not read.  An output has the number of bytes that the caller expects, 8 if it expects none, filled
 * with a hash of its name and of all inputs; so an output shows from which inputs it was made.  A node pretends to take
 * 1 us to 100 us, which depends on its name, and a part 5 us and 0.8 of the times of its nodes; the clock spent() moves
 * on by these times.
 *
 * --engine=stub:WORD,... has these words:
 *   delay=TIME      each run sleeps so long
 *   random=TIME     each run sleeps up to so long; seed=N says which times
 *   fail=FILE@K     run number K (0, 1, ...) of all runs of parts called FILE fails
 *   drift=FILE      the part FILE takes a quarter longer each time it is loaded */
#include "tools/run/engine.h"

#include "ir/base/hash.h"
#include "ir/base/numbers.h"
#include "ir/base/json_out.h"
#include "ir/base/random.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/model/module.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each node takes 1 to NODE_STEPS times NODE_PS_LEAST; a part takes PART_PS beside its nodes.  Both are in ps. */
#define NODE_PS_LEAST INT64_C(1000000)
#define PART_PS INT64_C(5000000)
/* ns after which a sleeping run wakes up to see whether it was cancelled */
#define SLICE_NS INT64_C(1000000)
enum {
    NODE_STEPS = 100,
    LONGER_BY = 4, /* with drift: each time it is loaded, a part takes 1 / LONGER_BY longer */
    NO_HINT = 8    /* bytes of an output for which the caller expects no number of bytes */
};

/* The engine. */
struct stub {
    struct engine base;
    int64_t delay, random; /* ps: the times of delay= and random= */
    uint64_t seed;
    const char *fail, *drift; /* names of parts; NULL: none */
    int64_t fail_run;
    _Atomic uint64_t drawn;     /* number of runs that have slept a random time */
    _Atomic int64_t loads;      /* how often the part `drift` was loaded */
    _Atomic int64_t runs;       /* how often the part `fail` has run */
    _Atomic int64_t spent;      /* ps that parts pretend to have taken */
    _Atomic int64_t live, peak; /* bytes of values, now and at most */
};

/* A part that is loaded. */
struct loaded {
    struct stub *e;
    const char *const *node; /* [nnode] */
    size_t nnode;
    const char *path;
    char *profile;     /* file for times of nodes; NULL: none */
    int64_t run_ps;    /* ps that a run pretends to take */
    int64_t runs;      /* number of runs so far */
    atomic_bool ended; /* terminate() was called */
};

/* A value: bytes without sizes. */
struct engine_value {
    int elem; /* ONNX's number of the type that was asked for */
    int64_t bytes;
    unsigned char *data; /* [bytes] */
};

/* Returns a hash of the hash `before` and n bytes, which is the same in every run. */
static uint64_t hash_of(uint64_t before, const void *bytes, size_t n)
{
    const struct hash_key key = {{before, 0x70636300}};
    return hash_bytes(&key, bytes, n);
}

/* Returns the ps that a node pretends to take. */
static int64_t node_ps(const char *name)
{
    return NODE_PS_LEAST * (1 + (int64_t)(hash_of(0, name, strlen(name)) % NODE_STEPS));
}

/* Whether path leads to the part with this file name; false for NULL. */
static bool is_part(const char *path, const char *name)
{
    return name && !strcmp(path_base(path), name);
}

/* ---- values -----------------------------------------------------------------------------------
 * Functions stub_NAME() are those of struct engine_face, described there. */

static void stub_value_free(struct engine *base, struct engine_value *v)
{
    struct stub *e = (struct stub *)base;
    if (!v)
        return;
    atomic_fetch_sub(&e->live, v->bytes);
    free(v->data);
    free(v);
}

/* Returns a new value of this number of zero bytes, and counts them in e->live and e->peak; NULL: no memory. */
static struct engine_value *value_of(struct stub *e, int elem, int64_t bytes)
{
    struct engine_value *v = calloc(1, sizeof *v);
    unsigned char *data = calloc(1, bytes > 0 ? (size_t)bytes : 1);
    if (!v || !data) {
        free(v);
        free(data);
        return NULL;
    }
    *v = (struct engine_value){elem, bytes, data};
    int64_t live = atomic_fetch_add(&e->live, bytes) + bytes, most = atomic_load(&e->peak);
    while (live > most && !atomic_compare_exchange_weak(&e->peak, &most, live))
        ;
    return v;
}

static struct engine_value *stub_value_new(struct engine *base, const struct engine_shape *s,
                                           struct engine_error *err)
{
    int64_t elems = shape_elems(s->size, (uint32_t)s->rank);
    struct engine_value *v =
        elems < 0 ? NULL
                  : value_of((struct stub *)base, s->elem, elem_bytes((enum elem)s->elem, elems));
    if (!v)
        snprintf(err->line, sizeof err->line, "out of memory");
    return v;
}

static int stub_value_shape(struct engine *e, const struct engine_value *v, struct engine_shape *s,
                            int64_t *size)
{
    (void)e;
    size[0] = v->bytes;
    *s = (struct engine_shape){ELEM_U8, 1, size};
    return v->elem == ELEM_STR ? -1 : 0;
}

static void *stub_value_data(struct engine *e, struct engine_value *v)
{
    (void)e;
    return v->elem == ELEM_STR ? NULL : v->data;
}

static int stub_value_strings(struct engine *e, struct engine_value *v, const char *const *text,
                              size_t n, struct engine_error *err)
{
    (void)e, (void)v, (void)text, (void)n, (void)err;
    return 0;
}

static int stub_value_count(struct engine *e, const struct engine_value *v, size_t *n, bool *map)
{
    (void)e, (void)v, (void)n, (void)map;
    return -1;
}

static struct engine_value *stub_value_item(struct engine *e, const struct engine_value *v,
                                            size_t i)
{
    (void)e, (void)v, (void)i;
    return NULL;
}

static struct engine_value *stub_value_join(struct engine *e, struct engine_value *const *item,
                                            size_t n, bool map, struct engine_error *err)
{
    (void)e, (void)item, (void)n, (void)map;
    snprintf(err->line, sizeof err->line, "the stub engine has tensors alone");
    return NULL;
}

static unsigned char *stub_value_texts(struct engine *e, const struct engine_value *v, size_t *rank,
                                       size_t *n)
{
    (void)e, (void)v, (void)rank, (void)n;
    return NULL;
}

/* ---- parts ------------------------------------------------------------------------------------ */

static struct loaded *stub_load(struct engine *base, const struct engine_load *how,
                                struct engine_error *err)
{
    struct stub *e = (struct stub *)base;
    struct loaded *p = calloc(1, sizeof *p);
    size_t room = how->profile ? strlen(how->profile) + sizeof ".json" : 0;
    char *profile = room ? malloc(room) : NULL;
    if (!p || (room && !profile)) {
        free(p);
        free(profile);
        snprintf(err->line, sizeof err->line, "out of memory");
        return NULL;
    }
    if (room)
        snprintf(profile, room, "%s.json", how->profile);
    p->e = e;
    p->node = how->node;
    p->nnode = how->nnode;
    p->path = how->path;
    p->profile = profile;
    for (size_t i = 0; i < how->nnode; i++)
        p->run_ps = sat_add(p->run_ps, node_ps(how->node[i]));
    p->run_ps = sat_add(p->run_ps / 5 * 4, PART_PS);
    if (is_part(how->path, e->drift))
        p->run_ps =
            sat_add(p->run_ps, sat_mul(p->run_ps / LONGER_BY, atomic_fetch_add(&e->loads, 1)));
    return p;
}

static void stub_unload(struct loaded *p)
{
    free(p->profile);
    free(p);
}

/* Sleeps for as long as delay=TIME and random=TIME say of a run.  Returns false if terminate() has ended the run
 * meanwhile. */
static bool sleep_for(struct loaded *p)
{
    struct stub *e = p->e;
    int64_t ns = e->delay / 1000;
    if (e->random > 0) {
        uint64_t state = e->seed ^ atomic_fetch_add(&e->drawn, 1);
        ns += (int64_t)(random_bits(&state) % (uint64_t)(e->random / 1000 + 1));
    }
    while (ns > 0 && !atomic_load(&p->ended)) {
        int64_t now = smaller(ns, SLICE_NS);
        struct timespec t = {.tv_nsec = (long)now};
        while (nanosleep(&t, &t) && errno == EINTR)
            ;
        ns -= now;
    }
    return !atomic_load(&p->ended);
}

static int stub_run(struct loaded *p, const struct engine_call *c, struct engine_error *err)
{
    struct stub *e = p->e;
    uint64_t all = 0;
    bool fails = is_part(p->path, e->fail) && atomic_fetch_add(&e->runs, 1) == e->fail_run;
    p->runs++;
    if (fails || !sleep_for(p)) {
        snprintf(err->line, sizeof err->line, fails ? "the stub was told to fail" : "terminated");
        return -1;
    }
    for (size_t i = 0; i < c->nin; i++)
        all = hash_of(all, c->in[i]->data, (size_t)c->in[i]->bytes);
    for (size_t i = 0; i < c->nout; i++) {
        uint64_t own = hash_of(all, c->out_name[i], strlen(c->out_name[i]));
        int64_t hint = c->out_bytes && c->out_bytes[i] >= 0 ? c->out_bytes[i] : NO_HINT;
        if (!c->out[i] && !(c->out[i] = value_of(e, ELEM_U8, hint))) {
            snprintf(err->line, sizeof err->line, "out of memory");
            return -1;
        }
        int64_t bytes = c->out[i]->bytes;
        for (int64_t at = 0; at < bytes; at += (int64_t)sizeof own)
            memcpy(c->out[i]->data + at, &own, (size_t)smaller((int64_t)sizeof own, bytes - at));
    }
    atomic_fetch_add(&e->spent, p->run_ps);
    return 0;
}

static void stub_terminate(struct loaded *p)
{
    atomic_store(&p->ended, true);
}

/* Writes a trace of all runs so far: an event for each node, as long as the stub says the node takes. */
static int stub_profile(struct loaded *p, const char **path, struct arena *a,
                        struct engine_error *err)
{
    FILE *f = fopen(p->profile, "w");
    struct json_out o = {.f = f};
    *path = arena_fmt(a, "%s", p->profile);
    if (!f) {
        snprintf(err->line, sizeof err->line, "%s: %s", p->profile, strerror(errno));
        return -1;
    }
    json_open(&o, NULL, '[', 1);
    for (int64_t r = 0; r < p->runs; r++)
        for (size_t i = 0; i < p->nnode; i++) {
            json_open(&o, NULL, '{', JSON_ROW);
            json_text(&o, "cat", "Node");
            json_text(&o, "name", arena_fmt(a, "%s_kernel_time", p->node[i]));
            json_int(&o, "ts", r);
            /* us; the first two runs take 3 us longer, as first runs do */
            json_int(&o, "dur", node_ps(p->node[i]) / 1000000 + (r < 2 ? 3 : 0));
            json_close(&o, JSON_ROW);
        }
    json_close(&o, 0);
    if (fclose(f) == 0)
        return 0;
    snprintf(err->line, sizeof err->line, "%s: %s", p->profile, strerror(errno));
    return -1;
}

static int stub_arena(struct loaded *p, struct engine_arena *out)
{
    int64_t peak = atomic_load(&p->e->peak);
    *out = (struct engine_arena){peak, peak};
    return 0;
}

static int64_t stub_spent(const struct engine *e)
{
    return atomic_load(&((const struct stub *)e)->spent);
}

/* ---- the engine ------------------------------------------------------------------------------- */

static void stub_close(struct engine *e)
{
    free(e);
}

static const struct engine_face face = {
    .name = "stub",
    .close = stub_close,
    .load = stub_load,
    .unload = stub_unload,
    .run = stub_run,
    .terminate = stub_terminate,
    .profile = stub_profile,
    .arena = stub_arena,
    .value_new = stub_value_new,
    .value_shape = stub_value_shape,
    .value_data = stub_value_data,
    .value_strings = stub_value_strings,
    .value_count = stub_value_count,
    .value_item = stub_value_item,
    .value_join = stub_value_join,
    .value_texts = stub_value_texts,
    .value_free = stub_value_free,
    .spent = stub_spent,
};

/* Takes a word of the settings, KEY=VALUE, into *e; the text `word` is changed.  Returns whether the word is valid. */
static bool take_word(struct stub *e, char *word)
{
    char *value = strchr(word, '=');
    int64_t n;
    if (!value)
        return false;
    *value++ = 0;
    if (!strcmp(word, "delay"))
        return time_parse(value, &e->delay);
    if (!strcmp(word, "random"))
        return time_parse(value, &e->random);
    if (!strcmp(word, "drift")) {
        e->drift = value;
        return *value != 0;
    }
    if (!strcmp(word, "seed")) {
        bool good = count_parse(value, &n);
        e->seed = good ? (uint64_t)n : 0;
        return good;
    }
    char *at = strrchr(value, '@');
    if (strcmp(word, "fail") != 0 || !at || !count_parse(at + 1, &e->fail_run))
        return false;
    *at = 0;
    e->fail = value;
    return true;
}

struct engine *stub_open(const char *text, struct arena *a, struct diag *d)
{
    struct stub *e = calloc(1, sizeof *e);
    char *copy = arena_strdup(a, text, strlen(text)), *word, *rest = NULL;
    if (!e)
        arena_exhausted(a, sizeof *e);
    e->base = (struct engine){&face, "1", ""};
    for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!take_word(e, word)) {
            diag_error(
                d,
                "--engine=stub:%s: expected delay=TIME, random=TIME, seed=N, fail=FILE@K or drift=FILE",
                text);
            free(e);
            return NULL;
        }
    return &e->base;
}
