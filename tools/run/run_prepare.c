/* Prepares a run (runner.h): reads the split and its schedule, which is proven before the first sample, and finds the
 * readers of each value, the values of known size, and the number of samples that can run at the same time.
 *
 * Lists are right for any number of samples if they were proven for the most samples that can run at the same time.  If
 * memory allows fewer, the lists are executed for a chunk of so many samples, then for the next chunk.  Each list goes
 * on to the next chunk by itself; devices need not wait for each other there, as instructions wait only for earlier
 * ones. */
#include "tools/run/ranks.h"
#include "tools/run/resize.h"
#include "tools/run/runner.h"

#include "ir/base/json_in.h"
#include "ir/base/name_table.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/model/module.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APART_MOST = 1 << 16,   /* number of rounds that the lists may be apart, at most */
    ENTRIES_MOST = 1 << 22, /* number of entries of all samples' tables, at most */
    EACH = 2                /* without lists: number of samples on their way for each device */
};
enum { INPUT = 1, USAGE = 2 }; /* exit codes */

/* ---- the schedule ----------------------------------------------------------------------------- */

/* Returns NULL if the lists are right for this number of samples and fit the devices; else why not.  Sets in_flight,
 * queue and peak of r->schedule. */
static const char *proves(struct runner *r, uint32_t samples)
{
    r->schedule->in_flight = samples;
    const char *why = schedule_prove(r->w, r->schedule, r->a);
    return why ? why : schedule_fits(r->w, r->schedule, r->a);
}

/* Proves the lists for --in-flight, which is more than the file's in_flight, and notes what devices hold then.  Returns
 * 0; or -1 and an error with the largest number of samples that is possible. */
static int prove_more(struct runner *r, const char *path)
{
    int64_t low = r->schedule->in_flight, wanted = r->set.in_flight;
    /* no more samples than these meet in the lists, however many are wanted */
    int64_t high = smaller(wanted, larger(low, schedule_samples(r->schedule)));
    const char *why = proves(r, (uint32_t)high);
    char text[UNIT_TEXT];
    for (uint32_t d = 0; d < r->ndev && !why; d++)
        diag_note(r->d, "%s: at most %s with %" PRId64 " samples in flight", r->dev[d].name,
                  bytes_short(text, r->schedule->peak[d]), wanted);
    if (!why)
        return 0;
    while (high - low > 1) { /* the lists are right for `low` samples, and not for `high` */
        int64_t mid = low + (high - low) / 2;
        if (proves(r, (uint32_t)mid))
            high = mid;
        else
            low = mid;
    }
    return diag_error(r->d, "%s: --in-flight=%" PRId64 ": %s: at most %" PRId64 " fit", path,
                      wanted, why, low);
}

/* Reads the schedule from a file of the folder, and the work of a sample from the manifest, into r->schedule and r->w;
 * proves the lists, unless --no-check is given, also for the samples of --in-flight.  Returns 0, or -1 and an
 * error. */
static int read_schedule(struct runner *r, const char *file)
{
    struct json_text manifest, lists;
    if (strchr(file, '/'))
        return diag_error(r->d,
                          "%s/manifest.json: schedule: expected a file of the folder, found '%s'",
                          r->set.folder, file);
    if (split_read_text(&manifest, r->set.folder, "manifest.json", r->a, r->d) ||
        !(r->w = work_read(&manifest, r->a, r->d)) ||
        split_read_text(&lists, r->set.folder, file, r->a, r->d) ||
        !(r->schedule = schedule_read(&lists, r->w, r->a, r->d)))
        return -1;
    if (r->schedule->work->each)
        return diag_error(
            r->d, "%s: it is of an iteration of training: say how many steps to run (--steps=N)",
            lists.path);
    const char *why = r->set.check ? schedule_check(r->w, r->schedule, r->a) : NULL;
    if (why)
        return diag_error(r->d, "%s: %s", lists.path, why);
    if (r->set.in_flight > r->schedule->in_flight)
        return prove_more(r, lists.path);
    if (r->set.in_flight)
        r->schedule->in_flight = (uint32_t)r->set.in_flight;
    return 0;
}

/* Returns whether a part has value v among n of its values. */
static bool has_value(const uint32_t *value, uint32_t n, uint32_t v)
{
    for (uint32_t i = 0; i < n; i++)
        if (value[i] == v)
            return true;
    return false;
}

/* Whether the order of the lists alone makes sure that the part that makes state i for a sample runs before all parts
 * that read it for the next sample: all of them run on one device, in this order. */
static bool lists_keep_state(const struct runner *r, uint32_t i)
{
    const struct schedule *s = r->schedule;
    uint32_t made = 0, end = s->at[r->w->ndev]; /* end: index behind the computing lists */
    for (uint32_t k = 0; k < end; k++) {
        if (s->item[k].kind != DO_COMPUTE)
            continue;
        const struct split_part *p = &r->s.part[s->item[k].what];
        if (has_value(p->out, p->nout, r->wires.state_out[i]))
            made = k;
    }
    for (uint32_t k = 0; k < end; k++) {
        const struct instruction *x = &s->item[k], *make = &s->item[made];
        if (x->kind != DO_COMPUTE)
            continue;
        const struct split_part *p = &r->s.part[x->what];
        if (!has_value(p->in, p->nin, r->wires.state_in[i]))
            continue;
        /* sample n - 1 is made in round n - 1 - make->offset, sample n read in round n - x->offset */
        int64_t apart = (int64_t)make->offset + 1 - x->offset;
        if (r->w->part[x->what].dev != r->w->part[make->what].dev || apart < 0 ||
            (apart == 0 && made >= k))
            return false;
    }
    return true;
}

/* Sets r->chunk, the number of samples for which the lists are executed at a time, and r->width, the number of places
 * for samples.  samples: how many will run.  With lists, a chunk is all samples, unless memory, states or phases allow
 * fewer at a time, and there are as many places as the lists need, and one more for the sample that comes in.  Without
 * lists there are as many places as --in-flight says, or else EACH for each device with parts; with --order=model, one.
 * There are two at least if states go from sample to sample.  Returns 0, or -1 and an error. */
static int set_width(struct runner *r, int64_t samples)
{
    int64_t width = r->set.by_model ? 1 : r->set.in_flight;
    uint32_t busy = 0;
    r->chunk = samples;
    for (uint32_t d = 0; d < r->ndev; d++)
        busy += r->dev[d].loaded != NULL;
    if (r->schedule) {
        uint32_t meet = schedule_samples(r->schedule), had = r->schedule->in_flight;
        bool kept = true;
        if (meet > APART_MOST)
            return diag_error(r->d, "%s: its samples are %u rounds apart: expected at most %d",
                              r->set.folder, meet, APART_MOST);
        for (uint32_t i = 0; i < r->wires.nstate; i++)
            kept = kept && lists_keep_state(r, i);
        if (!kept)
            diag_note(
                r->d,
                "--state: the lists begin a sample before the state of the one before is there: "
                "each list runs one sample after the other");
        if (!kept || had < meet || r->schedule->phases > 1)
            r->chunk = smaller(samples, kept ? had : 1);
        width = (r->chunk < samples ? r->chunk : meet) + 1;
    } else if (!width) {
        width = EACH * (int64_t)busy;
    }
    /* a state goes from a sample to the next one: both have places */
    width = smaller(larger(width, r->wires.nstate ? 2 : 1), samples + 1);
    if (width * (r->s.nvalue + r->s.npart) > ENTRIES_MOST)
        return diag_error(r->d, "%s: %" PRId64 " samples on their way are too many", r->set.folder,
                          width);
    r->width = (uint32_t)width;
    return 0;
}

/* ---- the split -------------------------------------------------------------------------------- */

/* Returns the value with this name; RUN_NONE: there is none. */
static uint32_t value_named(const struct names *names, const char *name)
{
    return name ? names_get(names, name, RUN_NONE) : RUN_NONE;
}

/* Reads "devices" into r->dev, and the devices on which each part runs, its replicas or its one device, into
 * r->wires.place.  Devices with parts get an array `loaded`.  Returns 0, or -1 and an error. */
static int read_places(struct runner *r)
{
    const json_t *list = json_object_get(r->s.manifest, "devices"),
                 *parts = json_object_get(r->s.manifest, "parts");
    struct names names = names_new(r->a, 16);
    r->ndev = (uint32_t)json_array_size(list);
    r->dev = arena_array(r->a, (size_t)r->ndev + 1, sizeof *r->dev);
    for (uint32_t d = 0; d < r->ndev; d++) {
        r->dev[d] = (struct run_device){.r = r, .part = RUN_NONE, .next_part = RUN_NONE};
        r->dev[d].name = json_get_text(json_array_get(list, d), "name");
        if (!r->dev[d].name)
            return diag_error(r->d, "%s/manifest.json: devices: expected a \"name\"",
                              r->set.folder);
        names_add(&names, r->dev[d].name, d);
    }
    for (uint32_t k = 0; k < r->s.npart; k++) {
        const json_t *replicas = json_object_get(json_array_get(parts, k), "replicas");
        uint32_t n = (uint32_t)json_array_size(replicas);
        r->wires.nplace[k] = n ? n : 1;
        r->wires.place[k] = arena_array(r->a, r->wires.nplace[k], sizeof **r->wires.place);
        for (uint32_t i = 0; i < r->wires.nplace[k]; i++) {
            const char *name =
                n ? json_string_value(json_array_get(replicas, i)) : r->s.part[k].device;
            uint32_t d = r->wires.place[k][i] = value_named(&names, name);
            if (d == RUN_NONE)
                return diag_error(
                    r->d, "%s/manifest.json: %s: expected a device of \"devices\", found '%s'",
                    r->set.folder, r->s.part[k].file, name ? name : "no text");
            if (!r->dev[d].loaded)
                r->dev[d].loaded = arena_array(r->a, r->s.npart, sizeof(struct loaded *));
        }
    }
    return 0;
}

/* With --state, reads "states": pairs of an output and the input that has its value in the next sample.  made: [value]
 * a part makes it.  Returns 0, or -1 and an error. */
static int read_states(struct runner *r, const struct names *names, const bool *made)
{
    const json_t *list = json_object_get(r->s.manifest, "states");
    uint32_t n = (uint32_t)json_array_size(list);
    if (!r->set.state)
        return 0;
    if (n == 0)
        return diag_error(
            r->d,
            "--state: the model keeps no state that pcc knows of (pcc --state in=out says which)");
    r->wires.state_in = arena_array(r->a, n, sizeof *r->wires.state_in);
    r->wires.state_out = arena_array(r->a, n, sizeof *r->wires.state_out);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t in = value_named(names, json_get_text(json_array_get(list, i), "in"));
        uint32_t out = value_named(names, json_get_text(json_array_get(list, i), "out"));
        if (in == RUN_NONE || out == RUN_NONE || !r->wires.is_input[in] || !made[out] ||
            r->wires.state_of[out] != RUN_NONE)
            return diag_error(
                r->d,
                "%s/manifest.json: states: expected an input of the model and what a part makes",
                r->set.folder);
        r->wires.state_in[i] = in;
        r->wires.state_out[i] = out;
        r->wires.state_of[out] = i;
    }
    r->wires.nstate = n;
    return 0;
}

/* Reads "outputs": which values they are, and where they come from.  made: [value] a part makes it.  Returns 0, or -1
 * and an error. */
static int read_outputs(struct runner *r, const struct names *names, const bool *made)
{
    const json_t *list = json_object_get(r->s.manifest, "outputs");
    uint32_t n = (uint32_t)json_array_size(list);
    r->wires.output = arena_array(r->a, (size_t)n + 1, sizeof *r->wires.output);
    r->wires.output_from = arena_array(r->a, (size_t)n + 1, sizeof(const char *));
    for (uint32_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(list, i);
        uint32_t v = r->wires.output[i] = value_named(names, json_get_text(row, "name"));
        const char *from = r->wires.output_from[i] = json_get_text(row, "from");
        bool weights = from && !strcmp(from, "weights");
        if (!from || v == RUN_NONE || (!weights && !made[v] && !r->wires.is_input[v]))
            return diag_error(r->d,
                              "%s/manifest.json: outputs: '%s' comes from no part, input or weight",
                              r->set.folder, v == RUN_NONE ? "?" : r->s.value[v].name);
        r->wires.is_output[v] = r->wires.is_output[v] || (made[v] && !weights);
    }
    r->wires.noutput = n;
    return 0;
}

/* Returns the size that an entry of a shape is for certain: a number, or a name of the inputs' shapes; -1: unknown. */
static int64_t known_size(const struct runner *r, const json_t *of, const struct names *of_inputs)
{
    int64_t n;
    const char *name = json_string_value(of);
    if (name && names_get(of_inputs, name, RUN_NONE) != RUN_NONE)
        of = json_object_get(r->s.dims, name);
    return json_int_in(of, 0, INT64_MAX, &n) ? n : -1;
}

/* Fills r->wires.plain and, as far as types and sizes are known, shape and said.  `shape` needs sizes that are certain:
 * numbers, and names that shapes of inputs have.  A size with any other name may differ from the size that the plan
 * assumes.  With --state sizes may change from sample to sample, so none is certain then.  Nor do inputs have a
 * `shape`, since their samples bring them. */
static void find_shapes(struct runner *r)
{
    struct names of_inputs = names_new(r->a, 16);
    const json_t *inputs = json_object_get(r->s.manifest, "inputs"),
                 *values = json_object_get(r->s.manifest, "values");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *shape = json_object_get(json_array_get(inputs, i), "shape");
        for (size_t k = 0; k < json_array_size(shape); k++)
            if (json_string_value(json_array_get(shape, k)))
                names_add(&of_inputs, json_string_value(json_array_get(shape, k)), 0);
    }
    for (uint32_t v = 0; v < r->s.nvalue; v++) {
        const char *type = r->s.value[v].type;
        const json_t *shape = json_object_get(json_object_get(values, r->s.value[v].name), "shape");
        enum elem elem = elem_of_name(type, strlen(type));
        r->wires.plain[v] = elem_bits(elem) > 0 || !*type;
        size_t rank = json_array_size(shape);
        int64_t *size = arena_array(r->a, 2 * rank + 1, sizeof *size), *said = size + rank;
        bool known = json_is_array(shape) && elem != ELEM_NONE && elem_bits(elem) >= 8 &&
                     !r->wires.nstate && !r->wires.is_input[v];
        for (size_t k = 0; k < rank; k++) {
            size[k] = known_size(r, json_array_get(shape, k), &of_inputs);
            known = known && size[k] >= 0;
            if (!json_int_in(json_array_get(shape, k), 0, INT64_MAX, &said[k]))
                said[k] = -1;
        }
        if (known && shape_elems(size, (uint32_t)rank) >= 0)
            r->wires.shape[v] = (struct engine_shape){(int)elem, rank, size};
        if (json_is_array(shape) && elem_bits(elem) >= 8)
            r->wires.said[v] = (struct engine_shape){(int)elem, rank, said};
    }
}

/* Checks that a part's files are there, its data file with its size.  Returns 0, or -1 and an error. */
static int check_part_files(struct runner *r, uint32_t part)
{
    const json_t *row = json_array_get(json_object_get(r->s.manifest, "parts"), part);
    const char *data = json_get_text(row, "data"), *speaker = ranks_speaker(r);
    struct stat st;
    int64_t bytes;
    if (access(r->s.part[part].path, R_OK))
        return diag_error(r->d, "%s%s: it does not exist, but %s/manifest.json lists it", speaker,
                          r->s.part[part].path, r->set.folder);
    if (!data || !json_int_in(json_object_get(row, "data_bytes"), 0, INT64_MAX, &bytes))
        return 0;
    if (stat(arena_fmt(r->a, "%s/%s", r->set.folder, data), &st) == 0 && st.st_size == bytes)
        return 0;
    return diag_error(r->d,
                      "%s%s/%s: expected a file of %" PRId64
                      " bytes, as parts[%u].data_bytes of manifest.json says",
                      speaker, r->set.folder, data, bytes, part);
}

/* Checks that all files that the parts of this process read exist.  Returns 0, or -1 and an error. */
static int check_files(struct runner *r)
{
    const json_t *weights = json_object_get(r->s.manifest, "weights");
    const json_t *files = json_object_get(weights, "files");
    const char *mode = json_get_text(weights, "mode");
    /* each part has a data file of its own; those of parts of other processes may be missing here */
    bool own = r->ranks && mode && !strcmp(mode, "parts");
    for (uint32_t k = 0; k < r->s.npart; k++)
        if (ranks_run_part(r, k) && check_part_files(r, k))
            return -1;
    for (size_t i = 0; i < json_array_size(files) && !own; i++) {
        const char *name = json_string_value(json_array_get(files, i));
        if (!name || access(arena_fmt(r->a, "%s/%s", r->set.folder, name), F_OK))
            return diag_error(
                r->d, "%s%s/%s: it does not exist, but weights.files of manifest.json lists it",
                ranks_speaker(r), r->set.folder, name ? name : "?");
    }
    return 0;
}

/* Makes the tables from values to parts, and to the tensors of the lists. */
static void link_values(struct runner *r, const struct names *names)
{
    struct pairs readers = pairs_new(r->a, 64);
    for (uint32_t k = 0; k < r->s.npart; k++)
        for (uint32_t i = 0; i < r->s.part[k].nin; i++)
            pairs_add(&readers, r->s.part[k].in[i], k);
    r->wires.readers = pairs_rows(&readers, r->s.nvalue);
    for (uint32_t v = 0; v < r->s.nvalue; v++) {
        r->wires.tensor[v] = RUN_NONE;
        r->wires.direct[v] = r->wires.is_output[v];
    }
    r->wires.value =
        arena_array(r->a, r->w ? (size_t)r->w->ntensor + 1 : 1, sizeof *r->wires.value);
    for (uint32_t t = 0; r->w && t < r->w->ntensor; t++) {
        uint32_t v = r->wires.value[t] = value_named(names, r->w->tensor[t].name);
        r->wires.tensor[v] = t;
        r->wires.direct[v] = r->wires.is_output[v] && !r->w->tensor[t].returned;
    }
}

/* Fills *names: name of a value -> its number; makes the tables of r->wires by value and part, and reads states and
 * outputs.  Returns 0, or -1 and an error. */
static int read_values(struct runner *r, struct names *names)
{
    size_t n = (size_t)r->s.nvalue + 1;
    bool *made = arena_array(r->a, n, sizeof *made);
    *names = names_new(r->a, r->s.nvalue);
    r->wires.place = arena_array(r->a, r->s.npart, sizeof *r->wires.place);
    r->wires.nplace = arena_array(r->a, r->s.npart, sizeof *r->wires.nplace);
    r->wires.tensor = arena_array(r->a, n, sizeof *r->wires.tensor);
    r->wires.is_input = arena_array(r->a, n, sizeof *r->wires.is_input);
    r->wires.is_output = arena_array(r->a, n, sizeof *r->wires.is_output);
    r->wires.plain = arena_array(r->a, n, sizeof *r->wires.plain);
    r->wires.direct = arena_array(r->a, n, sizeof *r->wires.direct);
    r->wires.state_of = arena_array(r->a, n, sizeof *r->wires.state_of);
    r->wires.shape = arena_array(r->a, n, sizeof *r->wires.shape);
    r->wires.said = arena_array(r->a, n, sizeof *r->wires.said);
    for (uint32_t v = 0; v < r->s.nvalue; v++) {
        names_add(names, r->s.value[v].name, v);
        r->wires.state_of[v] = RUN_NONE;
    }
    for (uint32_t i = 0; i < r->s.ninput; i++)
        r->wires.is_input[r->s.input[i]] = true;
    for (uint32_t k = 0; k < r->s.npart; k++)
        for (uint32_t i = 0; i < r->s.part[k].nout; i++)
            made[r->s.part[k].out[i]] = true;
    return read_outputs(r, names, made) || read_states(r, names, made) ? -1 : 0;
}

/* Makes r->flight, the places for samples that run; the boxes of each value, one more than there are samples that need
 * one (with states or ranks, a value may have two boxes in a sample); and the devices' scratch for calls. */
static void make_flights(struct runner *r)
{
    size_t nvalue = (size_t)r->s.nvalue + 1, npart = r->s.npart;
    uint32_t boxes = r->wires.nstate || r->ranks ? 2 * r->width + 2 : r->width + 1, most = 1;
    r->flight = arena_array(r->a, r->width, sizeof *r->flight);
    for (uint32_t i = 0; i < r->width; i++) {
        struct flight *f = &r->flight[i];
        f->sample = -1;
        f->box = arena_array(r->a, nvalue, sizeof *f->box);
        f->holders = arena_array(r->a, nvalue, sizeof *f->holders);
        f->bytes = arena_array(r->a, nvalue, sizeof *f->bytes);
        f->made = arena_array(r->a, nvalue, sizeof *f->made);
        f->ran = arena_array(r->a, npart, sizeof *f->ran);
        f->lacks = arena_array(r->a, npart, sizeof *f->lacks);
        f->handed = arena_array(r->a, (size_t)r->wires.nstate + 1, sizeof *f->handed);
    }
    r->spare = arena_array(r->a, nvalue, sizeof *r->spare);
    for (uint32_t v = 0; v < r->s.nvalue; v++) {
        struct box *b = arena_array(r->a, boxes, sizeof *b);
        for (uint32_t i = 0; i < boxes; i++, b++) {
            *b = (struct box){.of = v, .next = r->spare[v]};
            r->spare[v] = b;
        }
    }
    for (uint32_t k = 0; k < npart; k++)
        most = larger_u32(most, larger_u32(r->s.part[k].nin, r->s.part[k].nout));
    for (uint32_t d = 0; d < r->ndev; d++) {
        r->dev[d].in = arena_array(r->a, most, sizeof(struct engine_value *));
        r->dev[d].out = arena_array(r->a, most, sizeof(struct engine_value *));
        r->dev[d].made = arena_array(r->a, most, sizeof(struct box *));
    }
}

/* Makes r->figures, with empty rows of times. */
static void make_figures(struct runner *r)
{
    r->figures.part = arena_array(r->a, r->s.npart, sizeof *r->figures.part);
    for (uint32_t k = 0; k < r->s.npart; k++)
        r->figures.part[k] = times_new(r->a);
    r->figures.latency = times_new(r->a);
    r->figures.transfer = times_new(r->a);
    r->figures.message = times_new(r->a);
    r->figures.busy = arena_array(r->a, (size_t)r->ndev + 1, sizeof *r->figures.busy);
}

int run_begin(struct runner *r)
{
    make_flights(r);
    make_figures(r);
    for (uint32_t d = 0; d < r->ndev; d++)
        r->dev[d].bytes = 0;
    for (uint32_t k = 0; r->w && k < r->s.npart; k++)
        r->dev[r->w->part[k].dev].bytes += r->w->part[k].lasting;
    if (r->schedule)
        return lists_make(r);
    turns_make(r);
    return 0;
}

int run_read_split(struct runner *r)
{
    struct names names;
    return split_read(&r->s, r->set.folder, r->a, r->d) || read_values(r, &names) || read_places(r)
               ? -1
               : 0;
}

int run_prepare(struct runner *r)
{
    struct names names;
    r->n = r->set.samples ? r->set.samples : larger(1, r->set.nfile);
    if (split_read_manifest(&r->s, r->set.folder, r->a, r->d) || read_values(r, &names) ||
        read_places(r))
        return INPUT;
    if (r->ranks && ranks_map_devices(r))
        return USAGE;
    const char *file = json_get_text(r->s.manifest, "schedule");
    const char *why = json_get_text(r->s.manifest, "schedule_why");
    if (check_files(r) || (file && !r->set.by_model && read_schedule(r, file)))
        return INPUT;
    if (!file && !r->set.by_model)
        diag_note(r->d,
                  "there is no schedule (%s): each device takes the earliest part of the earliest "
                  "sample",
                  why ? why : "nothing says why");
    link_values(r, &names);
    find_shapes(r);
    if (r->ranks)
        ranks_map(r);
    if (set_width(r, r->n) || (r->ranks && ranks_prepare(r)) || run_begin(r))
        return INPUT;
    return 0;
}
