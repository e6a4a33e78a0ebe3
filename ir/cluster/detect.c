/* -d detect (detect.h): nvidia-smi is asked for names and memory, a line each; a name is that of the preset that it
 * holds as a word, blanks aside ("NVIDIA GeForce RTX 3090" is a rtx3090, a "RTX 3090 Ti" is none).  Neighbours of one
 * class and memory are one item.  O(GPUs * presets). */
#include "ir/cluster/detect.h"

#include "ir/base/child.h"
#include "ir/base/units.h"
#include "ir/cluster/presets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16 };

static int ask(void *program, FILE *out)
{
    char name[] = "nvidia-smi", query[] = "--query-gpu=name,memory.total";
    char format[] = "--format=csv,noheader,nounits";
    char *argv[] = {name, query, format, NULL};
    if (dup2(fileno(out), STDOUT_FILENO) < 0)
        return -1;
    execv(program, argv);
    return -1;
}

/* Whether s begins with the word, blanks within it aside, and no letter or digit follows. */
static bool begins(const char *s, const char *word)
{
    for (; *word; s++) {
        if (*s == ' ')
            continue;
        if (tolower((unsigned char)*s) != *word)
            return false;
        word++;
    }
    return !isalnum((unsigned char)*s);
}

static const char *preset_in(const char *name)
{
    struct device_class c;
    for (const char *s = name; *s; s++)
        for (uint32_t i = 0; *s != ' ' && preset_at(i, &c); i++)
            if (!c.host && begins(s, c.name))
                return c.name;
    return NULL;
}

static const char *describe_cpu(struct arena *a)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0
               ? arena_fmt(a, "1xcpu:%lldMiB", (long long)sat_mul(pages, size) >> 20)
               : "1xcpu";
}

/* text: lines "NAME, MIB". */
static const char *describe_gpus(char *text, struct arena *a, struct diag *d)
{
    const char *all = "", *last = "", *sep = "";
    char *save = NULL;
    uint32_t count = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *comma = strrchr(line, ',');
        int64_t mib = comma ? strtoll(comma + 1, NULL, 10) : 0;
        if (comma)
            *comma = 0;
        const char *preset = preset_in(line);
        if (!preset) {
            diag_error(
                d,
                "-d detect: no preset is a '%s' (see --list-devices): describe it in a cluster file",
                line);
            return NULL;
        }
        const char *item = mib > 0 && mib < INT64_MAX >> 20
                               ? arena_fmt(a, "%s:%lldMiB", preset, (long long)mib)
                               : preset;
        if (count && strcmp(item, last)) {
            all = arena_fmt(a, "%s%s%ux%s", all, sep, count, last);
            sep = ",";
            count = 0;
        }
        last = item;
        count++;
    }
    return count ? arena_fmt(a, "%s%s%ux%s", all, sep, count, last) : describe_cpu(a);
}

const char *cluster_detect(struct arena *a, struct diag *d)
{
    enum { SECONDS = 10 };
    char *program = child_find("nvidia-smi", a);
    struct clock clock = {0};
    clock_limit(&clock, SECONDS * INT64_C(1000000000));
    struct child_answer said = {.end = CHILD_MISSING};
    if (program)
        said = child_run(ask, program, &clock, MOST_BYTES, a);
    const char *text = said.end == CHILD_DONE && said.n
                           ? describe_gpus(arena_strdup(a, said.bytes, said.n), a, d)
                           : describe_cpu(a);
    if (text)
        diag_note(d, "-d detect: %s%s", text,
                  said.end == CHILD_DONE ? ""
                  : program              ? " (nvidia-smi does not answer)"
                                         : " (there is no nvidia-smi)");
    return text;
}
