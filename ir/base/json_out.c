/* Writes JSON piece by piece (json_out.h).  O(length of the output). */
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
        if (!len)
            len = 1;
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

FILE *json_member(struct json_out *o, const char *key)
{
    if (o->depth) {
        int indent = o->open[o->depth - 1].indent;
        bool *any = &o->open[o->depth - 1].any;
        fputs(*any ? "," : "", o->f);
        if (indent != JSON_ROW)
            fprintf(o->f, "\n%*s", indent, "");
        else if (*any)
            putc(' ', o->f);
        *any = true;
    }
    if (key) {
        json_put_string(o->f, key);
        fputs(": ", o->f);
    }
    return o->f;
}

void json_open(struct json_out *o, const char *key, char bracket, int indent)
{
    assert(o->depth < JSON_DEPTH && (bracket == '{' || bracket == '['));
    putc(bracket, json_member(o, key));
    o->open[o->depth].close = bracket == '{' ? '}' : ']';
    o->open[o->depth].any = false;
    o->open[o->depth++].indent = indent;
}

void json_close(struct json_out *o, int indent)
{
    assert(o->depth > 0);
    if (indent != JSON_ROW)
        fprintf(o->f, "\n%*s", indent, "");
    putc(o->open[--o->depth].close, o->f);
}

void json_indent(struct json_out *o, int indent)
{
    assert(o->depth > 0);
    o->open[o->depth - 1].indent = indent;
}

void json_text(struct json_out *o, const char *key, const char *text)
{
    FILE *f = json_member(o, key);
    if (text)
        json_put_string(f, text);
    else
        fputs("null", f);
}

void json_int(struct json_out *o, const char *key, int64_t v)
{
    fprintf(json_member(o, key), "%" PRId64, v);
}

void json_seconds(struct json_out *o, const char *key, int64_t ps)
{
    json_put_decimal(json_member(o, key), ps, 12);
}
