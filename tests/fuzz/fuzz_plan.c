/* Any bytes as a plan that was made elsewhere, for a small graph on two accelerators and a CPU: an
 * annotated ONNX model if they begin with a small byte, else JSON of any of the three kinds or lines
 * regex=device.  What is accepted gives every placed node a device of the cluster, is judged, and,
 * written as plan JSON or as the placement paper's split, is read back the same. */
#include "frontends/frontends.h"
#include "ir/plan/plan_json.h"
#include "passes/given/plan_read.h"
#include "tests/fuzz/fuzz.h"
#include "ir/plan/order.h"

#include <string.h>

static const char graph[] = "class acc x2 memory=64KiB link=1GB/s,1us\n"
                            "class cpu host\n"
                            "graph {\n"
                            "  %a = profile:op() {id=0} !time=1us !own=4KiB !bytes=4KiB\n"
                            "  %b = profile:op(%a) {id=1} !time=[2us,9us] !bytes=4KiB\n"
                            "  %c = profile:op(%a) {id=2} !time=[2us,9us] !bytes=4KiB\n"
                            "  %\"h.0/d\" = profile:op(%b, %c) {id=3} !time=3us !color=1\n"
                            "  %e = profile:op(%\"h.0/d\") {id=4} !time=1us !color=1\n"
                            "  out %e\n"
                            "}\n";

static struct module *read_model(const char *path, struct arena *of, struct diag *d)
{
    const struct onnx_options o = {0};
    return onnx_read(path, &o, of, d);
}

static void check_same(struct ctx *x, const char *path, const struct plan *p)
{
    struct given_plan back;
    uint32_t n, k;

    fuzz_check(plan_read(&back, x, path) == 0, "a plan that was written can be read");
    fuzz_check(memcmp(back.dev, p->dev, x->scene.m->nnode * sizeof *p->dev) == 0,
               "it is the same plan");
    fuzz_check(!p->rank == !back.rank, "it has an order if the plan has");
    for (nid v = 1; p->slot && v < x->scene.m->nnode; v++)
        fuzz_check(p->slot[v] == (back.slot ? back.slot[v] : 0), "each node has its slot");
    for (uint32_t d = 0; d < x->scene.cluster->ndev; d++) {
        const struct plan again = {.dev = back.dev, .rank = back.rank};
        const nid *here = plan_order(p, x->scene.m, x->use.mem, &n);
        const nid *there = plan_order(&again, x->scene.m, x->use.mem, &k);
        uint32_t i = 0, j = 0;
        for (; i < n; i++) {
            if (p->dev[here[i]] != (int32_t)d)
                continue;
            while (j < k && p->dev[there[j]] != (int32_t)d)
                j++;
            fuzz_check(j < k && there[j++] == here[i], "each device has its order");
        }
    }
}

static void check_plan(struct ctx *x, struct fuzz_folder folder, const struct given_plan *given)
{
    int32_t *dev = given->dev;
    struct arena *a = x->scene.m->mem;

    for (nid n = 1; n < x->scene.m->nnode; n++)
        fuzz_check(dev[n] >= 0 && dev[n] < (int32_t)x->scene.cluster->ndev,
                   "a plan that is accepted gives each node a device");
    struct verdict v = load_verdict(&x->scene, dev, NULL, a);
    struct plan p = {.planner = "plan",
                     .dev = dev,
                     .rank = given->rank,
                     .slot = given->slot,
                     .claim = {.value = v.value,
                               .bound = -1,
                               .bound_all = -1,
                               .status = PLAN_HEURISTIC,
                               .argument = "read"}};
    const struct plan_report t = {.scene = &x->scene, .plan = &p, .verdict = &v};
    const char *own = arena_fmt(a, "%s/own.json", folder.path);
    const char *paper = arena_fmt(a, "%s/paper.json", folder.path);
    fuzz_check(plan_json_write(&t, own, NULL, x->use.diag) == 0, "a plan can be written");
    check_same(x, own, &p);
    fuzz_check(paper_split_write(&t, paper, NULL, x->use.diag) == 0,
               "a split of the paper can be written");
    fuzz_check_text(&x->scene, &p);
    p.rank = NULL; /* the paper's form gives none, and no slots but for a latency */
    p.slot = NULL;
    check_same(x, paper, &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    bool onnx = size > 0 && data[0] != 0 && data[0] < '\t';
    struct fuzz_folder folder = fuzz_folder_make(a, onnx ? "p.onnx" : "p", data, size);

    struct ctx x = fuzz_graph(graph, a, &d);
    x.use.read_model = read_model;
    struct given_plan given;
    int rc = plan_read(&given, &x, folder.file);
    fuzz_check_result(rc, &d);
    if (rc == 0)
        check_plan(&x, folder, &given);
    fuzz_folder_remove(folder);
    arena_free(x.use.mem);
    arena_free(a);
    return 0;
}
