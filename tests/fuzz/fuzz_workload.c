/* Any bytes as a workload of the placement paper: read, verified, printed, contracted, placed. */
#include "frontends/frontends.h"
#include "tests/fuzz/fuzz.h"

enum { PLANNED_NODES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct cluster *c = NULL;
    struct fuzz_folder folder = fuzz_folder_make(a, "workload.json", data, size);
    struct module *m = workload_read(folder.file, 1, &c, NULL, &d);

    fuzz_check_result(m == NULL ? -1 : 0, &d);
    if (m != NULL) {
        fuzz_check(module_verify(m, &d) == 0, "what was read is a verified module");
        fuzz_check_text(&(struct scene){.m = m}, NULL);
        struct ctx x = {.use.diag = &d, .scene = {.m = m, .cluster = c}};
        if (m->nnode <= PLANNED_NODES) {
            fuzz_run(&x, "contract,dp-place{max-states=500:starts=2}");
        }
        arena_free(m->mem);
    }
    fuzz_folder_remove(folder);
    arena_free(a);
    return 0;
}
