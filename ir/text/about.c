/* Documentation, metadata and ONNX fields (struct about) of nodes, values, graphs and tensors in the textual IR:
 * reading and printing the keys !doc, !meta and !onnx (grammar: text.md).  O(text). */
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <assert.h>
#include <string.h>

/* ---- parsing ------------------------------------------------------------------------------------ */

int text_hex(struct parser *p, unsigned char **data, size_t *n)
{
    /* the value of a hexadecimal digit is its position in this string, modulo 16 */
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    if (p->tok.kind != T_STR)
        return text_expected(p, "a string of hexadecimal digits");
    *n = p->tok.len / 2;
    *data = arena_alloc(p->m->mem, *n + 1);
    bool good = p->tok.len % 2 == 0;
    for (size_t i = 0; i < p->tok.len && good; i++) {
        const char *d = memchr(digits, p->tok.s[i], sizeof digits - 1);
        good = d != NULL;
        if (good)
            (*data)[i / 2] = (unsigned char)((*data)[i / 2] << 4 | ((d - digits) & 15));
    }
    if (!good)
        return text_error(p, p->tok.at, "expected pairs of hexadecimal digits");
    text_next(p);
    return p->failed ? -1 : 0;
}

/* Reads '{"key"="value", ...}', the value of !meta, into module.sids, and sets *meta to the entries.  Returns 0, or
 * -1 and an error. */
static int parse_meta(struct parser *p, struct slice *meta)
{
    sid pair[2];

    if (text_want(p, '{', "'{'") < 0)
        return -1;
    *meta = (struct slice){p->m->nsids, 0};
    while (p->tok.kind != '}') {
        if ((meta->n > 0 && text_want(p, ',', "',' or '}'") < 0) ||
            text_string(p, &pair[0], "a key, quoted") < 0 || text_want(p, '=', "'='") < 0 ||
            text_string(p, &pair[1], "a value, quoted") < 0)
            return -1;
        module_add_sids(p->m, pair, 2);
        meta->n += 2;
    }
    return text_want(p, '}', "'}'");
}

/* Reads "1a03...", the value of !onnx: bytes as hexadecimal digits, interned as a string into *rest.  Returns 0, or -1
 * and an error. */
static int parse_rest(struct parser *p, sid *rest)
{
    unsigned char *data;
    size_t n;

    if (text_hex(p, &data, &n) < 0)
        return -1;
    *rest = str_id_n(p->m, (const char *)data, n);
    return 0;
}

/* Returns entry *about of module.about; if *about is 0, makes an entry and sets *about to its index. */
static struct about *entry_of(struct parser *p, uint32_t *about)
{
    if (*about == 0)
        *about = module_add_about(p->m, (struct about){0});
    return &p->m->about[*about];
}

int text_about_key(struct parser *p, uint32_t *about)
{
    assert(*about == 0 || *about < p->m->nabout);
    bool doc = text_is(p, "doc"), meta = text_is(p, "meta"), rest = text_is(p, "onnx");
    struct slice pairs = {0, 0};
    sid text = 0;

    if (p->tok.kind != T_KEY || !(doc || meta || rest))
        return 0;
    text_next(p);
    if (text_want(p, '=', "'='") < 0 || (doc && text_string(p, &text, "a string") < 0) ||
        (meta && parse_meta(p, &pairs) < 0) || (rest && parse_rest(p, &text) < 0))
        return -1;
    if (doc)
        entry_of(p, about)->doc = text;
    else if (meta)
        entry_of(p, about)->meta = pairs;
    else
        entry_of(p, about)->rest = text;
    return 1;
}

int text_about(struct parser *p, uint32_t *about)
{
    int rc;

    do
        rc = text_about_key(p, about);
    while (rc > 0);
    return rc < 0 || p->failed ? -1 : 0;
}

/* ---- printing ----------------------------------------------------------------------------------- */

void text_put_hex(const struct printer *p, const unsigned char *data, uint64_t n)
{
    static const char digits[] = "0123456789abcdef";

    text_put(p, "\"");
    for (uint64_t i = 0; i < n; i++) {
        putc(digits[data[i] >> 4], p->f);
        putc(digits[data[i] & 15], p->f);
    }
    text_put(p, "\"");
}

void text_put_about(const struct printer *p, uint32_t about)
{
    assert(about == 0 || about < p->m->nabout);
    const struct module *m = p->m;
    const struct about *a = &m->about[about];
    assert(a->meta.n % 2 == 0); /* key, value, key, value, ... */

    if (a->doc != 0) {
        text_put(p, " !doc=");
        text_put_quoted(p, module_str(m, a->doc));
    }
    for (uint32_t i = 0; i < a->meta.n; i += 2) {
        text_put(p, i > 0 ? ", " : " !meta={");
        text_put_quoted(p, module_str(m, m->sids[a->meta.at + i]));
        text_put(p, "=");
        text_put_quoted(p, module_str(m, m->sids[a->meta.at + i + 1]));
    }
    text_put(p, a->meta.n > 0 ? "}" : "");
    if (a->rest != 0) {
        text_put(p, " !onnx=");
        text_put_hex(p, (const unsigned char *)module_str(m, a->rest), str_size(m, a->rest));
    }
}
