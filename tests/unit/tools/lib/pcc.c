/* pcc.h from a program's side: settings, statuses and messages, what may be called when, models from files and from
 * memory, progress that stops, texts; nothing is printed, and numbers have points in a locale with commas (tools/lib).
 *
 * extras: locale */
#include "tools/lib/pcc.h"

#include "tests/support/extras.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <sys/stat.h>

/* a, b, c, d in a chain on four devices; a takes 10 us, b 0.5, c 10, d 100 */
static const char chain[] =
    "pcc 1\ncluster io_free\nclass acc x4 memory=1MiB link=1GB/s,1us\ngraph {\n"
    "  in %x : f32[256]\n"
    "  %a = Tanh(%x) : f32[1024] name=\"a\" !time=10us !bytes=4KiB !elems=1024 !own=300KiB\n"
    "  %b = Tanh(%a) : f32[1024] name=\"b\" !time=500ns !bytes=4KiB !elems=1024 !own=300KiB\n"
    "  %c = Tanh(%b) : f32[256] name=\"c\" !time=10us !bytes=1KiB !elems=256 !own=300KiB\n"
    "  %d = Tanh(%c) : f32[1024] name=\"d\" !time=100us !bytes=4KiB !elems=1024 !own=300KiB\n"
    "  out %d\n}\n";

static struct pcc *open_chain(void)
{
    struct pcc *p = pcc_new();
    assert_non_null(p);
    assert_int_equal(pcc_open_memory(p, "chain.pir", chain, strlen(chain)), PCC_OK);
    return p;
}

/* A call that fails says why, in one line that has these words. */
static void expect_error(struct pcc *p, enum pcc_status got, enum pcc_status want,
                         const char *words)
{
    assert_int_equal(got, want);
    if (!strstr(pcc_error(p), words) || strchr(pcc_error(p), '\n'))
        fail_msg("'%s' does not have '%s'", pcc_error(p), words);
}

static void test_settings(void **state)
{
    struct pcc *p = open_chain();
    (void)state;
    assert_string_equal(pcc_error(p), "");
    expect_error(p, pcc_set(p, "device", "2xa100"), PCC_BAD_USE,
                 "there is no setting 'device'; did you mean 'devices'?");
    expect_error(p, pcc_set(p, "warnings", "no-such"), PCC_BAD_USE, "there is no warning");
    /* values are checked where they are needed */
    assert_int_equal(pcc_set(p, "overlap", "maximum"), PCC_OK);
    expect_error(p, pcc_plan(p, "dp-place"), PCC_BAD_USE, "--overlap 'maximum'");
    assert_int_equal(pcc_set(p, "overlap", NULL), PCC_OK);
    /* what repeats adds up */
    assert_int_equal(pcc_set(p, "pin", "^a$=acc2"), PCC_OK);
    assert_int_equal(pcc_set(p, "pin", "^d$=acc1"), PCC_OK);
    assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
    const struct pcc_verdict *v = pcc_verdict(p);
    assert_int_equal(v->nnodes, 4);
    assert_int_equal(v->node[0].device, 2);
    assert_int_equal(v->node[3].device, 1);
    pcc_free(p);
}

/* One sample runs a, b, c and d one after the other: 10, 0.5, 10 and 100 us. */
static void test_verdict_of_objective(void **state)
{
    static const char *const objective[] = {"makespan", "latency"};
    (void)state;
    for (size_t i = 0; i < sizeof objective / sizeof *objective; i++) {
        struct pcc *p = open_chain();
        assert_int_equal(pcc_set(p, "objective", objective[i]), PCC_OK);
        assert_int_equal(pcc_plan(p, NULL), PCC_OK);
        const struct pcc_verdict *v = pcc_verdict(p);
        assert_string_equal(v->objective, objective[i]);
        assert_true(v->value >= 120500000 && v->bound <= v->value);
        pcc_free(p);
    }
}

static void test_verdict(void **state)
{
    struct pcc *p = open_chain();
    (void)state;
    assert_null(pcc_verdict(p));
    assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
    const struct pcc_verdict *v = pcc_verdict(p);
    assert_string_equal(v->planner, "dp-place");
    assert_string_equal(v->status, "optimal");
    assert_string_equal(v->scope, "all");
    assert_string_equal(v->objective, "time-per-sample");
    /* d alone: 100 us, and 1 KiB over a link of 1 GB/s, 1 us */
    int64_t transfer = 1000000 + 1024 * 1000;
    assert_int_equal(v->value, 100 * 1000000 + transfer);
    assert_int_equal(v->bound, v->value);
    assert_int_equal(v->bound_all, v->value);
    assert_true(v->proof && *v->argument);
    assert_int_equal(v->ndevices, 4);
    assert_int_equal(v->nparts, 2);
    int64_t compute = 0, used = 0, most = 0;
    for (uint32_t d = 0; d < v->ndevices; d++) {
        assert_string_equal(v->device[d].device_class, "acc");
        assert_int_equal(v->device[d].load, v->device[d].compute + v->device[d].transfer);
        assert_int_equal(v->device[d].memory, 1 << 20);
        compute += v->device[d].compute;
        used += v->device[d].used;
        most = v->device[d].load > most ? v->device[d].load : most;
    }
    assert_int_equal(compute, 120500000);
    assert_true(used >= 4 * 300 * 1024);
    assert_int_equal(most, v->value);
    for (uint32_t n = 0; n < v->nnodes; n++) {
        assert_string_equal(v->node[n].op, "Tanh");
        assert_int_equal(v->node[n].name[0], (int)('a' + n));
        assert_int_equal(v->node[n].part, n == 3);
    }
    assert_int_not_equal(v->node[2].device, v->node[3].device);
    assert_ptr_equal(pcc_verdict(p), v);
    pcc_free(p);
}

static void test_order_of_calls(void **state)
{
    struct pcc *p = pcc_new();
    (void)state;
    pcc_free(NULL);
    assert_string_equal(pcc_version(), PCC_VERSION);
    expect_error(p, pcc_plan(p, NULL), PCC_BAD_USE, "there is no model to plan: open one");
    expect_error(p, pcc_write(p, "x.json"), PCC_BAD_USE, "x.json: there is no model: open one");
    expect_error(p, pcc_open(p, "/nowhere/m.onnx"), PCC_BAD_INPUT, "/nowhere/m.onnx: cannot open");
    expect_error(p, pcc_open_memory(p, "m.onnx", NULL, 0), PCC_BAD_INPUT, "m.onnx: is empty");
    expect_error(p, pcc_open_memory(p, "m.json", "{}", 2), PCC_BAD_INPUT, "m.json: ");
    expect_error(p, pcc_open_memory(p, "m", "pcc 1\ngraph", 11), PCC_BAD_INPUT, "m:");
    assert_int_equal(pcc_open_memory(p, "chain", chain, strlen(chain)), PCC_OK);
    expect_error(p, pcc_plan(p, "dq-place"), PCC_BAD_USE, "did you mean 'dp-place'?");
    assert_int_equal(pcc_set(p, "reserve", "1000KiB"), PCC_OK);
    expect_error(p, pcc_plan(p, "dp-place"), PCC_NO_PLAN, "memory");
    assert_null(pcc_verdict(p));
    expect_error(p, pcc_plan(p, "dp-place"), PCC_BAD_USE,
                 "chain: it was planned already: open it again");
    assert_int_equal(pcc_set(p, "reserve", NULL), PCC_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(pcc_open_memory(p, "chain", chain, strlen(chain)), PCC_OK);
        assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
        assert_int_equal(pcc_verdict(p)->nparts, 2);
    }
    expect_error(p, pcc_write(p, "-"), PCC_BAD_USE, "expected a file or folder");
    expect_error(p, pcc_write(p, "x.SVG"), PCC_BAD_USE, "pcc writes no .SVG");
    expect_error(p, pcc_write(p, "/nowhere/x.json"), PCC_BAD_INPUT, "/nowhere/x.json: ");
    expect_error(p, pcc_recompose(p, "/nowhere", "x.onnx"), PCC_BAD_INPUT, "/nowhere: ");
    expect_error(p, pcc_recompose(p, "/", "x.onnx"), PCC_BAD_INPUT, "without manifest.json");
    expect_error(p, pcc_recompose(p, "/", "x.json"), PCC_BAD_USE, "ends in .onnx");
    expect_error(p, pcc_recompose(p, "/", "-.onnx"), PCC_BAD_USE, "ends in .onnx");
    const char *null = "expected a string, found NULL";
    expect_error(p, pcc_set(p, NULL, "x"), PCC_BAD_USE, null);
    expect_error(p, pcc_open(p, NULL), PCC_BAD_USE, null);
    expect_error(p, pcc_open_memory(p, NULL, chain, strlen(chain)), PCC_BAD_USE, null);
    expect_error(p, pcc_open_memory(p, "chain", NULL, 1), PCC_BAD_USE, null);
    expect_error(p, pcc_write(p, NULL), PCC_BAD_USE, null);
    expect_error(p, pcc_recompose(p, NULL, "x.onnx"), PCC_BAD_USE, null);
    expect_error(p, pcc_recompose(p, "/", NULL), PCC_BAD_USE, null);
    expect_error(p, pcc_text(p, NULL) ? PCC_OK : PCC_BAD_USE, PCC_BAD_USE, null);
    assert_int_equal(pcc_verdict(p)->nparts, 2); /* the open model and its plan stay */
    for (int k = 0; k < 30; k++) {               /* more errors than a call shows */
        char name[] = "nameA";
        name[4] = (char)(name[4] + k % 26);
        expect_error(p, pcc_set(p, name, "x"), PCC_BAD_USE, name);
    }
    pcc_free(p);
}

static void test_texts(void **state)
{
    struct pcc *p = open_chain();
    (void)state;
    assert_non_null(strstr(pcc_text(p, "ir"), "Tanh(%x)"));
    assert_null(pcc_text(p, "table"));
    assert_null(pcc_text(p, "json"));
    assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
    const char *json = pcc_text(p, "json"), *table = pcc_text(p, "table");
    assert_non_null(strstr(json, "\"value_s\": 0.000102024"));
    assert_non_null(strstr(table, "time per sample 102.0 us\nbound 102.0 us"));
    assert_non_null(strstr(pcc_text(p, "summary"), "nodes       4"));
    assert_non_null(strstr(pcc_text(p, "csv"), "name"));
    assert_non_null(strstr(pcc_text(p, "dot"), "digraph"));
    assert_non_null(strstr(pcc_text(p, "gantt"), "<svg"));
    assert_non_null(strstr(pcc_text(p, "trace"), "traceEvents"));
    assert_string_equal(json, pcc_text(p, "json"));
    expect_error(p, pcc_text(p, "svg") ? PCC_OK : PCC_BAD_USE, PCC_BAD_USE,
                 "there is no text 'svg': expected table, summary, ");
    pcc_free(p);
}

/* How often `word` stands in a text. */
static int count_word(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* Settings and devices are listed without a model. */
static void test_lists(void **state)
{
    struct pcc *p = pcc_new();
    const char *s = pcc_text(p, "settings"), *d = pcc_text(p, "devices");
    (void)state;
    assert_non_null(strstr(
        s, "{\"name\": \"objective\", \"kind\": \"choice\", \"words\": [\"time-per-sample\", "));
    assert_non_null(strstr(
        s, "{\"name\": \"max-states\", \"kind\": \"int\", \"words\": [], \"repeats\": false, "));
    assert_non_null(
        strstr(s, "{\"name\": \"dim\", \"kind\": \"text\", \"words\": [], \"repeats\": true, "));
    assert_int_equal(count_word(s, "\"name\": \"view\""), 1); /* several writers have it */
    assert_int_equal(count_word(d, "\"name\": \"h100\", \"host\": false, \"count\": 1, "), 1);
    assert_int_equal(
        count_word(d, "\"name\": \"cpu\", \"host\": true, \"count\": 1, \"memory_bytes\": null"),
        1);
    assert_int_equal(pcc_set(p, "devices", "3xa100:1GiB"), PCC_OK);
    assert_string_equal(
        pcc_text(p, "devices"),
        "[\n  {\"name\": \"a100\", \"host\": false, \"count\": 3, \"memory_bytes\": 1073741824, "
        "\"bandwidth\": 2039000000000, \"operations\": {\"f32\": 19500000000000, "
        "\"f16\": 312000000000000, \"i8\": 624000000000000}}\n]\n");
    assert_int_equal(pcc_set(p, "devices", "3xz100"), PCC_OK);
    expect_error(p, pcc_text(p, "devices") ? PCC_OK : PCC_BAD_USE, PCC_BAD_USE,
                 "unknown class 'z100'");
    expect_error(p, pcc_text(p, "table") ? PCC_OK : PCC_BAD_USE, PCC_BAD_USE, "there is no model");
    pcc_free(p);
}

/* ---- messages and progress -------------------------------------------------------------------- */

struct heard {
    uint32_t n[3];
    char last[3][512], name[64];
};

static void hear(void *user, enum pcc_level level, const char *name, const char *line)
{
    struct heard *h = user;
    h->n[level]++;
    snprintf(h->last[level], sizeof h->last[level], "%s", line);
    if (level == PCC_WARNING)
        snprintf(h->name, sizeof h->name, "%s", name);
    else
        assert_null(name);
}

static void test_messages(void **state)
{
    struct heard h = {0};
    const struct pcc_listener l = {.user = &h, .message = hear};
    struct pcc *p = open_chain();
    (void)state;
    pcc_listen(p, &l);
    pcc_set(p, "pin", "nothing=acc0");
    assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
    assert_int_equal(h.n[PCC_WARNING], 1);
    assert_string_equal(h.name, "unmatched-pin");
    assert_int_equal(h.n[PCC_ERROR], 0);
    assert_null(pcc_text(p, "nothing"));
    assert_int_equal(h.n[PCC_ERROR], 1);
    assert_string_equal(h.last[PCC_ERROR], pcc_error(p));
    /* a warning that was made an error fails the call; one that was hidden is not heard */
    assert_int_equal(pcc_set(p, "warnings", "error=unmatched-pin"), PCC_OK);
    assert_int_equal(pcc_open_memory(p, "chain", chain, strlen(chain)), PCC_OK);
    expect_error(p, pcc_plan(p, "dp-place"), PCC_BAD_INPUT, "-Werror: 1 warning");
    assert_int_equal(h.n[PCC_WARNING], 2);
    assert_int_equal(pcc_set(p, "warnings", "no-unmatched-pin"), PCC_OK);
    assert_int_equal(pcc_open_memory(p, "chain", chain, strlen(chain)), PCC_OK);
    assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
    assert_int_equal(h.n[PCC_WARNING], 2);
    assert_int_equal(pcc_set(p, "warnings", NULL), PCC_OK); /* as at first: heard, and no failure */
    assert_int_equal(pcc_open_memory(p, "chain", chain, strlen(chain)), PCC_OK);
    assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
    assert_int_equal(h.n[PCC_WARNING], 3);
    pcc_listen(p, NULL);
    assert_null(pcc_text(p, "nothing"));
    assert_int_equal(h.n[PCC_ERROR], 2);
    pcc_free(p);
}

struct patience {
    struct pcc *p;
    uint32_t calls, most;
    bool by_stop;
    int64_t best;
};

static int watch(void *user, const struct pcc_progress *at)
{
    struct patience *w = user;
    assert_true(at->best >= 0 && at->bound >= 0 && at->done <= 1000);
    if (at->best)
        w->best = at->best;
    if (++w->calls < w->most || !at->best)
        return 0;
    if (!w->by_stop)
        return 1;
    pcc_stop(w->p);
    return 0;
}

/* 40 nodes in two chains, with costs such that annealing does not end by itself. */
static void write_wide(char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size,
                                "pcc 1\ncluster io_free\nclass acc x4 link=1GB/s,1us\ngraph {\n"
                                "  in %%x : f32[256]\n");
    for (int i = 0; i < 40; i++) {
        char from[16] = "x";
        if (i > 1)
            snprintf(from, sizeof from, "v%d", i - 2);
        n += (size_t)snprintf(text + n, size - n,
                              "  %%v%d = Tanh(%%%s) : f32[256] name=\"v%d\" !time=%dus !bytes=1KiB "
                              "!elems=256\n",
                              i, from, i, 7 + i * 37 % 41);
    }
    snprintf(text + n, size - n, "  out %%v38, %%v39\n}\n");
    assert_true(n + 32 < size);
}

static void test_progress(void **state)
{
    char text[16384];
    (void)state;
    write_wide(text, sizeof text);
    for (int by_stop = 0; by_stop < 2; by_stop++) {
        struct pcc *p = pcc_new();
        struct patience w = {.p = p, .most = 3, .by_stop = by_stop};
        const struct pcc_listener l = {.user = &w, .progress = watch};
        pcc_listen(p, &l);
        if (pcc_open_memory(p, "wide.pir", text, strlen(text)))
            fail_msg("%s", pcc_error(p));
        assert_int_equal(pcc_plan(p, "anneal-place{moves=1000000000000}"), PCC_OK);
        assert_true(w.calls >= 3);
        assert_non_null(strstr(pcc_verdict(p)->argument, "interrupted"));
        assert_true(w.best >= pcc_verdict(p)->value);
        /* the stop was for that run only */
        pcc_listen(p, NULL);
        assert_int_equal(pcc_open_memory(p, "wide.pir", text, strlen(text)), PCC_OK);
        assert_int_equal(pcc_plan(p, "dp-place"), PCC_OK);
        assert_null(strstr(pcc_verdict(p)->argument, "interrupted"));
        pcc_free(p);
    }
}

struct phases {
    char text[1024]; /* each phase once, in the order in which they came; "." at the end of one */
    char last[64];
    uint32_t done;
    struct pcc *stops; /* is told to stop at phase `at`; NULL: no handle is */
    const char *at;
};

static int note_phase(void *user, const struct pcc_progress *at)
{
    struct phases *h = user;
    const char *phase = at->phase ? at->phase : ".";
    size_t n = strlen(h->text);
    assert_true(at->done <= 1000);
    if (at->pass)
        return 0;
    if (strcmp(phase, h->last))
        snprintf(h->text + n, sizeof h->text - n, "%s%s", n ? " " : "", phase);
    else
        assert_true(at->done >= h->done);
    snprintf(h->last, sizeof h->last, "%s", phase);
    h->done = at->done;
    if (h->stops && !strcmp(phase, h->at))
        pcc_stop(h->stops);
    return 0;
}

/* Reading and writing say what they do, and when it has ended. */
static void test_phases(void **state)
{
    char folder[] = "/tmp/pcc-unit-XXXXXX", path[64], command[512];
    struct phases h = {.done = 0};
    const struct pcc_listener l = {.user = &h, .progress = note_phase};
    struct pcc *p = pcc_new();
    (void)state;
    pcc_listen(p, &l);
    assert_int_equal(pcc_open_memory(p, "chain", chain, strlen(chain)), PCC_OK);
    assert_string_equal(h.text, "reading .");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    snprintf(command, sizeof command,
             "'%s' gpt --layers 1 --width 64 --heads 2 --vocab 20 -o %s >/dev/null",
             getenv("PCC_GEN"), path);
    if (getenv("PCC_GEN") && system(command) == 0) {
        if (pcc_set(p, "pictures", "none") || pcc_open(p, path) || pcc_plan(p, NULL))
            fail_msg("%s", pcc_error(p));
        h = (struct phases){.done = 0};
        snprintf(path, sizeof path, "%s/split", folder);
        assert_int_equal(pcc_write(p, path), PCC_OK);
        assert_string_equal(h.text, "writing writing weights writing parts writing the whole model "
                                    "writing the schedule .");
        h = (struct phases){
            .stops = p,
            .at = "writing parts"}; /* the old folder stays, and nothing of the new one */
        assert_int_equal(pcc_write(p, path), PCC_BAD_INPUT);
        assert_string_equal(pcc_error(p),
                            "interrupted before all was written: nothing of it is left");
        snprintf(path, sizeof path, "%s/p.dot", folder);
        h = (struct phases){.stops = p, .at = "writing"};
        assert_int_equal(pcc_write(p, path), PCC_BAD_INPUT);
        assert_string_equal(pcc_error(p),
                            "interrupted before all was written: nothing of it is left");
        snprintf(path, sizeof path, "%s/split", folder);
        snprintf(command, sizeof command, "[ \"$(ls -A %s)\" = \"$(printf 'm.onnx\\nsplit')\" ]",
                 folder);
        assert_int_equal(system(command), 0);
        h = (struct phases){.done = 0};
        assert_int_equal(pcc_write(p, path), PCC_OK);
    }
    pcc_free(p);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- files and memory ------------------------------------------------------------------------- */

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(1 << 22);
    assert_true(f && bytes);
    *n = fread(bytes, 1, 1 << 22, f);
    fclose(f);
    return bytes;
}

static char *plan_of(const char *path, bool memory, const char *pipeline)
{
    struct pcc *p = pcc_new();
    size_t n = 0;
    char *bytes = memory ? slurp(path, &n) : NULL;
    enum pcc_status s = memory ? pcc_open_memory(p, path, bytes, n) : pcc_open(p, path);
    if (bytes)
        memset(bytes, 0, n); /* they were copied */
    free(bytes);
    if (s || pcc_plan(p, pipeline))
        fail_msg("%s: %s", path, pcc_error(p));
    char *json = strdup(pcc_text(p, "json"));
    pcc_free(p);
    return json;
}

static void test_memory_as_file(void **state)
{
    static const char workload[] =
        "{\"maxFPGAs\": 2, \"maxCPUs\": 1, \"maxSizePerFPGA\": 100, \"nodes\": ["
        "{\"id\": 1, \"supportedOnFpga\": 1, \"cpuLatency\": 9, \"fpgaLatency\": 2.5, \"isBackwardNode\": 0,"
        " \"colorClass\": 1, \"size\": 3},"
        "{\"id\": 2, \"supportedOnFpga\": 1, \"cpuLatency\": 9, \"fpgaLatency\": 4, \"isBackwardNode\": 0,"
        " \"colorClass\": 2, \"size\": 3}],"
        "\"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 0.25}]}";
    char folder[] = "/tmp/pcc-unit-XXXXXX", path[3][64];
    const char *name[] = {"m.onnx", "w.json", "c.pir"}, *text[] = {NULL, workload, chain};
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", folder, name[i]);
        FILE *f = text[i] ? fopen(path[i], "w") : NULL;
        if (f)
            fputs(text[i], f);
        if (f)
            fclose(f);
    }
    char command[512];
    snprintf(command, sizeof command,
             "'%s' gpt --layers 1 --width 16 --heads 2 --vocab 20 -o %s >/dev/null",
             getenv("PCC_GEN"), path[0]);
    for (int i = getenv("PCC_GEN") && system(command) == 0 ? 0 : 1; i < 3; i++) {
        char *file = plan_of(path[i], false, i == 1 ? "dp-place" : NULL);
        char *memory = plan_of(path[i], true, i == 1 ? "dp-place" : NULL);
        assert_string_equal(file, memory);
        free(file);
        free(memory);
    }
    for (int i = 0; i < 3; i++)
        unlink(path[i]);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- what is left alone ----------------------------------------------------------------------- */

/* Plans, shows and fails, with everything that could print. */
static void say_everything(void)
{
    struct pcc *p = open_chain();
    pcc_set(p, "pin", "nothing=acc0");
    pcc_plan(p, "open-functions,fuse,auto-place");
    pcc_text(p, "table");
    pcc_text(p, "gantt");
    pcc_text(p, "nothing");
    pcc_open(p, "/nowhere.onnx");
    pcc_plan(p, "ip-place");
    pcc_free(p);
}

static void test_prints_nothing(void **state)
{
    FILE *f = tmpfile();
    struct stat st;
    int out = dup(1), err = dup(2);
    (void)state;
    fflush(NULL);
    dup2(fileno(f), 1);
    dup2(fileno(f), 2);
    say_everything();
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    assert_int_equal(fstat(fileno(f), &st), 0);
    assert_int_equal(st.st_size, 0);
    fclose(f);
}

/* Everything with numbers in it that can be shown of a plan for which settings have numbers; to be freed. */
static char *all_texts(void)
{
    static const char *const what[] = {"table", "json", "csv", "ir", "dot", "gantt", "trace"};
    static const char *const set[][2] = {{"devices", "2xa100:1.5GiB,1xcpu"},
                                         {"link", "12.5GB/s,2.5us"},
                                         {"group", "2:0.25"},
                                         {"efficiency", "0.75"},
                                         {"reserve", "2.5%"},
                                         {"part-cost", "1.5us"}};
    char path[] = "/tmp/pcc-unit-XXXXXX", command[256], *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct pcc *p = pcc_new();
    int fd = mkstemp(path);
    snprintf(command, sizeof command,
             "'%s' gpt --layers 1 --width 16 --heads 2 --vocab 20 -o %s >/dev/null",
             getenv("PCC_GEN"), path);
    assert_true(f && fd >= 0 && system(command) == 0);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(pcc_set(p, set[i][0], set[i][1]), PCC_OK);
    size_t size;
    char *model = slurp(path, &size);
    if (pcc_open_memory(p, "m.onnx", model, size) || pcc_plan(p, "fuse,hier-place"))
        fail_msg("%s", pcc_error(p));
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        fputs(pcc_text(p, what[i]), f);
    free(model);
    fclose(f);
    pcc_free(p);
    close(fd);
    unlink(path);
    return text;
}

/* *state: the same by points. */
static void test_texts_by_commas(void **state)
{
    char *commas = all_texts();
    if (strcmp(*state, commas) != 0) {
        size_t at = 0;
        while (((char *)*state)[at] == commas[at])
            at++;
        fail_msg("'%.30s' is '%.30s'", (char *)*state + at, commas + at);
    }
    free(commas);
}

/* Numbers in settings, in files that are read and in what is written, where commas divide. */
static int run_with_commas(void)
{
    char *points = all_texts();
    char folder[] = "/tmp/pcc-unit-XXXXXX", command[256], text[32];
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        if (!mkdtemp(folder))
            return 1;
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
                 folder);
        int rc = system(command);
        setenv("LOCPATH", folder, 1);
        bool there = rc == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
        snprintf(command, sizeof command, "rm -r %s", folder);
        if (system(command) || !there)
            return extra_skipped("no locale de_DE.UTF-8, and none can be made");
    }
    snprintf(text, sizeof text, "%.1f", 0.5);
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_texts_by_commas, points),
                                       cmocka_unit_test(test_verdict),
                                       cmocka_unit_test(test_verdict_of_objective),
                                       cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_settings),
                                       cmocka_unit_test(test_memory_as_file)};
    int rc = strcmp(text, "0,5") != 0 || cmocka_run_group_tests(tests, NULL, NULL) ||
             strcmp(setlocale(LC_ALL, NULL), "de_DE.UTF-8") != 0;
    free(points);
    return rc;
}

int main(int argc, char **argv)
{
    if (extra_is(argc, argv, "locale"))
        return run_with_commas();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings),
                                       cmocka_unit_test(test_verdict),
                                       cmocka_unit_test(test_verdict_of_objective),
                                       cmocka_unit_test(test_order_of_calls),
                                       cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_progress),
                                       cmocka_unit_test(test_phases),
                                       cmocka_unit_test(test_memory_as_file),
                                       cmocka_unit_test(test_prints_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
