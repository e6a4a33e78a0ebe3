/* Text that grows sentence by sentence: a test writes its random module in textual IR, and shows it when it fails. */
#ifndef PCC_TESTS_SAID_H
#define PCC_TESTS_SAID_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct said {
    char text[16384]; /* ends with 0 */
    size_t len;
};

/* Appends; a text that is too long ends the program. */
__attribute__((format(printf, 2, 3))) static inline void say(struct said *s, const char *format,
                                                             ...)
{
    va_list args;
    va_start(args, format);
    s->len += (size_t)vsnprintf(s->text + s->len, sizeof s->text - s->len, format, args);
    va_end(args);
    if (s->len >= sizeof s->text) {
        fprintf(stderr, "the text of this test is longer than %zu bytes\n", sizeof s->text);
        abort();
    }
}

#endif
