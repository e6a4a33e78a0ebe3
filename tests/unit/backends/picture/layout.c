/* What dot says of places, moved (layout.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/picture/layout.h"

static void test_curves(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    assert_string_equal(layout_move_curve("e,1,2 3.5,-4 5,6e1 7,8", 10, 100, a),
                        "e,11.00,102.00 13.50,96.00 15.00,160.00 17.00,108.00");
    assert_string_equal(layout_move_curve("s,1,2 e,3,4 5,6", 0, 0, a),
                        "s,1.00,2.00 e,3.00,4.00 5.00,6.00");
    assert_string_equal(layout_move_curve("", 1, 1, a), "");
    assert_string_equal(layout_move_curve("x y,", 1, 1, a), "x y,");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_curves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
