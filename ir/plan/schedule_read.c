/* Reads the schedule of a split folder (schedule_json.h): the work from manifest.json, the lists from schedule.json.
 * The files may hold any bytes: unknown names and numbers outside their limits are errors.  Whether the lists are
 * right is checked elsewhere (schedule_check.c).  Expected O(bytes + D^2). */
#include "ir/plan/schedule_json.h"

#include "ir/base/json_in.h"
#include "ir/base/map.h"
#include "ir/base/name_table.h"
#include "ir/base/units.h"
#include "ir/cluster/cluster.h"
#include "ir/plan/state_pieces.h"

#include <string.h>

/* NONE has an enum of its own, since UINT32_MAX would make all constants of the other enum unsigned */
enum { NONE = UINT32_MAX };
/* Limits of numbers in the files. */
enum {
    MOST_PHASES = 255,
    MOST_OFFSET = 1 << 20, /* offset of a sample, either sign; number of micro-batches */
    MOST_SAMPLES = 1 << 30,
    MOST_UNROLLED = 1 << 23, /* parts, tensors and inputs of parts, of all micro-batches together */
    /* bytes of the names of parts and tensors, of all micro-batches together */
    MOST_NAMES = 1 << 28,
    MOST_INSTRUCTIONS = 1 << 24 /* as many as the checker (schedule_check.c) takes */
};

/* State of reading a manifest or a schedule. */
struct schedule_reader {
    const char *path; /* for messages */
    struct arena *a;
    struct diag *diag;
    const struct sample_work *w;
    struct names dev, part, tensor; /* name -> number in w; "host" is a name of a device, too */
    /* The other fields are for manifests only. */
    struct sample_work *made; /* the work of w, here as a pointer through which the reader writes */
    struct names bytes;       /* name of a tensor -> index in size[] */
    /* name of an input or output of the model that is state, kept by a device -> 1 for an input, 2 for an output */
    struct names state;
    int64_t *size;     /* [index] bytes of the tensor */
    uint8_t *has_rows; /* [index as size] 1: the tensor has an axis of the batch */
    uint32_t nsize;
    bool stages; /* the manifest is of an iteration of training */
};

/* Reports the error that the file lacks what is expected.  Returns -1. */
static int expect_form(const struct schedule_reader *r, const char *what)
{
    return diag_error(r->diag, "%s: expected %s", r->path, what);
}

/* Returns the string value of o's member `key`; NULL and an error if there is none.  of: the list that o stands in. */
static const char *get_name(const struct schedule_reader *r, const json_t *o, const char *key,
                            const char *of)
{
    const char *s = json_get_text(o, key);
    if (!s)
        diag_error(r->diag, "%s: expected a name '%s' in each of '%s'", r->path, key, of);
    return s;
}

/* Writes the integer value of o's member `key`, which must be from low to high, to *x.  Returns 0, or -1 and an
 * error. */
static int get_int(const struct schedule_reader *r, const json_t *o, const char *key, int64_t low,
                   int64_t high, int64_t *x)
{
    if (json_int_in(json_object_get(o, key), low, high, x))
        return 0;
    return diag_error(r->diag, "%s: expected an integer '%s' in %lld..%lld", r->path, key,
                      (long long)low, (long long)high);
}

/* Writes the value of o's member `key`, a number of bytes, to *x.  Returns 0, or -1 and an error. */
static int get_bytes(const struct schedule_reader *r, const json_t *o, const char *key, int64_t *x)
{
    return get_int(r, o, key, 0, INT64_MAX, x);
}

/* Returns the list that is o's member `key`; NULL and an error if there is none. */
static const json_t *get_list(const struct schedule_reader *r, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (json_is_array(v))
        return v;
    diag_error(r->diag, "%s: expected a list '%s'", r->path, key);
    return NULL;
}

/* Returns the number of entries of a list, at most NONE - 1; 0 for NULL. */
static uint32_t list_length(const json_t *list)
{
    size_t n = json_array_size(list);
    return n < NONE ? (uint32_t)n : NONE - 1;
}

/* Adds a name with its number to t.  Returns a copy of the name, which lives in r->a; NULL and an error if t has the
 * name already. */
static const char *add_name(const struct schedule_reader *r, struct names *t, const char *name,
                            uint32_t number)
{
    const char *own = arena_strdup(r->a, name, strlen(name));
    if (names_get(t, own, NONE) != NONE) {
        diag_error(r->diag, "%s: '%s' is there twice", r->path, name);
        return NULL;
    }
    names_add(t, own, number);
    return own;
}

/* ---- the manifest ----------------------------------------------------------------------------- */

/* Reads the names of the devices and their memory less the reserve (-1: no limit), and adds the name of the host.
 * Returns 0, or -1 and an error. */
static int read_devices(struct schedule_reader *r, const json_t *root)
{
    struct sample_work *w = r->made;
    const json_t *list = get_list(r, root, "devices");
    if (!list)
        return -1;
    w->ndev = list_length(list);
    if (w->ndev > CLUSTER_DEVICES)
        return diag_error(r->diag, "%s: %u devices are too many: expected %d at most", r->path,
                          w->ndev, CLUSTER_DEVICES);
    w->dev_name = arena_array(r->a, (size_t)w->ndev + 1, sizeof *w->dev_name);
    w->memory = arena_array(r->a, (size_t)w->ndev + 1, sizeof *w->memory);
    w->dev_name[w->ndev] = "host";
    names_add(&r->dev, w->dev_name[w->ndev], w->ndev);
    for (uint32_t d = 0; d < w->ndev; d++) {
        const json_t *o = json_array_get(list, d);
        const char *name = get_name(r, o, "name", "devices");
        int64_t reserved = 0;
        w->memory[d] = -1;
        if (!name)
            return -1;
        w->dev_name[d] = add_name(r, &r->dev, name, d);
        if (!w->dev_name[d])
            return -1;
        if (json_is_null(json_object_get(o, "memory_bytes")))
            continue;
        if (get_bytes(r, o, "memory_bytes", &w->memory[d]) ||
            (json_object_get(o, "reserved_bytes") &&
             get_int(r, o, "reserved_bytes", 0, w->memory[d], &reserved)))
            return -1;
        w->memory[d] -= reserved;
    }
    return 0;
}

/* Reads sizes of tensors from the list `key`, whose entries have "name" and "bytes", and, for an iteration,
 * "batch_axis" if the tensor has rows.  Returns 0, or -1 and an error. */
static int read_sizes(struct schedule_reader *r, const json_t *root, const char *key)
{
    const json_t *list = get_list(r, root, key);
    for (uint32_t i = 0; i < list_length(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = get_name(r, o, "name", key);
        if (!name || get_bytes(r, o, "bytes", &r->size[r->nsize]))
            return -1;
        r->has_rows[r->nsize] = r->stages && json_is_integer(json_object_get(o, "batch_axis"));
        names_add(&r->bytes, arena_strdup(r->a, name, strlen(name)), r->nsize++);
    }
    return list ? 0 : -1;
}

/* Checks that a tensor of the list `key` has the size that read_sizes() found first: a tensor may be in several lists.
 * Returns 0, or -1 and an error. */
static int check_sizes(struct schedule_reader *r, const json_t *root, const char *key)
{
    const json_t *list = get_list(r, root, key);
    for (uint32_t i = 0; i < list_length(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = get_name(r, o, "name", key);
        int64_t bytes = 0;
        if (!name || get_bytes(r, o, "bytes", &bytes))
            return -1;
        if (r->size[names_get(&r->bytes, name, 0)] != bytes)
            return expect_form(r, "one size for each tensor");
    }
    return list ? 0 : -1;
}

/* Reads the names of the model's inputs and outputs that are state into r->state.  Returns 0, or -1 and an error. */
static int read_states(struct schedule_reader *r, const json_t *root)
{
    const json_t *list = get_list(r, root, "states");
    for (uint32_t i = 0; i < list_length(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *in = get_name(r, o, "in", "states");
        const char *out = in ? get_name(r, o, "out", "states") : NULL;
        if (!out)
            return -1;
        names_add(&r->state, arena_strdup(r->a, in, strlen(in)), 1);
        names_add(&r->state, arena_strdup(r->a, out, strlen(out)), 2);
    }
    return list ? 0 : -1;
}

/* Adds a tensor with the size in r->size to the work.  name: NULL is an error.  from: the part that makes the tensor,
 * or npart.  Returns 0, or -1 and an error. */
static int add_tensor(struct schedule_reader *r, const char *name, uint32_t from)
{
    struct sample_work *w = r->made;
    const char *own = name ? add_name(r, &r->tensor, name, w->ntensor) : NULL;
    uint32_t size = own ? names_get(&r->bytes, own, NONE) : NONE;
    if (!name)
        return expect_form(r, "names of tensors");
    if (!own)
        return -1;
    if (size == NONE)
        return diag_error(r->diag, "%s: the size of tensor '%s' is not said", r->path, name);
    w->tensor[w->ntensor++] = (struct work_tensor){
        .name = own, .bytes = r->size[size], .from = from, .has_rows = r->has_rows[size] != 0};
    return 0;
}

/* Returns the key of a part's memory while it runs: in a manifest of an iteration, of the memory that a slice needs. */
static const char *peak_key(const struct schedule_reader *r)
{
    return r->stages ? "slice_peak_bytes" : "live_peak_bytes";
}

/* Reads the names, devices, memory and outputs of all parts, and whether a part runs once, as a
 * part of the pass "update" does.  Returns 0, or -1 and an error. */
static int read_parts(struct schedule_reader *r, const json_t *parts)
{
    struct sample_work *w = r->made;
    uint32_t n = 0;
    for (uint32_t x = 0; x < w->npart; x++) {
        const json_t *o = json_array_get(parts, x), *out = get_list(r, o, "outputs");
        const char *file = out ? get_name(r, o, "file", "parts") : NULL;
        const char *dev = file ? get_name(r, o, "device", "parts") : NULL;
        if (!dev)
            return -1;
        w->part[x].name = add_name(r, &r->part, file, x);
        if (!w->part[x].name)
            return -1;
        w->part[x].dev = names_get(&r->dev, dev, NONE);
        if (w->part[x].dev >= w->ndev)
            return diag_error(r->diag, "%s: '%s' is on '%s', which is none of the devices", r->path,
                              file, dev);
        const char *pass = json_get_text(o, "pass");
        w->part[x].once = r->stages && pass && strcmp(pass, "update") == 0;
        if (get_bytes(r, o, "lasting_bytes", &w->part[x].lasting) ||
            get_bytes(r, o, peak_key(r), &w->part[x].running))
            return -1;
        for (uint32_t i = 0; i < list_length(out); i++) {
            w->out.to[n++] = w->ntensor;
            if (add_tensor(r, json_string_value(json_array_get(out, i)), x))
                return -1;
        }
        w->out.at[x + 1] = n;
    }
    return 0;
}

/* Reads the inputs of all parts, and subtracts the bytes of the inputs and the lasting bytes from `running` of each
 * part, whose meaning is then that of struct work_part.  Returns 0, or -1 and an error. */
static int read_inputs(struct schedule_reader *r, const json_t *parts)
{
    struct sample_work *w = r->made;
    uint32_t n = 0, *seen = arena_array(r->a, (size_t)w->ntensor + 1, sizeof *seen);
    for (uint32_t x = 0; x < w->npart; x++) {
        const json_t *in = get_list(r, json_array_get(parts, x), "inputs");
        if (!in)
            return -1;
        for (uint32_t i = 0; i < list_length(in); i++) {
            const char *name = json_string_value(json_array_get(in, i));
            if (!name)
                return expect_form(r, "names of tensors");
            uint32_t t = names_get(&r->tensor, name, NONE);
            /* the past of a state, which the device keeps, is no tensor */
            if (names_get(&r->state, name, 0) == 1)
                continue;
            if (t == NONE)
                return diag_error(
                    r->diag, "%s: '%s' reads '%s', which is neither an input nor made by a part",
                    r->path, w->part[x].name, name);
            if (seen[t] == x + 1)
                return diag_error(r->diag, "%s: '%s' reads '%s' twice", r->path, w->part[x].name,
                                  name);
            seen[t] = x + 1;
            w->in.to[n++] = t;
        }
        w->in.at[x + 1] = n;
        int64_t held = sat_add(work_bytes_in(w, x), w->part[x].lasting);
        if (w->part[x].running < held)
            return diag_error(r->diag, "%s: '%s' of '%s' is less than what it holds and reads",
                              r->path, peak_key(r), w->part[x].name);
        w->part[x].running -= held;
    }
    return 0;
}

/* Reads the outputs of the model: checks that each comes from the part that the file names, and marks its tensor as
 * `returned` if it is no state.  Returns 0, or -1 and an error. */
static int read_outputs(struct schedule_reader *r, const json_t *root)
{
    const json_t *list = get_list(r, root, "outputs");
    for (uint32_t i = 0; i < list_length(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = get_name(r, o, "name", "outputs");
        const char *from = name ? get_name(r, o, "from", "outputs") : NULL;
        uint32_t t = name ? names_get(&r->tensor, name, NONE) : NONE;
        if (!from)
            return -1;
        if (strcmp(from, "input") == 0 || strcmp(from, "weights") == 0)
            continue; /* the host has this output: no device sends it */
        if (t == NONE || r->w->tensor[t].from != names_get(&r->part, from, NONE))
            return diag_error(r->diag, "%s: output '%s' does not come from '%s'", r->path, name,
                              from);
        r->made->tensor[t].returned = names_get(&r->state, name, 0) != 2; /* 2: state */
    }
    return list ? 0 : -1;
}

/* Adds the devices of part x to *on: the list "replicas" if o, the object of the part, has one, else the part's
 * device.  seen: [device] 1 + the last part that has the device.  Returns 0, or -1 and an error. */
static int read_replicas(struct schedule_reader *r, const json_t *o, uint32_t x, struct pairs *on,
                         uint32_t *seen)
{
    const json_t *list = json_object_get(o, "replicas");
    const struct work_part *p = &r->made->part[x];
    uint32_t n = list_length(list);
    if (!list)
        pairs_add(on, x, p->dev);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t dev = name ? names_get(&r->dev, name, NONE) : NONE;
        if (dev >= r->made->ndev || seen[dev] == x + 1 || (i == 0 && dev != p->dev))
            return diag_error(r->diag,
                              "%s: 'replicas' of '%s': expected devices, the first of them its "
                              "own, each once",
                              r->path, p->name);
        seen[dev] = x + 1;
        pairs_add(on, x, dev);
    }
    return !list || n ? 0 : expect_form(r, "devices in 'replicas'");
}

/* Reads how stages share a micro-batch into r->made->share: the sizes of micro-batch and profiled batch in
 * "training", and "replicas" of parts.  Returns 0, or -1 and an error. */
static int read_share(struct schedule_reader *r, const json_t *root, const json_t *parts)
{
    struct sample_work *w = r->made;
    const json_t *o = json_object_get(root, "training");
    struct pairs on = {.a = r->a};
    uint32_t *seen = arena_array(r->a, (size_t)w->ndev + 1, sizeof *seen);
    if (get_int(r, o, "micro_batch_size", 0, INT64_MAX, &w->share.samples) ||
        get_int(r, o, "profiled_batch", 0, INT64_MAX, &w->share.profiled))
        return -1;
    w->share.samples = larger(w->share.samples, 1);
    w->share.profiled = larger(w->share.profiled, 1);
    for (uint32_t x = 0; x < w->npart; x++) {
        if (read_replicas(r, json_array_get(parts, x), x, &on, seen))
            return -1;
    }
    w->share.device = pairs_rows(&on, w->npart);
    return 0;
}

/* Adds the number of entries in the lists `key` of all parts to *n. */
static void count_names(const json_t *parts, const char *key, size_t *n)
{
    for (uint32_t x = 0; x < list_length(parts); x++)
        *n += json_array_size(json_object_get(json_array_get(parts, x), key));
}

/* Reads the whole work from a manifest into r->made.  Returns 0, or -1 and an error. */
static int read_manifest(struct schedule_reader *r, const json_t *root)
{
    struct sample_work *w = r->made;
    const json_t *parts = get_list(r, root, "parts");
    const json_t *inputs = parts ? get_list(r, root, "inputs") : NULL;
    /* at most so many are read: inputs of parts, outputs of parts, sizes of tensors */
    size_t in = 0, out = 0, sizes = json_array_size(json_object_get(root, "tensors"));
    if (!inputs)
        return -1;
    count_names(parts, "inputs", &in);
    count_names(parts, "outputs", &out);
    sizes += json_array_size(inputs) + json_array_size(json_object_get(root, "outputs"));
    /* a tensor has up to two entries in work.place besides those for its readers (work_finish()), and indices of
     * entries have 32 bits */
    if (sizes >= NONE || in >= NONE || out + json_array_size(inputs) >= NONE / 2)
        return expect_form(r, "fewer tensors");
    r->stages = json_is_object(json_object_get(root, "training"));
    r->size = arena_array(r->a, sizes + 1, sizeof *r->size);
    r->has_rows = arena_alloc(r->a, sizes + 1);
    w->npart = list_length(parts);
    w->part = arena_array(r->a, (size_t)w->npart + 1, sizeof *w->part);
    w->tensor = arena_array(r->a, out + json_array_size(inputs) + 1, sizeof *w->tensor);
    w->in.at = arena_array(r->a, (size_t)w->npart + 1, sizeof *w->in.at);
    w->out.at = arena_array(r->a, (size_t)w->npart + 1, sizeof *w->out.at);
    w->in.to = arena_array(r->a, in + 1, sizeof *w->in.to);
    w->out.to = arena_array(r->a, out + 1, sizeof *w->out.to);
    if (read_devices(r, root) || read_states(r, root) || read_sizes(r, root, "inputs") ||
        read_sizes(r, root, "tensors") || read_sizes(r, root, "outputs") ||
        check_sizes(r, root, "inputs") || check_sizes(r, root, "tensors") ||
        check_sizes(r, root, "outputs"))
        return -1;
    for (uint32_t i = 0; i < list_length(inputs); i++) {
        const char *name = json_get_text(json_array_get(inputs, i), "name");
        if (names_get(&r->state, name, 0) != 1 && add_tensor(r, name, w->npart))
            return -1;
    }
    if (read_parts(r, parts) || (r->stages && read_share(r, root, parts)) ||
        read_inputs(r, parts) || read_outputs(r, root))
        return -1;
    work_mark_sums(w);
    work_finish(w, r->a);
    return 0;
}

/* Parses the text.  Returns the document; NULL and an error if it is not JSON, or the value of the key `form`, a
 * version, is not from 1 to last. */
static json_t *load_document(const struct schedule_reader *r, const struct json_text *j,
                             const char *form, int last)
{
    json_error_t e;
    int64_t version;
    json_t *root = json_read(r->a, j->text, j->n, &e);
    if (!root)
        diag_error(r->diag, "%s:%d: %s", r->path, e.line, e.text);
    else if (!json_int_in(json_object_get(root, form), 1, last, &version))
        diag_error(r->diag, "%s: expected '%s': 1%s", r->path, form,
                   last > 2   ? ", 2 or 3"
                   : last > 1 ? " or 2"
                              : "");
    else
        return root;
    return NULL;
}

struct sample_work *work_read(const struct json_text *j, struct arena *a, struct diag *d)
{
    struct schedule_reader r = {
        .path = j->path, .a = a, .diag = d, .made = arena_alloc(a, sizeof *r.made)};
    json_t *root = load_document(&r, j, "pcc_manifest", 1);
    const char *why = json_get_text(root, "schedule_why");
    r.w = r.made;
    if (!root)
        return NULL;
    if (json_is_null(json_object_get(root, "schedule"))) {
        diag_error(d, "%s: the folder has no execution plan%s%s", j->path, why ? ": " : "",
                   why ? why : "");
        return NULL;
    }
    r.dev = names_new(a, 64);
    r.part = names_new(a, 64);
    r.tensor = names_new(a, 256);
    r.bytes = names_new(a, 256);
    r.state = names_new(a, 16);
    return state_pieces(root, j->path, a, d) || read_manifest(&r, root) ? NULL : r.made;
}

/* ---- the schedule ----------------------------------------------------------------------------- */

/* Tables to find the copies and slices of an iteration by device. */
struct slices {
    const struct sample_work *w; /* the micro-batch's work in slices */
    /* (part, device) of the micro-batch's work -> 1 + the part's copy on that device, a part of w */
    struct map copy;
    /* (tensor, device) -> 1 + the first, 1 + the last index in w->place of the tensor's slices on the device */
    struct map first, last;
    /* [index in w->place] 1 + the next index with the same tensor and device; 0: none */
    uint32_t *next;
    uint32_t *slice; /* [index in w->place] the slice to which this entry of w->place belongs */
};

/* State of reading a schedule. */
struct lists {
    struct schedule_reader r;
    struct schedule *s;
    struct slices of;         /* for an iteration; without one, of.w is NULL */
    struct instruction *item; /* [n] instructions in the order of the file */
    uint32_t *lane;           /* [n] the lanes of these instructions */
    uint32_t n, capitem, caplane;
};

/* Adds instruction i to a lane.  Returns 0, or -1 and an error. */
static int push_instruction(struct lists *l, uint32_t lane, struct instruction i)
{
    if (l->n >= MOST_INSTRUCTIONS)
        return expect_form(&l->r, "fewer instructions");
    l->item = vec_grow(l->r.a, l->item, &l->capitem, l->n + 1, sizeof *l->item);
    l->lane = vec_grow(l->r.a, l->lane, &l->caplane, l->n + 1, sizeof *l->lane);
    l->item[l->n] = i;
    l->lane[l->n++] = lane;
    return 0;
}

/* Returns the slice of a tensor that a SEND or RECV moves, as the member "rows" of the instruction's object o says.
 * home: the device that sends the slice. Returns NONE after an error: there is no such slice. */
static uint32_t find_moved(const struct lists *l, uint32_t tensor, uint32_t home, const json_t *o)
{
    const struct sample_work *w = l->of.w, *whole = w->whole;
    const struct work_tensor *t = &whole->tensor[tensor];
    uint32_t low = w->first_slice[tensor];
    const json_t *rows = json_object_get(o, "rows");
    int64_t first = 0, n = w->share.samples;
    if (rows && (json_array_size(rows) != 2 ||
                 !json_int_in(json_array_get(rows, 0), 0, INT64_MAX, &first) ||
                 !json_int_in(json_array_get(rows, 1), 1, INT64_MAX, &n))) {
        expect_form(&l->r, "'rows': [first, number], the samples that move");
        return NONE;
    }
    /* of a tensor without an axis of the batch, each device of the part that makes it has a whole copy */
    if (!t->has_rows && !rows) {
        uint32_t copy =
            t->from < whole->npart ? map_get(&l->of.copy, map_key(t->from + 1, home + 1)) : 0;
        /* the tensor's slices are numbered as the copies of the part that makes it */
        return copy ? low + copy - 1 - w->first_copy[t->from] : low;
    }
    uint32_t at = t->has_rows ? work_slice_from(w, tensor, first) : NONE;
    if (t->has_rows && at < w->first_slice[tensor + 1] && w->tensor[at].first_row == first &&
        w->tensor[at].rows == n)
        return at;
    diag_error(l->r.diag, "%s: '%s' has no slice of %lld samples from %lld on that moves as one",
               l->r.path, t->name, (long long)n, (long long)first);
    return NONE;
}

/* Adds an instruction of an iteration to a lane of device dev.  Instruction i names a whole part or tensor, and
 * becomes an instruction for the device's copy or slice; an ALLOC, FREE or ADD becomes one for each of the device's
 * slices.  If the device has no copy or slice, the instruction names that of another device, which the checker
 * refuses.  Returns 0, or -1 and an error. */
static int push_slices(struct lists *l, uint32_t lane, uint32_t dev, struct instruction i,
                       const json_t *o)
{
    const struct sample_work *w = l->of.w;
    if (is_about_part(&i)) {
        uint32_t copy = map_get(&l->of.copy, map_key(i.what + 1, dev + 1));
        i.what = copy ? copy - 1 : w->first_copy[i.what];
        return push_instruction(l, lane, i);
    }
    if (i.kind == DO_SEND || i.kind == DO_RECV) {
        i.what = find_moved(l, i.what, i.kind == DO_SEND ? dev : i.other, o);
        return i.what == NONE ? -1 : push_instruction(l, lane, i);
    }
    uint32_t at = map_get(&l->of.first, map_key(i.what + 1, dev + 1));
    i.what = w->first_slice[i.what];
    if (!at)
        return push_instruction(l, lane, i);
    for (; at; at = l->of.next[at - 1]) {
        i.what = l->of.slice[at - 1];
        if (push_instruction(l, lane, i))
            return -1;
    }
    return 0;
}

/* Adds instruction i to a lane of device dev, after reading its offset and phase from o.  Returns 0, or -1 and an
 * error. */
static int add_instruction(struct lists *l, uint32_t lane, uint32_t dev, struct instruction i,
                           const json_t *o)
{
    int64_t offset = 0, phase = 0;
    if (get_int(&l->r, o, "sample", -MOST_OFFSET, MOST_OFFSET, &offset) ||
        (json_object_get(o, "phase") &&
         get_int(&l->r, o, "phase", 0, (int64_t)l->s->phases - 1, &phase)))
        return -1;
    i.offset = (int32_t)offset;
    i.phase = (uint8_t)phase;
    return l->of.w ? push_slices(l, lane, dev, i, o) : push_instruction(l, lane, i);
}

/* Returns the number in t of the name that is o's member `key`; NONE and an error if there is none. */
static uint32_t find_name(const struct schedule_reader *r, const struct names *t, const json_t *o,
                          const char *key)
{
    const char *name = json_get_text(o, key);
    uint32_t k = name ? names_get(t, name, NONE) : NONE;
    if (!name)
        diag_error(r->diag, "%s: expected a name '%s' in an instruction", r->path, key);
    else if (k == NONE)
        diag_error(r->diag, "%s: there is no '%s' in the manifest", r->path, name);
    return k;
}

/* Reads the list "compute" of a device: COMPUTE, ALLOC, FREE, ADD and REDUCE.  Returns 0, or -1 and an error. */
static int read_compute(struct lists *l, const json_t *list, uint32_t dev)
{
    static const struct {
        const char *key;
        enum do_kind kind;
    } verb[] = {{"compute", DO_COMPUTE},
                {"alloc", DO_ALLOC},
                {"free", DO_FREE},
                {"add", DO_ADD},
                {"reduce", DO_REDUCE}};
    for (uint32_t i = 0; i < list_length(list); i++) {
        const json_t *o = json_array_get(list, i);
        struct instruction x = {.kind = DO_COMPUTE};
        const char *key = NULL;
        int verbs = 0;
        for (size_t k = 0; k < sizeof verb / sizeof *verb; k++) {
            if (!json_object_get(o, verb[k].key))
                continue;
            verbs++;
            x.kind = (uint8_t)verb[k].kind;
            key = verb[k].key;
        }
        if (verbs != 1)
            return expect_form(&l->r,
                               "one of 'add', 'alloc', 'compute', 'free' and 'reduce' in each of "
                               "'compute'");
        x.what = find_name(&l->r, is_about_part(&x) ? &l->r.part : &l->r.tensor, o, key);
        if (x.what == NONE || add_instruction(l, lane_compute(dev), dev, x, o))
            return -1;
    }
    return 0;
}

/* Reads the members "send" and "recv" of a device, with the sizes of its queues, or of the host (dev == ndev), which
 * has no queues.  Returns 0, or -1 and an error. */
static int read_moves(struct lists *l, const json_t *of, uint32_t dev)
{
    uint32_t n = l->r.w->ndev;
    const json_t *send = get_list(&l->r, of, "send");
    const json_t *recv = send ? get_list(&l->r, of, "recv") : NULL;
    if (!recv)
        return -1;
    for (uint32_t i = 0; i < list_length(send); i++) {
        const json_t *o = json_array_get(send, i);
        struct instruction x = {.kind = DO_SEND};
        x.what = find_name(&l->r, &l->r.tensor, o, "tensor");
        x.other = x.what != NONE ? find_name(&l->r, &l->r.dev, o, "to") : NONE;
        if (x.other == NONE || add_instruction(l, lane_send(n, dev), dev, x, o))
            return -1;
    }
    /* [device] 1: the list of the tensors received from the device was read */
    uint8_t *seen = arena_alloc(l->r.a, (size_t)n + 2);
    for (uint32_t k = 0; k < list_length(recv); k++) {
        const json_t *queue = json_array_get(recv, k), *list = get_list(&l->r, queue, "tensors");
        uint32_t from = list ? find_name(&l->r, &l->r.dev, queue, "from") : NONE;
        int64_t most = 0;
        if (from == NONE || (dev < n && get_int(&l->r, queue, "queue", 0, UINT32_MAX, &most)))
            return -1;
        if (seen[from]++)
            return expect_form(&l->r, "one list in 'recv' for each device");
        uint32_t lane = lane_recv(n, dev, from);
        l->s->queue[lane] = (uint32_t)most;
        for (uint32_t i = 0; i < list_length(list); i++) {
            const json_t *o = json_array_get(list, i);
            struct instruction x = {.kind = DO_RECV, .other = from};
            x.what = find_name(&l->r, &l->r.tensor, o, "tensor");
            if (x.what == NONE || add_instruction(l, lane, dev, x, o))
                return -1;
        }
    }
    return 0;
}

/* Reads the instructions and memory peaks of all devices, and the instructions of the host.  Returns 0, or -1 and an
 * error. */
static int read_lists(struct lists *l, const json_t *root)
{
    const struct schedule_reader *r = &l->r;
    const json_t *list = get_list(r, root, "devices");
    uint8_t *seen = arena_alloc(r->a, (size_t)r->w->ndev + 1);
    for (uint32_t i = 0; i < list_length(list); i++) {
        const json_t *o = json_array_get(list, i), *compute = get_list(r, o, "compute");
        uint32_t dev = compute ? find_name(r, &r->dev, o, "name") : NONE;
        if (dev == NONE)
            return -1;
        if (dev == r->w->ndev)
            return expect_form(r, "the instructions of the host in 'host', not among 'devices'");
        if (seen[dev])
            return diag_error(r->diag, "%s: device '%s' is there twice", r->path,
                              r->w->dev_name[dev]);
        seen[dev] = 1;
        if (get_bytes(r, o, "peak_bytes", &l->s->peak[dev]) || read_compute(l, compute, dev) ||
            read_moves(l, o, dev))
            return -1;
    }
    return list ? read_moves(l, json_object_get(root, "host"), r->w->ndev) : -1;
}

/* Fills in s->at and s->item: the instructions by lane, in the order of the file. */
static void sort_lists(struct lists *l)
{
    struct schedule *s = l->s;
    struct csr by_lane = csr_build(l->r.a, s->nlane, l->n, l->lane, NULL);
    s->at = by_lane.at;
    s->item = arena_array(l->r.a, (size_t)l->n + 1, sizeof *s->item);
    for (uint32_t i = 0; i < l->n; i++)
        s->item[i] = l->item[by_lane.to[i]];
}

/* Returns the rows device -> instances of its parts (sample_work.instance), in the order of the
 * device's list.  Returns NULL after an error: there are not as many instances as there should be,
 * one for each part and each of the micro_batches micro-batches, but only one for a part that runs
 * once. */
static const struct csr *list_instances(const struct lists *l, uint32_t micro_batches)
{
    const struct sample_work *w = l->of.w;
    const struct schedule *s = l->s;
    struct csr *list = arena_alloc(l->r.a, sizeof *list);
    list->at = arena_array(l->r.a, (size_t)w->ndev + 2, sizeof *list->at);
    list->to = arena_array(l->r.a, (size_t)l->n + 1, sizeof *list->to);
    uint32_t n = 0;
    for (uint32_t d = 0; d < w->ndev; d++) {
        for (uint32_t i = s->at[d]; i < s->at[d + 1]; i++)
            if (s->item[i].kind == DO_COMPUTE)
                list->to[n++] = (uint32_t)s->item[i].offset * w->npart + s->item[i].what;
        list->at[d + 1] = n;
    }
    uint32_t once = 0;
    for (uint32_t x = 0; x < w->npart; x++)
        once += w->part[x].once;
    if (n == (uint64_t)(w->npart - once) * micro_batches + once)
        return list;
    diag_error(l->r.diag, "%s: expected each of %u parts %u times%s, found %u times 'compute'",
               l->r.path, w->npart - once, micro_batches,
               once ? arena_fmt(l->r.a, " and each of %u updates once", once) : "", n);
    return NULL;
}

/* Whether the names of parts and tensors of all micro-batches, each of which has its own, fit MOST_NAMES. */
static bool fits_names(const struct sample_work *w, uint32_t micro_batches)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->npart; i++)
        bytes += strlen(w->part[i].name);
    for (uint32_t t = 0; t < w->ntensor; t++)
        bytes += strlen(w->tensor[t].name);
    return bytes <= MOST_NAMES / micro_batches;
}

/* Fills l->of, the tables of copies and slices, for an iteration of so many micro-batches.  Returns 0, or -1 and an
 * error. */
static int find_slices(struct lists *l, uint32_t micro_batches)
{
    struct slices *of = &l->of;
    struct arena *a = l->r.a;
    const char *why;
    const struct sample_work *whole = l->r.w;
    const struct sample_work *w = work_slice(whole, MOST_UNROLLED / micro_batches, &why, a);
    of->w = w;
    if (!w)
        return diag_error(l->r.diag, "%s: %s", l->r.path, why);
    if (!fits_names(w, micro_batches))
        return expect_form(&l->r, "fewer micro-batches");
    for (uint32_t p = 0; p < whole->npart; p++)
        for (uint32_t x = w->first_copy[p]; x < w->first_copy[p + 1]; x++)
            map_set(&of->copy, a, map_key(p + 1, w->part[x].dev + 1), x + 1);
    of->next = arena_array(a, (size_t)w->place.at[w->ntensor] + 1, sizeof *of->next);
    of->slice = arena_array(a, (size_t)w->place.at[w->ntensor] + 1, sizeof *of->slice);
    for (uint32_t t = 0; t < whole->ntensor; t++)
        for (uint32_t x = w->first_slice[t]; x < w->first_slice[t + 1]; x++)
            for (uint32_t i = w->place.at[x]; i < w->place.at[x + 1]; i++) {
                uint64_t key = map_key(t + 1, w->place.to[i] + 1);
                uint32_t last = map_get(&of->last, key);
                of->slice[i] = x;
                if (last)
                    of->next[last - 1] = i + 1;
                else
                    map_set(&of->first, a, key, i + 1);
                map_set(&of->last, a, key, i + 1);
            }
    return 0;
}

/* For the schedule of an iteration: makes the work of all micro-batches, s->work, and renumbers the parts and tensors
 * of instructions so that they refer to that work; offsets, which name the micro-batch, become 0.  Returns 0, or -1
 * and an error. */
static int unroll(struct lists *l, uint32_t micro_batches)
{
    const char *why;
    const struct sample_work *w = l->of.w;
    struct schedule *s = l->s;
    for (uint32_t i = 0; i < l->n; i++)
        if (s->item[i].offset < 0 || (uint32_t)s->item[i].offset >= micro_batches)
            return diag_error(l->r.diag, "%s: micro-batch %d of an instruction is none of %u",
                              l->r.path, s->item[i].offset, micro_batches);
    const struct csr *list = list_instances(l, micro_batches);
    struct sample_work *all = list ? work_unroll(w, micro_batches, list, &why, l->r.a) : NULL;
    if (!all)
        return list ? diag_error(l->r.diag, "%s: %s", l->r.path, why) : -1;
    /* [instance] number of the part of `all` that is this instance */
    uint32_t *number = arena_array(l->r.a, (size_t)w->npart * micro_batches + 1, sizeof *number);
    for (uint32_t k = 0; k < all->npart; k++)
        number[all->instance[k]] = k;
    for (uint32_t i = 0; i < l->n; i++) {
        struct instruction *x = &s->item[i];
        bool part = is_about_part(x);
        /* offset is the micro-batch: instances of parts are numbered micro-batch by micro-batch, and so are tensors */
        x->what += (uint32_t)x->offset * (part ? w->npart : w->ntensor);
        if (part)
            x->what = number[x->what];
        x->offset = 0;
    }
    s->work = all;
    return 0;
}

struct schedule *schedule_read(const struct json_text *j, const struct sample_work *w,
                               struct arena *a, struct diag *d)
{
    struct lists l = {.r = {.path = j->path, .a = a, .diag = d, .w = w},
                      .s = arena_alloc(a, sizeof *l.s)};
    const json_t *root = load_document(&l.r, j, "pcc_schedule", 3);
    json_int_t form = json_integer_value(json_object_get(root, "pcc_schedule"));
    bool iteration = form >= 2; /* forms: see schedule_json.c */
    int64_t samples = 1, phases = 1, batches = 0;
    if (!root)
        return NULL;
    if (iteration && get_int(&l.r, root, "micro_batches", 1, MOST_OFFSET, &batches))
        return NULL;
    if (!iteration && (get_int(&l.r, root, "in_flight", 1, MOST_SAMPLES, &samples) ||
                       get_int(&l.r, root, "phases", 1, MOST_PHASES, &phases)))
        return NULL;
    l.s->work = w;
    l.s->in_flight = (uint32_t)samples;
    l.s->phases = (uint32_t)phases;
    l.s->nlane = lane_count(w->ndev);
    l.s->queue = arena_array(a, (size_t)l.s->nlane + 1, sizeof *l.s->queue);
    l.s->peak = arena_array(a, (size_t)w->ndev + 1, sizeof *l.s->peak);
    l.r.dev = names_new(a, 2 * w->ndev + 2);
    l.r.part = names_new(a, 64);
    l.r.tensor = names_new(a, 256);
    for (uint32_t i = 0; i <= w->ndev; i++)
        names_add(&l.r.dev, w->dev_name[i], i);
    for (uint32_t i = 0; i < w->npart; i++)
        names_add(&l.r.part, w->part[i].name, i);
    for (uint32_t i = 0; i < w->ntensor; i++)
        names_add(&l.r.tensor, w->tensor[i].name, i);
    if ((iteration && find_slices(&l, (uint32_t)batches)) || read_lists(&l, root))
        return NULL;
    sort_lists(&l);
    return iteration && unroll(&l, (uint32_t)batches) ? NULL : l.s;
}
