/* Any text as a pipeline: what parses can be completed and shown, and parses again to the same. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct pipeline p = {0}, back = {0};
    int rc = pipeline_parse(&p, fuzz_text(a, data, size), a, &d);

    fuzz_check_result(rc, &d);
    if (rc == 0) {
        pipeline_complete(&p, a);
        const char *text = pipeline_text(&p, a);
        fuzz_check(pipeline_parse(&back, text, a, &d) == 0, "the text of a pipeline is a pipeline");
        fuzz_check(strcmp(pipeline_text(&back, a), text) == 0, "it is the same pipeline");
        uint32_t n = back.n;
        pipeline_complete(&back, a);
        fuzz_check(back.n == n, "a complete pipeline needs nothing");
    }
    arena_free(a);
    return 0;
}
