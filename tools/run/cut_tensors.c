/* Cuts tensors into pieces and joins these (cut_tensors.h).
 *
 * A tensor is cut along one axis.  Position p of this axis is in piece (p / run) mod ways: stretches of `run`
 * positions, called runs, go to the pieces in turn.  In memory a tensor has, for each index of the axes before this
 * one, `blocks` blocks, each with one run for each piece.  O(bytes). */
#include "tools/run/cut_tensors.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/model/module.h"
#include "ir/plan/state_pieces.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A tensor of plain numbers. */
struct dense {
    struct engine_shape shape;
    int64_t size[ENGINE_AXES];
    unsigned char *data;
    int64_t bytes;
};

/* Writes type, sizes and address of the tensor v to *to.  Returns 0; or -1 with the reason in *err, if v has no plain
 * numbers. */
static int look(struct engine *e, const struct engine_value *v, struct dense *to,
                struct engine_error *err)
{
    *to = (struct dense){.bytes = -1};
    if (v && e->face->value_shape(e, v, &to->shape, to->size) == 0 &&
        elem_bits((enum elem)to->shape.elem) >= 8) {
        int64_t elems = shape_elems(to->size, (uint32_t)to->shape.rank);
        to->shape.size = to->size;
        to->bytes = elems < 0 ? -1 : elem_bytes((enum elem)to->shape.elem, elems);
        to->data = e->face->value_data(e, (struct engine_value *)(uintptr_t)v);
    }
    if (to->bytes >= 0 && (to->data || to->bytes == 0))
        return 0;
    snprintf(err->line, sizeof err->line, "it is no tensor of plain numbers");
    return -1;
}

/* Makes a tensor like x, but of this size along the axis, and describes it in *to.  Returns the tensor; or NULL, with
 * the reason in *err. */
static struct engine_value *make_like(struct engine *e, const struct dense *x, uint32_t axis,
                                      int64_t size, struct dense *to, struct engine_error *err)
{
    int64_t sizes[ENGINE_AXES];
    struct engine_shape shape = {x->shape.elem, x->shape.rank, sizes};
    memcpy(sizes, x->size, sizeof sizes);
    sizes[axis] = size;
    struct engine_value *v = e->face->value_new(e, &shape, err);
    if (v && look(e, v, to, err) == 0)
        return v;
    e->face->value_free(e, v);
    return NULL;
}

/* Copies the runs of piece i between a whole tensor and the piece: out of the whole, or into it. */
static void copy_runs(const struct split_cut *c, const struct dense *whole,
                      const struct dense *piece, uint32_t i, bool into)
{
    if (whole->bytes == 0) /* nothing to copy, and the run may not divide the size */
        return;
    int64_t outer = 1, size = whole->size[c->axis], blocks = size / (c->run * c->ways);
    for (uint32_t k = 0; k < c->axis; k++)
        outer *= whole->size[k];
    int64_t position = whole->bytes / (outer * size); /* bytes of one position of the axis */
    size_t run = (size_t)(c->run * position);
    for (int64_t k = 0; k < outer * blocks; k++) {
        unsigned char *in_whole = whole->data + ((size_t)k * c->ways + i) * run;
        unsigned char *in_piece = piece->data + (size_t)k * run;
        if (into)
            memcpy(in_whole, in_piece, run);
        else
            memcpy(in_piece, in_whole, run);
    }
}

/* Checks that x has the axis, with a size that gives each piece a whole number of runs.  of: 1 if x is a whole tensor,
 * c->ways if x is one of its pieces.  Returns 0, or -1 with the reason in *err. */
static int check_axis(const struct split_cut *c, const struct dense *x, uint32_t of,
                      struct engine_error *err)
{
    int64_t size = c->axis < x->shape.rank ? x->size[c->axis] : -1;
    int64_t each = sat_mul(c->run, c->ways / of);
    if (size >= 0 && size % each == 0)
        return 0;
    if (size < 0)
        snprintf(err->line, sizeof err->line, "it has %zu axes: expected an axis %" PRIu32,
                 (size_t)x->shape.rank, c->axis);
    else
        snprintf(err->line, sizeof err->line,
                 "its axis %" PRIu32 " has the size %" PRId64 ": expected a multiple of %" PRId64
                 ", for %" PRIu32 " devices",
                 c->axis, size, each, c->ways);
    return -1;
}

/* Returns how a value is cut: c; with the stub, whose values are bytes without sizes, *own, which is set here: each
 * piece gets a stretch of `bytes` bytes, at least 1. */
static const struct split_cut *cut_for(const struct engine *e, const struct split_cut *c,
                                       int64_t bytes, struct split_cut *own)
{
    *own = (struct split_cut){.ways = c->ways, .run = larger(1, bytes)};
    return *e->library ? c : own;
}

struct engine_value *cut_tensor(struct engine *e, const struct split_cut *c,
                                const struct engine_value *whole, uint32_t i,
                                struct engine_error *err)
{
    struct dense x, y;
    struct split_cut own;
    if (look(e, whole, &x, err))
        return NULL;
    c = cut_for(e, c, x.bytes / c->ways, &own);
    if (check_axis(c, &x, 1, err))
        return NULL;
    struct engine_value *to = make_like(e, &x, c->axis, x.size[c->axis] / c->ways, &y, err);
    if (to)
        copy_runs(c, &x, &y, i, /*into=*/false);
    return to;
}

struct engine_value *cut_tensor_join(struct engine *e, const struct split_cut *c,
                                     struct engine_value *const *piece, struct engine_error *err)
{
    struct dense first, x, y;
    struct split_cut own;
    if (look(e, piece[0], &first, err))
        return NULL;
    c = cut_for(e, c, first.bytes, &own);
    if (check_axis(c, &first, c->ways, err))
        return NULL;
    struct engine_value *to =
        make_like(e, &first, c->axis, sat_mul(first.size[c->axis], c->ways), &y, err);
    for (uint32_t i = 0; i < c->ways && to; i++) {
        bool good = look(e, piece[i], &x, err) == 0;
        if (good && (x.shape.elem != first.shape.elem || x.shape.rank != first.shape.rank ||
                     memcmp(x.size, first.size, x.shape.rank * sizeof *x.size) != 0)) {
            snprintf(err->line, sizeof err->line, "its pieces have different sizes");
            good = false;
        }
        if (good) {
            copy_runs(c, &y, &x, i, /*into=*/true);
            continue;
        }
        e->face->value_free(e, to);
        to = NULL;
    }
    return to;
}

/* Frees a value, and takes it out of the table. */
static void drop(struct engine *e, struct engine_value **table, uint32_t v)
{
    e->face->value_free(e, table[v]);
    table[v] = NULL;
}

int cut_tensor_blame(const struct split *s, const struct split_cut *c, struct engine_error *err)
{
    struct engine_error why = *err;
    snprintf(err->line, sizeof err->line, "'%.100s': %.280s", s->value[c->whole].name, why.line);
    return -1;
}

int cut_inputs(struct engine *e, const struct split *s, struct engine_value **table, bool keep,
               struct engine_error *err)
{
    int rc = 0;
    for (uint32_t k = 0; k < s->ncut && !rc; k++) {
        const struct split_cut *c = &s->cut[k];
        for (uint32_t i = 0; i < c->ways && table[c->whole] && !rc; i++) {
            table[c->piece[i]] = cut_tensor(e, c, table[c->whole], i, err);
            if (!table[c->piece[i]])
                rc = cut_tensor_blame(s, c, err);
        }
    }
    for (uint32_t k = 0; k < s->ncut; k++) {
        for (uint32_t i = 0; i < s->cut[k].ways && rc; i++) /* after an error no piece stays */
            drop(e, table, s->cut[k].piece[i]);
        if (!keep)
            drop(e, table, s->cut[k].whole);
    }
    return rc;
}

int join_outputs(struct engine *e, const struct split *s, struct engine_value **table,
                 struct engine_error *err)
{
    struct engine_value *piece[PIECES_MOST];
    for (uint32_t k = 0; k < s->ncut; k++) {
        const struct split_cut *c = &s->joined[k];
        bool all_there = true;
        for (uint32_t i = 0; i < c->ways && all_there; i++) {
            piece[i] = table[c->piece[i]];
            all_there = piece[i] != NULL;
        }
        if (!all_there)
            continue;
        table[c->whole] = cut_tensor_join(e, c, piece, err);
        if (!table[c->whole])
            return cut_tensor_blame(s, c, err);
        for (uint32_t i = 0; i < c->ways; i++)
            drop(e, table, c->piece[i]);
    }
    return 0;
}
