/* Settings of the execution model in the textual IR, which stand in the line "cluster" after the devices (grammar:
 * text.md).
 *
 * The settings are the rows of exec_settings (exec_model.h).  A flag (a setting whose field has one byte) is a word
 * without a value.  Sizes are printed in bytes, shares in millionths; settings with the value 0 are left out, the part
 * cost where it is the usual one.  O(text * rows). */
#include "ir/base/units.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <assert.h>
#include <string.h>

/* Whether the setting o is true or false: in the text its name alone sets it to true. */
static bool is_flag(const struct opt *o)
{
    return o->kind == OPT_BOOL || o->bytes == 1;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Takes the current token if it is the word or number `word`, with or without quotes; returns whether it is. */
static bool take_spelled(struct parser *p, const char *word)
{
    if ((p->tok.kind != T_WORD && p->tok.kind != T_STR && p->tok.kind != T_NUM) ||
        p->tok.len != strlen(word) || !*word || memcmp(p->tok.s, word, p->tok.len) != 0)
        return false;
    text_next(p);
    return true;
}

/* Takes one of the names of the setting o into *v, as the index of the name.  Returns 0, or -1 after an error. */
static int take_choice(struct parser *p, const struct opt *o, int64_t *v)
{
    assert(o->kind == OPT_CHOICE && o->names);
    for (*v = 0; o->names[*v]; ++*v)
        if (take_spelled(p, o->names[*v]))
            return 0;
    return text_expected(p, opt_names(o, ", ", " or ", p->a));
}

/* Takes a number within the bounds of the setting o into *v, or a name of o: names[k] gives -k.  Returns 0, or -1
 * after an error. */
static int take_int(struct parser *p, const struct opt *o, int64_t *v)
{
    int64_t lo = 0, hi = INT64_MAX;
    const char *what = "a number";
    for (uint32_t k = 0; o->names && o->names[k]; k++)
        if (text_take_word(p, o->names[k])) {
            *v = -(int64_t)k;
            return 0;
        }
    if (o->names)
        what = arena_fmt(p->a, "%s or a number", opt_names(o, ", ", ", ", p->a));
    if (o->kind == OPT_SHARE) {
        lo = 1;
        hi = 1000000;
    } else if (o->kind == OPT_INT) {
        count_parse(o->lo, &lo);
        count_parse(o->hi, &hi);
    }
    return text_int(p, lo, hi, v, what);
}

int text_setting_value(struct parser *p, const struct opt *row)
{
    assert(row->name); /* only the row that ends the table has no name */
    struct opt o = exec_values(&p->model, row, p->a);
    size_t at = p->tok.at;
    int64_t v = 1;
    int rc = is_flag(&o) ? 0 : text_want(p, '=', "'='");
    if (rc == 0 && o.kind == OPT_CHOICE && !is_flag(&o))
        rc = take_choice(p, &o, &v);
    else if (rc == 0 && (o.kind == OPT_INT || o.kind == OPT_BYTES || o.kind == OPT_SHARE))
        rc = take_int(p, &o, &v);
    else if (rc == 0 && o.kind == OPT_TIME)
        rc = text_quantity(p, time_parse, &v, "a time (5us)");
    else if (rc == 0 && o.kind == OPT_RATE)
        rc = text_quantity(p, rate_parse, &v, "a rate (25GB/s)");
    if (rc == 0 && (o.kind == OPT_TIME || o.kind == OPT_RATE) && !opt_has(&o, v))
        rc = text_error(p, at, "expected %s", opt_expected(&o, p->a));
    if (rc == 0)
        opt_put(&o, &p->model, v);
    return rc;
}

int text_setting(struct parser *p)
{
    for (const struct opt *o = exec_settings; o->name; o++) {
        /* the setting "schedule" has two keys: "training" (opt_key) for iterations, "schedule" for samples */
        bool samples = strcmp(o->name, "schedule") == 0 && text_take_word(p, "schedule");
        if (samples || text_take_word(p, opt_key(o, p->a)))
            return text_setting_value(p, o) < 0 ? -1 : 1;
    }
    return 0;
}

/* ---- writing ---------------------------------------------------------------------------------- */

void text_put_choice(const struct printer *p, const char *key, const char *word)
{
    const char *quote = strchr(word, '-') ? "\"" : "";
    fprintf(p->f, " %s=%s%s%s", key, quote, word, quote);
}

/* Writes a setting, " key=value", or " key" for a flag; nothing if its value is 0, or for the part cost if it is
 * exec_usual_part_cost(). The efficiency is always written. If the text has costs, so is the memory model LIVE of the
 * time per sample, even if the user has set none: a reader of a text with costs takes SUM for the default. */
static void put_setting(const struct printer *p, const struct opt *row,
                        const struct exec_model *model)
{
    struct exec_model told = *model, *e = &told;
    if (exec_live_parts(e) && p->m->cost)
        e->memory = MEMORY_LIVE;
    const struct opt own = exec_values(e, row, p->a), *o = &own;
    bool always = o->off == offsetof(struct exec_model, efficiency);
    int64_t v = always ? exec_efficiency(e) : opt_number(o, e);
    int64_t usual = o->off == offsetof(struct exec_model, part_cost)
                        ? exec_usual_part_cost(p->m->cost != NULL)
                        : 0;
    const char *key = opt_key(o, p->a);
    if (v == usual)
        return;
    if (is_flag(o))
        fprintf(p->f, " %s", key);
    else if (o->kind == OPT_BYTES || o->kind == OPT_SHARE)
        fprintf(p->f, " %s=%lld", key, (long long)v);
    else if (o->kind == OPT_RATE)
        text_put_rate(p, arena_fmt(p->a, " %s=", key), v);
    else
        text_put_choice(p, key, opt_get(o, e, p->a));
}

/* Writes the schedule, unless it is the default: training="gpipe" for a model that runs iterations (iteration),
 * schedule=gpipe for other models (!iteration). The two settings have places of their own in the line, so this function
 * is called once for each. */
static void put_schedule(const struct printer *p, const struct exec_model *e, bool iteration)
{
    enum training_schedule schedule = e->training.schedule;
    if (iteration != (exec_kind(e)->feed == FEED_MICRO_BATCHES))
        return;
    if (iteration && schedule)
        fprintf(p->f, " training=\"%s\"", training_schedule_name[schedule]);
    else if (exec_apart(e))
        fprintf(p->f, " schedule=%s", training_schedule_name[schedule]);
}

/* Writes the levels of links and the AllReduce rate of the cluster, if it has them. */
static void put_links(const struct printer *p, const struct cluster *c)
{
    if (c->nlevel)
        fprintf(p->f, " levels=\"%s\"", cluster_levels_text(c, p->m->mem));
    if (c->reduce_bandwidth)
        text_put_rate(p, " reduce=", c->reduce_bandwidth);
}

void text_put_settings(const struct printer *p, const struct cluster *c, const struct exec_model *e)
{
    assert(c && e);
    text_put(p, "cluster");
    /* in the order of the table; links and the schedule, which are no plain rows, have fixed places between the rows */
    for (const struct opt *o = exec_settings; o->name; o++) {
        if (o->off == offsetof(struct exec_model, part_cost))
            put_links(p, c);
        if (o->off == offsetof(struct exec_model, training.schedule))
            put_schedule(p, e, /*iteration=*/false);
        else
            put_setting(p, o, e);
        if (o->off == offsetof(struct exec_model, training.profiled))
            put_schedule(p, e, /*iteration=*/true);
    }
    text_put(p, "\n");
}
