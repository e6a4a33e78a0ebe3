/* Finds the forward twin of backward nodes by their names (mirror_groups.h).
 *
 * Source: Baechi (SoCC 2020): the forward graph is placed, and each gradient goes to the device of the operator that it
 * is the gradient of.  Exporters name it so: TensorFlow "gradients/block/mul_grad/Mul_1" after "block/mul", ONNX
 * Runtime "mul_12_Grad/Mul_0" after "mul_12", others "/block/MatMul_grad" after "/block/MatMul".  So the twin's
 * name begins behind the last "gradients/" and ends before the next "_grad" or "_Grad" that ends a word. */
#include "passes/coarsen/mirror_groups.h"

#include "ir/base/name_table.h"

#include <ctype.h>
#include <string.h>

/* Returns the name of the forward node that a backward node called `name` is named after, in a; NULL: of none. */
static const char *twin_name(const char *name, struct arena *a)
{
    static const char scope[] = "gradients/";
    for (const char *p; (p = strstr(name, scope));)
        name = p + strlen(scope);
    for (const char *p = name; (p = strchr(p, '_')); p++)
        if (p > name && (!strncmp(p, "_grad", 5) || !strncmp(p, "_Grad", 5)) &&
            !islower((unsigned char)p[5]))
            return arena_strdup(a, name, (size_t)(p - name));
    return NULL;
}

uint32_t mirror_join(const struct ctx *x, struct classes *c)
{
    const struct module *m = x->scene.m;
    const struct wdag *g = x->levels.base;
    uint32_t n = 0;
    if (!m->backward || !m->ir_version)
        return 0;
    struct arena *own = arena_new(x->use.scratch);
    struct names forward = names_new(own, g->n);
    for (uint32_t v = 0; v < g->n; v++)
        if (!m->backward[g->node[v]])
            names_add(&forward, node_name(m, g->node[v]), v);
    for (uint32_t v = 0; v < g->n; v++) {
        struct arena_mark mark = arena_mark(own);
        const char *name =
            m->backward[g->node[v]] ? twin_name(node_name(m, g->node[v]), own) : NULL;
        uint32_t twin = name ? names_get(&forward, name, UINT32_MAX) : UINT32_MAX;
        arena_release(own, mark);
        if (twin == UINT32_MAX)
            continue;
        classes_join(c, twin, v, WHY_MIRROR);
        n++;
    }
    arena_free(own);
    return n;
}
