/* The option -d detect (detect.h).  The program nvidia-smi prints a line with name and memory for each GPU.  A GPU is
 * of the preset whose name its own name contains, blanks and capitals ignored, without a letter or digit behind:
 * "NVIDIA GeForce RTX 3090" is an rtx3090, an "RTX 3090Ti" is none.  Neighbouring GPUs with the same preset and
 * memory make one item of the text.  O(GPUs * presets). */
#include "ir/cluster/detect.h"

#include "ir/base/child.h"
#include "ir/base/units.h"
#include "ir/cluster/presets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16 }; /* of nvidia-smi's output */

/* Runs nvidia-smi, the program at this path, in the child process; its output goes to `out`.  Returns only if the
 * program cannot be started: -1. */
static int run_nvidia_smi(void *program, FILE *out)
{
    char name[] = "nvidia-smi", query[] = "--query-gpu=name,memory.total";
    char format[] = "--format=csv,noheader,nounits";
    char *argv[] = {name, query, format, NULL};
    if (dup2(fileno(out), STDOUT_FILENO) < 0)
        return -1;
    execv(program, argv);
    return -1;
}

/* Whether s begins with the word, capitals and blanks in s ignored, and no letter or digit follows. */
static bool begins_with(const char *s, const char *word)
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

/* Returns the name of the accelerator preset that a GPU's name holds; NULL: none. */
static const char *find_preset(const char *name)
{
    struct device_class c;
    for (const char *s = name; *s; s++)
        for (uint32_t i = 0; *s != ' ' && preset_at(i, &c); i++)
            if (!c.host && begins_with(s, c.name))
                return c.name;
    return NULL;
}

/* Returns "1xcpu:MEMORY" with the memory of this machine, without ":MEMORY" if it is not known. */
static const char *describe_cpu(struct arena *a)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0
               ? arena_fmt(a, "1xcpu:%lldMiB", (long long)sat_mul(pages, size) >> 20)
               : "1xcpu";
}

/* Returns the GPUs in a text of lines "NAME, MIB", which it changes, as "2xa100:81920MiB,1xt4:..."; without a line, the
 * processor.  NULL and an error if no preset has the name of a GPU. */
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
        const char *preset = find_preset(line);
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
        said = child_run(run_nvidia_smi, program, &clock, MOST_BYTES, a);
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
