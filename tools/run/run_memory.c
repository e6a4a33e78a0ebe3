/* Measures the memory of each device's parts before the run, each part in a process of its own (runner.h): the memory
 * of the process with the part's session open, its most memory during the first sample, and the size of the engine's
 * arena.  If a device has several parts, the memory of their open sessions adds up, but only one of them runs at a
 * time.  O(a sample, and a process for each part). */
#include "tools/run/measure.h"
#include "tools/run/runner.h"
#include "tools/run/scratch.h"

#include "ir/base/json_in.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <sys/resource.h>

enum { KIB = 1024 };

/* Memory of the parts of a device, bytes.  known: `loaded` and `sample` are known, as all parts were measured.  arena:
 * -1 if the arena of no part is known. */
struct held {
    int64_t loaded, sample, arena;
    bool known;
};

/* Returns the memory of the parts of device d: the sum of all loaded sessions; this sum and the most that one running
 * part adds to it (`sample`); and the largest arena. */
static struct held held_by(const struct runner *r, uint32_t d, const struct part_figures *f)
{
    struct held h = {.arena = -1, .known = true};
    int64_t most = 0;
    for (uint32_t k = 0; k < r->s.npart; k++) {
        const struct part_bytes *b = &f[k].bytes;
        bool here = false;
        for (uint32_t i = 0; i < r->wires.nplace[k]; i++)
            here = here || r->wires.place[k][i] == d;
        if (!here)
            continue;
        h.known = h.known && b->start >= 0 && b->loaded >= 0 && b->sample >= 0;
        h.loaded = sat_add(h.loaded, b->loaded - b->start);
        h.arena = larger(h.arena, b->arena);
        most = larger(most, b->sample - b->loaded);
    }
    h.sample = sat_add(h.loaded, most);
    return h;
}

/* Prints the memory that device d needs, beside the plan's.  Returns 0; or -1 and an error if the device has less. */
static int tell_device(struct runner *r, uint32_t d, const struct held *h)
{
    const json_t *row = json_array_get(json_object_get(r->s.manifest, "devices"), d);
    int64_t has, reserved = 0, planned = -1;
    char text[4][UNIT_TEXT];
    json_int_in(json_object_get(row, "used_bytes"), 0, INT64_MAX, &planned);
    json_int_in(json_object_get(row, "reserved_bytes"), 0, INT64_MAX, &reserved);
    const char *plan = planned < 0 ? "unknown" : bytes_short(text[0], planned);
    const char *arena = h->arena < 0 ? "unknown" : bytes_short(text[3], h->arena);
    if (!h->known) {
        diag_note(r->d, "%s: memory: planned %s, what it holds is not known", r->dev[d].name, plan);
        return 0;
    }
    diag_note(r->d, "%s: memory: planned %s, loaded %s, first sample %s, arena %s", r->dev[d].name,
              plan, bytes_short(text[1], h->loaded), bytes_short(text[2], h->sample), arena);
    if (!json_int_in(json_object_get(row, "memory_bytes"), 0, INT64_MAX, &has) ||
        h->sample <= has - reserved)
        return 0;
    return diag_error(
        r->d,
        "%s: its parts hold %s at their first sample, planned %s, and it has %s: plan "
        "with more for the runtime (pcc --reserve)",
        r->dev[d].name, text[2], plan, bytes_short(text[1], has - reserved));
}

int run_memory(struct runner *r, struct run_samples *s)
{
    struct diag silent = diag_silent();
    struct engine_error err;
    struct box **first = arena_array(r->a, (size_t)r->s.ninput + 1, sizeof(struct box *));
    struct measuring m = {.e = r->e,
                          .choice = r->choice,
                          .s = &r->s,
                          .threads = 1,
                          .memory = true,
                          .stop = r->stop,
                          .a = r->a,
                          .d = &silent};
    struct part_figures *f = arena_array(r->a, r->s.npart, sizeof *f);
    m.folder = scratch_folder(r->a, r->d);
    if (!m.folder)
        return -1;
    if (samples_load(s, 0, first, &err)) /* parts run on the first sample */
        return diag_error(r->d, "sample 0: %s", err.line);
    m.table = arena_array(r->a, (size_t)r->s.nvalue + 1, sizeof *m.table);
    for (uint32_t i = 0; i < r->s.ninput; i++)
        m.table[r->s.input[i]] = first[i] ? first[i]->value : NULL;
    if (measure_parts(&m, f)) {
        diag_note(r->d, "memory is not known: a part fails in a process of its own");
        return 0;
    }
    int rc = 0;
    for (uint32_t d = 0; d < r->ndev && !*r->stop; d++) {
        struct held h = held_by(r, d, f);
        if (r->dev[d].loaded && tell_device(r, d, &h))
            rc = -1;
    }
    return rc;
}

void run_memory_end(struct runner *r, FILE *f)
{
    struct rusage used;
    char text[UNIT_TEXT];
    if (r->set.memory && getrusage(RUSAGE_SELF, &used) == 0)
        fprintf(f, "this process held at most %s\n",
                bytes_short(text, (int64_t)used.ru_maxrss * KIB));
}
