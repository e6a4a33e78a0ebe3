/* Measures a split folder (profile_folder.h). */
#include "tools/run/parameter_inputs.h"
#include "tools/run/profile_folder.h"
#include "tools/run/resize.h"

int profile_folder(const struct profiling *p, const char *folder, const struct costs_in *known,
                   struct profiled *out)
{
    struct arena *a = p->m.a;
    out->m = p->m;
    out->m.s = &out->s;
    if (known)
        out->m.node_runs = 0;
    if (split_read(&out->s, folder, a, p->m.d) ||
        (p->ndim > 0 && split_resize(&out->s, p->dim, p->ndim, a, p->m.d)) ||
        (known && costs_fit(known, &out->s, p->m.d)) ||
        parameter_inputs_all(&out->s, p->parameters, p->m.folder, a, p->m.d))
        return -1;
    out->m.table = arena_array(a, (size_t)out->s.nvalue + 1, sizeof *out->m.table);
    out->f = arena_array(a, out->s.npart, sizeof *out->f);
    if (inputs_make(p->m.e, &out->s, &p->inputs, out->m.table, a, p->m.d))
        return -1;
    out->side = (struct side_by_side){0};
    int rc = measure_parts(&out->m, out->f);
    if (!rc && p->side_by_side && !*p->m.stop)
        rc = side_by_side(&out->m, out->f, p->side_by_side, p->cores, &out->side);
    if (!rc && known)
        costs_share(known, &out->m, out->f);
    for (uint32_t i = 0; i < out->s.ninput; i++)
        p->m.e->face->value_free(p->m.e, out->m.table[out->s.input[i]]);
    return rc;
}
