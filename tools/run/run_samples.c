/* Inputs and outputs of a run (runner.h).
 *
 * Samples are made or read before the run, as many as AHEAD bytes hold.  Further samples of files are read when they
 * are due.  Further random samples are made when they are due if outputs are written; else the samples that were made
 * are used again, so that making them takes no time from the run.  Sample k has the seed of the run plus k.  Outputs go
 * to DIR/sampleK.npz, each file whole or not at all. */
#include "tools/run/inputs.h"
#include "tools/run/npz_text.h"
#include "tools/run/npz_write.h"
#include "tools/run/runner.h"
#include "tools/run/cut_tensors.h"

#include "ir/base/json_in.h"
#include "ir/base/numbers.h"
#include "ir/model/module.h"
#include "ir/plan/state_pieces.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    AHEAD = 1 << 28,     /* bytes of the samples that are made before the run */
    KINDS_MOST = 1 << 16 /* number of these samples, at most */
};

/* The samples of a run. */
struct run_samples {
    struct runner *r;
    /* number of samples of the run; number of different samples, which then repeat */
    int64_t total, kinds;
    int64_t nmade;     /* number of samples made before the run: the first ones */
    struct box **made; /* [nmade][ninput] boxes with the inputs of these samples, which stay */
    bool late;         /* further samples are read or made when they are due */
    bool *kept;        /* [value] inputs that hold state, and pieces of such inputs */
    /* [state] the state before the first sample: its value after an earlier run, or zeros; value NULL: the first sample
     * brings the state */
    struct box *zero;
};

/* ---- inputs ----------------------------------------------------------------------------------- */

/* struct diag.emit: keeps the line of an error, of several the last one.  user: a struct engine_error. */
static void keep_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct engine_error *err = user;
    (void)w;
    if (level == DIAG_ERROR)
        snprintf(err->line, sizeof err->line, "%s", line);
}

/* Checks that random values can be made for all inputs that are not kept.  Returns 0, or -1 with the reason in
 * *err. */
static int check_random(const struct run_samples *s, struct engine_error *err)
{
    for (uint32_t i = 0; i < s->r->s.ngiven; i++) {
        const struct split_value *v = &s->r->s.value[s->r->s.given[i]];
        enum elem elem = elem_of_name(v->type, strlen(v->type));
        if (s->kept[s->r->s.given[i]] || (v->size && elem != ELEM_NONE))
            continue;
        bool list = strchr(v->type, '<') != NULL;
        snprintf(err->line, sizeof err->line, "input '%.200s': %s: give %s", v->name,
                 v->size || list ? "no random values of its type can be made"
                                 : "nothing says how large it is",
                 list ? "a folder of input_0.pb, input_1.pb, ..." : "SAMPLE.npz");
        return -1;
    }
    return 0;
}

/* Makes the inputs of sample k in table[value].  Returns 0, or -1 with the reason in *err. */
static int make_inputs(struct run_samples *s, int64_t k, struct engine_value **table,
                       struct engine_error *err)
{
    struct runner *r = s->r;
    struct diag d = {.emit = keep_line, .user = err};
    int64_t number = r->set.first + k;
    const struct inputs_of of = {.file = r->set.nfile ? r->set.file[number % r->set.nfile] : NULL,
                                 .seed = r->set.seed + (uint64_t)number,
                                 .all = true,
                                 .kept = s->kept};
    if (!of.file && check_random(s, err))
        return -1;
    struct arena *own = arena_new(r->a);
    int rc = inputs_make(r->e, &r->s, &of, table, own, &d);
    arena_free(own);
    return rc;
}

/* Whether sample k repeats an earlier sample, of a file or random, so that it brings no states of its own. */
static bool comes_again(const struct run_samples *s, int64_t k)
{
    uint32_t files = s->r->set.nfile;
    return files ? s->r->set.first + k >= files : k >= s->kinds;
}

/* Makes s->zero: values for the states that the first sample does not bring, from an earlier run or zeros.  first:
 * inputs of the first sample.  Returns 0, or -1 and an error. */
static int make_states(struct run_samples *s, struct box *const *first)
{
    struct runner *r = s->r;
    struct engine_error err;
    for (uint32_t i = 0; i < r->wires.nstate; i++) {
        const struct split_value *x = &r->s.value[r->wires.state_in[i]];
        enum elem elem = elem_of_name(x->type, strlen(x->type));
        const struct engine_shape shape = {(int)elem, x->rank, x->size};
        bool brought = false;
        s->zero[i].of = RUN_NONE;
        for (uint32_t k = 0; k < r->s.ninput; k++)
            brought = brought ||
                      (r->s.input[k] == r->wires.state_in[i] && first[k] && !comes_again(s, 0));
        s->zero[i].value = brought ? NULL : states_from(r, i);
        if (brought || s->zero[i].value)
            continue;
        if (elem == ELEM_NONE || elem == ELEM_STR || !x->size)
            return diag_error(
                r->d,
                "input '%s' holds state of an unknown size: give its first value by SAMPLE.npz",
                x->name);
        s->zero[i].value = r->e->face->value_new(r->e, &shape, &err);
        if (!s->zero[i].value)
            return diag_error(r->d, "input '%s': %s", x->name, err.line);
    }
    return 0;
}

/* Puts the values of s->zero into the inputs to[] of the first sample, for states that it does not bring. */
static void put_states(struct run_samples *s, struct box **to)
{
    struct runner *r = s->r;
    for (uint32_t i = 0; i < r->wires.nstate; i++)
        for (uint32_t k = 0; k < r->s.ninput; k++)
            if (r->s.input[k] == r->wires.state_in[i] && !to[k])
                to[k] = &s->zero[i];
}

int samples_load(struct run_samples *s, int64_t k, struct box **to, struct engine_error *err)
{
    struct runner *r = s->r;
    int64_t kind = k % s->kinds;
    if (kind < s->nmade) {
        memcpy(to, s->made + kind * r->s.ninput, r->s.ninput * sizeof(struct box *));
        for (uint32_t i = 0; i < r->s.ninput && comes_again(s, k); i++)
            if (s->kept[r->s.input[i]])
                to[i] = NULL; /* a repeated file brings its states only the first time */
        if (k == 0)
            put_states(s, to);
        return 0;
    }
    struct arena *own = arena_new(r->a);
    struct engine_value **table = arena_array(own, (size_t)r->s.nvalue + 1, sizeof *table);
    int rc = make_inputs(s, kind, table, err);
    for (uint32_t i = 0; i < r->s.ninput && !rc && comes_again(s, k); i++)
        if (s->kept[r->s.input[i]]) {
            r->e->face->value_free(r->e, table[r->s.input[i]]);
            table[r->s.input[i]] = NULL;
        }
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->s.ninput && !rc; i++) {
        to[i] = table[r->s.input[i]] ? box_take(r, r->s.input[i]) : NULL;
        if (!table[r->s.input[i]])
            continue;
        assert(to[i]); /* an input has more boxes than there are samples at a time */
        to[i]->value = table[r->s.input[i]];
    }
    pthread_mutex_unlock(&r->lock);
    arena_free(own);
    return rc;
}

/* Makes sample k, which must be sample number s->nmade, and puts it into s->made.  Returns its bytes; -1 with the
 * reason in *err. */
static int64_t make_ahead(struct run_samples *s, int64_t k, struct engine_error *err)
{
    struct runner *r = s->r;
    struct arena *own = arena_new(r->a);
    struct engine_value **table = arena_array(own, (size_t)r->s.nvalue + 1, sizeof *table);
    int64_t bytes = make_inputs(s, k, table, err); /* 0 so far, or -1 */
    for (uint32_t i = 0; i < r->s.ninput && bytes >= 0; i++) {
        struct engine_value *v = table[r->s.input[i]];
        struct box *b = v ? arena_alloc(r->a, sizeof *b) : NULL;
        if (b) {
            *b = (struct box){.value = v, .of = RUN_NONE};
            bytes += larger(0, value_bytes(r->e, v));
        }
        s->made[k * r->s.ninput + i] = b;
    }
    arena_free(own);
    return bytes;
}

/* Makes samples before the run until they take AHEAD bytes, all different ones are made, KINDS_MOST are made, or Ctrl-C
 * is pressed.  An error in a file after the first one is reported when its sample is due, so that the samples before it
 * run.  Returns 0; or -1 and an error, also if no sample was made. */
static int make_all_ahead(struct run_samples *s)
{
    struct runner *r = s->r;
    struct engine_error err;
    int64_t room = AHEAD;
    for (; s->nmade < smaller(s->kinds, KINDS_MOST) && room > 0 && !*r->stop; s->nmade++) {
        int64_t bytes = make_ahead(s, s->nmade, &err);
        if (bytes < 0 && s->nmade > 0 && r->set.nfile)
            return 0;
        if (bytes < 0)
            return diag_error(r->d, "sample %" PRId64 ": %s", r->set.first + s->nmade, err.line);
        room -= bytes;
    }
    return s->nmade > 0 ? 0 : diag_error(r->d, "ended by Ctrl-C before the first sample");
}

struct run_samples *samples_make(struct runner *r)
{
    struct run_samples *s = arena_alloc(r->a, sizeof *s);
    uint32_t files = r->set.nfile;
    s->r = r;
    s->total = r->set.samples ? r->set.samples : larger(1, files);
    /* if outputs are written, no random sample is used twice */
    int64_t most_random = r->set.output ? s->total : KINDS_MOST;
    s->kinds = smaller(s->total, files ? files : most_random);
    s->kept = arena_array(r->a, (size_t)r->s.nvalue + 1, sizeof *s->kept);
    s->zero = arena_array(r->a, (size_t)r->wires.nstate + 1, sizeof *s->zero);
    for (uint32_t i = 0; i < r->wires.nstate; i++)
        s->kept[r->wires.state_in[i]] = true;
    /* an input in pieces is a state if its pieces are states */
    for (uint32_t i = 0; i < r->s.ncut && r->wires.nstate; i++)
        s->kept[r->s.cut[i].whole] = s->kept[*r->s.cut[i].piece];
    s->made = arena_array(r->a, (size_t)(smaller(s->kinds, KINDS_MOST) * r->s.ninput) + 1,
                          sizeof(struct box *));
    if (make_all_ahead(s) || make_states(s, s->made)) {
        samples_free(s);
        return NULL;
    }
    s->late = (files || r->set.output) && s->nmade < s->kinds;
    /* if no further samples are made later, those made so far repeat */
    s->kinds = s->late ? s->kinds : s->nmade;
    return s;
}

bool samples_late(const struct run_samples *s)
{
    return s->late;
}

void samples_free(struct run_samples *s)
{
    for (int64_t i = 0; i < s->nmade * s->r->s.ninput; i++)
        if (s->made[i])
            s->r->e->face->value_free(s->r->e, s->made[i]->value);
    for (uint32_t i = 0; i < s->r->wires.nstate; i++)
        if (s->zero[i].value != states_from(s->r, i))
            s->r->e->face->value_free(s->r->e, s->zero[i].value);
}

/* ---- outputs ---------------------------------------------------------------------------------- */

/* Makes the folder for outputs, and the folders above it, and checks that files can be written there.  Returns 0, or
 * -1 and an error. */
static int make_folder(struct runner *r, const char *path)
{
    char *own = arena_strdup(r->a, path, strlen(path));
    bool whole = false; /* the folder `path` itself was made */
    for (char *s = own + 1; !whole; s++) {
        if (*s && *s != '/')
            continue;
        whole = !*s;
        *s = 0; /* cuts the path off behind this folder */
        if (mkdir(own, 0777) && errno != EEXIST)
            return diag_error(r->d, "--output=%s: %s", path, strerror(errno));
        *s = whole ? 0 : '/';
    }
    return outfile_check(arena_fmt(r->a, "%s/sample0.npz", path), r->a, r->d);
}

/* Runs the whole model in the file `path` once, on the inputs of the first sample, to get the outputs that are weights,
 * which are the same for all samples; puts them into r->wires.constant.  Returns 0, or -1 and an error. */
static int make_constants(struct runner *r, struct run_samples *s, const char *path)
{
    struct engine_error err;
    const struct engine_load how = {.path = path, .threads = 1};
    uint32_t n = 0, made = 0, nin = r->s.ninput; /* n: number of the outputs that are weights */
    struct box **first = arena_array(r->a, (size_t)nin + 1, sizeof(struct box *));
    /* names and values of the outputs that are weights, then, from index wires.noutput on, of the inputs */
    const char **name = arena_array(r->a, (size_t)r->wires.noutput + nin + 1, sizeof *name);
    struct engine_value **value =
        arena_array(r->a, (size_t)r->wires.noutput + nin + 1, sizeof *value);
    struct loaded *whole = r->e->face->load(r->e, &how, &err);
    if (!whole)
        return diag_error(r->d, "%s: cannot be loaded: %s", path, err.line);
    int rc = samples_load(s, 0, first, &err);
    for (uint32_t i = 0; i < nin && !rc; i++) {
        name[r->wires.noutput + i] = r->s.value[r->s.input[i]].name;
        value[r->wires.noutput + i] = first[i] ? first[i]->value : NULL;
    }
    for (uint32_t i = 0; i < r->wires.noutput; i++)
        if (!strcmp(r->wires.output_from[i], "weights"))
            name[n++] = r->s.value[r->wires.output[i]].name;
    const struct engine_call call = {
        name + r->wires.noutput, value + r->wires.noutput, nin, name, value, NULL, n};
    rc = rc || r->e->face->run(whole, &call, &err);
    r->e->face->unload(whole);
    if (rc)
        return diag_error(r->d, "%s: %s", path, err.line);
    for (uint32_t i = 0; i < r->wires.noutput; i++)
        if (!strcmp(r->wires.output_from[i], "weights")) {
            r->wires.constant[i] = arena_alloc(r->a, sizeof(struct box));
            *r->wires.constant[i] = (struct box){.value = value[made++], .of = RUN_NONE};
        }
    return 0;
}

int outputs_prepare(struct runner *r, struct run_samples *s)
{
    bool any = false;
    r->wires.constant = arena_array(r->a, (size_t)r->wires.noutput + 1, sizeof(struct box *));
    if (!r->set.output)
        return 0;
    for (uint32_t i = 0; i < r->wires.noutput; i++)
        any = any || !strcmp(r->wires.output_from[i], "weights");
    const char *file = json_get_text(json_object_get(r->s.manifest, "model"), "file");
    if (any && (!file || strchr(file, '/')))
        return diag_error(r->d, "%s/manifest.json: model: expected \"file\", a file of the folder",
                          r->set.folder);
    if (any && make_constants(r, s, arena_fmt(r->a, "%s/%s", r->set.folder, file)))
        return -1;
    return make_folder(r, r->set.output);
}

/* Adds an output to an archive, under its name: v, the value with the number `value` (NULL: it is not there), a tensor
 * of plain numbers or of strings.  Returns 0, or -1 with the reason in *err. */
static int add_output(struct runner *r, struct npz_out *z, uint32_t value, struct engine_value *v,
                      struct engine_error *err)
{
    const char *name = r->s.value[value].name;
    struct engine_shape shape;
    int64_t size[ENGINE_AXES], bytes = v && r->wires.plain[value] ? value_bytes(r->e, v) : -1;
    if (bytes >= 0 && !r->e->face->value_shape(r->e, v, &shape, size)) {
        const struct npz_array array = {.name = name,
                                        .elem = shape.elem,
                                        .rank = (uint32_t)shape.rank,
                                        .size = size,
                                        .data = r->e->face->value_data(r->e, v),
                                        .bytes = (size_t)bytes};
        if ((array.data || bytes == 0) && !npz_add(z, &array))
            return 0;
    }
    size_t rank, n;
    /* an optional value that is empty must not be asked for its type, so the manifest's type counts */
    bool string = elem_of_name(r->s.value[value].type, strlen(r->s.value[value].type)) == ELEM_STR;
    unsigned char *texts = v && string ? r->e->face->value_texts(r->e, v, &rank, &n) : NULL;
    if (texts) {
        struct npz_array array = {.name = name};
        int rc = npz_texts(&array, texts, rank, n, z->a) || npz_add(z, &array);
        free(texts);
        if (!rc)
            return 0;
    }
    snprintf(err->line, sizeof err->line,
             "output '%.200s' is no tensor of plain numbers%s: a .npz file cannot hold it", name,
             texts ? ", and its strings are not UTF-8" : " or strings");
    return -1;
}

/* If the value is the first piece of an output, returns how that output is cut; else NULL.  *later: the value is
 * another piece of an output. */
static const struct split_cut *cut_of(const struct split *s, uint32_t value, bool *later)
{
    uint32_t k = s->value[value].joined;
    const struct split_cut *c = k ? &s->joined[k - 1] : NULL;
    *later = c && *c->piece != value;
    return *later ? NULL : c;
}

/* Joins the pieces of an output that sample f has, and adds the whole output to an archive.  Returns 0, or -1 with the
 * reason in *err. */
static int add_joined(struct runner *r, struct npz_out *z, const struct split_cut *c,
                      const struct flight *f, struct engine_error *err)
{
    struct engine_value *piece[PIECES_MOST];
    for (uint32_t i = 0; i < c->ways; i++)
        piece[i] = f->box[c->piece[i]] ? f->box[c->piece[i]]->value : NULL;
    struct engine_value *whole = cut_tensor_join(r->e, c, piece, err);
    int rc = whole ? add_output(r, z, c->whole, whole, err) : cut_tensor_blame(&r->s, c, err);
    r->e->face->value_free(r->e, whole);
    return rc;
}

int outputs_write(struct runner *r, struct flight *f, struct engine_error *err)
{
    if (!r->set.output)
        return 0;
    struct arena *own = arena_new(r->a);
    struct diag d = {.emit = keep_line, .user = err};
    struct npz_out z;
    int rc = npz_begin(
        &z, arena_fmt(own, "%s/sample%" PRId64 ".npz", r->set.output, r->set.first + f->sample),
        own, &d);
    if (!rc) {
        for (uint32_t i = 0; i < r->wires.noutput && !rc; i++) {
            uint32_t v = r->wires.output[i];
            const struct box *b = r->wires.constant[i] ? r->wires.constant[i] : f->box[v];
            bool later;
            const struct split_cut *c = cut_of(&r->s, v, &later);
            if (c)
                rc = add_joined(r, &z, c, f, err);
            else if (!later)
                rc = add_output(r, &z, v, b ? b->value : NULL, err);
        }
        rc = npz_end(&z, !rc);
    }
    arena_free(own);
    return rc;
}
