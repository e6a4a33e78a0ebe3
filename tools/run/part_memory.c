/* Memory of a part (part_memory.h).
 *
 * What a process holds depends on all that it did before, so the program starts itself once more for each part.  The
 * request is two files: one of JSON that names the part, and one with the bytes of the part's inputs, one input behind
 * the other.  The process notes how much memory it holds when the engine is open and when the part is loaded, and the
 * most that it holds during the first sample; before that sample it sets the system's mark of the most memory back
 * (proc(5), clear_refs).  O(bytes of the inputs). */
#include "tools/run/part_memory.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/json_out.h"
#include "ir/base/outfile.h"
#include "ir/cluster/detect/machine_file.h"
#include "ir/model/module.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    ANSWER = 1024, /* bytes of what the process prints, at most */
    KIB = 1024
};

/* ---- asking ----------------------------------------------------------------------------------- */

/* Writes the bytes of the inputs of part k to f, and their names, types and sizes to the list that is open in o.
 * Returns false if an input is no tensor of plain numbers, or cannot be written. */
static bool put_inputs(const struct measuring *m, uint32_t k, FILE *f, struct json_out *o)
{
    const struct split_part *p = &m->s->part[k];
    for (uint32_t i = 0; i < p->nin; i++) {
        int64_t size[ENGINE_AXES];
        struct engine_shape s = {.size = size};
        struct engine_value *v = m->table[p->in[i]];
        if (m->e->face->value_shape(m->e, v, &s, size))
            return false;
        int64_t elems = shape_elems(size, (uint32_t)s.rank);
        size_t bytes = elems > 0 ? (size_t)elem_bytes((enum elem)s.elem, elems) : 0;
        json_open(o, NULL, '{', JSON_ROW);
        json_text(o, "name", p->in_name[i]);
        json_int(o, "elem", s.elem);
        json_int(o, "bytes", (int64_t)bytes);
        json_open(o, "size", '[', JSON_ROW);
        for (size_t d = 0; d < s.rank; d++)
            json_int(o, NULL, size[d]);
        json_close(o, JSON_ROW);
        json_close(o, JSON_ROW);
        const void *data = bytes > 0 ? m->e->face->value_data(m->e, v) : NULL;
        if (bytes > 0 && (!data || fwrite(data, 1, bytes, f) != bytes))
            return false;
    }
    return true;
}

/* Writes the request for part k to the file `path`, and the part's inputs to the file `data`.  Returns whether both
 * could be written. */
static bool put_request(const struct measuring *m, uint32_t k, const char *path, const char *data)
{
    const struct split_part *p = &m->s->part[k];
    FILE *f = fopen(path, "wb"), *inputs = fopen(data, "wb");
    struct json_out o = {.f = f};
    bool good = f && inputs;
    if (good) {
        json_open(&o, NULL, '{', 1);
        json_text(&o, "engine", m->choice.engine);
        json_text(&o, "library", m->choice.library);
        json_text(&o, "part", p->path);
        if (p->data)
            json_text(&o, "weights", p->data);
        json_text(&o, "data", data);
        json_int(&o, "threads", m->threads);
        json_open(&o, "outputs", '[', JSON_ROW);
        for (uint32_t i = 0; i < p->nout; i++)
            json_text(&o, NULL, p->out_name[i]);
        json_close(&o, JSON_ROW);
        json_open(&o, "inputs", '[', 2);
        good = put_inputs(m, k, inputs, &o);
        json_close(&o, 1);
        json_close(&o, 0);
    }
    if (f && fclose(f))
        good = false;
    if (inputs && fclose(inputs))
        good = false;
    return good;
}

/* Starts this program for a request and reads what it prints into said[ANSWER].  Returns its exit code; -1: it cannot
 * be started, or was killed. */
static int ask(const char *request, char *said)
{
    char *argv[] = {(char *)"pcc-profile", (char *)PART_MEMORY_CALL, (char *)request, NULL};
    int fd[2], status = 0;
    pid_t pid;
    size_t n = 0;
    ssize_t got;
    posix_spawn_file_actions_t act;
    if (pipe2(fd, O_CLOEXEC))
        return -1;
    int rc = posix_spawn_file_actions_init(&act);
    if (!rc && !(rc = posix_spawn_file_actions_adddup2(&act, fd[1], STDOUT_FILENO)))
        rc = posix_spawn(&pid, "/proc/self/exe", &act, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&act);
    close(fd[1]);
    while (!rc && n < ANSWER - 1) {
        got = read(fd[0], said + n, ANSWER - 1 - n);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    said[n] = 0;
    close(fd[0]);
    while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return !rc && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int part_memory(const struct measuring *m, uint32_t k, struct part_bytes *out)
{
    struct arena *own = arena_new(m->a);
    const char *request = arena_fmt(own, "%s/part.json", m->folder),
               *data = arena_fmt(own, "%s/part.data", m->folder);
    char said[ANSWER];
    *out = PART_BYTES_UNKNOWN;
    /* the process's exit code: 0: it has printed figures; 1: the part fails, and it has printed why; else nothing is
     * known */
    int rc = put_request(m, k, request, data) ? ask(request, said) : 2;
    if (rc == 0) {
        json_t *root = json_read(own, said, strlen(said), NULL);
        const struct {
            const char *key;
            int64_t *to;
        } field[] = {{"start", &out->start},
                     {"loaded", &out->loaded},
                     {"sample", &out->sample},
                     {"arena", &out->arena},
                     {"arena_peak", &out->arena_peak}};
        for (size_t i = 0; i < sizeof field / sizeof *field; i++)
            json_int_in(json_object_get(root, field[i].key), -1, INT64_MAX, field[i].to);
    }
    unlink(request);
    unlink(data);
    if (rc == 1)
        diag_error(m->d, "%s, first node '%s', alone in a process: %.*s", m->s->part[k].file,
                   m->s->part[k].nnode ? m->s->part[k].node[0] : "", (int)strcspn(said, "\n"),
                   said);
    arena_free(own);
    if (rc == 0)
        return 0;
    return rc == 1 ? -1 : 1;
}

/* ---- answering -------------------------------------------------------------------------------- */

/* Returns the bytes that a key of /proc/self/status says; -1: not told. */
static int64_t status_bytes(const char *key, struct arena *a)
{
    const char *text = machine_text("", "/proc/self/status", a);
    int64_t kib = text ? machine_field(text, key) : -1;
    return kib < 0 ? -1 : kib * KIB;
}

/* Sets the mark of the most memory back to what the process holds.  Returns whether that is possible. */
static bool forget_most(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, "5", 1) == 1;
    if (fd >= 0)
        close(fd);
    return good;
}

/* A request that is answered. */
struct answering {
    struct engine *e;
    json_t *root;
    struct arena *a;
    struct engine_error err;
    const char *hint; /* advice that follows the error message */
};

/* Makes the inputs of the request, from the file with their bytes, and returns them in w->a; writes their names to
 * name[].  Returns NULL, with the reason in w->err, if one cannot be made. */
static struct engine_value **read_inputs(struct answering *w, const char **name)
{
    json_t *list = json_object_get(w->root, "inputs"), *row;
    const char *data = json_get_text(w->root, "data");
    struct diag quiet = diag_silent();
    uint64_t size;
    size_t i, d;
    struct engine_value **in = arena_array(w->a, json_array_size(list) + 1, sizeof *in);
    int fd = data ? infile_open(data, INFILE_DATA, &size, &quiet) : -1;
    snprintf(w->err.line, sizeof w->err.line, "its inputs cannot be read");
    if (fd < 0)
        return NULL;
    json_array_foreach(list, i, row)
    {
        json_t *sizes = json_object_get(row, "size");
        int64_t at[ENGINE_AXES], bytes = (int64_t)json_integer_value(json_object_get(row, "bytes"));
        struct engine_shape s = {(int)json_integer_value(json_object_get(row, "elem")),
                                 json_array_size(sizes), at};
        for (d = 0; d < s.rank && d < ENGINE_AXES; d++)
            at[d] = (int64_t)json_integer_value(json_array_get(sizes, d));
        name[i] = json_get_text(row, "name");
        if (!(in[i] = w->e->face->value_new(w->e, &s, &w->err)))
            break;
        /* a read may return fewer bytes than asked for */
        char *to = w->e->face->value_data(w->e, in[i]);
        while (to && bytes > 0) {
            ssize_t got = read(fd, to, (size_t)bytes);
            if (got <= 0)
                break;
            bytes -= got;
            to += got;
        }
        if (to && bytes > 0)
            break;
    }
    close(fd);
    return i == json_array_size(list) ? in : NULL;
}

/* Loads the part of the request, runs it once, and prints the memory that the process held at each step, as one line of
 * JSON, which part_memory() reads.  Returns 0; or -1 with the reason in w->err, and advice in w->hint. */
static int answer(struct answering *w)
{
    const struct engine_load how = {
        .path = json_get_text(w->root, "part"),
        .data = json_get_text(w->root, "weights"),
        .optimise = true,
        .threads = (int)json_integer_value(json_object_get(w->root, "threads"))};
    json_t *outputs = json_object_get(w->root, "outputs");
    size_t nin = json_array_size(json_object_get(w->root, "inputs")),
           nout = json_array_size(outputs);
    const char **in_name = arena_array(w->a, nin + 1, sizeof *in_name);
    const char **out_name = arena_array(w->a, nout + 1, sizeof *out_name);
    struct engine_value **out = arena_array(w->a, nout + 1, sizeof *out);
    struct part_bytes b = PART_BYTES_UNKNOWN;
    struct engine_arena arena = {-1, -1};
    for (size_t i = 0; i < nout; i++)
        out_name[i] = json_string_value(json_array_get(outputs, i));
    b.start = status_bytes("VmRSS", w->a); /* the engine is open, and no part is loaded yet */
    struct loaded *p = w->e->face->load(w->e, &how, &w->err);
    if (!p)
        return -1;
    b.loaded = status_bytes("VmRSS", w->a);
    /* from now on the system's mark shows the most memory that is held during the first sample */
    bool marks = forget_most();
    struct engine_value **in = read_inputs(w, in_name);
    const struct engine_call call = {in_name, in, nin, out_name, out, NULL, nout};
    int rc = in ? w->e->face->run(p, &call, &w->err) : -1;
    if (in && rc)
        w->hint = INPUTS_HINT;
    if (!rc) {
        b.sample = marks ? status_bytes("VmHWM", w->a) : -1;
        w->e->face->arena(p, &arena);
        printf(
            "{\"start\": %lld, \"loaded\": %lld, \"sample\": %lld, \"arena\": %lld, \"arena_peak\": %lld}\n",
            (long long)b.start, (long long)b.loaded, (long long)b.sample, (long long)arena.total,
            (long long)arena.peak);
        for (size_t i = 0; i < nout; i++)
            w->e->face->value_free(w->e, out[i]);
    }
    for (size_t i = 0; in && i < nin; i++)
        w->e->face->value_free(w->e, in[i]);
    w->e->face->unload(p);
    return rc;
}

int part_memory_answer(const char *request)
{
    struct arena *a = arena_new(NULL);
    struct diag quiet = diag_silent();
    struct answering w = {.a = a, .err = {"the request cannot be read"}, .hint = ""};
    size_t n;
    char *text = a ? infile_read(request, INFILE_PLAN, a, &n, &quiet) : NULL;
    w.root = text ? json_read(a, text, n, NULL) : NULL;
    const struct engine_choice choice = {json_get_text(w.root, "engine"),
                                         json_get_text(w.root, "library")};
    w.e = w.root && json_get_text(w.root, "part") ? engine_open(&choice, a, &quiet) : NULL;
    int rc = w.e ? answer(&w) : -1;
    if (rc)
        printf("%s%s\n", w.err.line, w.hint);
    arena_free(a);
    return rc ? 1 : 0;
}
