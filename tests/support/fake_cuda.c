/* Stands for an ONNX Runtime with CUDA's provider, in test_run.py: the library of $PCC_FAKE_OF, whose calls about CUDA
 * are heard and answered here.  Each is a line on stderr; parts then run on the CPU, in its memory. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 320, NEW_TENSOR = 48, CPU_INFO = 69, NEW_ALLOCATOR = 131, FREE_ALLOCATOR = 132 };

/* An allocator of the library, as far as it is used here. */
struct allocator {
    uint32_t version;
    void *(*alloc)(struct allocator *, size_t);
    void (*release)(struct allocator *, void *);
    const void *(*info)(const struct allocator *);
};

struct base {
    const void *(*get)(uint32_t version);
    const char *(*version)(void);
};

const struct base *OrtGetApiBase(void);

typedef void (*any)(void);
typedef void *(*make_info)(int, int, void **);
typedef void *(*make_tensor)(struct allocator *, const int64_t *, size_t, int, void **);
typedef void *(*make_allocator)(const void *, const void *, void **);
typedef void (*free_allocator)(void *);
static const struct base *real;
static any slots[SLOTS];
static make_tensor real_tensor;
static make_allocator real_allocator;
static free_allocator real_free;
static void *pinned_info;

static void *make_options(void **out)
{
    *out = malloc(1);
    return NULL;
}

static void *take_options(void *o, const char *const *key, const char *const *value, size_t n)
{
    char line[256] = "fake: cuda";
    (void)o;
    for (size_t i = 0; i < n; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s=%s", key[i], value[i]);
    fprintf(stderr, "%s\n", line);
    return NULL;
}

static void *append(void *session_options, const void *o)
{
    (void)session_options, (void)o;
    return NULL;
}

static void *make_memory(const char *name, int arena, int id, int kind, void **out)
{
    fprintf(stderr, "fake: memory %s %d %d %d\n", name, arena, id, kind);
    make_info cpu;
    memcpy(&cpu, &slots[CPU_INFO], sizeof cpu);
    void *failed = cpu(1, 0, out);
    pinned_info = *out;
    return failed;
}

static void *pinned_alloc(struct allocator *a, size_t n)
{
    static int told;
    (void)a;
    if (!told++)
        fprintf(stderr, "fake: pinned memory is used\n");
    return aligned_alloc(64, (n + 63) / 64 * 64);
}

static void pinned_free(struct allocator *a, void *data)
{
    (void)a;
    free(data);
}

static const void *pinned_where(const struct allocator *a)
{
    (void)a;
    return pinned_info;
}

static struct allocator pinned = {16, pinned_alloc, pinned_free, pinned_where};

static void *new_allocator(const void *session, const void *info, void **out)
{
    if (info != pinned_info)
        return real_allocator(session, info, out);
    *out = &pinned;
    return NULL;
}

static void end_allocator(void *a)
{
    if (a != &pinned)
        real_free(a);
}

/* The real library cannot take an output that it is told lies in pinned memory. */
static void *new_tensor(struct allocator *a, const int64_t *size, size_t rank, int type, void **out)
{
    if (a == &pinned)
        fprintf(stderr, "fake: a tensor that is said to be pinned\n");
    return real_tensor(a, size, rank, type, out);
}

/* Puts a function into slot n. */
static void put(int n, const void *function)
{
    memcpy(&slots[n], function, sizeof slots[n]);
}

static const void *get(uint32_t version)
{
    const void *table = real->get(version);
    void *(*const made)(void **) = make_options;
    void *(*const taken)(void *, const char *const *, const char *const *, size_t) = take_options;
    void *(*const appended)(void *, const void *) = append;
    void *(*const memory)(const char *, int, int, int, void **) = make_memory;
    void (*const release)(void *) = free;
    void *(*const tensor)(struct allocator *, const int64_t *, size_t, int, void **) = new_tensor;
    void *(*const allocator)(const void *, const void *, void **) = new_allocator;
    void (*const ended)(void *) = end_allocator;
    if (!table)
        return NULL;
    memcpy(slots, table, version < 23 ? 210 * sizeof *slots : sizeof slots);
    memcpy(&real_tensor, &slots[NEW_TENSOR], sizeof real_tensor);
    memcpy(&real_allocator, &slots[NEW_ALLOCATOR], sizeof real_allocator);
    memcpy(&real_free, &slots[FREE_ALLOCATOR], sizeof real_free);
    put(NEW_TENSOR, &tensor);
    put(NEW_ALLOCATOR, &allocator);
    put(FREE_ALLOCATOR, &ended);
    put(68, &memory);
    put(204, &appended);
    put(205, &made);
    put(206, &taken);
    put(208, &release);
    return slots;
}

static const char *version(void)
{
    return real->version();
}

static const struct base base = {get, version};

const struct base *OrtGetApiBase(void)
{
    const struct base *(*of)(void);
    const char *path = getenv("PCC_FAKE_OF");
    void *handle = dlopen(path ? path : "", RTLD_NOW),
         *symbol = handle ? dlsym(handle, "OrtGetApiBase") : NULL;
    memcpy(&of, &symbol, sizeof of);
    real = of ? of() : NULL;
    return real ? &base : NULL;
}
