/* Any bytes as textual IR: what parses and verifies is printed, parsed and printed alike, and its
 * profile, if it has one, can be planned. */
#include "tests/fuzz/fuzz.h"

enum { PLANNED_NODES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = fuzz_diag();
    struct text_module t = {0};
    struct arena *a = arena_new();
    const char *text = fuzz_text(a, data, size);
    int rc = module_parse(&t, text, size, "fuzz.pir", &d);

    fuzz_check_result(rc, &d);
    if (rc == 0 && module_verify(t.m, &d) == 0) {
        fuzz_check_text(t.m, t.cluster, t.plan);
        struct cluster c;
        struct ctx x = {.diag = &d, .m = t.m, .cluster = t.cluster != NULL ? t.cluster : &c};
        cluster_default(&c);
        if (t.m->nnode <= PLANNED_NODES) {
            fuzz_run(&x, "fuse,dp-place{max-states=500:starts=2}");
        }
    }
    if (rc == 0) {
        arena_free(t.m->mem);
    }
    arena_free(a);
    return 0;
}
