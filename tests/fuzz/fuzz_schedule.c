/* Any bytes as the manifest and schedule of a split folder, a line "----" between them; without such a line, as the
 * schedule of a small manifest.  What is accepted is checked; what the checker accepts, written as a schedule, is read
 * back and accepted again; and one sample in flight more than that is looked at without a promise. */
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char manifest[] =
    "{\"pcc_manifest\": 1, \"devices\": [{\"name\": \"acc0\", \"memory_bytes\": 99}, {\"name\": "
    "\"acc1\", \"memory_bytes\": null}], \"inputs\": [{\"name\": \"x\", \"bytes\": 4}], "
    "\"outputs\": [{\"name\": \"y\", \"bytes\": 8, \"from\": \"part1.onnx\"}], \"parts\": "
    "[{\"file\": \"part0.onnx\", \"device\": \"acc0\", \"inputs\": [\"x\"], \"outputs\": [\"t\"], "
    "\"lasting_bytes\": 10, \"live_peak_bytes\": 30}, {\"file\": \"part1.onnx\", \"device\": "
    "\"acc1\", \"inputs\": [\"t\"], \"outputs\": [\"y\"], \"lasting_bytes\": 0, "
    "\"live_peak_bytes\": 30}], \"tensors\": [{\"name\": \"t\", \"bytes\": 6}], \"states\": []}";

static char *print(const struct sample_work *w, const struct schedule *s, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    fuzz_check(f != NULL, "there is memory");
    schedule_put(f, w, s);
    fclose(f);
    return text;
}

static void check_schedule(const struct sample_work *w, struct schedule *s, struct arena *a)
{
    struct diag d = fuzz_diag();
    const struct sample_work *of = w;
    w = s->work;
    if (schedule_check(w, s, a) != NULL) {
        return;
    }
    fuzz_check(schedule_prove(w, s, a) == NULL, "what is accepted can be proven");
    size_t n;
    char *text = print(w, s, &n);
    const struct json_text j = {"schedule.json", text, n};
    struct schedule *again = schedule_read(&j, of, a, &d);
    fuzz_check(again != NULL && schedule_check(again->work, again, a) == NULL,
               "what is written is accepted");
    free(text);
    s->in_flight++;
    schedule_prove(w, s, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    char *text = fuzz_text(a, data, size), *cut = strstr(text, "\n----\n");
    struct json_text first = {"manifest.json", manifest, sizeof manifest - 1};
    struct json_text second = {"schedule.json", text, size};
    if (cut != NULL) {
        first.text = text;
        first.n = (size_t)(cut - text);
        second.text = cut + 6;
        second.n = size - first.n - 6;
    }
    struct sample_work *w = work_read(&first, a, &d);
    fuzz_check_result(w == NULL ? -1 : 0, &d);
    if (w != NULL) {
        struct schedule *s = schedule_read(&second, w, a, &d);
        fuzz_check_result(s == NULL ? -1 : 0, &d);
        if (s != NULL) {
            check_schedule(w, s, a);
        }
    }
    arena_free(a);
    return 0;
}
