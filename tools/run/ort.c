/* ONNX Runtime as an engine, through its C interface, which is opened at run time (engine.h).
 *
 * A session has threads for one operator at a time, none of them spinning, runs nodes one after the other and takes
 * denormals as zeros.  Memory patterns are off: if they are on, a process grows after its first sample.  All sessions
 * share one arena, which grows by what is asked for, not by powers of two: the library lets this be set only for an
 * allocator of the environment, not of a session.  Freed weights go back to the system at once: M_MMAP_THRESHOLD is set
 * before the library is opened.
 *
 * Times of nodes come from the library's own profiler, which writes a trace file if a session is set to.
 *
 * A part for a GPU gets CUDA's provider before the CPU's: an arena that grows by what is asked for, within the memory
 * that the plan has there, TF32 only where the plan says so, and tensors in pinned memory of the host, from which and
 * to which the library copies.  The library is told that these tensors lie in the machine's usual memory: version 1.31
 * fails if the caller gives a tensor for an output that lies in what the library calls pinned memory ("dst_data !=
 * src_data was false").  tools/bench/cuda_run.py compares outputs on a GPU, test_run.py looks at the calls. */
#include "tools/run/engine.h"
#include "tools/run/ort_api.h"
#include "tools/run/ort_find.h"

#include "ir/base/units.h"
#include "ir/model/module.h"

#include <assert.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MMAP_THRESHOLD = 1 << 20 };

/* The engine. */
struct ort {
    struct engine base;
    struct ort_api api;
    void *handle; /* the library, as dlopen() returned it */
    int minor;    /* N of the library's version, 1.N */
    OrtEnv *env;
    OrtMemoryInfo *cpu;  /* the arena in the machine's memory */
    OrtAllocator *plain; /* the library's own, for texts and tensors; never freed */
    /* pinned memory of the host, of the first session for a GPU; NULL: there is none; under `lock` until all parts are
     * loaded */
    OrtAllocator *pinned;
    /* allocates from `pinned`, but tells the library that this is the machine's usual memory */
    OrtAllocator host;
    pthread_mutex_t lock;
};

/* A part in its session. */
struct loaded {
    struct ort *e;
    OrtSession *session;
    OrtRunOptions *run;
};

/* Copies the first line of a message of the library to *err, but leaves out a place in the library's sources, such as
 * "/a/b.cc:12 int f(int) ", which stands at the beginning of the line or behind a colon.  Such a place begins behind a
 * blank or colon, and ends with the ')' that closes the function's parameters, and a blank.  A blank parts what stands
 * before the place from what follows it. */
static void put_error(struct engine_error *err, const char *text)
{
    size_t n = strcspn(text, "\n"), from = 0, to = 0; /* text[from .. to) is left out */
    const char *place = strstr(text, ".cc:");
    if (place && (size_t)(place - text) < n) {
        int depth = 0;
        for (from = (size_t)(place - text); from > 0 && !strchr(" :", text[from - 1]);)
            from--;
        for (to = (size_t)(place - text); to < n; to++) {
            depth += (text[to] == '(') - (text[to] == ')');
            if (text[to] == ')' && depth == 0 && text[to + 1] == ' ')
                break;
        }
        to = to < n ? to + 2 : from; /* if no function's signature follows, the text stays */
        if (from == to)
            from = to = 0;
    }
    snprintf(err->line, sizeof err->line, "%.*s%s%.*s", (int)from, text,
             from > 0 && text[from - 1] == ':' ? " " : "", (int)(n - to), text + to);
}

/* Returns 0 if a status is NULL; else keeps its message in *err, frees it and returns -1. */
static int check(const struct ort *e, OrtStatus *status, struct engine_error *err)
{
    if (!status)
        return 0;
    put_error(err, e->api.GetErrorMessage(status));
    e->api.ReleaseStatus(status);
    return -1;
}

/* ---- the library ------------------------------------------------------------------------------
 * Functions ort_NAME() are those of struct engine_face, described there. */

static void ort_close(struct engine *base)
{
    struct ort *e = (struct ort *)base;
    if (e->pinned)
        e->api.ReleaseAllocator(e->pinned);
    if (e->cpu)
        e->api.ReleaseMemoryInfo(e->cpu);
    if (e->env)
        e->api.ReleaseEnv(e->env);
    /* the library stays mapped: its threads and its static objects end with the process */
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Makes the environment with its arena.  Returns 0; or -1 with the reason in *err. */
static int make_environment(struct ort *e, struct engine_error *err)
{
    OrtArenaCfg *arena = NULL;
    const struct ort_api *api = &e->api;
    int rc = check(e, api->CreateEnv(ORT_LOG_FATAL, "pcc", &e->env), err) ||
             check(e, api->CreateCpuMemoryInfo(ORT_ARENA, ORT_MEMORY_DEFAULT, &e->cpu), err) ||
             check(e, api->GetAllocatorWithDefaultOptions(&e->plain), err) ||
             check(e, api->CreateArenaCfg(0, ORT_EXTEND_AS_REQUESTED, -1, -1, &arena), err) ||
             check(e, api->CreateAndRegisterAllocator(e->env, e->cpu, arena), err);
    if (arena)
        api->ReleaseArenaCfg(arena);
    return rc ? -1 : 0;
}

/* Returns the engine whose field `host` is *a. */
static struct ort *of_host(const OrtAllocator *a)
{
    return (struct ort *)((char *)(uintptr_t)a - offsetof(struct ort, host));
}

/* The functions of the allocator ort.host: they allocate and free pinned memory, but say that it is usual memory. */
static void *host_alloc(OrtAllocator *a, size_t bytes)
{
    OrtAllocator *pinned = of_host(a)->pinned;
    return pinned->Alloc(pinned, bytes);
}

static void host_free(OrtAllocator *a, void *data)
{
    OrtAllocator *pinned = of_host(a)->pinned;
    pinned->Free(pinned, data);
}

static const OrtMemoryInfo *host_info(const OrtAllocator *a)
{
    return of_host(a)->cpu;
}

static const struct engine_face face;

/* The struct that OrtGetApiBase(), a function of the library, returns. */
struct api_base {
    const void *(*get)(uint32_t version);
    const char *(*version)(void);
};

struct engine *ort_open(const char *library, struct arena *a, struct diag *d)
{
    struct ort_library found;
    struct engine_error err;
    const struct api_base *(*get_base)(void) = NULL;
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
#endif
    if (ort_find(library, &found, a, d))
        return NULL;
    void *symbol = dlsym(found.handle, "OrtGetApiBase");
    /* C has no conversion from an object's address to a function's */
    memcpy(&get_base, &symbol, sizeof symbol);
    if (!get_base) {
        diag_error(d, "%s: it has no OrtGetApiBase: expected the shared library of ONNX Runtime",
                   found.path);
        return NULL;
    }
    const struct api_base *base = get_base();
    /* version 1.N has the interfaces up to N; if it is asked for a later one, it prints an error itself */
    int minor = 0;
    sscanf(base->version(), "1.%d", &minor);
    const void *table = minor >= ORT_VERSION_OLDEST ? base->get(ORT_VERSION_OLDEST) : NULL;
    if (!table) {
        diag_error(d, "%s: ONNX Runtime %s, expected 1.%d or later", found.path, base->version(),
                   ORT_VERSION_OLDEST);
        return NULL;
    }
    const void *more = minor >= ORT_VERSION_STATS ? base->get(ORT_VERSION_STATS) : NULL;
    struct ort *e = calloc(1, sizeof *e);
    if (!e)
        arena_exhausted(a, sizeof *e);
    e->base =
        (struct engine){&face, arena_fmt(a, "%s", base->version()), arena_fmt(a, "%s", found.path)};
    e->minor = minor;
    pthread_mutex_init(&e->lock, NULL);
    e->host = (OrtAllocator){ORT_VERSION_OLDEST, host_alloc, host_free, host_info};
    ort_api_take(&e->api, more ? more : table, more ? ORT_VERSION_STATS : ORT_VERSION_OLDEST);
    if (make_environment(e, &err)) {
        diag_error(d, "%s: %s", found.path, err.line);
        ort_close(&e->base);
        return NULL;
    }
    return &e->base;
}

/* ---- sessions --------------------------------------------------------------------------------- */

/* Writes the settings of a session to *o.  Returns 0; or -1 with the reason in *err. */
static int set_options(const struct ort *e, OrtSessionOptions *o, const struct engine_load *how,
                       struct engine_error *err)
{
    const struct ort_api *api = &e->api;
    const char *const entry[][2] = {
        {"session.intra_op.allow_spinning", "0"},
        {"session.set_denormal_as_zero", "1"},
        {"session.use_env_allocators", "1"},
        {"session.model_external_initializers_file_folder_path", how->data},
        {"session.collect_node_memory_stats_to_file", how->node_memory}};
    int rc = check(e, api->SetSessionLogSeverityLevel(o, ORT_LOG_FATAL), err) ||
             check(e, api->SetSessionExecutionMode(o, ORT_SEQUENTIAL), err) ||
             check(e, api->SetIntraOpNumThreads(o, how->threads), err) ||
             check(e, api->SetInterOpNumThreads(o, 1), err) ||
             check(e,
                   api->SetSessionGraphOptimizationLevel(o, how->optimise ? ORT_OPTIMISE_ALL
                                                                          : ORT_OPTIMISE_NONE),
                   err) ||
             check(e, api->DisableMemPattern(o), err) || check(e, api->EnableCpuMemArena(o), err) ||
             (how->profile && check(e, api->EnableProfiling(o, how->profile), err));
    for (size_t i = 0; i < sizeof entry / sizeof *entry && !rc; i++)
        rc = entry[i][1] && check(e, api->AddSessionConfigEntry(o, entry[i][0], entry[i][1]), err);
    return rc ? -1 : 0;
}

/* Has a session's nodes run on a GPU where CUDA's provider takes them: with at most gpu->memory bytes unless that is
 * negative, and with TF32 as the plan says if the library is of version ORT_VERSION_TF32 or later, others having no
 * such setting.  Returns 0; or -1 with the reason in *err. */
static int add_cuda(const struct ort *e, OrtSessionOptions *o, const struct engine_gpu *gpu,
                    struct engine_error *err)
{
    const struct ort_api *api = &e->api;
    char number[16], memory[24];
    const char *key[5] = {"device_id", "arena_extend_strategy", "do_copy_in_default_stream"};
    const char *value[5] = {number, "kSameAsRequested", "1"};
    size_t n = 3;
    OrtCUDAProviderOptionsV2 *cuda = NULL;
    snprintf(number, sizeof number, "%d", gpu->number);
    snprintf(memory, sizeof memory, "%lld", (long long)gpu->memory);
    if (e->minor >= ORT_VERSION_TF32) {
        key[n] = "use_tf32";
        value[n++] = gpu->tf32 ? "1" : "0";
    }
    if (gpu->memory >= 0) {
        key[n] = "gpu_mem_limit";
        value[n++] = memory;
    }
    int rc = check(e, api->CreateCUDAProviderOptions(&cuda), err) ||
             check(e, api->UpdateCUDAProviderOptions(cuda, key, value, n), err) ||
             check(e, api->SessionOptionsAppendExecutionProvider_CUDA_V2(o, cuda), err);
    if (cuda)
        api->ReleaseCUDAProviderOptions(cuda);
    return rc ? -1 : 0;
}

/* Takes an allocator of the host's pinned memory from a session for a GPU, unless the engine has one already.  Returns
 * 0; or -1 with the reason in *err. */
static int take_pinned(struct ort *e, const OrtSession *session, const struct engine_gpu *gpu,
                       struct engine_error *err)
{
    OrtMemoryInfo *info = NULL;
    int rc = 0;
    pthread_mutex_lock(&e->lock);
    if (!e->pinned)
        rc = check(e,
                   e->api.CreateMemoryInfo("CudaPinned", ORT_NO_ARENA, gpu->number,
                                           ORT_MEMORY_CPU_OUTPUT, &info),
                   err) ||
             check(e, e->api.CreateAllocator(session, info, &e->pinned), err);
    pthread_mutex_unlock(&e->lock);
    if (info)
        e->api.ReleaseMemoryInfo(info);
    return rc ? -1 : 0;
}

static void ort_unload(struct loaded *p)
{
    if (p->run)
        p->e->api.ReleaseRunOptions(p->run);
    if (p->session)
        p->e->api.ReleaseSession(p->session);
    free(p);
}

static struct loaded *ort_load(struct engine *base, const struct engine_load *how,
                               struct engine_error *err)
{
    struct ort *e = (struct ort *)base;
    OrtSessionOptions *o = NULL;
    struct loaded *p = calloc(1, sizeof *p);
    if (!p) {
        put_error(err, "out of memory");
        return NULL;
    }
    p->e = e;
    int rc = check(e, e->api.CreateSessionOptions(&o), err) || set_options(e, o, how, err) ||
             (how->gpu && add_cuda(e, o, how->gpu, err)) ||
             check(e, e->api.CreateSession(e->env, how->path, o, &p->session), err) ||
             (how->gpu && take_pinned(e, p->session, how->gpu, err)) ||
             check(e, e->api.CreateRunOptions(&p->run), err);
    if (o)
        e->api.ReleaseSessionOptions(o);
    if (!rc)
        return p;
    ort_unload(p);
    return NULL;
}

static int ort_run(struct loaded *p, const struct engine_call *c, struct engine_error *err)
{
    return check(p->e,
                 p->e->api.Run(p->session, p->run, c->in_name, (const OrtValue *const *)c->in,
                               c->nin, c->out_name, c->nout, (OrtValue **)c->out),
                 err);
}

static void ort_terminate(struct loaded *p)
{
    struct engine_error err;
    check(p->e, p->e->api.RunOptionsSetTerminate(p->run), &err);
}

static int ort_profile(struct loaded *p, const char **path, struct arena *a,
                       struct engine_error *err)
{
    char *name = NULL;
    if (check(p->e, p->e->api.SessionEndProfiling(p->session, p->e->plain, &name), err))
        return -1;
    *path = arena_fmt(a, "%s", name);
    return check(p->e, p->e->api.AllocatorFree(p->e->plain, name), err);
}

static int ort_arena(struct loaded *p, struct engine_arena *out)
{
    const struct ort_api *api = &p->e->api;
    struct engine_error err;
    OrtAllocator *arena = NULL;
    OrtKeyValuePairs *pairs = NULL;
    const char *const *key, *const *value;
    size_t n = 0;
    *out = (struct engine_arena){-1, -1};
    if (!api->AllocatorGetStats ||
        check(p->e, api->CreateAllocator(p->session, p->e->cpu, &arena), &err))
        return -1;
    if (!check(p->e, api->AllocatorGetStats(arena, &pairs), &err)) {
        api->GetKeyValuePairs(pairs, &key, &value, &n);
        for (size_t i = 0; i < n; i++) {
            int64_t *to = NULL;
            if (!strcmp(key[i], "TotalAllocated"))
                to = &out->total;
            else if (!strcmp(key[i], "MaxInUse"))
                to = &out->peak;
            if (to && !count_parse(value[i], to))
                *to = -1;
        }
        api->ReleaseKeyValuePairs(pairs);
    }
    api->ReleaseAllocator(arena);
    return out->total >= 0 && out->peak >= 0 ? 0 : -1;
}

/* ---- values ----------------------------------------------------------------------------------- */

static void ort_value_free(struct engine *base, struct engine_value *v)
{
    if (v)
        ((struct ort *)base)->api.ReleaseValue((OrtValue *)v);
}

/* Writes element type and rank of a tensor to *s, and its sizes to size[ENGINE_AXES].  Returns 0; -1: it is no
 * tensor. */
static int shape_of(const struct ort *e, const OrtValue *v, struct engine_shape *s, int64_t *size)
{
    struct engine_error err;
    OrtTensorTypeAndShapeInfo *info = NULL;
    int type = 0;
    *s = (struct engine_shape){.size = size};
    if (check(e, e->api.GetValueType(v, &type), &err) || type != ORT_TYPE_TENSOR ||
        check(e, e->api.GetTensorTypeAndShape(v, &info), &err))
        return -1;
    int rc = check(e, e->api.GetTensorElementType(info, &s->elem), &err) ||
             check(e, e->api.GetDimensionsCount(info, &s->rank), &err) || s->rank > ENGINE_AXES ||
             check(e, e->api.GetDimensions(info, size, s->rank), &err);
    e->api.ReleaseTensorTypeAndShapeInfo(info);
    return rc ? -1 : 0;
}

static int ort_value_shape(struct engine *base, const struct engine_value *v,
                           struct engine_shape *s, int64_t *size)
{
    return shape_of((struct ort *)base, (const OrtValue *)v, s, size) || s->elem == ELEM_STR ? -1
                                                                                             : 0;
}

static void *ort_value_data(struct engine *base, struct engine_value *v)
{
    struct ort *e = (struct ort *)base;
    struct engine_error err;
    struct engine_shape s;
    int64_t size[ENGINE_AXES];
    void *data = NULL;
    if (shape_of(e, (OrtValue *)v, &s, size) || s.elem == ELEM_STR ||
        check(e, e->api.GetTensorMutableData((OrtValue *)v, &data), &err))
        return NULL;
    return data;
}

static struct engine_value *ort_value_new(struct engine *base, const struct engine_shape *s,
                                          struct engine_error *err)
{
    struct ort *e = (struct ort *)base;
    OrtValue *v = NULL;
    void *data;
    OrtAllocator *from = e->pinned && s->elem != ELEM_STR ? &e->host : e->plain;
    if (check(e, e->api.CreateTensorAsOrtValue(from, s->size, s->rank, s->elem, &v), err))
        return NULL;
    int64_t elems = shape_elems(s->size, (uint32_t)s->rank);
    if (s->elem != ELEM_STR && elems > 0 && (data = ort_value_data(base, (struct engine_value *)v)))
        memset(data, 0, (size_t)elem_bytes((enum elem)s->elem, elems));
    return (struct engine_value *)v;
}

static int ort_value_strings(struct engine *base, struct engine_value *v, const char *const *text,
                             size_t n, struct engine_error *err)
{
    struct ort *e = (struct ort *)base;
    return check(e, e->api.FillStringTensor((OrtValue *)v, text, n), err);
}

static int ort_value_count(struct engine *base, const struct engine_value *v, size_t *n, bool *map)
{
    struct ort *e = (struct ort *)base;
    struct engine_error err;
    int type = 0;
    if (check(e, e->api.GetValueType((const OrtValue *)v, &type), &err) ||
        (type != ORT_TYPE_SEQUENCE && type != ORT_TYPE_MAP) ||
        check(e, e->api.GetValueCount((const OrtValue *)v, n), &err))
        return -1;
    if (map)
        *map = type == ORT_TYPE_MAP;
    return 0;
}

static struct engine_value *ort_value_item(struct engine *base, const struct engine_value *v,
                                           size_t i)
{
    struct ort *e = (struct ort *)base;
    struct engine_error err;
    OrtValue *item = NULL;
    return check(e, e->api.GetValue((const OrtValue *)v, (int)i, e->plain, &item), &err)
               ? NULL
               : (struct engine_value *)item;
}

static struct engine_value *ort_value_join(struct engine *base, struct engine_value *const *item,
                                           size_t n, bool map, struct engine_error *err)
{
    struct ort *e = (struct ort *)base;
    OrtValue *to = NULL;
    int kind = map ? ORT_TYPE_MAP : ORT_TYPE_SEQUENCE;
    return check(e, e->api.CreateValue((const OrtValue *const *)item, n, kind, &to), err)
               ? NULL
               : (struct engine_value *)to;
}

static unsigned char *ort_value_texts(struct engine *base, const struct engine_value *v,
                                      size_t *rank, size_t *n)
{
    struct ort *e = (struct ort *)base;
    struct engine_error err;
    struct engine_shape s;
    int64_t size[ENGINE_AXES];
    size_t bytes = 0;
    if (shape_of(e, (const OrtValue *)v, &s, size) || s.elem != ELEM_STR ||
        check(e, e->api.GetStringTensorDataLength((const OrtValue *)v, &bytes), &err))
        return NULL;
    /* to[]: the sizes, head bytes; where each element begins, `ends` bytes; the elements */
    size_t elems = (size_t)shape_elems(size, (uint32_t)s.rank);
    size_t head = s.rank * sizeof *size, ends = elems * sizeof(size_t);
    unsigned char *to = malloc(head + ends + bytes + 1);
    if (!to)
        return NULL;
    memcpy(to, size, head);
    size_t *end = malloc(ends + 1);
    bool bad =
        !end || (elems > 0 && check(e,
                                    e->api.GetStringTensorContent(
                                        (const OrtValue *)v, to + head + ends, bytes, end, elems),
                                    &err));
    if (!bad)
        memcpy(to + head, end, ends);
    *n = head + ends + bytes;
    if (rank)
        *rank = s.rank;
    free(end);
    if (!bad)
        return to;
    free(to);
    return NULL;
}

static int64_t ort_spent(const struct engine *e)
{
    struct timespec t;
    (void)e;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * PS_PER_S + t.tv_nsec * INT64_C(1000);
}

static const struct engine_face face = {
    .name = "onnxruntime",
    .close = ort_close,
    .load = ort_load,
    .unload = ort_unload,
    .run = ort_run,
    .terminate = ort_terminate,
    .profile = ort_profile,
    .arena = ort_arena,
    .value_new = ort_value_new,
    .value_shape = ort_value_shape,
    .value_data = ort_value_data,
    .value_strings = ort_value_strings,
    .value_count = ort_value_count,
    .value_item = ort_value_item,
    .value_join = ort_value_join,
    .value_texts = ort_value_texts,
    .value_free = ort_value_free,
    .spent = ort_spent,
};
