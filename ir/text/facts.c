/* Reading the cluster, costs and plan of the textual IR (grammar: text.md).
 *
 * Costs of nodes and values ("!time=[1us,3us]") are collected in p->facts.  At the end of the text, when the number
 * of device classes is known, they are copied to the module's arrays.  O(text + nodes * classes). */
#include "ir/text/parse.h"

#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "ir/cluster/kernel_rates.h"
#include "ir/model/path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int text_quantity(struct parser *p, bool (*parse)(const char *, int64_t *), int64_t *out,
                  const char *what)
{
    assert(parse && what);
    char buf[64];

    if (p->tok.kind != T_NUM || !text_copy(p, buf, sizeof buf) || !parse(buf, out) || *out < 0)
        return text_expected(p, what);
    text_next(p);
    return p->failed ? -1 : 0;
}

/* Takes a time, ps, or the word "never" (COST_NEVER) into *out.  Returns 0, or -1 after an error. */
static int parse_time_or_never(struct parser *p, int64_t *out)
{
    if (text_take_word(p, "never")) {
        *out = COST_NEVER;
        return 0;
    }
    return text_quantity(p, time_parse, out, "a time (1.5us) or 'never'");
}

/* Takes '='.  Returns 0, or -1 and an error if the current token is another one. */
static int expect_assign(struct parser *p)
{
    return text_want(p, '=', "'='");
}

/* Returns p->cluster; if there is none yet, makes an empty one. */
static struct cluster *cluster_of(struct parser *p)
{
    if (p->cluster == NULL) {
        p->cluster = arena_alloc(p->m->mem, sizeof *p->cluster);
    }
    return p->cluster;
}

/* The last error message of cluster_parse(), kept so that it can be shown with its place in the text. */
struct kept_line {
    struct arena *a;
    const char *line;
};

/* A diag.emit function: stores an error message in the struct kept_line at `user`, and ignores warnings and notes. */
static void keep_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    struct kept_line *k = user;

    if (level == DIAG_ERROR)
        k->line = arena_strdup(k->a, line, strlen(line));
}

/* Reads '=' and the quoted levels of links into c.  Returns 0, or -1 after an error. */
static int parse_levels(struct parser *p, struct cluster *c)
{
    static const char what[] = "levels such as \"8:25GB/s,0us/2:3GB/s,0us\"";
    if (expect_assign(p) < 0)
        return -1;
    if (p->tok.kind != T_STR || !cluster_levels_parse(c, arena_strdup(p->a, p->tok.s, p->tok.len)))
        return text_expected(p, what);
    text_next(p);
    return 0;
}

int text_cluster(struct parser *p)
{
    size_t at = p->tok.at;

    if (p->cluster != NULL)
        return text_error(p, at, "the cluster is described already");
    struct cluster *c = cluster_of(p);
    if (p->tok.kind == T_STR) { /* a text must not make pcc read other files */
        if (str_ends(p->tok.s, ".json"))
            return text_error(p, at, "expected a cluster like \"2xa100,1xcpu\", not a file");
        struct kept_line kept = {.a = p->a, .line = "cannot read the cluster"};
        struct diag sink = {.emit = keep_line, .user = &kept};
        if (cluster_parse(c, p->m->mem, arena_strdup(p->m->mem, p->tok.s, p->tok.len), &sink) < 0)
            return text_error(p, at, "%s", kept.line);
        text_next(p);
    }
    for (;;) {
        if (text_take_word(p, "levels")) {
            if (parse_levels(p, c) < 0)
                return -1;
        } else if (text_take_word(p, "reduce")) {
            if (expect_assign(p) < 0 ||
                text_quantity(p, rate_parse, &c->reduce_bandwidth, "a rate (3GB/s)") < 0)
                return -1;
        } else {
            int taken = text_setting(p);
            if (taken < 0)
                return -1;
            if (taken == 0) /* no setting follows */
                break;
        }
    }
    const char *why = exec_refuses(&p->model, p->m->mem);
    if (why)
        return text_error(p, at, "%s", why);
    return p->failed ? -1 : 0;
}

/* Reads "=[f32:19500G, f16:312T]", operations per second for each element type, into k->peak.  Returns 0, or -1 after
 * an error. */
static int parse_peaks(struct parser *p, struct device_class *k)
{
    if (expect_assign(p) < 0 || text_want(p, '[', "'['") < 0)
        return -1;
    for (bool first = true; p->tok.kind != ']'; first = false) {
        if (!first && text_want(p, ',', "',' or ']'") < 0)
            return -1;
        enum elem e = p->tok.kind == T_WORD ? elem_of_name(p->tok.s, p->tok.len) : ELEM_NONE;
        bool tf32 = e == ELEM_NONE && text_take_word(p, "tf32");
        if (e == ELEM_NONE && !tf32)
            return text_expected(p, "an element type");
        if (!tf32)
            text_next(p);
        if (text_want(p, ':', "':'") < 0 ||
            text_quantity(p, count_parse, tf32 ? &k->tf32 : &k->peak[e],
                          "operations per second (19500G)") < 0)
            return -1;
    }
    return text_want(p, ']', "']'");
}

/* Reads "=[units:108, tile:128, ...]", what kernels reach, into k->kernel.  Returns 0, or -1 after an error. */
static int parse_kernels(struct parser *p, struct device_class *k)
{
    size_t at = p->tok.at;
    if (expect_assign(p) < 0 || text_want(p, '[', "'['") < 0)
        return -1;
    for (bool first = true; p->tok.kind != ']'; first = false) {
        int i = 0;
        if (!first && text_want(p, ',', "',' or ']'") < 0)
            return -1;
        while (i < KERNEL_FACTS && !text_take_word(p, kernel_keys[i].name))
            i++;
        if (i == KERNEL_FACTS)
            return text_expected(p, "a fact about kernels, such as units");
        if (text_want(p, ':', "':'") < 0 ||
            text_quantity(p, kernel_keys[i].parse, &k->kernel[i], kernel_keys[i].like) < 0)
            return -1;
    }
    const char *wrong = kernel_complete(k->kernel, p->a);
    return wrong != NULL ? text_error(p, at, "%s", wrong) : text_want(p, ']', "']'");
}

/* Reads "=25GB/s,10us": bytes per second into *bandwidth, ps into *latency. Returns 0, or -1 after an error. */
static int parse_link(struct parser *p, int64_t *bandwidth, int64_t *latency)
{
    if (expect_assign(p) < 0 || text_quantity(p, rate_parse, bandwidth, "a rate (25GB/s)") < 0 ||
        text_want(p, ',', "','") < 0)
        return -1;
    return text_quantity(p, time_parse, latency, "a time (10us)");
}

/* Reads "=f16", the type that the class computes f32 in, into k->precision.  Returns 0, or -1 after an error. */
static int parse_precision(struct parser *p, struct device_class *k)
{
    if (expect_assign(p) < 0)
        return -1;
    k->precision = p->tok.kind == T_WORD ? precision_of(p->tok.s, p->tok.len) : PRECISIONS;
    if (k->precision == PRECISIONS)
        return text_expected(p, "a precision: f32, tf32, f16, bf16 or i8");
    text_next(p);
    return 0;
}

/* Reads an option of a device class, such as "memory=16GiB", into k.  Returns 0; 1 if the current word is no option;
 * -1 after an error. */
static int parse_class_option(struct parser *p, struct device_class *k)
{
    static const char bytes[] = "bytes (80GiB)";
    static const char rate[] = "a rate (25GB/s)";
    static const char time[] = "a time (10us)";

    if (text_take_word(p, "memory"))
        return expect_assign(p) < 0 ? -1 : text_quantity(p, bytes_parse, &k->memory, bytes);
    if (text_take_word(p, "reserve"))
        return expect_assign(p) < 0 ? -1 : text_quantity(p, bytes_parse, &k->reserve, bytes);
    if (text_take_word(p, "bandwidth"))
        return expect_assign(p) < 0 ? -1 : text_quantity(p, rate_parse, &k->bandwidth, rate);
    if (text_take_word(p, "overhead"))
        return expect_assign(p) < 0 ? -1 : text_quantity(p, time_parse, &k->overhead, time);
    if (text_take_word(p, "link"))
        return parse_link(p, &k->link_bandwidth, &k->link_latency);
    if (text_take_word(p, "inner"))
        return parse_link(p, &k->inner_bandwidth, &k->inner_latency);
    if (text_take_word(p, "inner_share"))
        return expect_assign(p) < 0 ? -1 : text_int(p, 1, 1000000, &k->inner_share, "millionths");
    if (text_take_word(p, "group")) {
        size_t at = p->tok.at;
        int64_t n;
        if (expect_assign(p) < 0 || text_int(p, 1, k->count, &n, "the size of a group") < 0)
            return -1;
        if (k->count % n != 0 || k->host)
            return text_error(p, at, "a group is a divisor of the devices of an accelerator class");
        k->group = (uint32_t)n;
        return 0;
    }
    if (text_take_word(p, "peak"))
        return parse_peaks(p, k);
    if (text_take_word(p, "kernels"))
        return parse_kernels(p, k);
    if (text_take_word(p, "precision"))
        return parse_precision(p, k);
    return 1;
}

int text_class(struct parser *p)
{
    struct cluster *c = cluster_of(p);
    sid name;
    char buf[16], *end = buf;
    int rc;

    if (c->ncls == CLUSTER_CLASSES)
        return text_error(p, p->tok.at, "a cluster has at most %d classes", CLUSTER_CLASSES);
    struct device_class *k = &c->cls[c->ncls++];
    size_t named = p->tok.at;
    if (text_name(p, &name, "the name of the class") < 0)
        return -1;
    if (!utf8_harmless(module_str(p->m, name)))
        return text_error(p, named, "the name of a class holds a character that cannot be shown");
    *k = (struct device_class){.name = module_str(p->m, name), .count = 1, .memory = -1};
    if (p->tok.kind == T_WORD && p->tok.s[0] == 'x' && text_copy(p, buf, sizeof buf)) {
        unsigned long n = strtoul(buf + 1, &end, 10);
        if (end == buf + 1 || *end != '\0' || n > CLUSTER_DEVICES)
            return text_error(p, p->tok.at, "expected a count from x0 to x%d", CLUSTER_DEVICES);
        k->count = (uint32_t)n;
        text_next(p);
    }
    c->ndev += k->count;
    if (c->ndev > CLUSTER_DEVICES)
        return text_error(p, p->tok.at, "a cluster has at most %d devices", CLUSTER_DEVICES);
    k->host = text_take_word(p, "host");
    size_t at = p->tok.at;
    do
        rc = parse_class_option(p, k);
    while (rc == 0 && !p->failed);
    if (rc < 0 || p->failed)
        return -1;
    if (k->reserve > 0 && (k->host || k->reserve >= k->memory))
        return text_error(p, at, "a reserve is less than the memory of an accelerator");
    /* the text gives the memory with the reserve, struct device_class without */
    k->memory -= k->reserve;
    return 0;
}

/* Reads "acc0 acc1=300GB/s,2us" or "acc0 acc1 oneway=300GB/s,2us" and adds the link to the cluster.  Returns 0, or -1
 * after an error. */
int text_between(struct parser *p)
{
    size_t at = p->tok.at;
    struct cluster *c = cluster_of(p);
    struct device_link l = {0};
    sid name[2];

    if (text_name(p, &name[0], "the name of a device") < 0 ||
        text_name(p, &name[1], "the name of a device") < 0)
        return -1;
    l.oneway = text_take_word(p, "oneway");
    size_t rate = p->tok.at;
    if (parse_link(p, &l.bandwidth, &l.latency) < 0)
        return -1;
    if (l.bandwidth == 0)
        return text_error(p, rate, "a link has a rate above 0");
    const char *end[] = {module_str(p->m, name[0]), module_str(p->m, name[1])};
    const char *refused = cluster_add_link(c, p->m->mem, l, end);
    return refused ? text_error(p, at, "%s", refused) : 0;
}

int text_costs(struct parser *p)
{
    int64_t n, estimated = 0;

    if (p->facts.nclass != 0)
        return text_error(p, p->tok.at, "the number of classes is known already");
    p->facts.any_accelerator = text_take_word(p, "accelerator");
    if (p->facts.any_accelerator)
        n = 1;
    else if (text_int(p, 1, CLUSTER_CLASSES, &n, "the number of device classes") < 0)
        return -1;
    if (!p->facts.any_accelerator && text_take_word(p, "overhead"))
        p->facts.has_overhead = true;
    if (text_take_word(p, "estimated") &&
        (expect_assign(p) < 0 ||
         text_int(p, 0, 1000, &estimated, "thousandths of the time, 0 to 1000") < 0))
        return -1;
    p->facts.has_cost = true;
    p->facts.estimated = (uint32_t)estimated;
    p->facts.nclass = (uint32_t)n;
    return 0;
}

/* Returns the facts of node n; makes the array longer if need be. */
static struct node_fact *fact_of(struct parser *p, nid n)
{
    p->facts.nf = vec_grow(p->a, p->facts.nf, &p->facts.capnf, n + 1, sizeof *p->facts.nf);
    return &p->facts.nf[n];
}

bool text_is_value_key(const struct parser *p)
{
    return p->tok.kind == T_KEY && (text_is(p, "bytes") || text_is(p, "elems") ||
                                    text_is(p, "xfer") || text_is(p, "typed"));
}

int text_value_key(struct parser *p, vid v)
{
    assert(text_is_value_key(p) && v > 0 && v < p->m->nval);
    int64_t x;

    if (text_is(p, "typed")) {
        p->m->value[v].flags |= VALUE_TYPED;
        text_next(p);
        return p->failed ? -1 : 0;
    }
    p->facts.vf = vec_grow(p->a, p->facts.vf, &p->facts.capvf, v + 1, sizeof *p->facts.vf);
    struct value_fact *f = &p->facts.vf[v];
    p->facts.has_cost = true;
    if (text_is(p, "bytes")) {
        text_next(p);
        return expect_assign(p) < 0 ? -1 : text_quantity(p, bytes_parse, &f->bytes, "bytes (4KiB)");
    }
    bool elems = text_is(p, "elems");
    text_next(p);
    if (expect_assign(p) < 0 ||
        (elems ? text_quantity(p, count_parse, &x, "a count") : parse_time_or_never(p, &x)) < 0)
        return -1;
    if (elems)
        f->elems = (uint64_t)x + 1;
    else
        f->xfer = (uint64_t)x + 1;
    return 0;
}

/* Reads "=4us", the time for every class, or "=[4us,never]", a time for each class.  Returns 0, or -1 after an
 * error. */
static int parse_time_key(struct parser *p, struct fact_times *f)
{
    size_t at = p->tok.at;
    int64_t t[CLUSTER_CLASSES];
    uint32_t n = 0;

    if (expect_assign(p) < 0)
        return -1;
    bool many = text_take(p, '[');
    do {
        if (n == CLUSTER_CLASSES)
            return text_error(p, at, "there are at most %d device classes", CLUSTER_CLASSES);
        if (parse_time_or_never(p, &t[n++]) < 0)
            return -1;
    } while (many && text_take(p, ','));
    if (many && text_want(p, ']', "',' or ']'") < 0)
        return -1;
    if (p->facts.nclass == 0 && many) /* the first list of times fixes the number of classes */
        p->facts.nclass = p->cluster != NULL && p->cluster->ncls > 0 ? p->cluster->ncls : n;
    if (many && n != p->facts.nclass) {
        return text_error(p, at, "expected %u times, one for each device class, found %u",
                          p->facts.nclass, n);
    }
    *f = (struct fact_times){p->facts.ntime, n};
    p->facts.time =
        vec_grow(p->a, p->facts.time, &p->facts.captime, p->facts.ntime + n, sizeof *p->facts.time);
    memcpy(p->facts.time + p->facts.ntime, t, n * sizeof *t);
    p->facts.ntime += n;
    return 0;
}

/* The largest colour.  Colours become indices of arrays, so a large number in a text would need much memory. */
enum { COLOR_MOST = 1 << 24 };

/* Reads "=7", a number of at most `most`, into *out, and sets *seen.  Returns 0, or -1 after an error. */
static int parse_fact_key(struct parser *p, uint32_t most, uint32_t *out, bool *seen)
{
    uint64_t v;

    if (expect_assign(p) < 0 || text_uint(p, most, &v, "a number") < 0)
        return -1;
    *out = (uint32_t)v;
    *seen = true;
    return 0;
}

/* Reads the key !time, !flops, !traffic or !own, which is the current token, and its value into f.  Returns 0, or -1
 * after an error. */
static int parse_cost_key(struct parser *p, struct node_fact *f)
{
    bool time = text_is(p, "time"), flops = text_is(p, "flops"), own = text_is(p, "own");

    p->facts.has_cost = true;
    text_next(p);
    if (time)
        return parse_time_key(p, &f->time);
    if (expect_assign(p) < 0)
        return -1;
    if (flops)
        return text_quantity(p, count_parse, &f->flops, "a count");
    return text_quantity(p, bytes_parse, own ? &f->own : &f->traffic, "bytes (4KiB)");
}

/* If the current token is the key of a flag, takes it, sets the flag of node n and returns true; else returns false. */
static bool take_flag(struct parser *p, nid n)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } flag[] = {
        {"unnamed", NODE_UNNAMED}, {"lost", NODE_LOST}, {"call", NODE_CALL}, {"made", NODE_MADE}};

    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
        if (text_is(p, flag[i].word)) {
            p->m->node[n].flags |= flag[i].flag;
            text_next(p);
            return true;
        }
    return false;
}

/* Reads the current token, a key of facts, and its value into f.  Returns 0, or -1 after an error. */
static int parse_node_fact(struct parser *p, struct node_fact *f)
{
    const struct {
        const char *word;
        uint32_t most;
        uint32_t *to;
        bool *seen;
    } number[] = {{"color", COLOR_MOST, &f->color, &p->facts.has_color},
                  {"layer", UINT32_MAX, &f->layer, &p->facts.has_layer},
                  {"slot", SLOTS_MOST, &f->slot, &p->facts.has_slot}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (text_is(p, number[i].word)) {
            text_next(p);
            return parse_fact_key(p, number[i].most, number[i].to, number[i].seen);
        }
    if (text_is(p, "time") || text_is(p, "flops") || text_is(p, "traffic") || text_is(p, "own"))
        return parse_cost_key(p, f);
    if (text_is(p, "overhead")) {
        if (p->facts.any_accelerator)
            return text_error(p, p->tok.at, "the times of 'costs accelerator' have no overhead");
        p->facts.has_cost = p->facts.has_overhead = true;
        text_next(p);
        return parse_time_key(p, &f->overhead);
    }
    if (text_is(p, "params")) {
        p->facts.has_cost = p->facts.has_params = true;
        text_next(p);
        return expect_assign(p) < 0 ? -1
                                    : text_quantity(p, bytes_parse, &f->params, "bytes (4KiB)");
    }
    if (text_is(p, "device")) {
        text_next(p);
        p->facts.has_device = true;
        return expect_assign(p) < 0 ? -1 : text_name(p, &f->device, "the name of a device");
    }
    if (text_is(p, "shard")) {
        text_next(p);
        p->facts.has_shard = true;
        return expect_assign(p) < 0 ? -1 : text_string(p, &f->shard, "how devices share the node");
    }
    if (text_is(p, "backward")) {
        text_next(p);
        f->backward = 1;
        p->facts.has_backward = true;
        return p->failed ? -1 : 0;
    }
    return text_error(
        p, p->tok.at,
        "unknown key (known: !time !overhead !flops !traffic !own !params !color !layer "
        "!backward !device !slot !unnamed !lost !call !made !from !doc !meta !onnx, of values "
        "!bytes !elems !xfer !typed)");
}

int text_node_key(struct parser *p, nid n)
{
    assert(p->tok.kind == T_KEY && n > 0 && n < p->m->nnode);
    if (take_flag(p, n))
        return p->failed ? -1 : 0;
    int about = text_about_key(p, &p->m->node[n].about);
    if (about != 0)
        return about < 0 ? -1 : 0;
    if (text_is(p, "from")) {
        text_next(p);
        return expect_assign(p) < 0 ? -1 : text_name(p, &p->m->node[n].made_from, "a node's name");
    }
    return parse_node_fact(p, fact_of(p, n));
}

/* Returns the ps that t has for class c; 0: the text gives none. */
static int64_t fact_time(const struct parser *p, const struct fact_times *t, uint32_t c)
{
    assert(t->n <= 1 || c < t->n);
    return t->n == 0 ? 0 : p->facts.time[t->at + (t->n > 1 ? c : 0)];
}

/* Makes m->cost from the costs in p->facts.  The overhead of a node is made at most its time, and 0 where the node
 * cannot run. */
static void finish_costs(struct parser *p)
{
    struct module *m = p->m;
    uint32_t ncls = p->facts.nclass != 0                         ? p->facts.nclass
                    : p->cluster != NULL && p->cluster->ncls > 0 ? p->cluster->ncls
                                                                 : 1;
    struct costs *k = m->cost = costs_new(m, m->mem, ncls);

    if (p->facts.has_overhead && !p->facts.any_accelerator)
        costs_add_overhead(k, m, m->mem);
    k->measured = p->facts.any_accelerator ? k->time[0] : NULL;
    k->estimated = p->facts.estimated;
    if (p->facts.has_params)
        k->params = arena_array(m->mem, m->nnode, sizeof *k->params);
    for (nid n = 0; n < m->nnode; n++) {
        const struct node_fact *f = &p->facts.nf[n];
        for (uint32_t c = 0; c < ncls; c++)
            k->time[c][n] = fact_time(p, &f->time, c);
        for (uint32_t c = 0; c < ncls && k->overhead; c++)
            k->overhead[c][n] = k->time[c][n] == COST_NEVER
                                    ? 0
                                    : smaller(fact_time(p, &f->overhead, c), k->time[c][n]);
        k->flops[n] = f->flops;
        k->traffic[n] = f->traffic;
        k->own[n] = f->own;
        if (k->params)
            k->params[n] = f->params;
    }
    for (vid v = 0; v < m->nval; v++) {
        k->bytes[v] = p->facts.vf[v].bytes;
        k->elems[v] = (int64_t)(p->facts.vf[v].elems - 1); /* -1: not said */
        k->xfer[v] = (int64_t)(p->facts.vf[v].xfer - 1);
    }
}

int text_finish_facts(struct parser *p)
{
    struct module *m = p->m;

    if (p->cluster != NULL && p->cluster->ncls == 0)
        return text_error(p, p->cluster_at,
                          "the cluster has no classes (say 'class NAME' after it, or "
                          "'cluster \"2xa100\"')");
    if (p->cluster != NULL && p->cluster->ndev == 0)
        return text_error(p, p->cluster_at, "the cluster has no devices");
    p->facts.nf = vec_grow(p->a, p->facts.nf, &p->facts.capnf, m->nnode, sizeof *p->facts.nf);
    p->facts.vf = vec_grow(p->a, p->facts.vf, &p->facts.capvf, m->nval, sizeof *p->facts.vf);
    if (p->facts.has_cost)
        finish_costs(p);
    m->color = p->facts.has_color ? arena_array(m->mem, m->nnode, sizeof *m->color) : NULL;
    m->layer = p->facts.has_layer ? arena_array(m->mem, m->nnode, sizeof *m->layer) : NULL;
    m->backward = p->facts.has_backward ? arena_array(m->mem, m->nnode, 1) : NULL;
    m->device_ann =
        p->facts.has_device ? arena_array(m->mem, m->nnode, sizeof *m->device_ann) : NULL;
    m->shard_ann = p->facts.has_shard ? arena_array(m->mem, m->nnode, sizeof *m->shard_ann) : NULL;
    m->slot_ann = p->facts.has_slot ? arena_array(m->mem, m->nnode, sizeof *m->slot_ann) : NULL;
    for (nid n = 0; n < m->nnode; n++) {
        if (p->facts.has_color)
            m->color[n] = p->facts.nf[n].color;
        if (p->facts.has_layer)
            m->layer[n] = p->facts.nf[n].layer;
        if (p->facts.has_backward)
            m->backward[n] = p->facts.nf[n].backward;
        if (p->facts.has_device)
            m->device_ann[n] = p->facts.nf[n].device;
        if (p->facts.has_shard)
            m->shard_ann[n] = p->facts.nf[n].shard;
        if (p->facts.has_slot)
            m->slot_ann[n] = p->facts.nf[n].slot;
    }
    module_note_scopes(m);
    return p->failed ? -1 : 0;
}

/* Returns plan_status_name(i); its parameter has the type that take_one_of() needs. */
static const char *status_name(int i)
{
    return plan_status_name((enum plan_status)i);
}

/* Returns plan_scope_name(i); its parameter has the type that take_one_of() needs. */
static const char *scope_word(int i)
{
    return plan_scope_name((enum plan_scope)i);
}

/* If the current token is a word or string that is one of the names name(0) .. name(n - 1), takes it and returns the
 * number of the name; else takes nothing and returns -1. */
static int take_one_of(struct parser *p, const char *(*name)(int), int n)
{
    for (int i = 0; i < n && (p->tok.kind == T_WORD || p->tok.kind == T_STR); i++)
        if (strlen(name(i)) == p->tok.len && memcmp(name(i), p->tok.s, p->tok.len) == 0) {
            text_next(p);
            return i;
        }
    return -1;
}

/* Reads "=[2,0,1]", a number for each device of the cluster, into plan->copies.  Returns 0, or -1 after an error. */
static int parse_copies(struct parser *p, struct plan *plan)
{
    size_t at = p->tok.at;
    uint32_t ndev = p->cluster ? p->cluster->ndev : 0, n = 0;
    int64_t copies;

    if (expect_assign(p) < 0 || text_want(p, '[', "'['") < 0)
        return -1;
    plan->copies = arena_array(p->m->mem, (size_t)ndev + 1, sizeof *plan->copies);
    do {
        if (text_int(p, 0, CLUSTER_DEVICES, &copies, "a number of devices") < 0)
            return -1;
        if (n < ndev)
            plan->copies[n] = (uint32_t)copies;
        n++;
    } while (text_take(p, ','));
    if (n != ndev)
        return text_error(p, at, "expected %u numbers, one for each device, found %u", ndev, n);
    return text_want(p, ']', "']'");
}

/* Reads an option between the word "plan" and '{', such as "value=1.3us", into *plan.  Returns 0, or -1 after an
 * error. */
static int parse_plan_option(struct parser *p, struct plan *plan)
{
    sid s;
    int64_t *time = text_is(p, "value")       ? &plan->claim.value
                    : text_is(p, "bound")     ? &plan->claim.bound
                    : text_is(p, "bound_all") ? &plan->claim.bound_all
                                              : NULL;

    if (text_take_word(p, "status")) {
        int i = expect_assign(p) < 0 ? -1 : take_one_of(p, status_name, PLAN_INFEASIBLE + 1);
        if (i < 0)
            return p->failed ? -1
                             : text_expected(p, "none, optimal, feasible, heuristic, "
                                                "\"over-memory\" or infeasible");
        plan->claim.status = (enum plan_status)i;
        return 0;
    }
    if (text_take_word(p, "scope")) {
        int i = expect_assign(p) < 0 ? -1 : take_one_of(p, scope_word, SCOPES);
        if (i < 0)
            return p->failed ? -1
                             : text_expected(p, "all, contiguous, layers, fused, "
                                                "\"contiguous-layers\" or \"contiguous-fused\"");
        plan->claim.scope = (enum plan_scope)i;
        return 0;
    }
    if (text_take_word(p, "argument")) {
        if (expect_assign(p) < 0 || text_string(p, &s, "a string") < 0)
            return -1;
        plan->claim.argument = module_str(p->m, s);
        return 0;
    }
    if (text_take_word(p, "copies"))
        return parse_copies(p, plan);
    if (text_take_word(p, "stages"))
        return text_stages(p, plan);
    if (text_take_word(p, "ordered")) {
        plan->rank = arena_array(p->m->mem, p->m->nnode, sizeof *plan->rank);
        return 0;
    }
    if (text_take_word(p, "objective")) {
        if (text_setting_value(p, exec_setting("objective")) < 0)
            return -1;
        plan->claim.objective = p->model.objective;
        return 0;
    }
    if (text_take_word(p, "states"))
        return expect_assign(p) < 0 ? -1 : text_uint(p, UINT64_MAX, &plan->states, "a number");
    if (time == NULL || p->tok.kind != T_WORD)
        return text_expected(
            p, "objective, status, value, bound, scope, bound_all, states, copies, stages, "
               "argument, ordered or '{'");
    text_next(p);
    if (expect_assign(p) < 0)
        return -1;
    if (text_take_word(p, "none")) {
        *time = -1;
        return 0;
    }
    return parse_time_or_never(p, time);
}

/* Reads the device of a node, '"node" = acc0' or with the device's number, and what follows it ("stage=1", "slot=2"),
 * into *plan.  Returns 0, or -1 after an error. */
static int parse_placement(struct parser *p, struct plan *plan)
{
    size_t at = p->tok.at;
    sid name;
    char buf[32];
    int64_t dev = -1;

    if (text_name(p, &name, "the name of a node") < 0)
        return -1;
    nid n = text_lookup(p, (uint32_t)SPACE_NODES, name);
    if (n == 0 || plan->dev[n] >= 0) {
        return text_error(p, at, n == 0 ? "there is no node '%s'" : "node '%s' is placed twice",
                          module_str(p->m, name));
    }
    if (expect_assign(p) < 0)
        return -1;
    if (p->tok.kind == T_NUM) {
        int64_t most = p->cluster != NULL ? (int64_t)p->cluster->ndev - 1 : CLUSTER_DEVICES - 1;
        if (text_int(p, 0, most, &dev, "a device") < 0)
            return -1;
    } else {
        if (p->tok.kind != T_WORD)
            return text_expected(p, "a device (acc0)");
        dev = p->cluster != NULL && text_copy(p, buf, sizeof buf) ? cluster_device(p->cluster, buf)
                                                                  : -1;
        if (dev < 0)
            return text_expected(p, "a device of the cluster");
        text_next(p);
    }
    plan->dev[n] = (int32_t)dev;
    if (plan->rank)
        plan->rank[n] = p->placed++;
    return text_slot(p, plan, n) < 0 ? -1 : text_placed_stage(p, plan, n);
}

int text_plan(struct parser *p)
{
    assert(!p->plan); /* parse_statements() lets a text have only one plan, at its end */
    struct plan *plan = arena_alloc(p->m->mem, sizeof *plan);
    sid s = 0;

    *plan = (struct plan){
        .planner = "",
        .claim = {.objective = p->model.objective, .argument = "", .bound = -1, .bound_all = -1}};
    if (p->tok.kind == T_STR) {
        text_string(p, &s, "a string");
        plan->planner = module_str(p->m, s);
    }
    plan->dev = arena_array(p->m->mem, p->m->nnode, sizeof *plan->dev);
    memset(plan->dev, 0xff, p->m->nnode * sizeof *plan->dev); /* -1: not placed */
    while (p->tok.kind != '{')
        if (parse_plan_option(p, plan) < 0)
            return -1;
    text_next(p);
    p->placed = 0;
    while (p->tok.kind != '}')
        if (parse_placement(p, plan) < 0)
            return -1;
    p->plan = plan;
    return text_want(p, '}', "'}'");
}
