/* Stands for an ONNX Runtime with CUDA's provider, in test_run.py: the library of $PCC_FAKE_OF, whose calls about CUDA
 * are heard and answered here.  Each is a line on stderr; parts then run on the CPU, in its memory. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 320, CPU_INFO = 69 };

struct base {
    const void *(*get)(uint32_t version);
    const char *(*version)(void);
};

const struct base *OrtGetApiBase(void);

typedef void (*any)(void);
typedef void *(*make_info)(int, int, void **);
static const struct base *real;
static any slots[SLOTS];

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
    return cpu(1, 0, out);
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
    if (!table)
        return NULL;
    memcpy(slots, table, version < 23 ? 210 * sizeof *slots : sizeof slots);
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
