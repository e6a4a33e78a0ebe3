/* Opens the engine that the user chooses, and puts the settings of its sessions into words (engine.h). */
#include "tools/run/engine.h"

#include <string.h>

/* arena_defer(): closes an engine. */
static void close_engine(void *e)
{
    ((struct engine *)e)->face->close(e);
}

struct engine *engine_open(const struct engine_choice *choice, struct arena *a, struct diag *d)
{
    const char *name = choice->engine ? choice->engine : "onnxruntime";
    size_t n = strcspn(name, ":");
    struct engine *e = NULL;
    if (n == 4 && !memcmp(name, "stub", n))
        e = stub_open(name[n] ? name + n + 1 : "", a, d);
    else if (!strcmp(name, "onnxruntime"))
        e = ort_open(choice->library, a, d);
    else
        diag_error(d, "--engine '%s': expected onnxruntime or stub", name);
    if (e)
        arena_defer(a, close_engine, e);
    return e;
}

const char *engine_setting(const struct engine_load *how, size_t i, struct arena *a)
{
    /* what every session is set to (ort.c) */
    static const char *const fixed[] = {"memory pattern off", "arena extended as requested",
                                        "no spinning", "denormals are zeros", "sequential"};
    if (i == 0)
        return arena_fmt(a, "threads %d", how->threads);
    if (i == 1)
        return how->optimise ? "optimisations all" : "optimisations off";
    return i - 2 < sizeof fixed / sizeof *fixed ? fixed[i - 2] : "";
}

void engine_tell(const struct engine *e, const struct engine_load *how, struct arena *a,
                 struct diag *d)
{
    const char *text = arena_fmt(a, "%s %s%s%s", e->face->name, e->version, *e->library ? ", " : "",
                                 e->library),
               *one;
    for (size_t i = 0; *(one = engine_setting(how, i, a)); i++)
        text = arena_fmt(a, "%s, %s", text, one);
    diag_detail(d, "%s", text);
}
