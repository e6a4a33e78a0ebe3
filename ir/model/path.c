/* Finding the paths of nodes (path.h).
 *
 * PyTorch's exporter (torch.onnx._internal.exporter: _set_node_metadata) names a node after the operation that it was
 * made from, node_linear_33, and writes the modules around the operation into metadata, outermost first, the
 * operation last:
 *
 *     namespace    ": bert.Model/encoder: bert.Encoder/encoder.layer.5: bert.Layer/linear_33: aten.linear.default"
 *     name_scopes  "['', 'encoder', 'encoder.layer.5', 'linear_33']"
 *     class_hierarchy  "['bert.Model', 'bert.Encoder', 'bert.Layer', 'aten.linear.default']"
 *
 * Each module has its whole qualified name, so the last module's name is enough: "encoder.layer.5" becomes the scope
 * "/encoder/layer.5".  A number stays with the word before it (layer.5 is an element of a list of modules), as in the
 * names of the older exporter.  Classes are used where no names are given. */
#include "ir/model/path.h"

#include <string.h>

/* The scope that is being written. */
struct scope_writer {
    char text[SCOPE_MOST];
    size_t len;
    bool failed; /* the scope is too long, or has control characters */
};

/* Appends the character `before` and s[0 .. n) to the scope; appends nothing if n is 0.  Sets
 * w->failed, and appends nothing, if the scope gets too long or s has a control character. */
static void append_text(struct scope_writer *w, char before, const char *s, size_t n)
{
    if (n >= sizeof w->text - w->len)
        w->failed = true;
    for (size_t i = 0; i < n && !w->failed; i++)
        w->failed = (unsigned char)s[i] < ' ' || s[i] == 0x7f;
    if (w->failed || n == 0)
        return;
    w->text[w->len] = before;
    memcpy(w->text + w->len + 1, s, n);
    w->len += n + 1;
}

/* Whether s[0 .. n), a component of a name, is a number in a list of modules: it begins with a
 * digit, such as "5", or "5@1", the second call of module 5. */
static bool is_index(const char *s, size_t n)
{
    return n > 0 && s[0] >= '0' && s[0] <= '9';
}

/* Appends the qualified name s[0 .. n) of a module, "encoder.layer.5", as "/encoder/layer.5". */
static void put_module(struct scope_writer *w, const char *s, size_t n)
{
    /* PyTorch writes this name where it knows of no module */
    static const char none[] = "_empty_nn_module_stack_from_metadata_hook";
    bool word = false; /* whether the component before this one is no index */
    if (n == sizeof none - 1 && memcmp(s, none, n) == 0)
        return;
    for (size_t at = 0; at < n;) {
        const char *dot = memchr(s + at, '.', n - at);
        size_t len = dot ? (size_t)(dot - (s + at)) : n - at;
        bool index = is_index(s + at, len);
        append_text(w, index && word ? '.' : '/', s + at, len);
        word = !index;
        at += len + 1;
    }
}

/* Appends the class s[0 .. n), "models.bert.Layer", as "/Layer". */
static void put_class(struct scope_writer *w, const char *s, size_t n)
{
    const char *dot = memrchr(s, '.', n);
    size_t from = dot ? (size_t)(dot - s) + 1 : 0;
    append_text(w, '/', s + from, n - from);
}

/* Writes the scope that the metadata `namespace` gives.  Returns false if the text s is no namespace. */
static bool read_namespace(struct scope_writer *w, const char *s)
{
    /* last: the last name so far, in the end the operation's; module: the name before `last` */
    struct scope module = {0}, last = {0};
    while (*s) {
        const char *end = s + strcspn(s, "/");
        const char *colon = memmem(s, (size_t)(end - s), ": ", 2);
        if (colon) { /* else the '/' before s is one within a class */
            module = last;
            last = (struct scope){s, (size_t)(colon - s)};
        }
        s = *end ? end + 1 : end;
    }
    if (module.at)
        put_module(w, module.at, module.len);
    return last.at != NULL;
}

/* Sets *item to the next string of the list in Python's syntax at *s, and moves *s behind it.  Returns false at the
 * end of the list, or if the text is no such list; strings with a '\' are not read. */
static bool next_item(const char **s, struct scope *item)
{
    const char *at = *s + strspn(*s, "[, ");
    const char *end = *at == '\'' || *at == '"' ? strchr(at + 1, *at) : NULL;
    if (!end || memchr(at, '\\', (size_t)(end - at)))
        return false;
    *item = (struct scope){at + 1, (size_t)(end - at) - 1};
    *s = end + 1;
    return true;
}

/* Writes the scope that the list s gives.  The last item is the operation.  In a list of names, the item before it is
 * the whole name of the innermost module; in a list of classes (`classes`), each item before it is a module's class.
 * Returns false if the text is no such list. */
static bool read_list(struct scope_writer *w, const char *s, bool classes)
{
    struct scope last = {0}, item;
    struct scope before = {0}; /* the item before `last` */
    bool list = *s == '[';
    while (list && next_item(&s, &item)) {
        if (last.at && classes)
            put_class(w, last.at, last.len);
        before = last;
        last = item;
    }
    if (strcmp(s, "]") != 0)
        return false;
    if (before.at && !classes)
        put_module(w, before.at, before.len);
    return last.at != NULL;
}

/* The kinds of metadata that give scopes, in the order in which they are tried. */
enum { FROM_NAMES, FROM_NAMESPACE, FROM_CLASSES, SOURCES };
static const char *const keys[SOURCES] = {"pkg.torch.onnx.name_scopes", "namespace",
                                          "pkg.torch.onnx.class_hierarchy"};

/* Writes the scope that `text`, metadata of the kind `source`, gives.  Returns false if it gives
 * none, or none that can be used (append_text()). */
static bool read_scope(struct scope_writer *w, int source, const char *text)
{
    w->len = 0;
    w->failed = false;
    bool read = source == FROM_NAMESPACE ? read_namespace(w, text)
                                         : read_list(w, text, source == FROM_CLASSES);
    return read && !w->failed;
}

/* Returns the scope that the metadata of node n give, as a string's id; 0: none.  key: [source] ids of the texts in
 * keys[]. */
static sid find_scope(struct module *m, nid n, const sid *key)
{
    const struct slice meta = m->about[m->node[n].about].meta;
    struct scope_writer w;
    for (int source = 0; source < SOURCES; source++)
        for (uint32_t i = 0; i < meta.n; i += 2)
            if (m->sids[meta.at + i] == key[source] &&
                read_scope(&w, source, module_str(m, m->sids[meta.at + i + 1])))
                return str_id_n(m, w.text, w.len);
    return 0;
}

void module_note_scopes(struct module *m)
{
    sid key[SOURCES];
    for (int source = 0; source < SOURCES; source++)
        key[source] = str_id(m, keys[source]);
    for (nid n = 1; n < m->nnode; n++) {
        bool bare = !strchr(node_name(m, n), '/');
        sid scope = bare && m->about[m->node[n].about].meta.n ? find_scope(m, n, key) : 0;
        if (scope && !m->scope)
            m->scope = arena_array(m->mem, m->nnode, sizeof *m->scope);
        if (scope)
            m->scope[n] = scope;
    }
}

struct scope node_scope(const struct module *m, nid n)
{
    if (m->scope && m->scope[n])
        return (struct scope){module_str(m, m->scope[n]), str_size(m, m->scope[n])};
    const char *name = node_name(m, n), *slash = strrchr(name, '/');
    return (struct scope){name, slash ? (size_t)(slash - name) : 0};
}

const char *path_text(const struct module *m, sid scope, const char *name, struct arena *a)
{
    return scope ? arena_fmt(a, "%s/%s", module_str(m, scope), name) : name;
}

const char *node_path(const struct module *m, nid n, struct arena *a)
{
    return path_text(m, m->scope ? m->scope[n] : 0, node_name(m, n), a);
}
