/* Runs a model and the parts of its split, one file after the other (verify.h): each is loaded once and runs on all
 * samples; a value that crosses is freed behind its last reader. */
#include "tools/run/verify.h"
#include "tools/run/cut_tensors.h"

/* A side while it runs. */
struct running {
    const struct verifying *v;
    const struct verify_side *side;
    /* [nsample][value] inputs of the model, and what files have made */
    struct engine_value ***table;
    uint32_t nsample;
    /* [value] number of files that will still read it, and 1 more for an input and 1 for an output of the model */
    uint32_t *uses;
};

/* Frees value number `value`, which a file of the side has made, in the tables of all samples. */
static void free_value(const struct running *r, uint32_t value)
{
    struct engine *e = r->v->e;
    for (uint32_t k = 0; k < r->nsample; k++) {
        e->face->value_free(e, r->table[k][value]);
        r->table[k][value] = NULL;
    }
}

void verify_free_outputs(const struct verifying *v, struct engine_value **table)
{
    for (uint32_t i = 0; i < v->whole.part->nout; i++) {
        v->e->face->value_free(v->e, table[v->whole.part->out[i]]);
        table[v->whole.part->out[i]] = NULL;
    }
}

/* Runs a loaded file on all samples; its outputs go to the table.  Returns 0; else the reason is in *f. */
static int run_samples(const struct running *r, const struct split_part *p, struct loaded *l,
                       struct verify_failure *f)
{
    const struct verifying *v = r->v;
    struct engine_value **in = arena_array(v->a, (size_t)p->nin + 1, sizeof *in);
    struct engine_value **out = arena_array(v->a, (size_t)p->nout + 1, sizeof *out);
    struct engine_call call = {.in_name = p->in_name,
                               .in = in,
                               .nin = p->nin,
                               .out_name = p->out_name,
                               .out = out,
                               .out_bytes = p->out_bytes,
                               .nout = p->nout};
    for (uint32_t k = 0; k < r->nsample; k++) {
        f->stopped = *v->stop;
        if (f->stopped)
            return -1;
        for (uint32_t i = 0; i < p->nin; i++)
            in[i] = r->table[k][p->in[i]];
        int rc = v->e->face->run(l, &call, &f->line);
        /* outputs of a part that failed are stored, too: the end of the run frees the whole table */
        for (uint32_t i = 0; i < p->nout; i++) {
            r->table[k][p->out[i]] = out[i];
            out[i] = NULL;
        }
        if (rc)
            return rc;
    }
    return 0;
}

/* Loads a file, runs it on all samples, and frees the values that no later file reads.  Returns 0; else the reason is
 * in *f. */
static int run_file(const struct running *r, const struct split_part *p, bool optimise,
                    struct verify_failure *f)
{
    const struct engine_load how = {
        .path = p->path, .threads = 1, .optimise = optimise, .node = p->node, .nnode = p->nnode};
    *f = (struct verify_failure){.file = p->file, .stopped = *r->v->stop};
    struct loaded *l = f->stopped ? NULL : r->v->e->face->load(r->v->e, &how, &f->line);
    f->loaded = l != NULL;
    int rc = l ? run_samples(r, p, l, f) : -1;
    if (l)
        r->v->e->face->unload(l);
    for (uint32_t i = 0; i < p->nin && !rc; i++)
        if (--r->uses[p->in[i]] == 0)
            free_value(r, p->in[i]);
    for (uint32_t i = 0; i < p->nout && !rc; i++)
        if (r->uses[p->out[i]] == 0)
            free_value(r, p->out[i]);
    return rc;
}

int verify_run(const struct verifying *v, const struct verify_side *side, bool optimise,
               struct engine_value ***table, uint32_t nsample, struct verify_failure *f)
{
    struct running r = {v, side, table, nsample, NULL};
    int rc = 0;
    r.uses = arena_array(v->a, (size_t)v->s->nvalue + 1, sizeof *r.uses);
    /* inputs and outputs of the model, whole and in pieces, are not freed behind their last reader */
    for (uint32_t i = 0; i < v->s->ninput; i++)
        r.uses[v->s->input[i]] = 1;
    for (uint32_t i = 0; i < v->s->ngiven; i++)
        r.uses[v->s->given[i]] = 1;
    for (uint32_t i = 0; i < v->noutput; i++)
        r.uses[v->output[i].value]++;
    for (uint32_t k = 0; k < v->s->ncut; k++)
        for (uint32_t i = 0; i < v->s->joined[k].ways; i++)
            r.uses[v->s->joined[k].piece[i]]++;
    for (uint32_t k = 0; k < side->npart; k++)
        for (uint32_t i = 0; i < side->part[k].nin; i++)
            r.uses[side->part[k].in[i]]++;
    for (uint32_t k = 0; k < side->npart && !rc; k++)
        rc = run_file(&r, &side->part[k], optimise, f);
    for (uint32_t k = 0; k < nsample && !rc; k++)
        rc = join_outputs(v->e, v->s, table[k], &f->line);
    /* after an error no outputs are left */
    for (uint32_t k = 0; k < v->s->ncut && rc; k++)
        free_value(&r, v->s->joined[k].whole);
    for (uint32_t k = 0; k < side->npart && rc; k++)
        for (uint32_t i = 0; i < side->part[k].nout; i++)
            free_value(&r, side->part[k].out[i]);
    return rc;
}
