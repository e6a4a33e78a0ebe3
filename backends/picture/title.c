/* Writes the title above a picture (title.h): paragraphs, broken into lines.  O(devices + length). */
#include "backends/picture/title.h"

#include "backends/label.h"
#include "ir/base/strings.h"

#include <string.h>

/* MEASURE: bytes of a line.  NAME, ARGUMENT: the most characters of a name, of a claim's argument. */
enum { MEASURE = 84, NAME = 80, ARGUMENT = 1000 };

const char *title_break(const char *text, struct arena *a)
{
    size_t n = strlen(text), k = 0, line = 0;
    /* out[k]: the text so far; there is room for a line break before each byte */
    char *out = arena_alloc(a, 3 * n + 4);
    for (size_t i = 0; i < n;) { /* line: bytes of the current line */
        size_t word = strcspn(text + i, " ");
        if (line && line + 1 + word > MEASURE) {
            memcpy(out + k, "\\l", 2);
            k += 2;
            line = 0;
        }
        if (line) {
            out[k++] = ' ';
            line++;
        }
        memcpy(out + k, text + i, word);
        k += word;
        line += word;
        i += word;
        i += text[i] == ' ';
    }
    memcpy(out + k, "\\l", 3);
    return out;
}

/* Returns the memory that the plan uses on each device, as text for DOT: "memory: acc0 3.2 MiB, acc1 ..."; "" if no
 * device has several frames, as then each frame shows the memory of its device. */
static const char *write_memory(const struct result *r, const struct frames *f, struct arena *a)
{
    char m[UNIT_TEXT];
    const char *s = "";
    uint8_t *seen = arena_alloc(a, (size_t)r->scene.cluster->ndev + 1);
    if (!f->shared)
        return s;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t dev = f->dev[i];
        if (seen[dev])
            continue;
        seen[dev] = 1;
        bytes_short(m, r->verdict->load[dev].used);
        size_t digits = strcspn(m, " "); /* no line break between the number and its unit */
        s = arena_fmt(a, "%s%s %.*s" NO_BREAK "%s", *s ? arena_fmt(a, "%s, ", s) : "memory: ",
                      cluster_device_name(r->scene.cluster, a, dev), (int)digits, m,
                      m + digits + (m[digits] == ' '));
    }
    return title_break(s, a);
}

const char *title_write(const struct result *r, const struct frames *f, const char *legend,
                        struct arena *a)
{
    char v[UNIT_TEXT], b[UNIT_TEXT];
    const struct plan *plan = r->plan;
    const char *name = path_base(module_str(r->scene.m, r->scene.m->path));
    const char *bound = plan->claim.bound >= 0
                            ? arena_fmt(a, "bound %s", time_short(b, plan->claim.bound))
                            : "no bound known";
    const char *among = plan->claim.bound >= 0 ? plan_among(plan->claim.scope) : "";
    const char *argument = plan->claim.argument;
    const char *value = arena_fmt(
        a, "%s %s, %s: %s%s", exec_kind_of(&r->scene.model, plan->claim.objective)->text,
        time_short(v, r->verdict->value), bound, plan_status_name(plan->claim.status), among);
    const char *why = argument && *argument
                          ? title_break(label_text(a, argument, strlen(argument), ARGUMENT), a)
                          : "";
    return arena_fmt(a, "%s\\l%s%s%s%s", label_text(a, name, strlen(name), NAME),
                     title_break(value, a), why, write_memory(r, f, a), title_break(legend, a));
}
