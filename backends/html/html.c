/* Writes the report of a plan as one HTML page, report.html of a split folder: the graph of its parts, a timeline,
 * tables of devices, parts and transfers, and why the bound holds.
 *
 * The page needs no network and may not use one: its Content-Security-Policy allows nothing but its own style sheet
 * and program, by their hashes, so that a name which looks like markup stays text even if it were not escaped.  Tables
 * and pictures are complete in the page; its program (report.js) only adds the list of a part's nodes, the search, and
 * moving and zooming.  O(the parts + their nodes + tensors that cross). */
#include "backends/html/html.h"

#include "backends/html/text.h"
#include "backends/timeline/gantt.h"
#include "ir/base/memory.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"

/* MOST_PARTS: with more parts, boxes of the graph stand for devices.  MOST_BARS: bars of the timeline, at most. */
enum { MOST_PARTS = 2000, MOST_BARS = 1 << 20 };

void html_open(struct html *h, const char *id, const char *title)
{
    fprintf(h->f, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void html_close(struct html *h)
{
    fputs("</section>\n", h->f);
}

/* Writes the program or the style sheet of the page, text[0 .. n), between the tags <tag> and </tag>. */
static void put_own(struct html *h, const char *tag, const unsigned char *text, size_t n)
{
    fprintf(h->f, "<%s>", tag);
    fwrite(text, 1, n, h->f);
    fprintf(h->f, "</%s>\n", tag);
}

/* Writes the beginning of the document, up to its first heading. */
static void put_head(struct html *h)
{
    const char *name = path_base(module_str(h->r->scene.m, h->r->scene.m->path));
    fprintf(h->f,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action "
            "'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"pcc " PCC_VERSION "\">\n<title>",
            report_css_sha256, report_js_sha256);
    html_put_name(h->f, h->a, name);
    fputs(" - plan</title>\n", h->f);
    put_own(h, "style", report_css_text, report_css_size);
    fputs("</head>\n<body>\n<header>\n<h1>", h->f);
    html_put_name(h->f, h->a, name);
    fputs("</h1>\n", h->f);
}

/* Writes a figure at the top of the page: a number, and below it the words `what`, which say what the number means. */
static void put_figure(struct html *h, const char *number, const char *what)
{
    fputs("<div class=\"figure\"><b>", h->f);
    html_put(h->f, h->a, number);
    fputs("</b><span>", h->f);
    html_put(h->f, h->a, what);
    fputs("</span></div>\n", h->f);
}

/* Writes the plan in figures: its value, the bound, its status with the gap between the two, and how many parts,
 * devices and nodes it has. */
static void put_figures(struct html *h)
{
    const struct result *r = h->r;
    const struct claim *c = &r->plan->claim;
    char s[UNIT_TEXT];
    uint32_t used = 0;
    for (uint32_t d = 0; d < r->scene.cluster->ndev; d++)
        used += r->verdict->load[d].nodes > 0;
    fputs("<div class=\"figures\">\n", h->f);
    put_figure(h, time_short(s, r->verdict->value),
               exec_kind_of(&r->scene.model, c->objective)->text);
    if (c->bound >= 0)
        put_figure(h, time_short(s, c->bound),
                   arena_fmt(h->a, "bound: no plan%s takes less", plan_among(c->scope)));
    double value = (double)r->verdict->value, gap = value > 0 ? 1 - (double)c->bound / value : 0;
    put_figure(h, plan_status_name(c->status),
               c->bound < 0 ? "no bound is known" : arena_fmt(h->a, "gap %.2f %%", 100 * gap));
    put_figure(h, arena_fmt(h->a, "%u", r->parts->nparts),
               r->parts->nparts == 1 ? "part" : "parts");
    put_figure(h, arena_fmt(h->a, "%u of %u", used, r->scene.cluster->ndev), "devices used");
    put_figure(h, arena_fmt(h->a, "%u", h->box.node.at[h->box.n]), "nodes");
    fputs("</div>\n", h->f);
}

/* Writes links to the sections of the page, the field for searches, and the empty section for what they find; ends the
 * header and begins the main part. */
static void put_navigation(struct html *h)
{
    static const char *const to[] = {"graph",     "timeline", "devices", "parts",
                                     "transfers", "bound",    "sizes",   NULL};
    fputs("<nav>", h->f);
    for (int i = 0; to[i]; i++)
        fprintf(h->f, "<a href=\"#%s\">%s</a> ", to[i], to[i]);
    fputs(
        "<input id=\"search\" class=\"script\" type=\"search\" hidden placeholder=\"find a node\" "
        "aria-label=\"find a node by name\"></nav>\n</header>\n<main>\n"
        "<section id=\"found\" class=\"script\" hidden></section>\n",
        h->f);
}

/* Writes the section about the bound: the planner's argument, the reason why the bound holds (as --explain-bound
 * prints it), and the other plans that the planner offers. */
static void put_bound(struct html *h)
{
    const struct claim *c = &h->r->plan->claim;
    char s[UNIT_TEXT];
    html_open(h, "bound", "Why no plan is faster than the bound");
    if (c->argument && *c->argument) {
        fputs("<p>", h->f);
        html_put(h->f, h->a, c->argument);
        fputs("</p>\n", h->f);
    }
    if (c->bound < 0 || !c->proof) {
        fputs("<p>No bound is known.</p>\n", h->f);
    } else {
        fprintf(h->f, "<p>Why no plan%s takes less than %s:</p>\n<pre>", plan_among(c->scope),
                time_short(s, c->bound));
        html_put(h->f, h->a, c->proof);
        fputs("</pre>\n", h->f);
    }
    if (c->offer) {
        fputs("<p>Other plans:</p>\n<pre>", h->f);
        html_put(h->f, h->a, c->offer);
        fputs("</pre>\n", h->f);
    }
    html_close(h);
}

/* Writes the tables that the execution model prints on the terminal, without colours, as a folded section; nothing if
 * memory for them cannot be had. */
static void put_terminal(struct html *h)
{
    const struct exec_shows *shows = exec_kind(&h->r->scene.model)->shows;
    struct memory m;
    struct result plain = *h->r;
    plain.colored = false;
    plain.columns = 0; /* the page is the same, whatever the terminal's width */
    memory_begin(&m, h->a);
    if (m.f) {
        shows->gain(m.f, &plain, h->a);
        shows->report(m.f, &plain, h->a);
    }
    const char *text = memory_close(&m, h->a);
    if (!text)
        return;
    html_open(h, "terminal", "As on the terminal");
    fputs("<details><summary>the tables of the program</summary>\n<pre>", h->f);
    html_put(h->f, h->a, text);
    fputs("</pre></details>\n", h->f);
    html_close(h);
}

/* The first error that was reported while a section was made.  The page says why it has no such section. */
struct first_error {
    char line[256]; /* "": none so far */
};

/* For diag.emit: keeps the text of the first error in `user`, a struct first_error, and drops all else. */
static void keep_error(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct first_error *e = user;
    (void)w;
    if (level == DIAG_ERROR && !*e->line)
        snprintf(e->line, sizeof e->line, "%s", line);
}

void html_put_timeline(struct html *h)
{
    struct arena *a = arena_new(h->a);
    struct first_error why = {""};
    struct diag deaf = {.emit = keep_error, .user = &why, .listener = h->r->diag->listener};
    struct result r = h->r->open ? *h->r->open : *h->r;
    struct chart c;
    r.diag = &deaf;
    html_open(h, "timeline", "The plan at work");
    if (chart_make(&c, &r, &(const struct chart_options){.curves = true}, MOST_BARS, a)) {
        fputs("<p>There is no timeline: ", h->f);
        html_put(h->f, a, why.line);
        fputs("</p>\n", h->f);
    } else {
        fputs("<div class=\"chart\">\n", h->f);
        gantt_put(h->f, &c, /*curves=*/true, /*inside=*/true, a);
        fputs("</div>\n", h->f);
    }
    html_close(h);
    arena_free(a);
}

/* Writes the whole document. */
static void put_page(struct html *h)
{
    put_head(h);
    put_figures(h);
    put_navigation(h);
    html_put_graph(h);
    html_put_timeline(h);
    html_put_devices(h);
    html_put_parts(h);
    html_put_transfers(h);
    put_bound(h);
    html_put_sizes(h);
    put_terminal(h);
    fputs("</main>\n<footer>pcc " PCC_VERSION "</footer>\n", h->f);
    html_put_nodes(h);
    put_own(h, "script", report_js_text, report_js_size);
    fputs("</body>\n</html>\n", h->f);
}

int html_write(const struct result *r, const char *path)
{
    struct outfile o;
    struct html h = {.r = r, .a = arena_new(r->scene.m->mem)};
    if (!r->parts || !r->plan || !r->verdict) {
        arena_free(h.a);
        return diag_error(r->diag, "%s: a report needs a plan that gives every node a device",
                          path);
    }
    h.box = frames_build(r, MOST_PARTS, h.a);
    int rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag);
    if (!rc) {
        h.f = o.f;
        put_page(&h);
        rc = outfile_close(&o, !diag_broken_off(r->diag));
    }
    arena_free(h.a);
    return rc;
}

/* For writer.write: calls html_write(); a report has no options. */
static int write_html(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    return html_write(r, path);
}

const struct writer writer_html = {.name = "html",
                                   .suffix = ".html",
                                   .to_stdout = true,
                                   .needs = WRITER_NEEDS_PLAN,
                                   .write = write_html};
