/* Makes what Olive's pass SplitModel reads: --for=olive.
 *
 * The pass cuts a model by a text "name=k;name=k" in its metadata (key "split_assignments").  To find a node's
 * split, Olive takes the longest of these names with which the node's name begins, in whole components between
 * dots; slashes count as dots. The pass gives some operators no split by name: QuantizeLinear goes to the split
 * that makes its operand, DequantizeLinear and Constant are copied to their readers, Identity is removed.  No node
 * is in an earlier split than the nodes that make its operands.  (Olive, olive/passes/onnx/split.py.)
 *
 * Part k becomes split k.  A node's key, the text in the metadata, is the shortest row of first components of its name
 * that no name of another part begins with; if names of another part begin with every such row, the key is the whole
 * name, and the other part's keys are longer.  So keys describe the plan exactly, unless nodes of two parts have names
 * that differ only in dots and slashes (an error).  It is an error, too, if the plan has a QuantizeLinear or a
 * DequantizeLinear in another part than Olive would choose.  O(characters of the names + operands), and a sort. */
#include "backends/engines/engines.h"
#include "ir/base/json_in.h"
#include "ir/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KEY "split_assignments"

/* A node that Olive gives a split by its name. */
struct olive_node {
    /* the node's name with '\1' for dots and slashes: in sorted order, a.b and a/c then follow directly behind a */
    char *name;
    const char *own; /* the node's name in the model */
    uint32_t part;   /* number, from 0 */
    uint32_t size;   /* bytes of `name` that make the node's key */
};

/* Returns an array, in x->a: [node of m] 1 + the number of the node's part, or of the first part of several that
 * copy the node; 0: the manifest names no part for it. */
static uint32_t *parts_of_nodes(const struct export_folder *x, const struct module *m)
{
    uint32_t *part = arena_array(x->a, m->nnode, sizeof *part);
    struct names node = names_new(x->a, m->nnode), file = names_new(x->a, 16);
    const json_t *nodes = json_object_get(x->manifest, "nodes");
    const json_t *copies = json_object_get(json_object_get(x->manifest, "copies"), "nodes");
    const json_t *row;
    const char *name;
    json_t *list;
    size_t i, k;
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        names_add(&node, node_name(m, n), n);
    json_array_foreach(json_object_get(x->manifest, "parts"), i, row)
    {
        const char *of = json_get_text(row, "file");
        names_add(&file, of, (uint32_t)i + 1);
        json_array_foreach(json_object_get(nodes, of), k, list)
        {
            if (json_is_string(list))
                part[names_get(&node, json_string_value(list), 0)] = (uint32_t)i + 1;
        }
    }
    json_object_foreach((json_t *)(uintptr_t)copies, name, list)
    {
        uint32_t *at = &part[names_get(&node, name, 0)];
        json_array_foreach(list, k, row)
        {
            const char *of = json_string_value(row);
            uint32_t p = of ? names_get(&file, of, 0) : 0;
            *at = p && (!*at || p < *at) ? p : *at;
        }
    }
    part[0] = 0; /* the loop wrote here for names of nodes that m does not have */
    return part;
}

/* Reports that Olive cannot put node n into the part that the plan gives it, for the reason `why`.  Returns -1. */
static int refuse(const struct export_folder *x, const struct module *m, nid n, const char *why)
{
    return diag_error(x->diag, "%s: --for=olive: node '%s' (%s): %s", x->name, node_name(m, n),
                      node_op(m, n), why);
}

/* Whether node n has an operator to which Olive gives no split by name. */
static bool is_nameless(const struct module *m, nid n)
{
    return node_is(m, n, "QuantizeLinear") || node_is(m, n, "DequantizeLinear") ||
           node_is(m, n, "Constant") || node_is(m, n, "Identity");
}

/* Checks that Olive, which gives QuantizeLinear and DequantizeLinear no split by name, puts these nodes into the
 * parts that the plan has for them.  part: as parts_of_nodes() returns it.  Returns 0, or -1 and an error. */
static int check_nameless(const struct export_folder *x, const struct module *m,
                          const uint32_t *part)
{
    struct csr users = module_users(m, x->a);
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++) {
        bool quantizes = node_is(m, n, "QuantizeLinear");
        uint32_t from = 0; /* the last part that makes an operand of n */
        if (!part[n] || (!quantizes && !node_is(m, n, "DequantizeLinear")))
            continue;
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            from = larger_u32(from, part[m->value[m->arg[m->node[n].in.at + i]].def]);
        if (quantizes && from && from != part[n])
            return refuse(x, m, n, "Olive puts it where what it reads is made, another part");
        for (uint32_t i = 0; i < m->node[n].out.n && !quantizes; i++)
            for_row (reader, users, m->arg[m->node[n].out.at + i])
                if (part[reader] && part[reader] != part[n])
                    return refuse(x, m, n, "Olive copies it to its readers, in other parts");
    }
    return 0;
}

/* Compares two nodes for qsort(), by name, then by part. */
static int by_name(const void *one, const void *two)
{
    const struct olive_node *p = one, *q = two;
    int order = strcmp(p->name, q->name);
    return order ? order : (p->part > q->part) - (p->part < q->part);
}

/* Collects the nodes that have a part and get a split by name in *list, in x->a, sorted by name.  part: as
 * parts_of_nodes() returns it.  Returns the number of these nodes; -1 and an error, if one of them has no name, or a
 * name with a character that Olive reads otherwise. */
static int64_t collect(const struct export_folder *x, const struct module *m, const uint32_t *part,
                       struct olive_node **list)
{
    struct olive_node *l = arena_array(x->a, m->nnode, sizeof *l);
    int64_t k = 0;
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++) {
        const char *own = node_name(m, n), *from = own + strspn(own, "/.");
        if (!part[n] || is_nameless(m, n))
            continue;
        if (m->node[n].flags & NODE_UNNAMED || !*from)
            return refuse(x, m, n, "it has no name that could say its part");
        if (strpbrk(own, "=;\1"))
            return refuse(x, m, n, "its name has a character that separates assignments");
        char *name = arena_strdup(x->a, from, strlen(from));
        for (char *c = name; *c; c++)
            *c = *c == '/' || *c == '.' ? '\1' : *c;
        l[k++] = (struct olive_node){.name = name, .own = own, .part = part[n] - 1};
    }
    qsort(l, (size_t)k, sizeof *l, by_name);
    *list = l;
    return k;
}

/* Returns how many bytes the names have in common at their beginning, in whole components, with the separator
 * behind the last of these components, also where a name ends and has no separator. */
static uint32_t common(const char *one, const char *two)
{
    uint32_t n = 0, whole = 0; /* whole: up to the last separator that both names have */
    for (; one[n] && one[n] == two[n]; n++)
        whole = one[n] == '\1' ? n + 1 : whole;
    bool ends = (!one[n] || one[n] == '\1') && (!two[n] || two[n] == '\1');
    return ends ? n + 1 : whole;
}

/* Sets the sizes of the keys of the nodes l[n], which are sorted: one component more than a name shares with any name
 * of another part.  In sorted order the names that share most with a name stand next to it, so only the nearest
 * names of other parts, one before and one behind it, are compared.  Returns 0; or -1 and an error, if nodes of two
 * parts have the same name for Olive. */
static int choose_keys(const struct export_folder *x, struct olive_node *l, uint32_t n)
{
    /* share: bytes that name i has in common with the nearest name of another part before it (second loop: behind it).
     * A name in between, of the same part, shares at least as many: `share` is the least of these steps */
    for (uint32_t i = 0, share = 0; i < n; i++) {
        uint32_t both = i ? common(l[i - 1].name, l[i].name) : 0;
        if (i && l[i - 1].part != l[i].part && strcmp(l[i - 1].name, l[i].name) == 0)
            return diag_error(x->diag,
                              "%s: --for=olive: nodes '%s' and '%s' have one name for Olive, and "
                              "are in different parts",
                              x->name, l[i - 1].own, l[i].own);
        bool border = i && l[i - 1].part != l[i].part;
        share = border ? both : smaller_u32(both, share);
        l[i].size = share; /* for the second loop */
    }
    for (uint32_t i = n, share = 0; i-- > 0;) {
        uint32_t both = i + 1 < n ? common(l[i].name, l[i + 1].name) : 0, end;
        bool border = i + 1 < n && l[i + 1].part != l[i].part;
        share = border ? both : smaller_u32(both, share);
        end = larger_u32(l[i].size, share);
        uint32_t all = (uint32_t)strlen(l[i].name);
        l[i].size = end >= all ? all : end + (uint32_t)strcspn(l[i].name + end, "\1");
    }
    return 0;
}

/* Returns the text "key=part;key=part" with each different key of the nodes l[n] once, in x->a; NULL after an error. */
static const char *assignments_text(const struct export_folder *x, const struct olive_node *l,
                                    uint32_t n)
{
    struct names seen = names_new(x->a, 64);
    struct memory m;
    const char *sign = "";
    memory_begin(&m, x->a);
    for (uint32_t i = 0; m.f && i < n; i++) {
        char *key = arena_strdup(x->a, l[i].name, l[i].size);
        for (char *c = key; *c; c++)
            *c = *c == '\1' ? '.' : *c;
        if (names_get(&seen, key, 0))
            continue;
        names_add(&seen, key, 1);
        fprintf(m.f, "%s%s=%u", sign, key, l[i].part);
        sign = ";";
    }
    return memory_end(&m, /*ok=*/true, KEY, x->a, x->diag);
}

/* Returns the text for the key "split_assignments" of the folder's model, in x->a; NULL after an error: Olive cannot
 * split the model as the plan does. */
static const char *make_assignments(const struct export_folder *x)
{
    struct olive_node *l = NULL;
    const char *file = json_get_text(json_object_get(x->manifest, "model"), "file");
    const struct module *m = export_model(x, "olive", file, x->a);
    const json_t *parts = json_object_get(x->manifest, "parts");
    if (!m)
        return NULL;
    const uint32_t *part = parts_of_nodes(x, m);
    int64_t n = check_nameless(x, m, part) ? -1 : collect(x, m, part, &l);
    /* [part] 1: some node of the part gets its split by name */
    uint8_t *used = arena_alloc(x->a, json_array_size(parts) + 1);
    for (int64_t i = 0; i < n; i++)
        used[l[i].part] = 1;
    for (size_t k = 0; n >= 0 && k < json_array_size(parts); k++)
        if (!used[k]) {
            diag_error(x->diag, "%s: --for=olive: %s has no node that says its part by its name",
                       x->name, json_get_text(json_array_get(parts, k), "file"));
            return NULL;
        }
    return n < 0 || choose_keys(x, l, (uint32_t)n) ? NULL : assignments_text(x, l, (uint32_t)n);
}

/* Refuses a plan that no assignments by names describe.  Returns 0, or -1 and an error. */
static int check_olive(const struct export_folder *x)
{
    return make_assignments(x) ? 0 : -1;
}

/* Makes split_assignments.txt.  Returns 0, or -1 and an error. */
static int write_olive(struct export_folder *x)
{
    const char *text = make_assignments(x);
    return !text || export_text(x, "split_assignments.txt", arena_fmt(x->a, "%s\n", text)) ? -1 : 0;
}

const struct engine_kind engine_olive = {.name = "olive",
                                         .verified_with = "nothing: Olive's source was read",
                                         .pieces = PIECES_SHOWN,
                                         .check = check_olive,
                                         .write = write_olive};
