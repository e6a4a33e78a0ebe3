/* Puts the GPUs and the processor of the machine together as a cluster (detect.h); the processor is the last class. */
#include "ir/cluster/detect/detect.h"

#include "ir/base/units.h"
#include "ir/cluster/detect/gpu.h"
#include "ir/cluster/detect/processor.h"

#include <string.h>

/* Adds a note on what was found, "2xa100:80000MiB,1xcpu:64000MiB", and, as a detail, the cluster as the text of a
 * file. */
static void note_cluster(const struct cluster *c, struct arena *a, struct diag *d)
{
    const char *all = "";
    for (uint32_t k = 0; k < c->ncls; k++) {
        char memory[UNIT_TEXT];
        all = arena_fmt(a, "%s%s%ux%s", all, k ? "," : "", c->cls[k].count, c->cls[k].name);
        if (c->cls[k].memory >= 0)
            all = arena_fmt(a, "%s:%s", all, bytes_print(memory, c->cls[k].memory));
    }
    diag_note(d, "-d detect: %s; %s", all, c->cls[c->ncls - 1].note);
    diag_detail(d, "-d detect: %s", cluster_file_text(c, true, a));
}

void cluster_detect(struct cluster *c, struct arena *a, struct diag *d)
{
    struct processor p = processor_find("", a);
    const struct gpu_search s = {.root = "",
                                 .nvml = "libnvidia-ml.so.1",
                                 .limit = INT64_C(2) * 1000000000, /* 2 s */
                                 .host = p.memory,
                                 .a = a,
                                 .d = d};
    memset(c, 0, sizeof *c);
    gpu_find(&s, c);
    processor_class(&p, &c->cls[c->ncls++], a);
    c->ndev++;
    note_cluster(c, a, d);
}
