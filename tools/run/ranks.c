/* The steps in which all ranks take part: beginning, agreeing, giving figures to rank 0, ending.  Also finds the values
 * that go from rank to rank (ranks.h).  O(values + parts * ranks). */
#include "tools/run/program.h"
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define BYTE_ORDER_WORD UINT32_C(0x01020304)
enum {
    FAILED = 1,    /* exit code */
    ALARM_TURN = 3 /* seconds by which a rank waits longer for the others than the rank before it */
};

/* What a rank tells rank 0 in ranks_agree(): its exit code and its error. */
struct vote {
    int64_t exit;
    char line[RANK_LINE];
};

void ranks_keep(void *kept, enum diag_level level, enum warning w, const char *line)
{
    char *to = kept;
    (void)w;
    if (level == DIAG_ERROR && !*to)
        snprintf(to, RANK_LINE, "%s", line);
}

/* What a rank tells all others in meet(). */
struct hello {
    uint32_t order; /* BYTE_ORDER_WORD, in its bytes' order */
    char version[60], host[RANK_HOST];
};

/* Meets the other ranks: which are on this machine, and whether all are of one pcc and one order of bytes.  Returns 0,
 * or -1 and an error. */
static int meet(struct ranks *x, struct arena *a, struct diag *d)
{
    size_t ranks = (size_t)x->m.ranks;
    struct hello mine = {BYTE_ORDER_WORD, PCC_VERSION, ""},
                 *all = arena_array(a, ranks, sizeof *all);
    char *machine = arena_alloc(a, ranks * RANK_HOST);
    if (gethostname(mine.host, sizeof mine.host - 1))
        snprintf(mine.host, sizeof mine.host, "?");
    if (x->m.face->gather(&mine, all, sizeof mine) ||
        x->m.face->share(all, (int64_t)(ranks * sizeof *all)))
        return diag_error(d, "MPI: %s", x->m.why);
    x->machine = machine;
    x->near = arena_array(a, ranks, sizeof *x->near);
    for (size_t k = 0; k < ranks; k++) {
        all[k].version[sizeof all[k].version - 1] = all[k].host[RANK_HOST - 1] = 0;
        memcpy(machine + k * RANK_HOST, all[k].host, RANK_HOST);
        x->near[k] = !strcmp(all[k].host, mine.host);
    }
    for (size_t k = 0; k < ranks; k++) {
        if (all[k].order != all[0].order)
            return diag_error(d, "rank %zu on %s has another order of bytes than rank 0 on %s", k,
                              all[k].host, all[0].host);
        if (strcmp(all[k].version, all[0].version) != 0)
            return diag_error(
                d, "rank %zu on %s is pcc %s, rank 0 on %s is pcc %s: expected one version", k,
                all[k].host, all[k].version, all[0].host, all[0].version);
    }
    return 0;
}

/* What on_alarm() says; a handler gets no argument. */
static struct {
    char line[160];
    int64_t due; /* ns: when the alarm is to come */
} late;

/* Handles SIGALRM: says late.line and ends this process, which makes mpirun end all ranks.  If the alarm comes much
 * later than it was due, this rank itself was stopped, and says nothing. */
static void on_alarm(int signal)
{
    (void)signal;
    if (clock_now() - late.due < NS_PER_S)
        (void)!write(STDERR_FILENO, late.line, strlen(late.line));
    _exit(FAILED);
}

/* Sets an alarm that ends all ranks, with a message, when this one has waited for the others as long as --stall says.
 * It is for the times when no signs of life are heard: before the first and behind the last.  Each rank waits
 * ALARM_TURN longer than the rank before it, so that only one of them speaks.  what: what the other ranks are to do,
 * "begin" or "end". */
static void limit_waiting(const struct runner *r, const char *what)
{
    int64_t s = r->set.stall / NS_PER_S + (r->set.stall % NS_PER_S > 0); /* rounded up */
    if (!r->set.stall)
        return;
    snprintf(
        late.line, sizeof late.line,
        "pcc-run: error: rank %d waits for other ranks to %s, for %lld s (--stall): one of them was stopped, "
        "or is no pcc-run\n",
        messages_rank(), what, (long long)s);
    signal(SIGALRM, on_alarm);
    int64_t after = smaller(s, INT32_MAX / 2) + larger(0, messages_rank()) * ALARM_TURN;
    late.due = clock_now() + after * NS_PER_S;
    alarm((unsigned)after);
}

int ranks_open(struct runner *r, const char *kept)
{
    if (messages_rank() < 0)
        return 0;
    limit_waiting(r, "begin");
    program_catch_also(SIGUSR1); /* mpirun forwards this signal to ranks, but not Ctrl-C */
    struct ranks *x = arena_alloc(r->a, sizeof *x);
    x->m.face = messages_find(r->a, r->d);
    if (!x->m.face)
        return -1;
    if (x->m.face->open(&x->m))
        return diag_error(r->d, "MPI: %s", x->m.why);
    r->ranks = x;
    x->kept = kept;
    if (meet(x, r->a, r->d))
        return -1;
    x->look.crowded = x->m.here > (int)sysconf(_SC_NPROCESSORS_ONLN);
    x->ran = arena_array(r->a, (size_t)x->m.ranks, sizeof *x->ran);
    x->to = arena_array(r->a, (size_t)x->m.ranks, sizeof *x->to);
    int rc = ranks_agree(r, rank_pulse_start(r) ? FAILED : 0, NULL);
    alarm(0);
    return rc ? -1 : 0;
}

const char *ranks_name(const struct runner *r, int rank)
{
    return r->ranks->device && (uint32_t)rank < r->ndev ? r->dev[r->ranks->device[rank]].name
                                                        : "no device yet";
}

bool ranks_near(const struct runner *r, uint32_t dev)
{
    return !r->ranks || (r->ranks->rank[dev] != RUN_NONE && r->ranks->near[r->ranks->rank[dev]]);
}

bool ranks_have(const struct runner *r, uint32_t dev)
{
    return !r->ranks || r->ranks->rank[dev] == (uint32_t)r->ranks->m.rank;
}

bool ranks_host(const struct runner *r)
{
    return !r->ranks || r->ranks->m.rank == 0;
}

int ranks_agree(struct runner *r, int exit, const char *line)
{
    struct ranks *x = r->ranks;
    int ranks = x->m.ranks, first = -1;
    struct vote mine = {.exit = exit};
    /* freed below, since steps of training call this function again and again */
    struct arena *own = arena_new(r->a);
    struct vote *all = arena_array(own, (size_t)ranks, sizeof *all);
    snprintf(mine.line, sizeof mine.line, "%s", line ? line : x->kept);
    /* the largest exit code of all ranks: rank 0 finds it and sends it to the other ranks */
    int64_t code = FAILED;
    bool good = x->m.face->gather(&mine, all, sizeof mine) == 0;
    if (good && x->m.rank == 0) {
        code = exit;
        for (int k = ranks - 1; k > 0; k--) {
            all[k].line[RANK_LINE - 1] = 0;
            first = all[k].exit ? k : first;
            code = larger(code, all[k].exit);
        }
        if (!exit && first > 0)
            diag_error(r->d, "rank %d on %s: %s", first, x->machine + (size_t)first * RANK_HOST,
                       all[first].line);
    }
    arena_free(own);
    return !good || x->m.face->share(&code, sizeof code) ? FAILED : (int)code;
}

/* ---- who gets what ---------------------------------------------------------------------------- */

/* Whether the lists bring value v to a device; ndev: to the host. */
static bool lists_bring(const struct runner *r, uint32_t v, uint32_t dev)
{
    uint32_t t = r->wires.tensor[v];
    if (!r->schedule || t == RUN_NONE)
        return false;
    return dev == r->ndev ? r->w->tensor[t].returned : work_place(r->w, t, dev) != RUN_NONE;
}

/* Whether v is sent without lists: a part reads it on a device to which no list brings it, it is a state's output, or
 * an output of the model that no list brings to the host. */
static bool read_loosely(const struct runner *r, uint32_t v)
{
    for_row (part, r->wires.readers, v)
        for (uint32_t i = 0; i < r->wires.nplace[part]; i++)
            if (!lists_bring(r, v, r->wires.place[part][i]))
                return true;
    return r->wires.state_of[v] != RUN_NONE ||
           (r->wires.is_output[v] && !lists_bring(r, v, r->ndev));
}

bool ranks_run_part(const struct runner *r, uint32_t part)
{
    for (uint32_t i = 0; i < r->wires.nplace[part]; i++)
        if (ranks_have(r, r->wires.place[part][i]))
            return true;
    return false;
}

const char *ranks_speaker(const struct runner *r)
{
    return r->ranks && r->ranks->m.rank == 0 ? arena_fmt(r->a, "rank 0 on %s: ", r->ranks->machine)
                                             : "";
}

void ranks_map(struct runner *r)
{
    struct ranks *x = r->ranks;
    size_t nvalue = (size_t)r->s.nvalue + 1;
    x->maker = arena_array(r->a, nvalue, sizeof *x->maker);
    x->loose = arena_array(r->a, nvalue, sizeof *x->loose);
    x->is_loose = arena_array(r->a, nvalue, sizeof *x->is_loose);
    for (uint32_t v = 0; v < r->s.nvalue; v++)
        x->maker[v] = RUN_NONE;
    for (uint32_t k = 0; k < r->s.npart; k++)
        for (uint32_t i = 0; i < r->s.part[k].nout; i++)
            x->maker[r->s.part[k].out[i]] = k;
    for (uint32_t v = 0; v < r->s.nvalue; v++) {
        x->is_loose[v] = read_loosely(r, v);
        if (x->is_loose[v])
            x->loose[x->nloose++] = v;
    }
    x->tags.keys = r->s.nvalue + (r->schedule ? r->w->place.at[r->w->ntensor] : 0);
}

int ranks_prepare(struct runner *r)
{
    struct ranks *x = r->ranks;
    x->trouble = -1;
    x->none = arena_array(r->a, (size_t)r->s.ninput + 1, sizeof(struct box *));
    x->told = arena_array(r->a, (size_t)r->width * r->wires.nstate + 1, sizeof *x->told);
    x->order.next =
        arena_array(r->a, (size_t)(x->tags.keys - r->s.nvalue) + 1, sizeof *x->order.next);
    x->tags.sum = arena_array(r->a, (size_t)x->tags.keys + 1, sizeof *x->tags.sum);
    x->tags.rounds = x->m.tags / larger(1, x->tags.keys);
    if (x->tags.rounds >= 2 * (int64_t)r->width)
        return 0;
    return diag_error(r->d, "%s: its messages need %" PRId64 " tags, and this MPI has %" PRId64,
                      r->set.folder, 2 * r->width * x->tags.keys, x->m.tags);
}

/* ---- figures ---------------------------------------------------------------------------------- */

/* A struct times as a message to rank 0, with the times that are kept. */
struct row {
    int64_t n, sum, ns[FIGURES_KEPT];
};

/* Returns the row of a struct times. */
static struct row row_of(const struct times *t)
{
    struct row to = {t->n, t->sum, {0}};
    if (t->n > 0)
        memcpy(to.ns, t->ns, (size_t)smaller(t->n, FIGURES_KEPT) * sizeof *to.ns);
    return to;
}

/* Adds to *t the times that a row has kept. */
static void add_row(struct times *t, const struct row *from)
{
    for (int64_t i = 0; i < smaller(from->n, FIGURES_KEPT); i++)
        times_add(t, from->ns[i]);
}

/* Called by all ranks: rank 0 adds the bars of all other ranks to its own bars, with their times put into the time of
 * rank 0's clock.  most: the largest number of bars that a rank has; 0: rank 0 wants no bars.  Only rank 0 knows
 * `most`; the other ranks get it here. */
static void collect_bars(struct runner *r, int64_t most)
{
    struct ranks *x = r->ranks;
    size_t ranks = (size_t)x->m.ranks;
    if (x->m.face->share(&most, sizeof most) || most <= 0)
        return;
    size_t room = (size_t)most + 1; /* behind a rank's last bar stands one that ends at 0 */
    struct bar *mine = arena_array(r->a, room, sizeof *mine);
    struct bar *all = arena_array(r->a, x->m.rank ? 1 : room * ranks, sizeof *all);
    memcpy(mine, r->figures.bars.at, smaller_u32(r->figures.bars.n, (uint32_t)most) * sizeof *mine);
    if (x->m.face->gather(mine, all, (int64_t)(room * sizeof *mine)))
        return;
    for (size_t k = 1; k < ranks && x->m.rank == 0; k++)
        for (struct bar *b = all + k * room; b < all + k * room + most && b->end; b++) {
            b->start -= x->offset[k];
            b->end -= x->offset[k];
            if (b->part < r->s.npart && b->dev < r->ndev)
                bars_add(&r->figures.bars, *b);
        }
}

/* Called by all ranks: returns whether all say yes. */
static bool all_say(struct runner *r, bool yes)
{
    struct ranks *x = r->ranks;
    int64_t mine = yes, all_yes = 1, *all = arena_array(r->a, (size_t)x->m.ranks, sizeof *all);
    if (x->m.face->gather(&mine, all, sizeof mine))
        return false;
    for (int k = 0; k < x->m.ranks && x->m.rank == 0; k++)
        all_yes = all_yes && all[k];
    return !x->m.face->share(&all_yes, sizeof all_yes) && all_yes;
}

int ranks_check_messages(struct runner *r, bool good)
{
    struct ranks *x = r->ranks;
    int from, rc = 0;
    int64_t tag;
    if (!all_say(r, good)) /* after a failure, messages that were given up may still come */
        return 0;
    while (x->m.face->stray(CHANNEL_TENSOR, &from, &tag) ||
           x->m.face->stray(CHANNEL_SIZES, &from, &tag))
        rc = rc ? rc
                : diag_error(r->d,
                             "%ssample %" PRId64
                             ": '%s' came from rank %d (%s) once more than it is "
                             "received",
                             ranks_speaker(r), r->set.first + tag / x->tags.keys,
                             ranks_key_name(r, tag % x->tags.keys), from, ranks_name(r, from));
    int contents = ranks_check_contents(r); /* all ranks take part */
    return rc ? rc : contents;
}

void ranks_collect(struct runner *r)
{
    struct ranks *x = r->ranks;
    int ranks = x->m.ranks;
    struct device_figures {
        int64_t busy, most, bars;
    } mine, *all = arena_array(r->a, (size_t)ranks, sizeof *all);
    struct row *row = arena_array(r->a, (size_t)ranks, sizeof *row);
    struct row own = row_of(&r->figures.transfer), message = row_of(&r->figures.message);
    uint32_t d = x->device[x->m.rank];
    /* figures of the device, and times of transfers */
    mine = (struct device_figures){r->figures.busy[d], r->dev[d].most, r->figures.bars.n};
    if (x->m.face->gather(&mine, all, sizeof mine) || x->m.face->gather(&own, row, sizeof own))
        return;
    for (int k = 1; k < ranks && x->m.rank == 0; k++) {
        r->figures.busy[x->device[k]] = all[k].busy;
        r->dev[x->device[k]].most = all[k].most;
        add_row(&r->figures.transfer, &row[k]);
    }
    /* times of messages */
    if (x->m.face->gather(&message, row, sizeof message))
        return;
    for (int k = 1; k < ranks && x->m.rank == 0; k++)
        add_row(&r->figures.message, &row[k]);
    /* bars: each rank sends as many as the rank with the most bars has, as far as there is room */
    int64_t bars = 0;
    for (int k = 0; k < ranks && x->m.rank == 0; k++)
        bars = smaller(r->figures.bars.cap, larger(bars, all[k].bars));
    collect_bars(r, bars);
    /* times of each part */
    for (uint32_t p = 0; p < r->s.npart; p++) {
        own = row_of(&r->figures.part[p]);
        if (x->m.face->gather(&own, row, sizeof own))
            return;
        for (int k = 1; k < ranks && x->m.rank == 0; k++)
            add_row(&r->figures.part[p], &row[k]);
    }
}

int ranks_close(struct runner *r, int exit)
{
    int code = ranks_agree(r, exit, NULL);
    limit_waiting(r, "end");
    rank_pulse_end(r);
    r->ranks->m.face->close();
    return code;
}
