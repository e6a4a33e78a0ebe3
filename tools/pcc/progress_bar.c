/* The line that shows how far a long run is: whose work it is, what that does and how much of it is done, the best
 * plan and its gap, the time since the run began, what Ctrl-C does.  What has no room at the right is cut. */
#include "progress_bar.h"

#include "ir/base/clock.h"
#include "ir/base/units.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MS = 1000000, FIRST = 2000 * MS, EVERY = 200 * MS, COLUMNS = 80, LINE = 512 };

static int count_columns(void)
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

static void write_line(char line[LINE], const struct pcc_progress *p, int64_t seconds)
{
    char time[UNIT_TEXT], plan[LINE / 4] = "no plan yet", done[LINE / 4] = "";
    if (p->best > 0)
        snprintf(plan, sizeof plan, "best %s", time_short(time, p->best));
    if (p->best > 0 && p->bound > 0)
        snprintf(plan + strlen(plan), sizeof plan - strlen(plan), ", gap %.2f %%",
                 100 * (double)(p->best - p->bound) / (double)p->best);
    if (p->done > 0)
        snprintf(done, sizeof done, " %u.%u %%", p->done / 10, p->done % 10);
    snprintf(line, LINE, "%s: %s%s, %s, %lld s (Ctrl-C %s)", p->pass ? p->pass : "pcc", p->phase,
             done, plan, (long long)seconds, p->best > 0 ? "keeps it" : "ends it");
}

void progress_draw(struct progress_bar *b, const struct pcc_progress *p)
{
    char line[LINE];
    int64_t now = clock_now();
    if (!p->phase)
        progress_erase(b);
    if (!p->phase || now - b->began < FIRST || now - b->drawn < EVERY)
        return;
    write_line(line, p, (now - b->began) / (1000 * (int64_t)MS));
    fprintf(stderr, "\r%.*s\033[K", count_columns() - 1, line);
    b->drawn = now;
    b->shown = true;
}
