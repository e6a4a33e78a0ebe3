/* Any bytes as measured times and memory for a small graph: CSV, JSON or ONNX Runtime's profile.  Up to the first
 * byte 0x1e they are --costs and a profile of batch size 1, what follows (or all again) is one of 3, and one to compare
 * with.  What is accepted is used to plan the graph for three classes of devices. */
#include "passes/cost/sheets.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

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

static void check_nodes(const struct ctx *x, const struct cost_table *t)
{
    for (nid n = 1; n < x->scene.m->nnode; n++) {
        int64_t most = -1, bytes = cost_table_memory(t, n);
        for (uint32_t k = 0; k < x->scene.cluster->ncls; k++) {
            int64_t ps = cost_table_time(t, n, k);
            fuzz_check(ps >= -1 && (ps <= FIT_QUANTITY_MAX || ps == COST_NEVER),
                       "times are in range");
        }
        fuzz_check(bytes >= -1 && bytes <= FIT_QUANTITY_MAX, "memory is in range");
        for (uint32_t i = 0; i < t->nat; i++)
            most = sheet_memory(&t->at[i], t, n) > most ? sheet_memory(&t->at[i], t, n) : most;
        bool grows = t->nat == 2 && sheet_memory(&t->at[0], t, n) <= sheet_memory(&t->at[1], t, n);
        fuzz_check(t->ngiven > 0 || !grows || bytes < 0 || bytes >= most,
                   "measured memory suffices");
    }
}

/* Plans with these files. */
static void run_with(const struct settings *settings, struct arena *a)
{
    struct diag d = fuzz_diag();
    struct ctx x = fuzz_graph(graph, a, &d);
    x.settings = settings;
    const struct cost_table *table = cost_table_read(&x, x.scene.m);
    bool good = table != NULL && cost_table_check(table, &x) == 0;
    fuzz_check_result(good ? 0 : -1, &d);
    if (good) {
        check_nodes(&x, table);
        fuzz_run(&x, "dp-place{max-states=500:starts=2}");
    }
    arena_free(x.use.mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    const uint8_t *end = size > 0 ? memchr(data, 0x1e, size) : NULL;
    size_t first = end != NULL ? (size_t)(end - data) : size;
    struct fuzz_folder low = fuzz_folder_make(a, "low", data, first), high = low;
    if (end != NULL)
        high = fuzz_folder_make(a, "high", end + 1, size - first - 1);
    const char *files[] = {low.file};
    const struct dim_binding batch = {"batch", 1 + (int64_t)(size % 5), NULL};
    const struct measurement at[] = {{1, low.file}, {3, high.file}}, check = {2, high.file};
    struct settings settings = {.dims = &batch, .ndims = 1, .cost_files = files, .ncost_files = 1};

    run_with(&settings, a);
    settings.ncost_files = 0;
    settings.measured = at;
    settings.nmeasured = 2;
    settings.checks = &check;
    settings.nchecks = 1;
    run_with(&settings, a);
    fuzz_folder_remove(low);
    if (end != NULL)
        fuzz_folder_remove(high);
    arena_free(a);
    return 0;
}
