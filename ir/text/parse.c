/* Parses the textual IR: header, graphs, nodes, functions (grammar: text.md).
 *
 * Recursive descent, but without recursion for bodies: a body does not stand inside the node that owns it, but is a
 * block of its own after that node. A name of a value is looked up in its graph, then in the graph of the node that
 * owns this graph, and so on (at most TEXT_DEPTH steps), in one hash table over (graph, name). Attributes hold labels
 * (struct text_label) of bodies until the end, when finish_bodies() replaces them by graphs. O(text * depth of
 * bodies). */
#include "ir/text/parse.h"

#include <assert.h>

/* The opset of ai.onnx and the ir_version of a text that does not say them. */
enum { USUAL_OPSET = 20, USUAL_IR_VERSION = 10 };

/* Appends v to the list *vec, which has *count entries and memory for *cap. */
static void append_id(struct parser *p, vid **vec, uint32_t *count, uint32_t *cap, vid v)
{
    *vec = vec_grow(p->a, *vec, cap, *count + 1, sizeof **vec);
    (*vec)[(*count)++] = v;
}

/* Adds a value with the name r->name to the graph that is being read; its index goes to *out.  A name of 0 makes a
 * lost value.  Returns 0, or -1 and an error if the graph has a value of that name already. */
static int define_value(struct parser *p, const struct text_result *r, vid *out)
{
    assert(p->graph != 0); /* values belong to a graph */
    uint32_t v = module_add_value(p->m);

    *out = v;
    p->m->value[v].graph = p->graph;
    p->m->value[v].name = r->name;
    if (r->name == 0) {
        p->m->value[v].flags = VALUE_LOST;
        append_id(p, &p->list.lost, &p->list.nlost, &p->list.caplost, v);
        return 0;
    }
    if (text_lookup(p, p->graph, r->name) != 0)
        return text_error(p, r->at, "value '%s' is defined twice in its graph",
                          module_str(p->m, r->name));
    text_bind(p, p->graph, r->name, v);
    return 0;
}

/* Returns the number in the current token, 3 for "%~3"; 0 if no number follows "%~". */
static uint32_t number_of_lost(const struct parser *p)
{
    assert(p->tok.kind == T_LOST);
    uint32_t v = 0;

    for (size_t i = 0; i < p->tok.len; i++) {
        if (p->tok.s[i] < '0' || p->tok.s[i] > '9' || v > UINT32_MAX / 10 - 1)
            return 0;
        v = v * 10 + (uint32_t)(p->tok.s[i] - '0');
    }
    return v;
}

/* Takes the name of a value that is being defined into *r.  pending: number of lost values that the same node has
 * before this one and that are not in p->list.lost yet.  Returns 0, or -1 after an error. */
static int read_new_name(struct parser *p, struct text_result *r, uint32_t pending)
{
    *r = (struct text_result){.at = p->tok.at};
    if (p->tok.kind == T_LOST) {
        if (number_of_lost(p) != p->list.nlost + pending + 1) {
            return text_error(p, p->tok.at, "lost values are numbered in order: expected %%~%u",
                              p->list.nlost + pending + 1);
        }
    } else if (p->tok.kind != T_VALUE) {
        return text_expected(p, "a value (%name)");
    } else if (p->tok.len == 0) {
        return text_error(p, p->tok.at, "the name of a value is not empty");
    } else {
        r->name = str_id_n(p->m, p->tok.s, p->tok.len);
    }
    text_next(p);
    return p->failed ? -1 : 0;
}

/* Looks up the name of a value in the graph that is being read and the graphs around it; writes the value to *out.
 * only: looks in this graph alone; 0: in all of them.  at: position of the name, for errors.  Returns 0, or -1 after an
 * error. */
static int resolve_name(struct parser *p, size_t at, sid name, gid only, vid *out)
{
    assert(p->graph != 0 && only < p->m->ngraph);
    const struct module *m = p->m;
    nid owner = 0;

    for (gid g = p->graph; g != 0; g = owner == 0 ? 0 : m->node[owner].graph) {
        *out = only == 0 || only == g ? text_lookup(p, g, name) : 0;
        if (*out != 0 && owner != 0 && m->value[*out].def >= owner) {
            return text_error(p, at, "value '%s' is defined after node '%s', which owns this body",
                              module_str(m, name), node_name(m, owner));
        }
        if (*out != 0)
            return 0;
        owner = m->graph[g].owner;
    }
    return text_error(p, at, "value '%s' is not defined above", module_str(m, name));
}

/* Reads a value that the text uses, "%x", "%x@main" or "%~1", or "_" for none; its index, or 0, goes to *out.  Returns
 * 0, or -1 and an error. */
static int parse_operand(struct parser *p, vid *out)
{
    size_t at = p->tok.at;
    gid only = 0;

    *out = 0;
    if (text_take_word(p, "_"))
        return 0;
    if (p->tok.kind == T_LOST) {
        uint32_t n = number_of_lost(p);
        if (n == 0 || n > p->list.nlost)
            return text_error(p, at, "there is no such lost value above");
        *out = p->list.lost[n - 1];
        text_next(p);
        return 0;
    }
    if (p->tok.kind != T_VALUE)
        return text_expected(p, "a value (%name) or '_'");
    sid name = str_id_n(p->m, p->tok.s, p->tok.len);
    text_next(p);
    if (p->tok.kind == T_GRAPH) {
        uint32_t l = text_lookup(p, (uint32_t)SPACE_LABELS, str_id_n(p->m, p->tok.s, p->tok.len));
        only = l == 0 ? 0 : p->label[l].graph;
        if (only == 0)
            return text_error(p, p->tok.at, "there is no such graph above");
        text_next(p);
    }
    return p->failed ? -1 : resolve_name(p, at, name, only, out);
}

/* Reads all keys of value v that follow.  Returns 0, or -1 after an error. */
static int parse_value_keys(struct parser *p, vid v)
{
    while (text_is_value_key(p))
        if (text_value_key(p, v) < 0)
            return -1;
    return p->failed ? -1 : 0;
}

/* Reads an input of the graph, after the word "in": "%x : f32[2]" and keys.  Returns 0, or -1 and an error. */
static int parse_in(struct parser *p)
{
    struct text_result r;
    vid v;
    uint32_t type = 0;

    if (read_new_name(p, &r, 0) < 0 || define_value(p, &r, &v) < 0 ||
        (text_take(p, ':') && text_type(p, &type) < 0))
        return -1;
    p->m->value[v].type = type;
    p->m->value[v].flags |= VALUE_INPUT;
    append_id(p, &p->list.in, &p->list.nin, &p->list.capin, v);
    return parse_value_keys(p, v);
}

/* Reads an initializer, after the word "init": "%w : f32[2] = [1.0, 2.0]" and keys.  A name that is an input already
 * makes that input an initializer, too.  Returns 0, or -1 and an error. */
static int parse_init(struct parser *p)
{
    struct text_result r;
    uint32_t type = 0;
    tid t = 0;

    if (read_new_name(p, &r, 0) < 0)
        return -1;
    vid v = r.name == 0 ? 0 : text_lookup(p, p->graph, r.name);
    bool input = v != 0 && (p->m->value[v].flags & (VALUE_INPUT | VALUE_INIT)) == VALUE_INPUT;
    if (!input && define_value(p, &r, &v) < 0)
        return -1;
    size_t at = p->tok.at;
    if (text_take(p, ':')) {
        if (input)
            return text_error(p, at, "the type of an input stands at its 'in' line");
        if (text_type(p, &type) < 0)
            return -1;
        p->m->value[v].type = type;
    }
    if (text_want(p, '=', "'='") < 0 || text_init_tensor(p, p->m->value[v].type, r.name, &t) < 0)
        return -1;
    p->m->value[v].tensor = t;
    p->m->value[v].flags |= VALUE_INIT;
    append_id(p, &p->list.init, &p->list.ninit, &p->list.capinit, v);
    return parse_value_keys(p, v);
}

/* Reads outputs of the graph, after the word "out": "%x, %y".  Returns 0, or -1 and an error. */
static int parse_out(struct parser *p)
{
    do {
        vid v;
        size_t at = p->tok.at;
        if (parse_operand(p, &v) < 0)
            return -1;
        if (v == 0)
            return text_error(p, at, "an output of a graph is a value");
        if (p->m->value[v].graph == p->graph)
            p->m->value[v].flags |= VALUE_OUTPUT;
        append_id(p, &p->list.out, &p->list.nout, &p->list.capout, v);
    } while (text_take(p, ','));
    return p->failed ? -1 : 0;
}

/* Reads the names before the '=' of a node, "%a, _, %b" or "()", into p->list.res.  The values are made later, by
 * parse_results(), so that the node cannot read its own results.  Returns 0, or -1 and an error. */
static int parse_result_names(struct parser *p)
{
    uint32_t lost = 0;

    p->list.nres = 0;
    if (text_take(p, '('))
        return text_want(p, ')', "')'");
    do {
        p->list.res =
            vec_grow(p->a, p->list.res, &p->list.capres, p->list.nres + 1, sizeof *p->list.res);
        struct text_result *r = &p->list.res[p->list.nres++];
        if (text_take_word(p, "_"))
            *r = (struct text_result){.omitted = true};
        else if (read_new_name(p, r, lost) < 0)
            return -1;
        else
            lost += r->name == 0;
    } while (text_take(p, ','));
    return p->failed ? -1 : 0;
}

/* Reads "Conv", "com.microsoft:Foo" or "domain:Foo:overload" into *domain, *op and *overload; each part may be in
 * quotes. Parts that are missing, and the domain ai.onnx without quotes, are 0. Returns 0, or -1 and an error. */
static int parse_operator_name(struct parser *p, sid *domain, sid *op, sid *overload)
{
    sid part[3] = {0};
    uint32_t k = 0;
    bool bare = p->tok.kind == T_WORD && text_is(p, "ai.onnx");

    do {
        if (text_name(p, &part[k++], "an operator") < 0)
            return -1;
    } while (k < 3 && text_take(p, ':'));
    *op = k == 1 ? part[0] : part[1];
    *domain = k > 1 && !bare ? part[0] : 0;
    *overload = part[2];
    return 0;
}

/* Reads the operator of node n into its domain, op and overload.  Returns 0, or -1 and an error. */
static int parse_operator(struct parser *p, nid n)
{
    struct node *x = &p->m->node[n];

    return parse_operator_name(p, &x->domain, &x->op, &x->overload);
}

/* Reads the operands of node n: "(%a, _ | %captured)"; operands that only its bodies read stand behind the bar.
 * Returns 0, or -1 and an error. */
static int parse_operands(struct parser *p, nid n)
{
    struct slice in = {p->m->narg, 0};
    uint32_t formal = UINT32_MAX; /* number of operands before the bar; UINT32_MAX: no bar so far */

    if (text_want(p, '(', "'('") < 0)
        return -1;
    for (;;) {
        vid v;
        if (formal == UINT32_MAX && text_take(p, '|'))
            formal = in.n;
        else if (p->tok.kind == ')' && in.n == 0) /* "()": no operands */
            break;
        if (parse_operand(p, &v) < 0)
            return -1;
        module_add_args(p->m, &v, 1);
        in.n++;
        if (p->tok.kind != '|' && !text_take(p, ','))
            break;
    }
    p->m->node[n].in = in;
    p->m->node[n].nformal = formal == UINT32_MAX ? in.n : formal;
    return text_want(p, ')', "',', '|' or ')'");
}

/* Makes the values in p->list.res results of node n; reads nothing.  Returns 0, or -1 and an error. */
static int parse_results(struct parser *p, nid n)
{
    assert(n > 0 && n < p->m->nnode);
    struct slice out = {p->m->narg, p->list.nres};

    for (uint32_t i = 0; i < p->list.nres; i++) {
        vid v = 0;
        if (!p->list.res[i].omitted && define_value(p, &p->list.res[i], &v) < 0)
            return -1;
        if (v != 0) {
            p->m->value[v].def = n;
            p->m->value[v].outno = i;
        }
        module_add_args(p->m, &v, 1);
    }
    p->m->node[n].out = out;
    return 0;
}

/* Reads "f32[2] !bytes=8B, _, ?": the type and the keys of each result of node n, after ':'.  Returns 0, or -1 and an
 * error. */
static int parse_result_types(struct parser *p, nid n)
{
    const struct slice out = p->m->node[n].out;

    for (uint32_t i = 0; i < out.n; i++) {
        vid v = p->m->arg[out.at + i];
        uint32_t type = 0;
        if (i > 0 && text_want(p, ',', "',' and the type of the next result") < 0)
            return -1;
        if (v == 0) {
            if (!text_take_word(p, "_"))
                return text_expected(p, "'_', for the result is omitted");
            continue;
        }
        if (!text_is_value_key(p) && text_type(p, &type) < 0)
            return -1;
        p->m->value[v].type = type;
        if (parse_value_keys(p, v) < 0)
            return -1;
    }
    return 0;
}

/* Reads what may follow the attributes of node n: types of its results, its name, keys.  Returns 0, or -1 and an
 * error. */
static int parse_node_tail(struct parser *p, nid n)
{
    const struct slice out = p->m->node[n].out;

    if (text_take(p, ':') && parse_result_types(p, n) < 0)
        return -1;
    for (;;) {
        if (text_take_word(p, "name")) {
            if (text_want(p, '=', "'='") < 0 || text_string(p, &p->m->node[n].name, "a string") < 0)
                return -1;
        } else if (text_is_value_key(p)) {
            if (out.n != 1 || p->m->arg[out.at] == 0)
                return text_error(p, p->tok.at,
                                  "the node has not one result: say this after a type");
            if (text_value_key(p, p->m->arg[out.at]) < 0)
                return -1;
        } else if (p->tok.kind == T_KEY) {
            if (text_node_key(p, n) < 0)
                return -1;
        } else {
            return p->failed ? -1 : 0;
        }
    }
}

/* Returns the name of node n if the text gives none: the name of its first result, in bodies after the graph's name
 * and '.'; without a first result "op_N", N being n. */
static sid make_default_name(struct parser *p, nid n)
{
    sid first = p->list.nres > 0 ? p->list.res[0].name : 0;

    if (first == 0)
        return str_id(p->m, arena_fmt(p->a, "op_%u", n));
    return p->graph == 1
               ? first
               : str_id(p->m, arena_fmt(p->a, "%s.%s", module_str(p->m, p->m->graph[p->graph].name),
                                        module_str(p->m, first)));
}

/* Reads the attributes "{...}" of node n, if it has any.  Returns 0, or -1 and an error. */
static int parse_attributes(struct parser *p, nid n)
{
    struct slice all = {0, 0};

    if (p->tok.kind == '{' && text_attrs(p, n, &all) < 0)
        return -1;
    p->m->node[n].attr = all;
    return 0;
}

/* Reads a node, one line such as "%a = Gemm(%x, %y) {alpha=1.0} : f32[2] name=\"a\"".  Returns 0, or -1 and an
 * error. */
static int parse_node(struct parser *p)
{
    nid n = module_add_node(p->m);
    size_t at = p->tok.at;

    p->m->node[n].graph = p->graph;
    if (parse_result_names(p) < 0 || text_want(p, '=', "'='") < 0 || parse_operator(p, n) < 0 ||
        parse_operands(p, n) < 0 || parse_attributes(p, n) < 0 || parse_results(p, n) < 0 ||
        parse_node_tail(p, n) < 0)
        return -1;
    sid name = p->m->node[n].name == 0 ? make_default_name(p, n) : p->m->node[n].name;
    p->m->node[n].name = name;
    if (text_lookup(p, (uint32_t)SPACE_NODES, name) != 0)
        return text_error(p, at, "two nodes are named '%s' (say name=\"...\")",
                          module_str(p->m, name));
    text_bind(p, (uint32_t)SPACE_NODES, name, n);
    return 0;
}

/* Sets the owner of graph g: the node that mentioned the graph's label, number l (l is 0: no node mentioned it).  If
 * "of" and a name follow, they must name that node.  Checks that bodies are not nested too deep.  at: position for
 * errors. Returns 0, or -1 and an error. */
static int parse_graph_owner(struct parser *p, gid g, uint32_t l, size_t at)
{
    nid owner = l == 0 ? 0 : p->label[l].owner;
    uint32_t depth = 0;

    if (text_take_word(p, "of")) {
        size_t here = p->tok.at;
        sid name;
        if (text_string(p, &name, "the name of a node, quoted") < 0)
            return -1;
        nid n = text_lookup(p, (uint32_t)SPACE_NODES, name);
        if (n == 0 || n != owner) {
            return text_error(p, here,
                              n == 0 ? "there is no node '%s' above"
                                     : "node '%s' does not own this graph",
                              module_str(p->m, name));
        }
    }
    assert(g > 1 || owner == 0); /* no node stands before the first graph */
    if (g > 1 && owner == 0)
        return text_error(p, at, "this graph is the body of no node above");
    p->m->graph[g].owner = owner;
    for (nid n = owner; n != 0; n = p->m->graph[p->m->node[n].graph].owner)
        if (++depth > TEXT_DEPTH)
            return text_error(p, at, "bodies are nested more than %d deep", TEXT_DEPTH);
    return 0;
}

/* Reads label, owner and name of graph g up to its '{': "@then of \"if1\" name=\"body\" {".  Returns 0, or -1 and an
 * error. */
static int parse_graph_head(struct parser *p, gid g)
{
    size_t at = p->tok.at;
    sid name = str_id(p->m, "main");

    if (p->tok.kind == T_GRAPH) {
        name = str_id_n(p->m, p->tok.s, p->tok.len);
        text_next(p);
    } else if (g > 1) {
        return text_expected(p, "the label of the graph (@name)");
    }
    uint32_t l = text_lookup(p, (uint32_t)SPACE_LABELS, name);
    if (l != 0 && p->label[l].graph != 0)
        return text_error(p, at, "graph @%s is defined twice", module_str(p->m, name));
    if (parse_graph_owner(p, g, l, at) < 0)
        return -1;
    if (l == 0) {
        l = p->nlabel++;
        p->label = vec_grow(p->a, p->label, &p->caplabel, p->nlabel, sizeof *p->label);
        p->label[l].name = name;
        text_bind(p, (uint32_t)SPACE_LABELS, name, l);
    }
    p->label[l].graph = g;
    if (text_take_word(p, "name") &&
        (text_want(p, '=', "'='") < 0 || text_string(p, &name, "a string") < 0))
        return -1;
    p->m->graph[g].name = name;
    return text_about(p, &p->m->graph[g].about) < 0 ? -1 : text_want(p, '{', "'{'");
}

/* Reads a graph, after the word "graph": "@g2 of \"if1\" { ... }", with a line for each input, initializer, node and
 * output.  Returns 0, or -1 and an error. */
static int parse_graph(struct parser *p)
{
    gid g = module_add_graph(p->m);

    p->graph = g;
    p->list.nin = p->list.ninit = p->list.nout = 0;
    p->m->graph[g].first = p->m->nnode;
    if (parse_graph_head(p, g) < 0)
        return -1;
    while (p->tok.kind != '}') {
        int rc;
        if (text_take_word(p, "in"))
            rc = parse_in(p);
        else if (text_take_word(p, "init"))
            rc = parse_init(p);
        else if (text_take_word(p, "out"))
            rc = parse_out(p);
        else if (p->tok.kind == T_VALUE || p->tok.kind == T_LOST || p->tok.kind == '(' ||
                 text_is(p, "_"))
            rc = parse_node(p);
        else
            rc = text_expected(p, "'in', 'init', 'out', a node or '}'");
        if (rc < 0 || diag_stopped(p->diag))
            return -1;
    }
    p->m->graph[g].count = p->m->nnode - p->m->graph[g].first;
    p->m->graph[g].in = module_add_args(p->m, p->list.in, p->list.nin);
    p->m->graph[g].init = module_add_args(p->m, p->list.init, p->list.ninit);
    p->m->graph[g].out = module_add_args(p->m, p->list.out, p->list.nout);
    return text_want(p, '}', "'}'");
}

/* Reads "ai.onnx 18", an opset, or "none", after the word "opset".  Returns 0, or -1 and an error. */
static int parse_opset(struct parser *p)
{
    sid domain = 0;
    int64_t version;

    p->has_opset = true;
    if (text_take_word(p, "none"))
        return 0;
    if (!text_take_word(p, "ai.onnx") && text_name(p, &domain, "a domain") < 0)
        return -1;
    if (text_int(p, INT64_MIN, INT64_MAX, &version, "a version") < 0)
        return -1;
    module_add_opset(p->m, domain, version);
    return text_about(p, &p->m->opset[p->m->nopset - 1].about);
}

/* Reads a file with weights, after the word "file": "1 \"model.onnx\" size=123 location=\"w.bin\"".  Returns 0, or -1
 * and an error. */
static int parse_file(struct parser *p)
{
    uint64_t number;
    size_t at = p->tok.at;

    if (text_uint(p, UINT32_MAX, &number, "the number of the file") < 0)
        return -1;
    if (number != p->m->nfile)
        return text_error(p, at, "files are numbered in order: expected %u", p->m->nfile);
    uint32_t f = module_add_file(p->m);
    if (text_string(p, &p->m->file[f].path, "the path of the file, quoted") < 0)
        return -1;
    if (text_take_word(p, "size") &&
        (text_want(p, '=', "'='") < 0 ||
         text_uint(p, UINT64_MAX, &p->m->file[f].size, "the size of the file") < 0))
        return -1;
    if (text_take_word(p, "location") &&
        (text_want(p, '=', "'='") < 0 || text_string(p, &p->m->file[f].location, "a string") < 0))
        return -1;
    return p->failed ? -1 : 0;
}

/* Reads the version of the grammar, after the word "pcc".  Returns 0, or -1 and an error. */
static int parse_version(struct parser *p)
{
    int64_t v;

    return text_int(p, 1, 1, &v, "the version of the text, 1");
}

/* Reads the path that the module was first read from, after the word "path".  Returns 0, or -1 and an error. */
static int parse_path(struct parser *p)
{
    p->has_path = true;
    return text_string(p, &p->m->path, "a string");
}

/* Reads the model's ir_version, after that word.  Returns 0, or -1 and an error. */
static int parse_ir_version(struct parser *p)
{
    return text_int(p, INT64_MIN, INT64_MAX, &p->m->ir_version, "a number");
}

/* Reads documentation and metadata of the model, after the word "about".  Returns 0, or -1 and an error. */
static int parse_about(struct parser *p)
{
    return text_about(p, &p->m->own_about);
}

/* Replaces labels in attributes by graphs, when all graphs have been read.  Returns 0, or -1 and an error for a label
 * without a graph. */
static int finish_bodies(struct parser *p)
{
    struct module *m = p->m;

    for (uint32_t l = 1; l < p->nlabel; l++) {
        if (p->label[l].graph == 0) {
            return text_error(p, p->label[l].at, "graph @%s is not defined",
                              module_str(m, p->label[l].name));
        }
    }
    for (uint32_t i = 1; i < m->nattr; i++) {
        const struct attr *a = &m->attr[i];
        if (a->ref != 0)
            continue;
        if (a->kind == ATTR_GRAPH)
            m->attr[i].u.g = p->label[a->u.g].graph;
        for (uint32_t k = 0; a->kind == ATTR_GRAPHS && k < a->u.list.n; k++)
            m->refs[a->u.list.at + k] = p->label[m->refs[a->u.list.at + k]].graph;
    }
    return 0;
}

/* ---- functions ---- */

/* Returns a string that is different for each function, which text_bind() stores in the name space SPACE_FUNCTIONS. */
static sid make_function_key(struct parser *p, sid domain, sid name, sid overload)
{
    return str_id(p->m, arena_fmt(p->a, "%u:%u:%u", domain, name, overload));
}

/* Reads one statement of a function's body: opset, graph, attribute or default.  Returns 0, or -1 and an error. */
static int parse_function_item(struct parser *p, struct function *f)
{
    sid name;

    if (text_take_word(p, "opset"))
        return parse_opset(p);
    if (text_take_word(p, "graph"))
        return parse_graph(p);
    if (text_take_word(p, "default"))
        return text_attrs(p, 0, &f->give);
    if (!text_take_word(p, "attribute"))
        return text_expected(p, "'opset', 'attribute', 'default', 'graph' or '}'");
    if (text_string(p, &name, "the name of an attribute, quoted") < 0)
        return -1;
    struct slice s = module_add_sids(p->m, &name, 1);
    if (f->need.n > 0 && f->need.at + f->need.n != s.at)
        return text_error(p, p->tok.at, "'attribute' lines stand together, before the graphs");
    if (f->need.n == 0)
        f->need.at = s.at;
    f->need.n++;
    return 0;
}

/* Reads the statements up to '}' and finishes the body.  p is the function's own parser, since names and labels of a
 * function are private to it.  Returns 0, or -1 and an error. */
static int parse_function_body(struct parser *p, struct function *f)
{
    while (p->tok.kind != '}') {
        if (parse_function_item(p, f) < 0)
            return -1;
    }
    if (p->m->ngraph < 2)
        return text_expected(p, "a graph");
    if (!p->has_opset)
        module_add_opset(p->m, 0, USUAL_OPSET);
    if (p->facts.has_cost || p->facts.has_color || p->facts.has_layer || p->facts.has_backward ||
        p->facts.has_device || p->facts.has_slot || p->facts.has_shard)
        return text_error(p, p->tok.at,
                          "the nodes and values of functions have no costs and facts");
    return finish_bodies(p);
}

/* Reads a function, after the word "function", with a second parser for its body.  Returns 0, or -1 and an error. */
static int parse_function(struct parser *p)
{
    size_t at = p->tok.at;
    uint32_t id = module_add_function(p->m);
    struct function f = {.body = p->m->function[id].body};

    if (parse_operator_name(p, &f.domain, &f.name, &f.overload) < 0)
        return -1;
    sid key = make_function_key(p, f.domain, f.name, f.overload);
    if (text_lookup(p, (uint32_t)SPACE_FUNCTIONS, key) != 0)
        return text_error(p, at, "the function is defined twice");
    text_bind(p, (uint32_t)SPACE_FUNCTIONS, key, id);
    struct parser inner = {.m = f.body, .nlabel = 1};
    text_move(&inner, p);
    int rc = text_about(&inner, &f.about) < 0 || text_want(&inner, '{', "'{'") < 0
                 ? -1
                 : parse_function_body(&inner, &f);
    text_move(p, &inner);
    p->m->function[id] = f;
    return rc < 0 ? -1 : text_want(p, '}', "'}'");
}

/* Sets node.callee of each node of m whose operator is a function of the model, and the flag NODE_CALL. */
static void resolve_calls(struct parser *p, struct module *m)
{
    for (nid n = 1; n < m->nnode; n++) {
        struct node *x = &m->node[n];
        x->callee = text_lookup(p, (uint32_t)SPACE_FUNCTIONS,
                                make_function_key(p, x->domain, x->op, x->overload));
        x->flags |= x->callee != 0 ? (uint32_t)NODE_CALL : 0;
    }
}

/* Finishes the functions at the end of the text: gives them the model's files, and resolves the calls in the model and
 * in its functions. */
static void finish_functions(struct parser *p)
{
    if (p->m->nfunction == 0)
        return;
    module_share_files(p->m);
    resolve_calls(p, p->m);
    for (uint32_t f = 1; f < p->m->nfunction; f++)
        resolve_calls(p, p->m->function[f].body);
}

/* ---- the module ---- */

/* Reads all statements of the text.  Returns 0, or -1 after an error. */
static int parse_statements(struct parser *p)
{
    static const struct {
        const char *word;
        int (*parse)(struct parser *);
    } table[] = {
        {"pcc", parse_version}, {"path", parse_path},      {"ir_version", parse_ir_version},
        {"opset", parse_opset}, {"file", parse_file},      {"cluster", text_cluster},
        {"class", text_class},  {"between", text_between}, {"costs", text_costs},
        {"graph", parse_graph}, {"plan", text_plan},       {"function", parse_function},
        {"about", parse_about}};

    while (p->tok.kind != T_END) {
        size_t i = 0, n = sizeof table / sizeof *table;
        while (i < n && !(p->tok.kind == T_WORD && text_is(p, table[i].word)))
            i++;
        if (i == n) {
            return text_expected(
                p,
                "'graph', 'function', 'opset', 'file', 'cluster', 'class', 'between', 'costs', 'plan', "
                "'about', 'path' or 'ir_version'");
        }
        if (p->plan != NULL)
            return text_error(p, p->tok.at, "nothing follows the plan");
        if (p->cluster == NULL) /* place of the statement, in case it makes the cluster */
            p->cluster_at = p->tok.at;
        text_next(p);
        if (table[i].parse(p) < 0 || p->failed)
            return -1;
    }
    return p->m->ngraph > 1 ? 0 : text_error(p, p->tok.at, "expected a graph");
}

int module_parse(struct text_module *out, const struct named_text *in, struct arena *of,
                 struct diag *d)
{
    assert(in->name && (in->text || in->n == 0));
    struct parser p = {.src = in->text,
                       .n = in->n,
                       .path = in->name,
                       .diag = d,
                       .nlabel = 1,
                       .model = {.kinds = in->kinds, .part_cost = -1 /* not said */}};

    *out = (struct text_module){0};
    if (in->n > INT32_MAX)
        return diag_error(d, "%s: a text of more than 2 GiB", in->name);
    p.a = arena_new(of);
    p.m = module_new(of, d);
    p.m->ir_version = USUAL_IR_VERSION;
    text_next(&p);
    int rc = parse_statements(&p);
    rc = rc < 0 || finish_bodies(&p) < 0 || text_finish_facts(&p) < 0 ? -1 : 0;
    finish_functions(&p);
    if (!p.has_path)
        p.m->path = str_id(p.m, in->name);
    if (!p.has_opset)
        module_add_opset(p.m, 0, USUAL_OPSET);
    if (p.model.part_cost < 0)
        p.model.part_cost = exec_usual_part_cost(p.m->cost != NULL);
    p.model.by_nodes = p.m->cost != NULL;
    arena_free(p.a);
    if (rc < 0) {
        arena_free(p.m->mem);
        return -1;
    }
    *out = (struct text_module){.scene = {.m = p.m, .cluster = p.cluster, .model = p.model},
                                .plan = p.plan};
    return 0;
}
