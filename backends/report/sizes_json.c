/* Writes the sizes that a model is planned for as JSON, for programs that make inputs: the sizes of symbolic
 * dimensions, some of which were guessed, and the sizes of each input.  O(inputs). */
#include "backends/backends.h"
#include "backends/report/print.h"
#include "backends/split/sizes.h"
#include "backends/split/type_words.h"
#include "ir/base/json_out.h"

/* Writes the whole document: the sizes of names, which of them were guessed, and the inputs. */
static void put_document(FILE *f, const struct result *r, struct arena *a)
{
    struct json_out out = {.f = f}, *j = &out;
    const struct module *m = r->scene.m;
    const struct graph *g = &m->graph[1];
    json_open(j, NULL, '{', 2);
    json_int(j, "pcc_sizes", 1);
    json_text(j, "model", module_str(m, m->path));
    dims_put(j, r, a);
    json_open(j, "guessed", '[', JSON_ROW);
    for (uint32_t i = r->ndims - r->nguessed; i < r->ndims; i++)
        json_text(j, NULL, r->dim_name[i]);
    json_close(j, JSON_ROW);
    json_open(j, "inputs", '[', 4);
    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = m->arg[g->in.at + i];
        if (m->value[v].flags & VALUE_INIT)
            continue;
        json_open(j, NULL, '{', JSON_ROW);
        json_text(j, "name", value_name(m, v));
        type_put(j, m, m->value[v].type, TYPE_WORDS_IR);
        shape_put(j, m, m->value[v].type);
        sizes_put(j, r, i, /*axis=*/0, /*times=*/1); /* the input is whole */
        json_close(j, JSON_ROW);
    }
    json_close(j, 2);
    json_close(j, 0);
    putc('\n', f);
}

/* writer.write: writes the sizes for which the model was planned. */
static int write_sizes(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    return writer_print(r, path, put_document);
}

const struct writer writer_sizes = {.name = "sizes",
                                    .suffix = ".sizes.json",
                                    .to_stdout = true,
                                    .needs = WRITER_NEEDS_COST,
                                    .write = write_sizes};
