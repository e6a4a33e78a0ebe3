/* Any bytes as measured times for a small graph: CSV, JSON or ONNX Runtime's profile.  What is accepted
 * is used to plan the graph for three classes of devices. */
#include "passes/cost/measured.h"
#include "tests/fuzz/fuzz.h"

static const char graph[] = "class a100 x2 memory=64MiB link=1GB/s,1us\n"
                            "class a100 memory=8MiB\n"
                            "class cpu host\n"
                            "graph {\n"
                            "  in %x : f32[4,8]\n"
                            "  in %c : bool[]\n"
                            "  %s = Constant() {value=1.5}\n"
                            "  %a = MatMul(%x, %x) : f32[4,8] name=\"/enc/a\"\n"
                            "  %b = Relu(%a) : f32[4,8]\n"
                            "  %d = If(%c | %b) {then_branch=@t, else_branch=@t2} : f32[4,8]\n"
                            "  %e = Add(%d, %s) : f32[4,8] !unnamed\n"
                            "  out %e\n"
                            "}\n"
                            "graph @t { %u = Neg(%b) : f32[4,8] out %u }\n"
                            "graph @t2 { %v = Relu(%b) : f32[4,8] out %v }\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct fuzz_folder folder = fuzz_folder_make(a, "costs", data, size);
    const char *files[] = {folder.file};

    struct ctx x = fuzz_graph(graph, a, &d);
    const struct settings settings = {.cost_files = files, .ncost_files = 1};
    x.settings = &settings;
    const struct cost_table *table = cost_table_read(&x, x.scene.m);
    fuzz_check_result(table == NULL ? -1 : 0, &d);
    for (nid n = 1; table != NULL && n < x.scene.m->nnode; n++)
        for (uint32_t k = 0; k < x.scene.cluster->ncls; k++)
            fuzz_check(cost_table_time(table, n, k) >= -1, "times are not negative");
    if (table != NULL)
        fuzz_run(&x, "dp-place{max-states=500:starts=2}");
    fuzz_folder_remove(folder);
    arena_free(x.use.mem);
    arena_free(a);
    return 0;
}
