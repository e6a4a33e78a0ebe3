/* Any bytes as a workload of the placement paper: read, verified, printed, contracted, placed. */
#include "frontends/frontends.h"
#include "tests/fuzz/fuzz.h"

enum { PLANNED_NODES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct scene s;
    struct fuzz_folder folder = fuzz_folder_make(a, "workload.json", data, size);
    int rc = workload_read(&s, folder.file, &(struct workload_edges){.scale = 1}, NULL, &d);

    fuzz_check_result(rc, &d);
    if (rc == 0) {
        fuzz_check(module_verify(s.m, &d) == 0, "what was read is a verified module");
        fuzz_check_text(&s, NULL);
        struct ctx x = {.use.diag = &d, .scene = s};
        if (s.m->nnode <= PLANNED_NODES) {
            fuzz_run(&x, "contract,dp-place{max-states=500:starts=2}");
        }
        arena_free(s.m->mem);
    }
    fuzz_folder_remove(folder);
    arena_free(a);
    return 0;
}
