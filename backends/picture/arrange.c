/* Arranges frames in stacks (arrange.h).
 *
 * Tries several numbers of stacks.  For each number, bisection over the height finds the lowest stacks that hold all
 * frames in their order.  Labels beside a stack stand in vertical lanes, filled from the top: a label takes the lane in
 * which it is nearest to the box that its arrow meets. */
#include "backends/picture/arrange.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    /* lengths in points */
    SCREEN_WIDE = 1080, /* a screen of 1440 x 900 px */
    SCREEN_HIGH = 675,
    TITLE_HIGH = 110, /* of the title above the picture */
    MARGIN = 16,      /* around the picture */
    GAP = 16,         /* between boxes that arrows connect */
    SPACE = 6,        /* between labels */
    APART = 24,       /* between stacks */
    BISECT = 40,      /* steps of the bisection */
    MOST_STACKS = 64  /* the most stacks that are tried */
};

/* Whether the arrow of label s leads from a frame to the next one in the same stack. */
static bool is_direct(const struct arrangement *t, const struct arrange_sign *s)
{
    return s->from && s->to == s->from + 1 &&
           t->frame[s->from - 1].stack == t->frame[s->to - 1].stack;
}

/* The gap between a frame and the frame below it, where labels may stand side by side: its size in points. */
struct gap {
    double high, wide;
};

/* Returns an array, in a: [frame] the gap that the frame needs if the next frame stands below it. */
static struct gap *find_gaps(const struct arrangement *t, struct arena *a)
{
    struct gap *gap = arena_array(a, (size_t)t->frames + 1, sizeof *gap);
    for (uint32_t i = 0; i < t->frames; i++)
        gap[i].high = GAP;
    for (uint32_t i = 0; i < t->signs; i++) {
        const struct arrange_sign *s = &t->sign[i];
        if (!s->from || s->to != s->from + 1)
            continue;
        struct gap *g = &gap[s->from - 1];
        g->wide += g->wide > 0 ? SPACE + s->wide : s->wide;
        g->high = s->high + 2 * GAP > g->high ? s->high + 2 * GAP : g->high;
    }
    return gap;
}

/* Puts the frames, in their order, into stacks that are at most `most` points high (a frame that is higher gets a stack
 * of its own).  Returns the number of stacks. */
static uint32_t stack_within(struct arrangement *t, const struct gap *gap, double most)
{
    double high = 0;
    uint32_t stack = 0;
    for (uint32_t i = 0; i < t->frames; i++) {
        if (high > 0 && high + t->frame[i].high > most) {
            stack++;
            high = 0;
        }
        t->frame[i].stack = stack;
        high += t->frame[i].high + gap[i].high;
    }
    return stack + 1;
}

/* Sets the stack of each frame: at most `stacks` stacks, the highest of which is as low as possible. */
static void make_stacks(struct arrangement *t, const struct gap *gap, uint32_t stacks)
{
    /* stacks of the height `low` are too many, stacks of the height `high` are not */
    double low = 0, high = 0;
    for (uint32_t i = 0; i < t->frames; i++)
        high += t->frame[i].high + gap[i].high;
    for (int k = 0; k < BISECT; k++) {
        double mid = (low + high) / 2;
        if (stack_within(t, gap, mid) > stacks)
            low = mid;
        else
            high = mid;
    }
    stack_within(t, gap, high);
}

/* Where a label would best stand. */
struct wish {
    double y;      /* points: y of the middle of the box that the label's arrow meets */
    uint32_t sign; /* the label */
};

/* Compares wishes from top to bottom, for qsort. */
static int by_wish(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    if (x->y != y->y)
        return x->y < y->y ? -1 : 1;
    return x->sign < y->sign ? -1 : 1;
}

/* Returns the lane in which a label would stand nearest to its best place: lane 0, with the label's upper edge at
 * `top`.  lane: [n] points down to which each lane is filled; wide: width of a lane. */
static uint32_t choose_lane(const double *lane, uint32_t n, double top, double wide)
{
    uint32_t best = 0;
    double least = 0;
    for (uint32_t k = 0; k < n; k++) {
        double down = lane[k] > top ? lane[k] - top : 0;
        double far = k * wide + down; /* from the best place, across and down */
        if (k && far >= least)
            continue;
        least = far;
        best = k;
    }
    return best;
}

/* Puts the labels at one side of a stack, wish[n], into lanes: sets y of each label, and x to its distance from the
 * stack; makes t->high large enough for them.  Returns the width of all lanes together. */
static double fill_lanes(struct arrangement *t, struct wish *wish, uint32_t n, struct arena *a)
{
    /* [lane] points: height of the lane that is filled */
    double *lane = arena_array(a, (size_t)n + 1, sizeof *lane);
    uint32_t lanes = 0;
    double wide = 0;
    qsort(wish, n, sizeof *wish, by_wish);
    for (uint32_t i = 0; i < n; i++)
        if (t->sign[wish[i].sign].wide > wide)
            wide = t->sign[wish[i].sign].wide;
    for (uint32_t i = 0; i < n; i++) {
        struct arrange_sign *s = &t->sign[wish[i].sign];
        double top = wish[i].y - s->high / 2 > 0 ? wish[i].y - s->high / 2 : 0;
        /* the lane that is chosen; number `lanes` is a new one */
        uint32_t k = choose_lane(lane, lanes + 1, top, wide + GAP);
        lanes = k < lanes ? lanes : k + 1;
        top = lane[k] > top ? lane[k] : top;
        lane[k] = top + s->high + SPACE;
        s->y = top + s->high / 2;
        s->x = (k + 0.5) * (wide + GAP) + GAP / 2.0;
        t->high = top + s->high > t->high ? top + s->high : t->high;
    }
    return lanes ? lanes * (wide + GAP) + GAP / 2.0 : 0;
}

/* Puts the labels of direct arrows (is_direct) into the gap below each frame, side by side around the frame's
 * middle. */
static void fill_gaps(struct arrangement *t, const struct gap *gap, struct arena *a)
{
    /* [frame] where its next label begins */
    double *x = arena_array(a, (size_t)t->frames + 1, sizeof *x);
    for (uint32_t i = 0; i < t->frames; i++)
        x[i] = t->frame[i].x + (t->frame[i].wide - gap[i].wide) / 2;
    for (uint32_t i = 0; i < t->signs; i++) {
        struct arrange_sign *s = &t->sign[i];
        if (!is_direct(t, s))
            continue;
        const struct arrange_frame *f = &t->frame[s->from - 1];
        s->x = x[s->from - 1] + s->wide / 2;
        s->y = f->y + f->high + gap[s->from - 1].high / 2;
        x[s->from - 1] += s->wide + SPACE;
    }
}

/* Returns the frame beside which a label stands: the frame that the label's arrow leads to or, if the arrow leads
 * to the host, the frame that it comes from. */
static const struct arrange_frame *frame_beside(const struct arrangement *t,
                                                const struct arrange_sign *s)
{
    assert(s->from || s->to);
    return &t->frame[(s->to ? s->to : s->from) - 1];
}

/* Places the labels at one side of a stack: at the right the labels of transfers with the host (host true), at the left
 * the labels of transfers between frames that are not direct.  Their x counts from the left end of that side.  Returns
 * the side's width. */
static double fill_side(struct arrangement *t, uint32_t stack, bool host, struct arena *a)
{
    struct wish *wish = arena_array(a, (size_t)t->signs + 1, sizeof *wish);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->signs; i++) {
        const struct arrange_sign *s = &t->sign[i];
        const struct arrange_frame *f = frame_beside(t, s);
        if (f->stack == stack && (!s->from || !s->to) == host && !is_direct(t, s))
            wish[n++] = (struct wish){f->y + s->at, i};
    }
    double reach = fill_lanes(t, wish, n, a);
    for (uint32_t i = 0; i < n && !host; i++) /* lanes count to the left */
        t->sign[wish[i].sign].x = reach - t->sign[wish[i].sign].x;
    return reach;
}

/* Moves the labels at one side of a stack to the right by x; `host` tells which side, as for
 * fill_side(). */
static void move_side(struct arrangement *t, uint32_t stack, bool host, double x)
{
    for (uint32_t i = 0; i < t->signs; i++) {
        struct arrange_sign *s = &t->sign[i];
        if (frame_beside(t, s)->stack == stack && (!s->from || !s->to) == host && !is_direct(t, s))
            s->x += x;
    }
}

/* Sets the places of all frames and labels, and the size of the picture.  The stack of each frame must be set.  Goes
 * from stack to stack: sets the y of its frames, then places the labels at both sides; their width then gives the x
 * of the frames. */
static void place_all(struct arrangement *t, const struct gap *gap, struct arena *a)
{
    double x = 0, y = 0;
    t->high = 0;
    for (uint32_t lo = 0, hi; lo < t->frames; lo = hi) {
        uint32_t stack = t->frame[lo].stack;
        double wide = 0;
        for (hi = lo, y = 0; hi < t->frames && t->frame[hi].stack == stack; hi++) {
            struct arrange_frame *f = &t->frame[hi];
            f->y = y;
            y += f->high + gap[hi].high;
            t->high = f->y + f->high > t->high ? f->y + f->high : t->high;
            wide = f->wide > wide ? f->wide : wide;
            wide = gap[hi].wide > wide ? gap[hi].wide : wide;
        }
        struct arena_mark mark = arena_mark(a);
        double left = fill_side(t, stack, /*host=*/false, a),
               right = fill_side(t, stack, /*host=*/true, a);
        arena_release(a, mark);
        for (uint32_t i = lo; i < hi; i++)
            t->frame[i].x = x + left + (wide - t->frame[i].wide) / 2;
        move_side(t, stack, /*host=*/false, x);
        move_side(t, stack, /*host=*/true, x + left + wide);
        t->wide = x + left + wide + right;
        x = t->wide + APART;
    }
    fill_gaps(t, gap, a);
}

double arrange_screens(const struct arrangement *t)
{
    double wide = (t->wide + MARGIN) / SCREEN_WIDE;
    double high = (t->high + TITLE_HIGH + MARGIN) / SCREEN_HIGH;
    double most = wide > high ? wide : high;
    return most > wide * high ? most : wide * high;
}

void picture_arrange(struct arrangement *t, struct arena *a)
{
    const struct gap *gap = find_gaps(t, a);
    double least = 0;
    uint32_t best = 1;
    /* more and more stacks, until the picture fits on a screen */
    for (uint32_t n = 1; n <= t->frames && n <= MOST_STACKS && (n == 1 || least > 1); n++) {
        make_stacks(t, gap, n);
        place_all(t, gap, a);
        if (n == 1 || arrange_screens(t) < least) {
            least = arrange_screens(t);
            best = n;
        }
    }
    make_stacks(t, gap, best); /* the loop has overwritten the places of the best number */
    place_all(t, gap, a);
}
