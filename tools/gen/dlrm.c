/* The model dlrm: a recommendation model (Naumov et al. 2019).
 *
 *   x = bottom MLP of the dense features, `width` numbers
 *   e_t = sum of the rows of table t with the numbers indices.t [batch, bag]
 *   z = scalar products of all pairs of two different vectors among x, e_0, e_1, ...
 *   output = sigmoid(top MLP of (x, z))
 *
 * Tables do not depend on each other, so they can be on different devices.  Nodes: 3 per table, 3 per layer of each
 * MLP, 7 others. */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A multilayer perceptron (MLP). */
struct tower {
    const char *name; /* "bottom" or "top" */
    int64_t in, out;  /* width of the MLP's input, width of its result */
    const char *end;  /* operator behind its last layer, where the other layers have Relu */
};

/* Adds an MLP on x: layers of MatMul, Add and Relu.  Returns the name of the result. */
static const char *add_tower(struct gen *g, const struct gen_opt *o, const char *x, struct tower t)
{
    int64_t in = t.in;

    for (int64_t i = 0; i < o->layers; i++) {
        const bool last = i + 1 == o->layers;
        const int64_t w = last ? t.out : o->ffn;
        const char *path = gen_str(g, "/%s/layers.%lld", t.name, (long long)i);
        const char *param = gen_str(g, "%s.layers.%lld", t.name, (long long)i);
        x = gen_linear(g, path, param, x, (struct gen_linear){in, w, sqrt(2.0 / (double)in), true});
        x = gen_op1(g, gen_str(g, "%s/%s", path, last ? t.end : "Relu"), x);
        in = w;
    }
    return x;
}

/* Adds embedding table t with its input indices.t.  axis: the constant [1].  Returns e_t as [batch, 1, width]. */
static const char *embedding(struct gen *g, const struct gen_opt *o, int64_t t, const char *axis)
{
    const struct gen_dim dims[2] = {{0, "batch"}, {o->bag, NULL}};
    const int64_t shape[2] = {o->rows, o->width};
    const char *ids = gen_str(g, "indices.%lld", (long long)t);
    const char *p = gen_str(g, "tables.%lld", (long long)t);

    gen_input(g, ids, GEN_I64, 2, dims);
    const char *w = gen_weight(g, gen_str(g, "%s.weight", p), 2, shape, 0.0,
                               1.0 / sqrt((double)(o->bag * o->width)));
    const char *x = gen_op2(g, gen_str(g, "/%s/Gather", p), w, ids);
    x = gen_reduce(g, gen_str(g, "/%s/ReduceSum", p), x, axis, DROP_AXES);
    return gen_op2(g, gen_str(g, "/%s/Unsqueeze", p), x, axis);
}

/* Writes to out[] the indices of the elements below the diagonal of an n x n matrix, stored row by row.  Returns
 * their number, n (n - 1) / 2. */
static int triangle(int64_t n, int64_t *out)
{
    int count = 0;

    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            out[count++] = i * n + j;
    return count;
}

/* Adds the scalar products of all pairs of the n vectors rows[], each [batch, 1, width]: one product of matrices, of
 * which the elements below the diagonal are picked.  Returns the name of the result, [batch, n (n - 1) / 2].  places:
 * scratch, as many numbers as there are pairs. */
static const char *interact(struct gen *g, int64_t n, const char *const rows[], int64_t *places)
{
    const char *flat = gen_ints(g, "const.flat", 2, (const int64_t[]){0, n * n});
    const char *lower = gen_ints(g, "const.lower", triangle(n, places), places);
    const char *x = gen_concat(g, "/interact/Concat", /*axis=*/1, (int)n, rows);
    const char *t = gen_transpose(g, "/interact/Transpose", x, 3, (const int64_t[]){0, 2, 1});

    x = gen_op2(g, "/interact/MatMul", x, t);
    x = gen_op2(g, "/interact/Reshape", x, flat);
    x = gen_op2(g, "/interact/Gather", x, lower);
    gen_attr_i(g, "axis", 1);
    return x;
}

int gen_dlrm(struct gen *g, const struct gen_opt *o)
{
    const int64_t n = o->tables + 1, pairs = n * (n - 1) / 2;
    const char *rows[GEN_MAX_TABLES + 1], *both[2];
    int64_t *places = malloc((size_t)pairs * sizeof *places);

    if (places == NULL)
        gen_no_memory();
    gen_input(g, "dense", GEN_F32, 2, (const struct gen_dim[]){{0, "batch"}, {o->features, NULL}});
    const char *axis = gen_ints(g, "const.bag_axis", 1, (const int64_t[]){1});
    both[0] = add_tower(g, o, "dense", (struct tower){"bottom", o->features, o->width, "Relu"});
    rows[0] = gen_op2(g, "/bottom/Unsqueeze", both[0], axis);
    for (int64_t t = 0; t < o->tables; t++)
        rows[t + 1] = embedding(g, o, t, axis);
    both[1] = interact(g, n, rows, places);
    free(places);
    const char *x = gen_concat(g, "/top/Concat", /*axis=*/1, 2, both);
    add_tower(g, o, x, (struct tower){"top", o->width + pairs, 1, "Sigmoid"});
    gen_output(g, gen_rename(g, "output"), GEN_F32, 2,
               (const struct gen_dim[]){{0, "batch"}, {1, NULL}});
    return 0;
}
