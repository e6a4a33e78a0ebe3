/* Any bytes as a list of what a class can run (--support): what is accepted is used to plan a small graph that a second
 * class can run whole. */
#include "passes/cost/support.h"
#include "tests/fuzz/fuzz.h"

static const char graph[] = "class a100 x2 memory=64MiB link=1GB/s,1us\n"
                            "class cpu host\n"
                            "graph {\n"
                            "  in %x : f32[4,8]\n"
                            "  in %c : bool[]\n"
                            "  %s = Constant() {value=1.5}\n"
                            "  %a = MatMul(%x, %x) : f32[4,8] name=\"/enc/a\"\n"
                            "  %b = com.example:Odd(%a) : f32[4,8] !unnamed\n"
                            "  %d = If(%c | %b) {then_branch=@t, else_branch=@t2} : f32[4,8]\n"
                            "  %e = Add(%d, %s) : f32[4,8] !unnamed\n"
                            "  %f = Dropout(%e) : f32[4,8]\n"
                            "  out %f\n"
                            "}\n"
                            "graph @t { %u = Neg(%b) : f32[4,8] out %u }\n"
                            "graph @t2 { %v = Relu(%b) : f32[4,8] out %v }\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct fuzz_folder folder = fuzz_folder_make(a, "list", data, size);
    const char *files[] = {arena_fmt(a, "%s:a100", folder.file)};
    struct ctx x = fuzz_graph(graph, a, &d);
    struct settings settings = {.support = files, .nsupport = 1};
    const uint8_t *lacks = NULL;
    x.settings = &settings;

    int rc = support_read(&x, x.scene.m, NULL, &lacks);
    fuzz_check_result(rc, &d);
    for (nid n = 1; rc == 0 && n < x.scene.m->nnode; n++)
        fuzz_check(lacks[n] <= 1, "only the class that is named lacks something");
    if (rc == 0)
        fuzz_check(fuzz_run(&x, "dp-place{max-states=500:starts=2}") == 0, "the CPU runs all");
    fuzz_folder_remove(folder);
    arena_free(x.use.mem);
    arena_free(a);
    return 0;
}
