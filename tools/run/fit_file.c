/* A class of devices fitted to measured nodes (fit_file.h).
 *
 * The library reads the model and counts the operations and bytes of its nodes; a file of pcc-profile has their times.
 * Nodes that tell nothing about a class's rates are left out: nodes that pcc regards as free, nodes with bodies, calls
 * of functions, nodes with other types than f32, and nodes whose time is 0.  O(n log n). */
#include "tools/run/fit_file.h"

#include "ir/base/numbers.h"
#include "ir/base/outfile.h"
#include "ir/base/units.h"
#include "ir/ir.h"
#include "tools/lib/assumed.h"
#include "tools/run/costs_in.h"
#include "tools/run/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 3 }; /* nodes that a fit of three figures needs */

/* The nodes that the class is fitted to. */
struct fitting {
    struct fit_node *node; /* [n] */
    const char **op;       /* [n] their operator types */
    int64_t *off;          /* [n] relative error of the fitted time of the node, thousandths */
    /* nodes left out: `zero` with the time 0; `others` of types other than f32; a node may be both */
    uint32_t n, zero, others;
    struct fitted f;
};

/* The row that is printed of an operator type. */
struct op_row {
    const char *name;
    int64_t ps;        /* time of all its nodes */
    uint32_t first, n; /* place of its first node in an order by type; number of its nodes */
};

/* Fills t with the nodes of the model's graph that tell about a class's rates, as the head of this file says, and with
 * their times in the file of costs; counts the nodes that are left out for their time or type. */
static void take_nodes(struct fitting *t, const struct module *m, const struct costs_in *in,
                       struct arena *a)
{
    const struct graph *g = &m->graph[1];
    bool *has_body = arena_array(a, m->nnode, sizeof *has_body);
    for (gid k = 2; k < m->ngraph; k++)
        has_body[m->graph[k].owner] = true;
    t->node = arena_array(a, (size_t)g->count + 1, sizeof *t->node);
    t->op = arena_array(a, (size_t)g->count + 1, sizeof *t->op);
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint32_t row = names_get(&in->names, node_name(m, n), UINT32_MAX);
        int64_t flops = m->cost->flops[n], bytes = m->cost->traffic[n];
        bool free = flops == 0 && bytes == 0;
        if (row == UINT32_MAX || has_body[n] || m->node[n].callee != 0 || free)
            continue;
        t->others += assumed_type(m, n) != ELEM_F32;
        t->zero += in->ps[row] == 0;
        if (in->ps[row] == 0 || assumed_type(m, n) != ELEM_F32)
            continue;
        t->op[t->n] = node_op(m, n);
        t->node[t->n++] = (struct fit_node){flops, bytes, in->ps[row]};
    }
}

/* Rounds n to four digits. */
static int64_t round_rate(int64_t n)
{
    int64_t step = 1;
    while (n / step >= 10000)
        step *= 10;
    return (n / step + (n % step >= step - step / 2)) * step;
}

/* Sorts n > 0 numbers, and returns the one up to which `share` thousandths of them lie; 500: their median. */
static int64_t quantile(int64_t *v, uint32_t n, uint32_t share)
{
    qsort(v, n, sizeof *v, by_i64);
    return v[(uint64_t)(n - 1) * share / 1000];
}

/* Compares two rows: more time first, then by name. */
static int by_time(const void *pa, const void *pb)
{
    const struct op_row *a = pa, *b = pb;
    return a->ps != b->ps ? (a->ps < b->ps) - (a->ps > b->ps) : strcmp(a->name, b->name);
}

/* Prints for each operator type, the one with the most time first: how many nodes it has, their share of all time, and
 * the median and 90 % quantile of their relative errors. */
static void print_ops(const struct fitting *t, struct arena *a)
{
    struct names types = names_new(a, t->n);
    struct op_row *row = arena_array(a, t->n, sizeof *row);
    uint32_t nrow = 0, *of = arena_array(a, t->n, sizeof *of); /* of[node]: its row */
    int64_t all = 0, *off = arena_array(a, t->n, sizeof *off); /* errors of nodes, type by type */
    for (uint32_t i = 0; i < t->n; i++) {
        of[i] = names_get(&types, t->op[i], UINT32_MAX);
        if (of[i] == UINT32_MAX) {
            of[i] = nrow;
            names_add(&types, t->op[i], nrow);
            row[nrow++] = (struct op_row){.name = t->op[i]};
        }
        row[of[i]].n++;
        row[of[i]].ps = sat_add(row[of[i]].ps, t->node[i].ps);
        all = sat_add(all, t->node[i].ps);
    }
    for (uint32_t k = 1; k < nrow; k++)
        row[k].first = row[k - 1].first + row[k - 1].n;
    for (uint32_t i = 0; i < t->n; i++)
        off[row[of[i]].first++] = t->off[i];
    qsort(row, nrow, sizeof *row, by_time);
    printf("%-24s %6s %12s %12s %12s\n", "operator", "nodes", "of the time", "median error",
           "90 % within");
    for (uint32_t k = 0; k < nrow; k++) {
        /* the loop that filled off[] has moved `first` behind the type's nodes */
        int64_t *mine = off + row[k].first - row[k].n;
        printf("%-24s %6u %10.1f %% %10.1f %% %10.1f %%\n", row[k].name, row[k].n,
               100 * (double)row[k].ps / (double)all, (double)quantile(mine, row[k].n, 500) / 10,
               (double)quantile(mine, row[k].n, 900) / 10);
    }
}

/* Writes the fitted class as a cluster of one device to the file `path`.  note: text for the class's key "note".
 * Returns 0, or -1 and an error. */
static int put_class(const struct fitting *t, const char *note, const char *path, struct arena *a,
                     struct diag *d)
{
    struct cluster c = {.ncls = 1, .ndev = 1};
    struct outfile f;
    c.cls[0] = (struct device_class){.name = "fitted",
                                     .host = true,
                                     .count = 1,
                                     .memory = -1,
                                     .bandwidth = t->f.bandwidth,
                                     .overhead = t->f.overhead,
                                     .note = note};
    c.cls[0].peak[ELEM_F32] = t->f.peak;
    if (outfile_open(&f, path, a, d))
        return -1;
    fputs(cluster_file_text(&c, /*oneline=*/false, a), f.f);
    return outfile_close(&f, true);
}

/* Fits the class, prints its figures and errors, and writes it to `path`.  Returns 0; -1 after an error. */
static int fit_nodes(struct fitting *t, const struct pieces_of *of, const char *path,
                     struct arena *a, struct diag *d)
{
    char overhead[UNIT_TEXT], peak[UNIT_TEXT], rate[UNIT_TEXT];
    if (t->n < LEAST)
        return diag_error(d,
                          "--fit: %s has times above 0 for %u f32 nodes of %s that compute, "
                          "expected %d at least",
                          of->costs, t->n, of->model, LEAST);
    if (fit_class(t->node, t->n, &t->f, a))
        return diag_error(d, "--fit: no node of %s has operations or bytes", of->model);
    t->f.peak = round_rate(t->f.peak);
    t->f.bandwidth = round_rate(t->f.bandwidth);
    t->off = arena_array(a, t->n, sizeof *t->off);
    for (uint32_t i = 0; i < t->n; i++)
        t->off[i] = fit_error(&t->f, &t->node[i]);
    print_ops(t, a);
    /* only now, since quantile() sorts the errors, and print_ops() needs them in the order of the nodes */
    int64_t median = quantile(t->off, t->n, 500), most = quantile(t->off, t->n, 900);
    const char *told = arena_fmt(a, "%u nodes of %s: median error %.1f %%, 90 %% within %.1f %%",
                                 t->n, of->costs, (double)median / 10, (double)most / 10);
    printf("overhead %s per operator, peak %s operations per second, bandwidth %s; %s\n",
           time_short(overhead, t->f.overhead), count_short(peak, t->f.peak),
           rate_print(rate, t->f.bandwidth), told);
    if (t->zero > 0 || t->others > 0)
        diag_note(d, "left out: %u nodes whose time is 0, %u of other types than f32", t->zero,
                  t->others);
    if (!t->f.peak_told || !t->f.bandwidth_told)
        diag_note(d,
                  "no node's time tells the %s: it is the least that makes no node slower, and may "
                  "be far more",
                  t->f.peak_told        ? "bandwidth"
                  : t->f.bandwidth_told ? "peak"
                                        : "peak or the bandwidth");
    return put_class(t, arena_fmt(a, "fitted to %s", told), path, a, d);
}

int fit_write(const struct pieces_of *of, const char *path, struct arena *a, struct diag *d)
{
    struct costs_in in;
    struct fitting t = {0};
    if (costs_read(&in, of->costs, a, d))
        return -1;
    struct pcc *p = pieces_open(of, a, d);
    if (!p || pcc_plan(p, "cost"))
        return -1;
    take_nodes(&t, p->x.scene.m, &in, a);
    return fit_nodes(&t, of, path, a, d);
}
