/* Any bytes as a profile of layers: read, verified, printed, parsed, told, planned for an iteration of training. */
#include "backends/backends.h"
#include "frontends/frontends.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/aim.h"

#include <stdlib.h>

enum { PLANNED_NODES = 48 };

static void check_summary(const struct module *m)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    fuzz_check(f != NULL, "there is memory for a text");
    summary_print(f, m);
    fclose(f);
    fuzz_check(n > 0, "a profile is told");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct cluster c;
    fuzz_check(cluster_parse(&c, a, "4xv100:8GB", &d) == 0 &&
                   cluster_set_groups(&c, "2:25GB/s,0us", &d) == 0,
               "the target's own cluster is right");
    struct scene s = {.m = layer_profile_parse("p.txt", (const char *)data, size, NULL, &d)};

    fuzz_check_result(s.m ? 0 : -1, &d);
    if (s.m) {
        s.cluster = &c;
        aim_at(&s.model, "iteration-time");
        s.model.step.network = NETWORK_DIRECT;
        s.model.training = (struct training){.micro_batches = 3};
        fuzz_check(module_verify(s.m, &d) == 0, "what was read is a verified module");
        fuzz_check_text(&s, NULL);
        check_summary(s.m);
        struct ctx x = {.use.diag = &d, .scene = s};
        if (s.m->nnode <= PLANNED_NODES) {
            fuzz_run(&x, "dapple-place{plans=8}");
            fuzz_run(&x, "pipedream-hier-place{cut=published:states=first}");
        }
        arena_free(s.m->mem);
    }
    arena_free(a);
    return 0;
}
