/* Functions that all ways to find GPUs share (gpu.h): the list, running a maker's program, addresses and links. */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/child.h"
#include "ir/base/units.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SAID = 1 << 20 }; /* bytes that a program may print */

struct gpu *gpu_add(struct gpus *g, struct arena *a)
{
    if (g->n == GPU_MOST)
        return NULL;
    g->gpu = vec_grow(a, g->gpu, &g->cap, g->n + 1, sizeof *g->gpu);
    g->gpu[g->n] = (struct gpu){.name = "", .bus = "", .told_by = ""};
    return &g->gpu[g->n++];
}

/* A program to run in the child process. */
struct program {
    const char *path;
    /* [0] the name of the program; then its arguments; NULL ends the list */
    const char *const *argv;
};

/* Runs the struct program at `arg`, whose output goes to `out`.  Returns only if it cannot be started: -1. */
static int run_program(void *arg, FILE *out)
{
    const struct program *p = arg;
    if (dup2(fileno(out), STDOUT_FILENO) >= 0)
        execv(p->path, (char *const *)(uintptr_t)p->argv);
    return -1;
}

/* Returns the first line of a program's output that is not empty, in a; "" if there is none. */
static const char *first_line(const struct child_answer *said, struct arena *a)
{
    const char *text = arena_strdup(a, said->bytes, said->n);
    text += strspn(text, " \r\n");
    return arena_strdup(a, text, strcspn(text, "\r\n"));
}

char *gpu_tool(const struct gpu_search *s, const char *const argv[])
{
    struct program p = {child_find(argv[0], s->a), argv};
    struct clock clock = {0};
    char limit[UNIT_TEXT];
    if (!p.path)
        return NULL;
    clock_limit(&clock, s->limit);
    struct child_answer said = child_run(run_program, &p, &clock, MOST_SAID, s->a);
    if (said.end == CHILD_DONE)
        return arena_strdup(s->a, said.bytes, said.n);
    if (said.end == CHILD_STOPPED)
        diag_note(s->d, "-d detect: %s does not answer within %s", argv[0],
                  time_print(limit, s->limit * 1000));
    else
        diag_note(s->d, "-d detect: %s fails (%s)%s%.200s", argv[0], said.why, said.n ? ": " : "",
                  said.n ? first_line(&said, s->a) : "");
    return NULL;
}

int64_t gpu_pcie_rate(int64_t generation, int64_t lanes)
{
    /* [generation] bytes per second of a lane each way: 2.5 and 5 GT/s with 8 data bits in 10, then 8, 16, 32 GT/s with
     * 128 in 130, 64 GT/s with 242 bytes in 256 */
    static const int64_t lane[] = {0,          250000000,  500000000, 984615384,
                                   1969230769, 3938461538, 7562500000};
    bool known = generation > 0 && generation < (int64_t)(sizeof lane / sizeof *lane);
    return known && lanes > 0 && lanes <= 32 ? lane[generation] * lanes : 0;
}

const char *gpu_bus(const char *text, struct arena *a)
{
    size_t n = strcspn(text, ":"), skip = n > 4 ? n - 4 : 0;
    char *bus = arena_strdup(a, text + skip, strlen(text + skip));
    for (char *s = bus; *s; s++)
        *s = (char)tolower((unsigned char)*s);
    return bus;
}

struct gpu *gpu_at(const struct gpus *g, const char *bus)
{
    for (uint32_t i = 0; *bus && i < g->n; i++)
        if (!strcmp(g->gpu[i].bus, bus))
            return &g->gpu[i];
    return NULL;
}
