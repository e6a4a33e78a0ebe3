/* JSON without a tree (json_out.h).  O(length). */
#include "ir/base/json_out.h"

#include <assert.h>
#include <inttypes.h>

/* Bytes of the UTF-8 sequence at s, 0 if it is none. */
static int utf8_length(const unsigned char *s)
{
    int n = *s < 0x80                 ? 1
            : *s >= 0xc2 && *s < 0xe0 ? 2
            : *s >= 0xe0 && *s < 0xf0 ? 3
            : *s >= 0xf0 && *s < 0xf5 ? 4
                                      : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0) ||
        (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}

void json_put_string(FILE *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    putc('"', f);
    while (*s) {
        int n = utf8_length(s);
        if (!n)
            fputs("\\ufffd", f);
        else if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(f, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, f);
        s += n ? n : 1;
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
