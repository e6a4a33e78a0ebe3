/* The report of a plan (backends/report/report.c): links between devices stand below the table of devices. */
#include "backends/backends.h"
#include "ir/plan/parts.h"
#include "ir/text/text.h"
#include "tools/lib/exec/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is printed of a plan for a module in text; to be freed. */
static char *report(const char *text)
{
    struct text_module t;
    struct diag d = {0};
    char *out = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);
    assert_int_equal(module_parse(&t,
                                  &(struct named_text){"test.pir", text, strlen(text), exec_kinds},
                                  NULL, &d),
                     0);
    struct scene s = t.scene;
    s.place = place_build(s.m, NULL, 0, s.m->mem, &d);
    struct verdict v = load_verdict(&s, t.plan->dev, NULL, s.m->mem);
    struct result r = {.scene = s,
                       .plan = t.plan,
                       .verdict = &v,
                       .parts = parts_build(&s, t.plan->dev, s.m->mem),
                       .diag = &d};
    plan_print(f, &r, NULL);
    fclose(f);
    arena_free(s.m->mem);
    return out;
}

#define REST "graph { %a = op() !time=1us %b = op(%a) !time=1us !xfer=1us } plan { a=acc0 b=acc1 }"

static void links(void **state)
{
    char text[2000] = "class acc x13\n";
    (void)state;
    char *none = report("class acc x13\n" REST);
    assert_null(strstr(none, "link"));
    free(none);
    char *two = report("class acc x13 between acc0 acc12=300GB/s,2us "
                       "between acc3 acc1 oneway=1GB/s,0us " REST);
    assert_non_null(strstr(two, "\nlink acc0 and acc12: 300GB/s, 2us (not used by network host)\n"
                                "link acc3 to acc1: 1GB/s, 0ps (not used by network host)\n"));
    assert_null(strstr(two, "more link"));
    free(two);
    for (int i = 1; i < 13; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "between acc0 acc%d=1GB/s,1us\n",
                 i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", REST);
    char *many = report(text);
    assert_non_null(strstr(
        many, "link acc0 and acc10: 1GB/s, 1us (not used by network host)\n... 2 more links\n"));
    assert_null(strstr(many, "acc0 and acc11"));
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
