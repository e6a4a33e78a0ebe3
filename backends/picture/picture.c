/* Draws pictures: the dot program, a child process with a time limit, lays out the DOT of dot.c.
 *
 * dot takes seconds for some graphs of a few hundred boxes and hours for others, nearly all of it in the network
 * simplex that places boxes and in the routing of curves (Gansner, Koutsofios, North, Vo, "A technique for drawing
 * directed graphs", 1993, sections 4 and 5).  It also spreads frames with many arrows between them over many screens.
 * So one child places the boxes within each frame; then the frames are put below and beside each other, in the order in
 * which they run (arrange.c), and a second child draws the arrows between them with right angles.
 *
 * There are several attempts, each with its own time limit: if the picture is larger than MOST_SCREENS or dot takes too
 * long, the next attempt has fewer boxes, down to one for each part; the last attempts let dot lay out all at once,
 * with few simplex steps and straight arrows.  If all nodes cannot be drawn, the picture shows blocks instead.  All
 * formats are made from one layout.
 *
 * Where dot is not there, or fails, devices are drawn as SVG without it (row.c). */
#include "backends/picture/layout.h"
#include "backends/picture/row.h"
#include "backends/picture/shards.h"
#include "backends/picture/sight.h"
#include "ir/base/child.h"
#include "ir/base/infile.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* most boxes in the later attempts at a picture; the first attempt has up to GOOD_BOXES (backends.h) */
enum { FEW_BOXES = 30, FEWER_BOXES = 24, FEWEST_BOXES = 16 };
enum {
    SAID = 200,   /* bytes of dot's first error that are kept */
    DOT_ARGS = 20 /* the most arguments of the program dot */
};

const char *const picture_formats[] = {"svg", "pdf", "png", "dot", "html", NULL}; /* as PICTURE_* */
enum { FORMATS = 3 }; /* number of formats that the dot program makes: the first ones */

/* How an attempt draws, as bits. */
enum {
    SIMPLE = 1,  /* few simplex steps, straight arrows */
    NEWRANK = 2, /* with dot's option newrank (ranks without regard to frames) */
    ARRANGED =
        4 /* dot lays out each frame alone; pcc puts the frames side by side and bends arrows at right angles */
};
enum { PAGE_NODES = 60 }; /* boxes of more nodes than that are too small to be read on a page */
/* size in screens (layout.screens); a larger picture is drawn again with fewer boxes */
enum { MOST_SCREENS = 2 };

/* An attempt at a picture: its settings.  See the head of this file. */
struct attempt {
    enum view view;
    uint32_t boxes;   /* the most boxes; 0: end of the list */
    unsigned how;     /* bits: SIMPLE, ... */
    unsigned seconds; /* of processor time for each run of dot; twice as many for PNG */
    /* the attempt is left out if the model has more nodes and all are to be shown; 0: no limit */
    uint32_t most_nodes;
};

/* The attempts at each view, in their order. */
static const struct attempt devices[] = {{VIEW_DEVICES, MOST_BOXES, ARRANGED, 2, 0},
                                         {VIEW_DEVICES, MOST_BOXES, SIMPLE, 3, 0},
                                         {VIEW_DEVICES, 2, SIMPLE, 2, 0},
                                         {0}};
static const struct attempt blocks[] = {
    {VIEW_BLOCKS, GOOD_BOXES, ARRANGED, 2, 0},        {VIEW_BLOCKS, FEWER_BOXES, ARRANGED, 2, 0},
    {VIEW_BLOCKS, FEWEST_BOXES, ARRANGED, 1, 0},      {VIEW_BLOCKS, 1, ARRANGED, 1, 0},
    {VIEW_BLOCKS, FEW_BOXES, NEWRANK | SIMPLE, 1, 0}, {0}};
static const struct attempt nodes[] = {{VIEW_NODES, MOST_BOXES, 0, 20, 3000},
                                       {VIEW_NODES, MOST_BOXES, NEWRANK | SIMPLE, 20, 6000},
                                       {VIEW_BLOCKS, GOOD_BOXES, ARRANGED, 2, 0},
                                       {VIEW_BLOCKS, FEW_BOXES, NEWRANK | SIMPLE, 2, 0},
                                       {0}};
static const struct attempt shards[] = {
    {VIEW_SHARDS, MOST_BOXES, 0, 10, 0}, {VIEW_SHARDS, MOST_BOXES, NEWRANK | SIMPLE, 10, 0}, {0}};
/* [enum view] its attempts */
static const struct attempt *const attempts[] = {devices, blocks, nodes, shards};

/* Names of temporary files beside the picture; split/folder.c knows them, too. */
#define FEWER_DOT ".pcc-fewer.dot"
#define LAYOUT ".pcc-layout.json"

/* ---- the program ------------------------------------------------------------------------------ */

/* Runs the dot program on the file `dot` for attempt t: makes stem.svg, ... in the formats (PICTURE_* bits); formats 0:
 * writes the layout as JSON to the file `stem`.  Writes to said[SAID] the first line of dot's errors.  Returns how dot
 * ended. */
static enum child_end run_dot(const char *dot, const char *stem, unsigned formats,
                              const struct attempt *t, char *said, const struct result *r)
{
    struct arena *a = arena_new(r->scene.m->mem);
    char *argv[DOT_ARGS] = {child_find("dot", a)};
    int n = 1;
    if (!argv[0]) {
        snprintf(said, SAID, "it is in no folder of PATH");
        arena_free(a);
        return CHILD_MISSING;
    }
    for (unsigned i = 0; i < FORMATS; i++)
        if (formats & 1u << i) {
            argv[n++] = arena_fmt(a, "-T%s", picture_formats[i]);
            argv[n++] = arena_fmt(a, "-o%s.%s", stem, picture_formats[i]);
        }
    if (!formats) {
        argv[n++] = arena_fmt(a, "-Tjson0");
        argv[n++] = arena_fmt(a, "-o%s", stem);
    }
    argv[n++] = arena_fmt(a, "-Gnslimit=%s", t->how & SIMPLE ? "0.1" : "10");
    if (t->how & NEWRANK)
        argv[n++] = arena_fmt(a, "-Gnewrank=true");
    if (t->how & ARRANGED && formats) {
        argv[n++] = arena_fmt(a, "-Kneato"); /* keeps the places of boxes, only draws arrows */
        argv[n++] = arena_fmt(a, "-n2");
        argv[n++] = arena_fmt(a, "-Gsplines=ortho");
        argv[n++] = arena_fmt(a, "-Goutputorder=edgesfirst");
    }
    if (t->how & SIMPLE) {
        argv[n++] = arena_fmt(a, "-Gnslimit1=0.1");
        argv[n++] = arena_fmt(a, "-Gmclimit=0.05");
        argv[n++] = arena_fmt(a, "-Gsplines=line");
    }
    argv[n] = child_operand(dot, a);
    unsigned seconds = t->seconds * (formats & PICTURE_PNG ? 2 : 1);
    enum child_end end = child_program(argv, seconds, said, SAID, r->diag->listener);
    arena_free(a);
    return end;
}

/* ---- attempts --------------------------------------------------------------------------------- */

/* Removes stem.svg, ... of the given formats. */
static void remove_formats(const char *stem, unsigned formats, struct arena *a)
{
    for (unsigned i = 0; i < FORMATS; i++)
        if (formats & 1u << i)
            unlink(arena_fmt(a, "%s.%s", stem, picture_formats[i]));
}

/* The files of all attempts at one picture. */
struct attempt_files {
    const char *stem;  /* the result is stem.svg, ... */
    const char *dot;   /* temporary file: DOT of the attempt */
    const char *where; /* temporary file: layout of the attempt, as JSON */
    unsigned formats;  /* PICTURE_* bits */
    char said[SAID];   /* first line of the last attempt's errors */
};

/* For diag.emit: drops a diagnostic. */
static void hear_nothing(void *user, enum diag_level level, enum warning w, const char *text)
{
    (void)user, (void)level, (void)w, (void)text;
}

/* Makes an attempt that is ARRANGED: dot lays out each frame, frames are put side by side (dot_write), dot draws the
 * arrows.  Returns how that ended.  Sets *large and makes no picture if it would be larger than MOST_SCREENS and the
 * next attempt is ARRANGED, too. */
static enum child_end try_arranged(const struct result *r, const struct attempt *t,
                                   struct attempt_files *f, bool *large)
{
    struct arena *a = arena_new(r->scene.m->mem);
    struct diag deaf = {.emit = hear_nothing};
    struct layout layout = {0};
    struct scenery s = {t->view, t->boxes, NULL, &layout};
    enum child_end o = CHILD_FAILED;
    if (dot_write(r, &s, f->dot) == 0)
        o = run_dot(f->dot, f->where, 0, t, f->said, r);
    if (!o && (layout_read(f->where, &layout, a, &deaf) || dot_write(r, &s, f->dot) ||
               layout.screens < 0)) {
        snprintf(f->said, SAID, "its layout cannot be read");
        o = CHILD_FAILED;
    }
    *large = !o && layout.screens > MOST_SCREENS && t[1].how & ARRANGED;
    if (!o && !*large) {
        struct attempt straight = *t; /* tried if arrows with right angles fail */
        straight.how |= SIMPLE;
        o = run_dot(f->dot, f->stem, f->formats, t, f->said, r);
        if ((o == CHILD_FAILED || o == CHILD_STOPPED) && !listener_stopped(r->diag->listener))
            o = run_dot(f->dot, f->stem, f->formats, &straight, f->said, r);
    }
    arena_free(a);
    return o;
}

/* What is done when dot did not draw the picture: removes incomplete files, draws the SVG of devices without dot
 * (row.c) if an SVG of devices is asked for, and warns which formats are missing and why.  o: how dot ended; name: of
 * the picture, for warnings.  Returns CHILD_DONE if there is a picture in each format, else o. */
static enum child_end make_up(const struct result *r, const struct attempt_files *f, enum view view,
                              enum child_end o, const char *name)
{
    struct arena *a = arena_new(r->scene.m->mem);
    const char *svg = arena_fmt(a, "%s.svg", f->stem), *but = "";
    remove_formats(f->stem, f->formats, a);
    /* the user stopped the work and needs no warning about it */
    bool stopped = listener_stopped(r->diag->listener);
    bool row = !stopped && view == VIEW_DEVICES && f->formats & PICTURE_SVG && !row_write(r, svg);
    bool all = row && f->formats == PICTURE_SVG;
    if (row)
        but = all ? " but a row of boxes" : arena_fmt(a, " but %s", path_base(svg));
    if (o == CHILD_MISSING && !stopped && !all)
        diag_warning(r->diag, WARN_PICTURE,
                     "no %s%s: the dot program (package graphviz) cannot be started: %s", name, but,
                     f->said);
    else if (o == CHILD_STOPPED && !stopped)
        diag_warning(r->diag, WARN_PICTURE, "no %s%s: dot does not lay it out in time", name, but);
    else if (o == CHILD_FAILED && !stopped)
        diag_warning(r->diag, WARN_PICTURE, "no %s%s: dot failed%s%s", name, but,
                     *f->said ? ": " : "", f->said);
    arena_free(a);
    return all ? CHILD_DONE : o;
}

/* Makes stem.svg, ... in the formats, by the attempts of the view; stem.dot must exist.  Warns if there is no
 * picture, or if it shows less than was asked for.  name: of the picture, in messages.  Returns CHILD_DONE if there
 * is a picture in each format, else how the last attempt ended. */
static enum child_end lay_out(const struct result *r, const struct scenery *what, const char *stem,
                              unsigned formats, const char *name)
{
    enum view view = what->view;
    struct arena *a = arena_new(r->scene.m->mem);
    const char *dot = arena_fmt(a, "%s.dot", stem);
    int folder = (int)(path_base(stem) - stem);
    struct attempt_files f = {.stem = stem,
                              .dot = arena_fmt(a, "%.*s" FEWER_DOT, folder, stem),
                              .where = arena_fmt(a, "%.*s" LAYOUT, folder, stem),
                              .formats = formats};
    const struct attempt *first = attempts[view], *t = first;
    enum child_end o = CHILD_STOPPED;
    /* late: an attempt has failed; large: the last layout was too large */
    bool late = false, large = false;
    for (; t->boxes && !listener_stopped(r->diag->listener) &&
           (large || o == CHILD_STOPPED || o == CHILD_FAILED);
         t++) {
        /* the DOT of t is in stem.dot already */
        bool same = t->view == view && t->boxes == first->boxes;
        if (t->most_nodes && !what->shown && r->scene.m->nnode > t->most_nodes)
            continue;
        struct scenery fewer = {t->view, t->boxes, what->shown, NULL};
        large = false;
        if (t->how & ARRANGED)
            o = try_arranged(r, t, &f, &large);
        else if (!same && dot_write(r, &fewer, f.dot))
            break;
        else
            o = run_dot(same ? dot : f.dot, stem, formats, t, f.said, r);
        late = late || o;
        if (o == CHILD_DONE && !large && !same && (late || t->view != view))
            diag_warning(r->diag, WARN_PICTURE, "%s: dot cannot lay out %s in time: it shows %s",
                         name, view == VIEW_NODES ? "all nodes" : "all boxes",
                         view == VIEW_NODES ? "blocks" : "fewer boxes");
    }
    o = large ? CHILD_STOPPED : o; /* Ctrl-C stopped the work before the attempt with fewer boxes */
    unlink(f.dot);
    unlink(f.where);
    if (o)
        o = make_up(r, &f, view, o, name);
    arena_free(a);
    return o;
}

/* For diag.emit: passes a diagnostic on to `user`, a struct diag, but errors as warnings: a split without its picture
 * is no failure. */
static void soften(void *user, enum diag_level level, enum warning w, const char *text)
{
    struct diag *d = user;
    if (level == DIAG_NOTE)
        diag_note(d, "%s", text);
    else
        diag_warning(d, w ? w : WARN_PICTURE, "%s", text);
}

int pictures_write(const struct result *r, enum view view, unsigned formats, const char *stem)
{
    struct arena *a = arena_new(r->scene.m->mem);
    struct diag soft = {.emit = soften, .user = r->diag, .listener = r->diag->listener};
    struct result quiet = *r;
    struct scenery what = {view, attempts[view]->boxes, NULL, NULL};
    const char *dot = arena_fmt(a, "%s.dot", stem), *name = NULL;
    unsigned drawn = formats & ((1u << FORMATS) - 1); /* formats that the dot program makes */
    int rc = formats ? dot_write(r, &what, dot) : 0;
    bool keep = (formats & PICTURE_DOT) != 0; /* stem.dot stays */
    quiet.diag = &soft;
    for (unsigned i = 0; i < FORMATS; i++)
        if (drawn == 1u << i) /* if there is only one format, messages name its file */
            name = arena_fmt(a, "%s.%s", path_base(stem), picture_formats[i]);
    if (drawn && !name)
        name = arena_fmt(a, "picture of %s", path_base(stem));
    if (!rc && drawn == PICTURE_SVG && view != VIEW_DEVICES && !child_find("dot", a)) {
        diag_note(r->diag, "no %s: there is no dot program (package graphviz)", name);
        keep = true;
    } else if (!rc && drawn && lay_out(&quiet, &what, stem, drawn, name)) {
        keep = true;
    }
    if (!rc && formats && !keep)
        unlink(dot);
    arena_free(a);
    return rc;
}

/* ---- one file --------------------------------------------------------------------------------- */

/* The temporary folder in which one picture is made, and paths of files that may be in it (NULL: not named yet). */
struct workshop {
    char *folder;
    char *dot, *made;    /* the DOT; the picture */
    char *other, *where; /* DOT and layout of an attempt */
};

/* Removes the files and the folder of a struct workshop; for arena_defer(). */
static void workshop_remove(void *p)
{
    const struct workshop *w = p;
    const char *const file[] = {w->made, w->dot, w->other, w->where};
    for (int i = 0; i < 4; i++)
        if (file[i])
            unlink(file[i]);
    rmdir(w->folder);
}

/* Makes the file `dot` appear beside the picture at `path`, with the picture's name and the suffix .dot, and says so in
 * a note; does nothing if that name is taken. */
static void keep_dot(const struct result *r, const char *dot, const char *path, struct arena *a)
{
    const char *ext = strrchr(path, '.');
    char *beside = arena_fmt(a, "%.*s.dot", (int)(ext - path), path);
    if (link(dot, beside) == 0)
        diag_note(r->diag, "%s: the graph in DOT", beside);
}

/* Copies the file `made` to r->out.  Returns 0, or -1 and an error. */
static int copy_out(const struct result *r, const char *made)
{
    char buf[1 << 14];
    FILE *out = r->out ? r->out : stdout;
    uint64_t size;
    ssize_t n;
    int fd = infile_open(made, INFILE_DATA, &size, r->diag);
    bool good = fd >= 0;
    if (!good)
        return -1;
    while (good && (n = read(fd, buf, sizeof buf)) != 0)
        good = n > 0 && fwrite(buf, 1, (size_t)n, out) == (size_t)n;
    good = good && fflush(out) == 0;
    if (!good)
        diag_error(r->diag, "stdout: cannot be written: %s", strerror(errno));
    close(fd);
    return good ? 0 : -1;
}

/* Draws a picture in one format (a PICTURE_* bit) and writes it to `path` ("-": r->out).  Takes about ten seconds at
 * most for devices and blocks.  Returns 0, or -1 and an error; if the picture cannot be drawn, tries to leave its DOT
 * beside `path`. */
static int write_picture(const struct result *r, const struct scenery *what, unsigned format,
                         const char *path)
{
    struct arena *a = arena_new(r->scene.m->mem);
    bool out = !strcmp(path, "-");
    const char *ext = arena_fmt(a, ".%s", picture_formats[ffs((int)format) - 1]),
               *tmp = getenv("TMPDIR");
    /* a picture that is to be a file is made beside its final path, so that rename() can move it there */
    struct workshop w = {.folder = arena_fmt(a, "%s%s.XXXXXX", out ? tmp ? tmp : P_tmpdir : path,
                                             out ? "/pcc" : "")};
    int rc = -1;
    if (what->view == VIEW_SHARDS && shards_check(r, path)) {
        arena_free(a);
        return -1;
    }
    if (!mkdtemp(w.folder)) {
        arena_free(a);
        return diag_error(r->diag, "%s: cannot be written: %s", path, strerror(errno));
    }
    arena_defer(a, workshop_remove, &w);
    char *stem = arena_fmt(a, "%s/picture", w.folder);
    w.dot = arena_fmt(a, "%s.dot", stem);
    w.made = arena_fmt(a, "%s%s", stem, ext);
    w.other = arena_fmt(a, "%s/" FEWER_DOT, w.folder);
    w.where = arena_fmt(a, "%s/" LAYOUT, w.folder);
    if (dot_write(r, what, w.dot) == 0) {
        enum child_end o = lay_out(r, what, stem, format, path_base(path));
        if (diag_broken_off(r->diag)) {
            rc = -1;
        } else if (o) {
            if (!out)
                keep_dot(r, w.dot, path, a);
            diag_error(r->diag, "%s: not written%s", path,
                       o == CHILD_MISSING && format == PICTURE_SVG
                           ? "; --view=devices needs no dot program"
                           : "");
        } else if (out) {
            rc = copy_out(r, w.made);
        } else if (rename(w.made, path)) {
            diag_error(r->diag, "%s: cannot be written: %s", path, strerror(errno));
        } else {
            rc = 0;
        }
    }
    arena_free(a);
    return rc;
}

/* ---- writers ---------------------------------------------------------------------------------- */

/* Options of the writers dot, svg, pdf and png. */
struct options {
    int64_t view;     /* enum view */
    const char *part; /* number of the part whose nodes are shown; "": all */
    /* "NODE:K": only nodes at most K arrows away from NODE (name or path) are shown; ":K" left out: K is 2; "": all */
    const char *around;
};

/* If the picture at `path` shows more nodes than fit on a page, tells the user by a note which options show fewer.
 * shown: as in struct scenery. */
static void note_many(const struct result *r, const struct options *o, const uint8_t *shown,
                      const char *path)
{
    uint32_t n = 0;
    for (nid i = 1; i < r->scene.m->nnode; i++)
        n += r->scene.place->kind[i] == PLACE_NODE && (!shown || shown[i]);
    if (n > PAGE_NODES)
        diag_note(r->diag, "%s: %u nodes, more than a page holds; %s", path, n,
                  *o->part ? "--around=NODE:2 shows those near one"
                           : "--part=N shows those of one part, --around=NODE:2 those near one");
}

/* Draws the view that the options ask for, in one format (a PICTURE_* bit; 0: DOT), to `path`.  Returns 0, or -1 and
 * an error. */
static int write_view(const struct result *r, const void *opts, unsigned format, const char *path)
{
    const struct options *o = opts;
    struct arena *a = arena_new(r->scene.m->mem);
    bool some = *o->part || *o->around;
    enum view view = some ? VIEW_NODES : (enum view)o->view;
    struct scenery what = {view, attempts[view]->boxes, NULL, NULL};
    int rc = some ? sight_find(r, o->part, o->around, &what.shown, a) : 0;
    if (!rc && view == VIEW_NODES)
        note_many(r, o, what.shown, path);
    if (!rc)
        rc = format ? write_picture(r, &what, format, path) : dot_write(r, &what, path);
    arena_free(a);
    return rc;
}

/* Writes the picture to `path` as DOT.  opts: a struct options.  Returns 0, or -1 and an error. */
static int write_dot(const struct result *r, const void *opts, const char *path)
{
    return write_view(r, opts, 0, path);
}

/* Writes the picture to `path` as SVG.  opts: a struct options.  Returns 0, or -1 and an error. */
static int write_svg(const struct result *r, const void *opts, const char *path)
{
    return write_view(r, opts, PICTURE_SVG, path);
}

/* Writes the picture to `path` as PDF.  opts: a struct options.  Returns 0, or -1 and an error. */
static int write_pdf(const struct result *r, const void *opts, const char *path)
{
    return write_view(r, opts, PICTURE_PDF, path);
}

/* Writes the picture to `path` as PNG.  opts: a struct options.  Returns 0, or -1 and an error. */
static int write_png(const struct result *r, const void *opts, const char *path)
{
    return write_view(r, opts, PICTURE_PNG, path);
}

/* Names of the views, in the order of enum view. */
static const char *const views[] = {"devices", "blocks", "nodes", "shards", NULL};
static const struct writer_opt view_option = {
    .opt = {OPT_CHOICE, "view", offsetof(struct options, view), "blocks", .names = views,
            .help = "what .dot .svg .pdf .png and --emit dot show (default: blocks)"}};
static const struct writer_opt part_option = {
    .opt = {OPT_TEXT, "part", offsetof(struct options, part), "",
            .help = "in .dot .svg .pdf .png, the nodes of this part: N"}};
static const struct writer_opt around_option = {
    .opt = {OPT_TEXT, "around", offsetof(struct options, around), "",
            .help = "in .dot .svg .pdf .png, the nodes at most K arrows from NODE: NODE:2"}};
static const struct writer_opt *const picture_options[] = {&view_option, &part_option,
                                                           &around_option, NULL};

const struct writer writer_dot = {.name = "dot",
                                  .suffix = ".dot",
                                  .to_stdout = true,
                                  .needs = WRITER_NEEDS_PLAN,
                                  .opts = picture_options,
                                  .optsize = sizeof(struct options),
                                  .write = write_dot};
const struct writer writer_svg = {.name = "svg",
                                  .suffix = ".svg",
                                  .needs = WRITER_NEEDS_PLAN,
                                  .opts = picture_options,
                                  .optsize = sizeof(struct options),
                                  .write = write_svg};

const struct writer writer_pdf = {.name = "pdf",
                                  .suffix = ".pdf",
                                  .needs = WRITER_NEEDS_PLAN,
                                  .opts = picture_options,
                                  .optsize = sizeof(struct options),
                                  .write = write_pdf};

const struct writer writer_png = {.name = "png",
                                  .suffix = ".png",
                                  .needs = WRITER_NEEDS_PLAN,
                                  .opts = picture_options,
                                  .optsize = sizeof(struct options),
                                  .write = write_png};
