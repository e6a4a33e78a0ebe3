/* Draws the line that shows how far a long run is (progress_bar.h): the running pass and its phase, or what is read
 * or written; the share that is done; seconds since the run began; the best plan, bound and gap; what Ctrl-C does.
 * On a terminal each line replaces the one before and is cut at the right end; in a log a new line comes every 30
 * seconds. */
#include "progress_bar.h"

#include "ir/base/clock.h"
#include "ir/base/units.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* MS: ns of a millisecond.  FIRST, EVERY: ns from the start to the first line on a terminal, and between its lines.
 * EVERY_LOG: both times for a log.  COLUMNS: width of an unknown terminal.  LINE: most bytes of a line, with its
 * NUL. */
enum { MS = 1000000, FIRST = 2000 * MS, EVERY = 200 * MS, COLUMNS = 80, LINE = 512 };
#define EVERY_LOG (INT64_C(30000) * MS)

int progress_columns(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : COLUMNS;
}

void progress_erase(struct progress_bar *b)
{
    if (b->shown)
        fputs("\r\033[K", stderr);
    b->shown = false;
}

/* Makes the line for reading and writing, when no pass runs.  done: text of the share that is done, " 12.5 %" or
 * "". */
static void write_plain(char line[LINE], const struct pcc_progress *p, const char *done,
                        int64_t seconds)
{
    snprintf(line, LINE, "%s%s, %lld s (Ctrl-C ends it)", p->phase, done, (long long)seconds);
}

/* Makes the line for a pass.  done: text of the share that is done, or ""; room: columns of the terminal.  A line
 * that is too long is made again without the bound (the gap tells it), then also without the share that is done. */
static void write_pass(char line[LINE], const struct pcc_progress *p, const char *done,
                       int64_t seconds, int room)
{
    char time[UNIT_TEXT], best[LINE / 4] = ", no plan yet", bound[LINE / 4] = "";
    char gap[LINE / 4] = "";
    const char *end = p->best > 0 ? "Ctrl-C keeps the best" : "Ctrl-C ends it";
    if (p->best > 0)
        snprintf(best, sizeof best, ", best %s", time_short(time, p->best));
    if (p->bound > 0)
        snprintf(bound, sizeof bound, ", bound %s", time_short(time, p->bound));
    if (p->best > 0 && p->bound > 0)
        snprintf(gap, sizeof gap, ", gap %.2f %%",
                 100 * (double)(p->best - p->bound) / (double)p->best);
    for (int brief = 0; brief < 3; brief++) {
        int n =
            snprintf(line, LINE, "%s: %s%s, %lld s%s%s%s (%s)", p->pass, p->phase,
                     brief < 2 ? done : "", (long long)seconds, best, brief ? "" : bound, gap, end);
        if (n < room)
            break;
    }
}

void progress_draw(struct progress_bar *b, const struct pcc_progress *p)
{
    char line[LINE], done[UNIT_TEXT] = "";
    int64_t now = clock_now(), seconds = (now - b->began) / (1000 * (int64_t)MS);
    int room = b->log ? LINE : progress_columns();
    if (!p->phase)
        progress_erase(b);
    /* the work is over, the run is still too young for a line, or the last line is too recent and still shown (a line
     * that a message has erased is drawn again at once) */
    if (!p->phase || now - b->began < (b->log ? EVERY_LOG : FIRST) ||
        ((b->log || b->shown) && now - b->drawn < (b->log ? EVERY_LOG : EVERY)))
        return;
    if (p->done > 0)
        snprintf(done, sizeof done, " %u.%u %%", p->done / 10, p->done % 10);
    if (p->pass)
        write_pass(line, p, done, seconds, room);
    else
        write_plain(line, p, done, seconds);
    if (b->log)
        fprintf(stderr, "pcc: %s\n", line);
    else
        fprintf(stderr, "\r%.*s\033[K", room - 1, line);
    b->drawn = now;
    b->shown = !b->log;
}
