/* Finds the arrows between the boxes of a picture (arrows.h): one pass over the pins of all nets, with a table of the
 * pairs of boxes that have an arrow already. */
#include "backends/picture/arrows.h"

#include "backends/label.h"
#include "ir/base/map.h"

#include <assert.h>
#include <string.h>

enum {
    TOOLTIP_LINES = 12, /* number of tensors that a tooltip lists, at most */
    NAME_SHOWN = 80     /* number of characters of each of their names, at most */
};

/* The arrows while they are collected. */
struct builder {
    const struct module *m;
    struct arena *a;
    struct map pair; /* (from, to) -> arrow + 1 */
    struct arrow *f; /* [n] the arrows so far */
    uint32_t n, cap;
};

/* Adds the tensor v to the arrow from box `from` to box `to`; makes the arrow if there is none.  away: as in struct
 * arrow. */
static void add_tensor(struct builder *b, uint32_t from, uint32_t to, vid v, bool away)
{
    assert((from != 0 || to != 0) && b->m->cost->bytes[v] >= 0);
    char buf[UNIT_TEXT];
    int64_t bytes = b->m->cost->bytes[v];
    uint32_t i = map_get(&b->pair, map_key(from, to));
    if (!i) {
        b->f = vec_grow(b->a, b->f, &b->cap, b->n + 1, sizeof *b->f);
        b->f[b->n] = (struct arrow){.from = from, .to = to, .away = away, .pale = true, .tip = ""};
        i = ++b->n;
        map_set(&b->pair, b->a, map_key(from, to), i);
    }
    struct arrow *f = &b->f[i - 1];
    f->bytes = sat_add(f->bytes, bytes);
    const struct type *t = &b->m->type[b->m->value[v].type];
    f->pale = f->pale && t->kind == TYPE_TENSOR && elem_is_integer(t->elem);
    if (f->tensors++ < TOOLTIP_LINES) {
        const char *name = value_name(b->m, v);
        f->tip =
            arena_fmt(b->a, "%s%s%s (%s)", f->tip, *f->tip ? "\\n" : "",
                      label_text(b->a, name, strlen(name), NAME_SHOWN), bytes_short(buf, bytes));
    }
}

struct arrows arrows_build(const struct result *r, const uint32_t *box_of, const uint32_t *frame_of,
                           uint32_t nframe, struct arena *a)
{
    struct builder b = {.m = r->scene.m, .a = a};
    const struct place *pl = r->scene.place;
    /* [box], [frame] 1 + the last net for which it was reached */
    uint32_t *seen_box = arena_array(a, (size_t)r->scene.m->nnode + 1, sizeof *seen_box);
    uint32_t *seen_frame = arena_array(a, (size_t)nframe + 1, sizeof *seen_frame), hidden = 0;
    for (uint32_t e = 0; e < pl->nnet; e++) {
        vid v = pl->net_value[e];
        nid def = r->scene.m->value[v].def;
        uint32_t from = def && pl->kind[def] == PLACE_NODE ? box_of[def] : 0;
        bool small = arrow_is_small(r, e);
        if (def && pl->kind[def] == PLACE_NODE && !from)
            continue; /* the box of the node that makes the value is not shown */
        if (from && pl->net_host[e])
            add_tensor(&b, from, 0, v, /*away=*/true);
        for_row (pin, pl->net_pin, e) {
            uint32_t to = box_of[pin], frame = to ? frame_of[to] : 0;
            bool away = !from || frame_of[from] != frame;
            if (!to || to == from || seen_box[to] == e + 1 || (!from && !pl->net_host[e]))
                continue;
            seen_box[to] = e + 1;
            /* the frame has the tensor already; or, within a frame, the tensor is too small for an arrow */
            if (away ? seen_frame[frame] == e + 1 : small) {
                hidden++;
                continue;
            }
            if (away)
                seen_frame[frame] = e + 1;
            add_tensor(&b, from, to, v, away);
        }
    }
    return (struct arrows){b.f, b.n, hidden};
}

const char *arrow_amount(struct arena *a, uint32_t tensors, int64_t bytes)
{
    char buf[UNIT_TEXT];
    bytes_short(buf, bytes);
    return tensors == 1 ? arena_fmt(a, "%s", buf) : arena_fmt(a, "%u tensors\\n%s", tensors, buf);
}

const char *arrow_width(struct arena *a, int64_t bytes)
{
    int w = 1; /* half points beyond 1: one, and one more for each factor of 4 from 1 KiB on */
    for (; bytes >= 1024; bytes /= 4)
        w++;
    return arena_fmt(a, "%d.%d", 1 + w / 2, w % 2 * 5);
}
