/* Stages that share devices: on how many places they are, and which do not go over them in turn. */
#include "ir/plan/stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8 };

/* "01 2 01 2": the devices of each stage. */
static struct stages stages_from(const char *text, struct arena *a)
{
    struct stages s = {.device = {arena_array(a, MOST + 1, sizeof *s.device.at),
                                  arena_array(a, strlen(text) + 1, sizeof *s.device.to)}};
    uint32_t n = 0;
    for (const char *c = text; *c; c++)
        if (*c == ' ')
            s.device.at[++s.n] = n;
        else
            s.device.to[n++] = (uint32_t)(*c - '0');
    s.device.at[++s.n] = n;
    return s;
}

static void test_places(void **state)
{
    static const struct {
        const char *text;
        uint32_t places;
        const char *why; /* NULL: nothing is wrong */
    } row[] = {{"0", 1, NULL},
               {"0 1 2", 3, NULL},
               {"01 2 34", 3, NULL},
               {"01 2 01 2", 2, NULL},
               {"0 1 0 1 0 1", 2, NULL},
               {"0 0 0", 1, NULL},
               {"0 1 0", 2, "3 stages in turn on 2 places: expected as many on each"},
               {"0 1 1 0", 3, "device 1 is in stages 1 and 2"},
               {"01 12", 2, "device 1 is in stages 0 and 1"},
               {"01 2 0 2", 2, "stage 2 is not on the devices of stage 0"},
               {"0 1 0 2", 2, "stage 3 is not on the devices of stage 1"},
               {"01 2 02 1", 2, "stage 2 is not on the devices of stage 0"},
               {"00 1", 2, "device 0 is in stages 0 and 0"}};
    struct arena *a = arena_new(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct stages s = stages_from(row[i].text, a);
        const char *why = stages_refuse(&s, MOST, a);
        assert_int_equal(stages_places(&s), row[i].places);
        assert_int_equal(!why, !row[i].why);
        assert_true(!why || strstr(why, row[i].why));
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
