/* Writes the lists of settings and devices (lists.h) from the tables that settings and presets are read by.
 * O(settings^2), since writers share options; O(devices). */
#include "tools/lib/lists.h"

#include "ir/cluster/presets.h"
#include "tools/lib/exec/kinds.h"
#include "tools/lib/settings.h"
#include "tools/lib/write.h"

#include <string.h>

/* Opens a text in memory that starts with a list.  Returns false if there is no memory for it. */
static bool begin_list(struct memory *m, struct json_out *o, struct arena *a)
{
    memory_begin(m, a);
    *o = (struct json_out){.f = m->f};
    if (m->f)
        json_open(o, NULL, '[', 2);
    return m->f != NULL;
}

/* Ends the list.  Returns the text, in p->x.use.mem; NULL after an error.  what: name of the text, for the error. */
static const char *end_list(struct memory *m, struct json_out *o, const char *what, struct pcc *p)
{
    if (m->f) {
        json_close(o, 0);
        fputc('\n', m->f);
    }
    return memory_end(m, true, what, p->x.use.mem, &p->diag);
}

/* Writes a setting as an object of settings_list().  The words of "objective" and "judge" are the names of the
 * execution models, which their rows do not have. */
static void put_setting(struct json_out *o, const struct opt *row)
{
    static const char *const kind[] = {
        [OPT_INT] = "int",   [OPT_BOOL] = "bool", [OPT_BYTES] = "bytes",
        [OPT_TIME] = "time", [OPT_TEXT] = "text", [OPT_CHOICE] = "choice",
        [OPT_SET] = "set",   [OPT_RATE] = "rate", [OPT_SHARE] = "share"};
    bool objective = !strcmp(row->name, "objective") || !strcmp(row->name, "judge");
    json_open(o, NULL, '{', JSON_ROW);
    json_text(o, "name", row->name);
    json_text(o, "kind", kind[objective ? OPT_CHOICE : row->kind]);
    json_open(o, "words", '[', JSON_ROW);
    for (uint32_t k = 0; objective && exec_kinds[k]; k++)
        json_text(o, NULL, exec_kinds[k]->name);
    for (uint32_t k = 0; !objective && row->names && row->names[k]; k++)
        if (*row->names[k])
            json_text(o, NULL, row->names[k]);
    json_close(o, JSON_ROW);
    fputs(strstr(row->help, "(repeats") ? "true" : "false", json_member(o, "repeats"));
    json_text(o, "help", row->help);
    json_close(o, JSON_ROW);
}

/* Whether an earlier writer in writer_table, or an earlier option of writer w, has the same name as the option k of
 * w. */
static bool listed_before(const struct writer *const *w, const struct writer_opt *const *k)
{
    for (const struct writer *const *v = writer_table; v < w; v++)
        if (writer_opt(*v, (*k)->opt.name))
            return true;
    return writer_opt(*w, (*k)->opt.name) != *k;
}

const char *settings_list(struct pcc *p)
{
    struct memory m;
    struct json_out o;
    const struct opt *row;
    if (begin_list(&m, &o, p->x.use.mem)) {
        for (uint32_t i = 0; (row = setting_at(i)); i++)
            put_setting(&o, row);
        for (const struct writer *const *w = writer_table; *w; w++)
            for (const struct writer_opt *const *k = (*w)->opts; k && *k; k++)
                if (!listed_before(w, k))
                    put_setting(&o, &(*k)->opt);
    }
    return end_list(&m, &o, "settings", p);
}

/* Writes a class of devices as an object of devices_list(). */
static void put_class(struct json_out *o, const struct device_class *c)
{
    static const enum elem peaks[] = {ELEM_F32, ELEM_F16, ELEM_I8};
    json_open(o, NULL, '{', JSON_ROW);
    json_text(o, "name", c->name);
    fputs(c->host ? "true" : "false", json_member(o, "host"));
    json_int(o, "count", c->count);
    if (c->memory >= 0)
        json_int(o, "memory_bytes", c->memory);
    else
        fputs("null", json_member(o, "memory_bytes"));
    json_int(o, "bandwidth", c->bandwidth);
    json_open(o, "operations", '{', JSON_ROW);
    for (size_t e = 0; e < sizeof peaks / sizeof *peaks; e++)
        json_int(o, elem_name(peaks[e]), cluster_peak(c, peaks[e]));
    json_close(o, JSON_ROW);
    json_close(o, JSON_ROW);
}

const char *devices_list(struct pcc *p)
{
    struct memory m;
    struct json_out o;
    struct device_class preset;
    const char *text = handle_given(p, "devices");
    struct cluster *c = text ? arena_alloc(p->x.use.mem, sizeof *c) : NULL;
    if (c && settings_cluster(p, text, c))
        return NULL;
    if (begin_list(&m, &o, p->x.use.mem)) {
        for (uint32_t i = 0; c && i < c->ncls; i++)
            put_class(&o, &c->cls[i]);
        for (uint32_t i = 0; !c && preset_at(i, &preset); i++)
            put_class(&o, &preset);
    }
    return end_list(&m, &o, "devices", p);
}
