/* Any bytes as blocks of nodes (contract{blocks=FILE}), JSON if they begin with a bracket or brace, else
 * lines of regular expressions: what is accepted numbers the nodes of a small graph. */
#include "passes/coarsen/user_groups.h"
#include "tests/fuzz/fuzz.h"

static const char graph[] =
    "class acc x2 link=1GB/s,1us\n"
    "graph {\n"
    "  %\"h.0/a\" = profile:op() !time=1us !bytes=4KiB\n"
    "  %\"h.0/b\" = profile:op(%\"h.0/a\") !time=2us !bytes=4KiB\n"
    "  %\"h.1/a\" = profile:op(%\"h.0/b\") !time=2us !bytes=4KiB\n"
    "  %\"h.1/aaaaaaaaaaaaaaaaaaaaaaab\" = profile:op(%\"h.1/a\") !time=3us\n"
    "  out %\"h.1/aaaaaaaaaaaaaaaaaaaaaaab\"\n"
    "}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    bool json = size > 0 && (data[0] == '[' || data[0] == '{');
    struct fuzz_folder folder = fuzz_folder_make(a, json ? "b.json" : "b", data, size);

    struct ctx x = fuzz_graph(graph, a, &d);
    fuzz_check(ctx_base(&x) == 0, "the target's own graph has a base level");
    uint32_t *group = arena_array(a, x.levels.base->n, sizeof *group);
    int rc = groups_by_block(&x, folder.file, group);
    fuzz_check_result(rc, &d);
    for (uint32_t v = 0; rc == 0 && v < x.levels.base->n; v++)
        fuzz_check(group[v] <= size, "there are no more blocks than bytes");
    fuzz_folder_remove(folder);
    arena_free(x.use.mem);
    arena_free(a);
    return 0;
}
