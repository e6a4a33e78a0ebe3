/* Writes the sizes that a plan is for (sizes.h).  Programs that make inputs read these sizes and need not guess
 * any.  O(dimensions of inputs * names). */
#include "backends/split/sizes.h"

#include "ir/base/map.h"
#include "ir/base/units.h"
#include "ir/model/dim.h"

#include <string.h>

/* For dim_eval(): returns the size that the dimension `name` got for planning, in the struct result `user`; -1: it got
 * none. */
static int64_t given_size(void *user, const char *name)
{
    const struct result *r = user;
    for (uint32_t i = 0; i < r->ndims; i++)
        if (strcmp(r->dim_name[i], name) == 0)
            return r->dim_value[i];
    return -1;
}

/* Writes the members of "dims" for expressions ("past + seq") in the shape of input v, each once: the value
 * of the expression with the sizes that the symbols have.  seen: symbols and expressions of earlier inputs. */
static void put_expressions(struct json_out *j, const struct result *r, vid v, struct map *seen,
                            struct arena *a)
{
    const struct module *m = r->scene.m;
    const struct type *t = &m->type[m->value[v].type];
    for (int i = 0; t->kind == TYPE_TENSOR && i < t->rank; i++) {
        struct dim d = m->dim[t->dim + (uint32_t)i];
        if (!d.sym || map_get(seen, map_key(0, d.sym)))
            continue;
        map_set(seen, a, map_key(0, d.sym), 1);
        /* if --dim gives a size to the name of d, dims_put() has written it already */
        bool named = given_size((void *)r, module_str(m, d.sym)) >= 0;
        int64_t size = named ? -1 : dim_eval(m, d, given_size, (void *)r);
        if (size >= 0)
            json_int(j, module_str(m, d.sym), size);
    }
}

void dims_put(struct json_out *j, const struct result *r, struct arena *a)
{
    const struct module *m = r->scene.m;
    struct map seen = {0};
    json_open(j, "dims", '{', JSON_ROW);
    for (uint32_t i = 0; i < r->ndims; i++)
        json_int(j, r->dim_name[i], r->dim_value[i]);
    for (uint32_t i = 0; i < m->graph[1].in.n; i++)
        put_expressions(j, r, m->arg[m->graph[1].in.at + i], &seen, a);
    json_close(j, JSON_ROW);
}

void sizes_put(struct json_out *j, const struct result *r, uint32_t input, uint32_t axis,
               uint32_t times)
{
    if (!r->size_at)
        return;
    uint32_t from = r->size_at[input], to = r->size_at[input + 1];
    if (r->size_open[input]) {
        json_text(j, "sizes", NULL);
        return;
    }
    json_open(j, "sizes", '[', JSON_ROW);
    for (uint32_t i = from; i < to; i++) {
        if (r->size[i] >= 0)
            json_int(j, NULL, sat_mul(r->size[i], i - from == axis ? times : 1));
        else
            json_text(j, NULL, NULL);
    }
    json_close(j, JSON_ROW);
}
