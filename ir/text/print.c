/* Prints the textual IR: header, graphs, nodes, costs, plan (grammar: text.md).
 *
 * There is one line per input, initializer, node and output.  Defaults are left out, and nothing depends on addresses
 * or on the layout of the module's arrays, so equal modules print alike.  Values are printed by name.  If a graph
 * between reader and value has a value of the same name, the graph is added ("%x@main"); a sorted list of (graph,
 * name) finds such values.  O(m log m) for a module with m nodes, values and operands. */
#include "ir/text/print.h"

#include "ir/text/parse.h"
#include "ir/base/units.h"
#include "ir/cluster/kernel_rates.h"
#include "ir/plan/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Writes a value without a name: "%~1". */
static void put_lost(struct printer *p, vid v)
{
    fprintf(p->f, "%%~%u", p->lost[v]);
}

/* Writes the name of value v where it is defined, and numbers it if it has no name; "_" if v is 0. */
static void put_definition(struct printer *p, vid v)
{
    if (v == 0) {
        text_put(p, "_");
    } else if (p->m->value[v].name == 0) {
        if (p->lost[v] == 0)
            p->lost[v] = ++p->nlost;
        put_lost(p, v);
    } else {
        text_put_value_name(p, value_name(p->m, v));
    }
}

/* Makes the tables of names in p: `lost`, and `defined` if the module has bodies. */
static void collect_names(struct printer *p)
{
    const struct module *m = p->m;

    p->lost = arena_array(p->a, m->nval, sizeof *p->lost);
    if (m->ngraph <= 2) /* entry 0 and the main graph: there are no bodies */
        return;
    p->defined = arena_array(p->a, m->nval, sizeof *p->defined);
    for (vid v = 1; v < m->nval; v++)
        p->defined[p->ndefined++] = (uint64_t)m->value[v].graph << 32 | m->value[v].name;
    qsort(p->defined, p->ndefined, sizeof *p->defined, by_u64);
}

/* Writes value v where graph g uses it: "%x"; "%x@main" if a graph in between has another %x; "%~1" for a lost value;
 * "_" for none (0). */
static void put_value(struct printer *p, vid v, gid g)
{
    const struct module *m = p->m;
    /* a graph from g outwards, before the value's own graph, has a value of the same name */
    bool hidden = false;

    if (v == 0) {
        text_put(p, "_");
        return;
    }
    const struct value *x = &m->value[v];
    if (x->name == 0) {
        put_lost(p, v);
        return;
    }
    for (uint32_t depth = 0; g != x->graph && g != 0 && !hidden && depth <= TEXT_DEPTH; depth++) {
        uint64_t key = (uint64_t)g << 32 | x->name;
        hidden =
            p->ndefined > 0 && bsearch(&key, p->defined, p->ndefined, sizeof key, by_u64) != NULL;
        g = m->node[m->graph[g].owner].graph;
    }
    text_put_value_name(p, module_str(m, x->name));
    if (hidden)
        text_put_label(p, x->graph);
}

/* Writes a time, ps; COST_NEVER as "never". */
static void put_time(const struct printer *p, int64_t ps)
{
    char buf[UNIT_TEXT];

    text_put(p, ps == COST_NEVER ? "never" : time_print(buf, ps));
}

void text_put_count(const struct printer *p, const char *key, int64_t n, const char *units)
{
    /* units: a letter for each power of 1000; units[0] stands for n itself */
    assert(key && units[0] != '\0');
    int u = 0;

    while (n != 0 && n % 1000 == 0 && units[u + 1] != '\0') {
        n /= 1000;
        u++;
    }
    fprintf(p->f, "%s%lld", key, (long long)n);
    if (u > 0)
        putc(units[u], p->f);
}

/* Writes `key`, such as " memory=", and a size in bytes with its unit. */
static void put_bytes(const struct printer *p, const char *key, int64_t b)
{
    char buf[UNIT_TEXT];

    fprintf(p->f, "%s%s", key, bytes_print(buf, b));
}

void text_put_rate(const struct printer *p, const char *key, int64_t bps)
{
    char buf[UNIT_TEXT];

    fprintf(p->f, "%s%s", key, rate_print(buf, bps));
}

/* Writes the keys of value v: " !typed" if the model lists its type in value_info, and its sizes and the time of its
 * transfer, " !bytes=8B !elems=2 !xfer=1us", as far as they are known. */
static void put_value_facts(struct printer *p, vid v)
{
    const struct costs *k = p->m->cost;

    if (v != 0 && (p->m->value[v].flags & VALUE_TYPED) != 0)
        text_put(p, " !typed");
    if (k == NULL || v == 0)
        return;
    if (k->bytes != NULL && k->bytes[v] != 0)
        put_bytes(p, " !bytes=", k->bytes[v]);
    if (k->elems != NULL && k->elems[v] >= 0)
        text_put_count(p, " !elems=", k->elems[v], " kMGT");
    if (k->xfer != NULL && k->xfer[v] >= 0) {
        text_put(p, " !xfer=");
        put_time(p, k->xfer[v]);
    }
}

/* Writes `key`, such as " !time=", and the times of node n on the ncls classes, a single one if all are the same;
 * writes nothing if all are 0. */
static void put_node_times(struct printer *p, const char *key, int64_t *const *time, uint32_t ncls,
                           nid n)
{
    bool any = false, same = true;

    for (uint32_t c = 0; c < ncls; c++) {
        any |= time[c][n] != 0;
        same &= time[c][n] == time[0][n];
    }
    if (!any)
        return;
    text_put(p, key);
    text_put(p, same ? "" : "[");
    for (uint32_t c = 0; c < (same ? 1 : ncls); c++) {
        text_put(p, c > 0 ? "," : "");
        put_time(p, time[c][n]);
    }
    text_put(p, same ? "" : "]");
}

/* Writes the keys for the costs of node n: " !time=4us !flops=2M"; costs of 0 are left out. */
static void put_node_costs(struct printer *p, nid n)
{
    const struct costs *k = p->m->cost;

    put_node_times(p, " !time=", k->measured ? &k->measured : k->time, k->measured ? 1 : k->nclass,
                   n);
    if (k->flops != NULL && k->flops[n] != 0)
        text_put_count(p, " !flops=", k->flops[n], " kMGT");
    if (k->traffic != NULL && k->traffic[n] != 0)
        put_bytes(p, " !traffic=", k->traffic[n]);
    if (k->own != NULL && k->own[n] != 0)
        put_bytes(p, " !own=", k->own[n]);
    if (k->overhead != NULL)
        put_node_times(p, " !overhead=", k->overhead, k->nclass, n);
    if (k->params != NULL && k->params[n] != 0)
        put_bytes(p, " !params=", k->params[n]);
}

/* Writes all keys of node n: costs, facts of profiles and annotations, flags, documentation. */
static void put_node_facts(struct printer *p, nid n)
{
    const struct module *m = p->m;

    if (m->cost != NULL)
        put_node_costs(p, n);
    if (m->color != NULL && m->color[n] != 0)
        fprintf(p->f, " !color=%u", m->color[n]);
    if (m->layer != NULL && m->layer[n] != 0)
        fprintf(p->f, " !layer=%u", m->layer[n]);
    text_put(p, m->backward != NULL && m->backward[n] != 0 ? " !backward" : "");
    if (m->device_ann != NULL && m->device_ann[n] != 0) {
        text_put(p, " !device=");
        text_put_name(p, module_str(m, m->device_ann[n]));
    }
    if (m->shard_ann != NULL && m->shard_ann[n] != 0) {
        text_put(p, " !shard=");
        text_put_quoted(p, module_str(m, m->shard_ann[n]));
    }
    if (m->slot_ann != NULL && m->slot_ann[n] != 0)
        fprintf(p->f, " !slot=%u", m->slot_ann[n]);
    text_put(p, m->node[n].flags & NODE_UNNAMED ? " !unnamed" : "");
    text_put(p, m->node[n].flags & NODE_LOST ? " !lost" : "");
    text_put(p, m->node[n].flags & NODE_MADE ? " !made" : "");
    if (m->node[n].made_from != 0) {
        text_put(p, " !from=");
        text_put_quoted(p, module_str(m, m->node[n].made_from));
    }
    /* without a key, the parser sees which nodes call functions of the model */
    text_put(p, (m->node[n].flags & NODE_CALL) != 0 && m->node[n].callee == 0 ? " !call" : "");
    text_put_about(p, m->node[n].about);
}

/* Writes "domain:op:overload"; domain and overload, if 0, are left out. */
static void put_operator(struct printer *p, sid domain, sid op, sid overload)
{
    if (domain != 0 || overload != 0) {
        if (strcmp(module_str(p->m, domain), "ai.onnx") == 0)
            text_put(p, "\"ai.onnx\""); /* without quotes it would be domain 0 */
        else
            text_put_name(p, module_str(p->m, domain));
        text_put(p, ":");
    }
    text_put_name(p, module_str(p->m, op));
    if (overload != 0) {
        text_put(p, ":");
        text_put_name(p, module_str(p->m, overload));
    }
}

/* Writes the operands of node n: "(%a, _ | %captured)"; operands that only its bodies read stand behind the bar. */
static void put_operands(struct printer *p, const struct node *n)
{
    text_put(p, "(");
    for (uint32_t i = 0; i < n->in.n; i++) {
        if (i == n->nformal)
            text_put(p, i > 0 ? " | " : "| ");
        else
            text_put(p, i > 0 ? ", " : "");
        put_value(p, p->m->arg[n->in.at + i], n->graph);
    }
    text_put(p, ")");
}

/* Whether value v has a type or a key. */
static bool has_type_or_key(const struct module *m, vid v)
{
    const struct costs *k = m->cost;

    if (m->type[m->value[v].type].kind != TYPE_NONE || (m->value[v].flags & VALUE_TYPED) != 0)
        return true;
    return k != NULL &&
           ((k->bytes != NULL && k->bytes[v] != 0) || (k->elems != NULL && k->elems[v] >= 0) ||
            (k->xfer != NULL && k->xfer[v] >= 0));
}

/* Writes " : f32[2] !bytes=8B, ?", types and keys of the results, unless none has a type or key. */
static void put_result_types(struct printer *p, const struct node *n)
{
    const struct module *m = p->m;
    bool any = false;

    for (uint32_t i = 0; i < n->out.n; i++) {
        vid v = m->arg[n->out.at + i];
        any = any || (v != 0 && has_type_or_key(m, v));
    }
    for (uint32_t i = 0; any && i < n->out.n; i++) {
        vid v = m->arg[n->out.at + i];
        text_put(p, i > 0 ? ", " : " : ");
        if (v == 0) {
            text_put(p, "_");
        } else {
            text_put_type(p, m->value[v].type);
            put_value_facts(p, v);
        }
    }
}

/* Whether node n has the name that the parser would give it: the name of its first result, in bodies "graph.result".
 * first: the first result; 0: there is none. */
static bool has_default_name(const struct module *m, const struct node *n, vid first)
{
    assert(first < m->nval);
    const char *s = module_str(m, n->name), *g = module_str(m, m->graph[n->graph].name);
    size_t k = strlen(g);
    sid result = m->value[first].name;

    if (result == 0)
        return false;
    if (n->graph == 1)
        return n->name == result;
    return strncmp(s, g, k) == 0 && s[k] == '.' && strcmp(s + k + 1, value_name(m, first)) == 0;
}

/* Writes the line of a node: "  %a = Gemm(%x, %y) {alpha=1.0} : f32[2] name=\"a\"". */
static void put_node(struct printer *p, nid id)
{
    const struct module *m = p->m;
    const struct node *n = &m->node[id];
    vid first = node_out(m, id, 0);

    text_put(p, n->out.n == 0 ? "  ()" : "  ");
    for (uint32_t i = 0; i < n->out.n; i++) {
        text_put(p, i > 0 ? ", " : "");
        put_definition(p, m->arg[n->out.at + i]);
    }
    text_put(p, " = ");
    put_operator(p, n->domain, n->op, n->overload);
    put_operands(p, n);
    for (uint32_t i = 0; i < n->attr.n; i++) {
        text_put(p, i > 0 ? ", " : " {");
        text_put_attr(p, &m->attr[n->attr.at + i]);
    }
    text_put(p, n->attr.n > 0 ? "}" : "");
    put_result_types(p, n);
    if (!has_default_name(m, n, first)) {
        text_put(p, " name=");
        text_put_quoted(p, module_str(m, n->name));
    }
    put_node_facts(p, id);
    text_put(p, "\n");
}

/* Writes the lines of the inputs and initializers of graph g: " in %x : f32[2]", " init %w : f32[2] = [1.0, 2.0]". If
 * an initializer is an input, too, its type and keys stand only in the line of the input. */
static void put_inputs(struct printer *p, const struct graph *g)
{
    const struct module *m = p->m;

    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = m->arg[g->in.at + i];
        text_put(p, "  in ");
        put_definition(p, v);
        text_put(p, " : ");
        text_put_type(p, m->value[v].type);
        put_value_facts(p, v);
        text_put(p, "\n");
    }
    for (uint32_t i = 0; i < g->init.n; i++) {
        vid v = m->arg[g->init.at + i];
        const struct value *x = &m->value[v];
        text_put(p, "  init ");
        put_definition(p, v);
        if ((x->flags & VALUE_INPUT) == 0) {
            text_put(p, " : ");
            text_put_type(p, x->type);
        }
        text_put(p, " = ");
        text_put_init(p, v);
        if ((x->flags & VALUE_INPUT) == 0)
            put_value_facts(p, v);
        text_put(p, "\n");
    }
}

/* Writes a graph with all its lines: "graph @g2 of \"if1\" {", inputs, initializers, nodes, outputs, "}". */
static void put_graph(struct printer *p, gid id)
{
    const struct module *m = p->m;
    const struct graph *g = &m->graph[id];
    char label[16];

    snprintf(label, sizeof label, id == 1 ? "main" : "g%u", id);
    text_put(p, "\ngraph ");
    text_put_label(p, id);
    if (g->owner != 0) {
        text_put(p, " of ");
        text_put_quoted(p, node_name(m, g->owner));
    }
    if (strcmp(module_str(m, g->name), label) != 0) {
        text_put(p, " name=");
        text_put_quoted(p, module_str(m, g->name));
    }
    text_put_about(p, g->about);
    text_put(p, " {\n");
    put_inputs(p, g);
    for (nid n = g->first; n < g->first + g->count; n++)
        put_node(p, n);
    for (uint32_t i = 0; i < g->out.n; i++) {
        text_put(p, "  out ");
        put_value(p, m->arg[g->out.at + i], id);
        text_put(p, "\n");
    }
    text_put(p, "}\n");
}

/* Writes the line of a class of devices: "class \"acc\" x2 memory=16GiB". */
static void put_class(const struct printer *p, const struct device_class *k)
{
    char buf[UNIT_TEXT];
    bool any = false;

    text_put(p, "class ");
    text_put_quoted(p, k->name != NULL ? k->name : "");
    fprintf(p->f, " x%u%s", k->count, k->host ? " host" : "");
    if (k->memory >= 0)
        put_bytes(p, " memory=", k->memory + k->reserve);
    if (k->reserve > 0)
        put_bytes(p, " reserve=", k->reserve);
    if (k->overhead != 0)
        fprintf(p->f, " overhead=%s", time_print(buf, k->overhead));
    if (k->bandwidth != 0)
        text_put_rate(p, " bandwidth=", k->bandwidth);
    if (k->link_bandwidth != 0 || k->link_latency != 0) {
        text_put_rate(p, " link=", k->link_bandwidth);
        fprintf(p->f, ",%s", time_print(buf, k->link_latency));
    }
    if (k->group != 0)
        fprintf(p->f, " group=%u", k->group);
    if (k->inner_bandwidth != 0 || k->inner_latency != 0) {
        text_put_rate(p, " inner=", k->inner_bandwidth);
        fprintf(p->f, ",%s", time_print(buf, k->inner_latency));
    }
    if (k->inner_share != 0)
        fprintf(p->f, " inner_share=%lld", (long long)k->inner_share);
    for (unsigned e = 1; e < ELEM_COUNT; e++) {
        if (k->peak[e] != 0) {
            text_put(p, any ? ", " : " peak=[");
            text_put(p, elem_name((enum elem)e));
            text_put_count(p, ":", k->peak[e], " kMGT");
            any = true;
        }
    }
    if (k->tf32 != 0) {
        text_put(p, any ? ", " : " peak=[");
        text_put_count(p, "tf32:", k->tf32, " kMGT");
        any = true;
    }
    text_put(p, any ? "]" : "");
    if (k->precision != PRECISION_AS_MODEL)
        fprintf(p->f, " precision=%s", precision_name[k->precision]);
    for (int i = 0; k->kernel[KERNEL_UNITS] != 0 && i < KERNEL_FACTS; i++) {
        text_put(p, i > 0 ? ", " : " kernels=[");
        fprintf(p->f, "%s:%s", kernel_keys[i].name,
                kernel_print(buf, (enum kernel_fact)i, k->kernel[i]));
    }
    text_put(p, k->kernel[KERNEL_UNITS] != 0 ? "]\n" : "\n");
}

/* Writes the line of a link of two devices: "between acc0 acc1=300GB/s,2us". */
static void put_link(const struct printer *p, const struct cluster *c, const struct device_link *l)
{
    char buf[UNIT_TEXT];

    fprintf(p->f, "between %s %s%s", cluster_device_name(c, p->a, l->from),
            cluster_device_name(c, p->a, l->to), l->oneway ? " oneway" : "");
    text_put_rate(p, "=", l->bandwidth);
    fprintf(p->f, ",%s\n", time_print(buf, l->latency));
}

/* Writes a line for each opset of the module, "opset none" if it has none. */
static void put_opsets(const struct printer *p)
{
    const struct module *m = p->m;

    text_put(p, m->nopset <= 1 ? "opset none\n" : "");
    for (uint32_t i = 1; i < m->nopset; i++) {
        const char *domain = module_str(m, m->opset[i].domain);
        text_put(p, "opset ");
        if (m->opset[i].domain == 0)
            text_put(p, "ai.onnx");
        else if (strcmp(domain, "ai.onnx") == 0 || strcmp(domain, "none") == 0)
            text_put_quoted(p, domain); /* without quotes it would be domain 0, or no opset */
        else
            text_put_name(p, domain);
        fprintf(p->f, " %lld", (long long)m->opset[i].version);
        text_put_about(p, m->opset[i].about);
        text_put(p, "\n");
    }
}

/* Writes the statements before functions and graphs; c NULL: there is no cluster. */
static void put_header(const struct printer *p, const struct cluster *c, const struct exec_model *e)
{
    const struct module *m = p->m;

    text_put(p, "pcc 1\npath ");
    text_put_quoted(p, module_str(m, m->path));
    fprintf(p->f, "\nir_version %lld\n", (long long)m->ir_version);
    if (m->own_about != 0) {
        text_put(p, "about");
        text_put_about(p, m->own_about);
        text_put(p, "\n");
    }
    put_opsets(p);
    for (uint32_t i = 1; i < m->nfile; i++) {
        const struct file *f = &m->file[i];
        fprintf(p->f, "file %u ", i);
        text_put_quoted(p, module_str(m, f->path));
        fprintf(p->f, " size=%llu", (unsigned long long)f->size);
        if (f->location != 0) {
            text_put(p, " location=");
            text_put_quoted(p, module_str(m, f->location));
        }
        text_put(p, "\n");
    }
    if (c != NULL) {
        text_put_settings(p, c, e);
        for (uint32_t i = 0; i < c->ncls; i++)
            put_class(p, &c->cls[i]);
        for (uint32_t i = 0; i < c->nlink; i++)
            put_link(p, c, &c->link[i]);
    }
    if (m->cost != NULL && m->cost->measured)
        text_put(p, "costs accelerator");
    else if (m->cost != NULL)
        fprintf(p->f, "costs %u%s", m->cost->nclass, m->cost->overhead != NULL ? " overhead" : "");
    if (m->cost != NULL && m->cost->estimated != 0)
        fprintf(p->f, " estimated=%u", m->cost->estimated);
    text_put(p, m->cost != NULL ? "\n" : "");
}

/* Writes `key`, such as " value=", and a time, ps; a negative time as "none". */
static void put_plan_time(const struct printer *p, const char *key, int64_t ps)
{
    text_put(p, key);
    if (ps < 0)
        text_put(p, "none");
    else
        put_time(p, ps);
}

/* Writes " copies=[2,0,1]" if several devices take turns anywhere in the plan. */
static void put_copies(const struct printer *p, const struct plan *plan, const struct cluster *c)
{
    bool some = false;
    for (uint32_t d = 0; plan->copies && c && d < c->ndev; d++)
        some = some || plan->copies[d] > 1;
    for (uint32_t d = 0; some && d < c->ndev; d++)
        fprintf(p->f, "%s%u", d ? "," : " copies=[", plan->copies[d]);
    text_put(p, some ? "]" : "");
}

/* Writes the plan: its claim, then a line for each node with a device. */
static void put_plan(const struct printer *p, const struct plan *plan, const struct scene *s)
{
    const struct cluster *c = s->cluster;
    text_put(p, "\nplan ");
    text_put_quoted(p, plan->planner != NULL ? plan->planner : "");
    if (plan->claim.objective)
        text_put_choice(p, "objective", exec_kind_of(&s->model, plan->claim.objective)->name);
    text_put_choice(p, "status", plan_status_name(plan->claim.status));
    put_plan_time(p, " value=", plan->claim.value);
    if (plan->claim.bound >= 0)
        put_plan_time(p, " bound=", plan->claim.bound);
    if (plan->claim.scope != SCOPE_ALL)
        text_put_choice(p, "scope", plan_scope_name(plan->claim.scope));
    if (plan->claim.bound_all >= 0)
        put_plan_time(p, " bound_all=", plan->claim.bound_all);
    if (plan->states != 0)
        fprintf(p->f, " states=%llu", (unsigned long long)plan->states);
    if (plan->claim.argument != NULL && plan->claim.argument[0] != '\0') {
        text_put(p, " argument=");
        text_put_quoted(p, plan->claim.argument);
    }
    put_copies(p, plan, c);
    if (plan->stages)
        text_put_stages(p, plan->stages);
    text_put(p, plan->rank ? " ordered {\n" : " {\n");
    uint32_t count;
    const nid *node = plan_order(plan, p->m, p->a, &count);
    for (uint32_t i = 0; i < count; i++) {
        nid n = node[i];
        text_put(p, "  ");
        text_put_quoted(p, node_name(p->m, n));
        if (c != NULL && (uint32_t)plan->dev[n] < c->ndev) {
            struct arena_mark mark = arena_mark(p->a);
            fprintf(p->f, " = %s", cluster_device_name(c, p->a, (uint32_t)plan->dev[n]));
            arena_release(p->a, mark);
        } else {
            fprintf(p->f, " = %d", plan->dev[n]);
        }
        /* the slot before the stage, the order in which the parser reads them */
        if (plan->slot && plan->slot[n])
            fprintf(p->f, " slot=%u", plan->slot[n]);
        if (plan->stage_of && plan->stage_of[n] >= 0)
            fprintf(p->f, " stage=%d", plan->stage_of[n]);
        text_put(p, "\n");
    }
    text_put(p, "}\n");
}

/* Writes function `id` of the module: its opsets, attributes and graphs.  Its body is a module of its own, so it has
 * a printer of its own. */
static void put_function(struct printer *p, uint32_t id)
{
    const struct function *f = &p->m->function[id];
    struct printer q = {.f = p->f, .m = f->body, .a = p->a, .dims = p->dims};
    struct arena_mark mark = arena_mark(p->a);

    text_put(p, "\nfunction ");
    put_operator(p, f->domain, f->name, f->overload);
    text_put_about(&q, f->about);
    text_put(p, " {\n");
    put_opsets(&q);
    for (uint32_t i = 0; i < f->need.n; i++) {
        text_put(p, "attribute ");
        text_put_quoted(p, module_str(p->m, f->body->sids[f->need.at + i]));
        text_put(p, "\n");
    }
    for (uint32_t i = 0; i < f->give.n; i++) {
        text_put(p, i > 0 ? ", " : "default {");
        text_put_attr(&q, &f->body->attr[f->give.at + i]);
    }
    text_put(p, f->give.n > 0 ? "}\n" : "");
    collect_names(&q);
    for (gid g = 1; g < f->body->ngraph; g++)
        put_graph(&q, g);
    text_put(p, "}\n");
    arena_release(p->a, mark);
}

void module_print(FILE *f, const struct scene *s, const struct plan *plan)
{
    assert(f && s->m);
    const struct module *m = s->m;
    const struct cluster *c = s->cluster;
    struct printer p = {.f = f, .m = m, .a = arena_new(m->mem), .dims = module_new(m->mem, NULL)};

    collect_names(&p);
    put_header(&p, c, &s->model);
    for (uint32_t i = 1; i < m->nfunction; i++)
        put_function(&p, i);
    for (gid g = 1; g < m->ngraph; g++)
        put_graph(&p, g);
    if (plan != NULL)
        put_plan(&p, plan, s);
    arena_free(p.dims->mem);
    arena_free(p.a);
}
