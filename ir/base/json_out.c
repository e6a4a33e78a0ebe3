/* JSON without a tree (json_out.h).  O(length). */
#include "ir/base/json_out.h"

#include "ir/base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void json_put_string(FILE *f, const char *text)
{
    uint32_t code;
    putc('"', f);
    for (size_t n = strlen(text), len; n > 0; text += len, n -= len) {
        len = utf8_decode(text, n, &code);
        if (!len)
            fputs("\\ufffd", f);
        else if (code == '"' || code == '\\')
            fprintf(f, "\\%c", (int)code);
        else if (!utf8_shown(code) && code <= 0xffff)
            fprintf(f, "\\u%04x", code);
        else
            fwrite(text, 1, len, f);
        len = len ? len : 1;
    }
    putc('"', f);
}

void json_put_decimal(FILE *f, int64_t v, int digits)
{
    assert(digits > 0 && digits < 19);
    int64_t unit = 1;
    if (v < 0) {
        fputs("null", f);
        return;
    }
    for (int i = 0; i < digits; i++)
        unit *= 10;
    int64_t rest = v % unit;
    for (; digits > 1 && rest % 10 == 0; digits--)
        rest /= 10;
    fprintf(f, "%" PRId64 ".%0*" PRId64, v / unit, digits, rest);
}
