/* Diagnostics (diag.h): each message is formatted, made printable (utf8.h), counted and passed to the sink.
 *
 * A line is cut at 4 KiB, since names from files may be of any length.  O(length of the line). */
#include "ir/base/diag.h"

#include "ir/base/clock.h"
#include "ir/base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE = 4096,      /* bytes of the longest line, with the final NUL */
    ERRORS_SHOWN = 20 /* limit on the errors shown if struct diag states none */
};

/* Passes a finished line to d's sink; to stderr if d is NULL or has no sink. */
static void pass_on(const struct diag *d, enum diag_level level, enum warning w, const char *line)
{
    static const char *const word[] = {"note", "warning", "error"};

    if (d != NULL && d->emit != NULL)
        d->emit(d->user, level, w, line);
    else if (w != WARN_NONE)
        fprintf(stderr, "pcc: %s: %s [-W%s]\n", word[level], line, warning_text(w).name);
    else
        fprintf(stderr, "pcc: %s: %s\n", word[level], line);
}

/* Formats a message into one printable line and passes the line on. */
static void __attribute__((format(printf, 4, 0)))
report(const struct diag *d, enum diag_level level, enum warning w, const char *fmt, va_list ap)
{
    enum { MORE = 80 }; /* room, in bytes, for what follows the message */
    char raw[LINE], line[4 * LINE + MORE];
    int n = vsnprintf(raw, sizeof raw, fmt, ap);

    if (n < 0)
        snprintf(raw, sizeof raw, "a message that cannot be printed");
    else if (n >= LINE)
        memcpy(raw + LINE - 4, "...", 4);
    utf8_plain(line, raw);
    const char *stray = level == DIAG_NOTE ? NULL : utf8_stray(line);
    if (stray)
        snprintf(line + strlen(line), MORE, "; there is %s in it", stray);
    pass_on(d, level, w, line);
}

/* A sink that ignores all messages. */
static void drop_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)user, (void)level, (void)w, (void)line;
}

struct diag diag_silent(void)
{
    return (struct diag){.emit = drop_line};
}

int diag_error(struct diag *d, const char *fmt, ...)
{
    uint32_t limit = d != NULL && d->limit != 0 ? d->limit : ERRORS_SHOWN;

    if (d != NULL && d->errors < UINT32_MAX)
        d->errors++;
    if (d == NULL || d->errors <= limit) {
        va_list ap;
        va_start(ap, fmt);
        report(d, DIAG_ERROR, WARN_NONE, fmt, ap);
        va_end(ap);
    } else if (d->errors == limit + 1) {
        pass_on(d, DIAG_NOTE, WARN_NONE, "further errors are not shown");
    }
    return -1;
}

void diag_warning(struct diag *d, enum warning w, const char *fmt, ...)
{
    va_list ap;

    if (d != NULL && d->hidden[w])
        return;
    if (d != NULL && d->warnings < UINT32_MAX) {
        d->warnings++;
        d->failures += d->fatal[w];
    }
    va_start(ap, fmt);
    report(d, DIAG_WARNING, w, fmt, ap);
    va_end(ap);
}

void diag_note(struct diag *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    report(d, DIAG_NOTE, WARN_NONE, fmt, ap);
    va_end(ap);
}

void diag_detail(struct diag *d, const char *fmt, ...)
{
    va_list ap;

    if (d != NULL && !d->verbose)
        return;
    va_start(ap, fmt);
    report(d, DIAG_NOTE, WARN_NONE, fmt, ap);
    va_end(ap);
}

int diag_broken_off(struct diag *d)
{
    if (d == NULL || !d->may_break_off || !listener_stopped(d->listener))
        return 0;
    return diag_error(d, "interrupted before all was written: nothing of it is left");
}

void diag_tell(struct diag *d, const char *phase, uint64_t done, uint64_t of)
{
    assert(done <= of || !of);
    uint32_t thousandths = of ? (uint32_t)((double)done * 1000 / (double)of) : 0;
    listener_tell(d->listener, (struct progress){.phase = phase, .done = thousandths});
}

bool diag_stopped(struct diag *d)
{
    enum { LOOK_EACH = 1024 }; /* calls from one look at the clock to the next */
    if (!d)
        return false;
    bool look = ++d->looks % LOOK_EACH == 0;
    if (look)
        listener_tell_again(d->listener);
    if (!d->clock)
        return false;
    if (!d->clock->why && look && clock_out(d->clock))
        diag_error(d, "%s while the model was read", d->clock->why);
    return d->clock->why != NULL;
}
