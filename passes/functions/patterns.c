/* Matches node names with lists of regular expressions (patterns.h): POSIX extended ones, tried in order.
 *
 * The C library's regcomp copies repeated text (for "a++" it makes four copies), recurses as deep as parentheses are
 * nested, and takes exponential time for repeats inside each other; a reference back ("(a*)\1") makes matching
 * exponential.  Expressions come from files, so find_fault() first measures each one with its repeats written out, and
 * refuses it if it is large.  O(length of the expression). */
#include "passes/functions/patterns.h"

#include "ir/model/path.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

struct regex {
    regex_t re;
};

/* Limits of an expression: characters with repeats written out, groups inside each other, repeats inside each other.
 * REPEAT_MOST: larger counts of a repeat, as in "a{99999}", are taken as this. */
enum { SIZE_MOST = 2000, DEPTH_MOST = 50, NESTED_MOST = 3, REPEAT_MOST = 1 << 16 };

/* Returns the last byte of the bracket expression ("[a-z]") that begins at s; if it does not end, of the text. */
static const char *find_bracket_end(const char *s)
{
    s += s[1] == '^' ? 2 : 1;
    s += *s == ']'; /* a ']' at the beginning is a character of the set */
    while (*s != 0 && *s != ']') {
        /* a class such as "[:alpha:]", "[.-.]" or "[=a=]" within the set ends with the same sign and ']' */
        char close[] = {s[1], ']', 0};
        bool class = *s == '[' && s[1] != 0 && strchr(".:=", s[1]);
        const char *end = class ? strstr(s + 2, close) : NULL;
        s += end ? (size_t)(end - s) + 2 : 1;
    }
    return *s != 0 ? s : s - 1;
}

/* Returns how many copies, at most, regcomp makes of the text before the interval at s, such as "{3,5}": the
 * largest number in the interval, plus 1; 1 if it has no number. */
static uint64_t count_repeats(const char *s)
{
    uint64_t most = 1, n = 0;
    for (s++; (*s >= '0' && *s <= '9') || *s == ','; s++) {
        n = *s == ',' ? 0 : 10 * n + (uint64_t)(*s - '0');
        n = smaller_u64(n, REPEAT_MOST);
        most = larger_u64(n + 1, most);
    }
    return most;
}

/* Returns why expression s is refused, a clause for messages; NULL: regcomp may compile it. */
static const char *find_fault(const char *s)
{
    /* counts of characters, with repeats written out. last: of the last piece, which a repeat behind it would copy;
     * before[depth of groups]: of the pieces before it in the group */
    uint64_t before[DEPTH_MOST + 1] = {0}, last = 0;
    /* counts of repeats inside each other. loops: of the last piece; nested[depth of groups]: of the pieces before
     * it in the group */
    unsigned nested[DEPTH_MOST + 1] = {0}, loops = 0;
    unsigned depth = 0;
    for (; *s != 0; s++) {
        if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
            return "it refers back to a group";
        if (strchr("+{*?", *s)) { /* a repeat: regcomp copies the piece before it as many times */
            last = last * (*s == '+' ? 2 : *s == '{' ? count_repeats(s) : 1) + 1;
            if (++loops > NESTED_MOST)
                return "it has more than 3 repeats inside each other";
        } else if (*s == ')' &&
                   depth > 0) { /* the group becomes the last piece of the group around it */
            loops = larger_u32(loops, nested[depth]);
            last += before[depth--] + 1;
        } else {
            nested[depth] = larger_u32(loops, nested[depth]);
            loops = 0;
            before[depth] += last;
            last = 1;
            if (*s == '[') {
                s = find_bracket_end(s);
            } else if (*s == '\\' && s[1] != 0) {
                s++;
            } else if (*s == '(') {
                if (++depth > DEPTH_MOST)
                    return "it has more than 50 groups inside each other";
                before[depth] = nested[depth] = 0;
            }
        }
        if (last + before[depth] > SIZE_MOST)
            return "with its repeats written out it has more than 2000 characters";
    }
    return NULL;
}

/* Frees what regcomp allocated for p, a struct regex; for arena_defer(). */
static void free_regex(void *p)
{
    struct regex *x = p;
    regfree(&x->re);
}

const struct regex *pattern_compile(const char *text, struct arena *a, char why[static PATTERN_WHY])
{
    const char *what = find_fault(text);
    struct regex *re = arena_alloc(a, sizeof *re);
    int rc = what ? -1 : regcomp(&re->re, text, REG_EXTENDED | REG_NOSUB);
    if (what)
        snprintf(why, PATTERN_WHY, "%s", what);
    else if (rc == REG_ESPACE)
        arena_exhausted(a, strlen(text));
    else if (rc)
        regerror(rc, &re->re, why, PATTERN_WHY);
    else
        arena_defer(a, free_regex, re);
    return rc ? NULL : re;
}

bool pattern_matches(const struct regex *re, const char *name, struct arena *a)
{
    int rc = regexec(&re->re, name, 0, NULL, 0);
    if (rc == REG_ESPACE)
        arena_exhausted(a, strlen(name));
    return rc == 0;
}

int patterns_add(struct patterns *p, struct arena *a, const char *text, uint32_t group,
                 const char *where, struct diag *d)
{
    char why[PATTERN_WHY];
    if (!p->own)
        p->own = arena_new(a);
    const struct regex *re = pattern_compile(text, p->own, why);
    if (!re)
        return diag_error(d, "%s: '%.200s' is not a regular expression: %s", where, text, why);
    p->at = vec_grow(a, p->at, &p->cap, p->n + 1, sizeof *p->at);
    p->at[p->n++] = (struct pattern){.text = text, .re = re, .group = group};
    return 0;
}

/* The name and the path of a node or call: an expression is tried on both. */
struct named {
    const struct module *m;
    sid scope;               /* scope of the path; 0: there is no scope, and the path is the name */
    const char *name, *path; /* path: NULL until it is needed */
};

/* Returns how patterns see node n: its scope and name. */
static struct named named_node(const struct module *m, nid n)
{
    return (struct named){m, m->scope ? m->scope[n] : 0, node_name(m, n), NULL};
}

/* Returns how patterns see a call that was opened: the scope of its nodes and the name of the call. */
static struct named named_call(const struct ctx *x, uint32_t site)
{
    const struct module *m = x->scene.m;
    const struct site *s = &x->results.opened->site[site];
    /* the nodes of a call have its scope (edit_made_from) */
    return (struct named){m, m->scope && s->first < s->end ? m->scope[s->first] : 0,
                          module_str(m, s->name), NULL};
}

/* Whether the expression matches the name or the path.  The text of the path lives in a. */
static bool matches_named(const struct regex *re, struct named *t, struct arena *a)
{
    if (pattern_matches(re, t->name, a))
        return true;
    if (t->scope && !t->path)
        t->path = path_text(t->m, t->scope, t->name, a);
    return t->scope && pattern_matches(re, t->path, a);
}

/* Whether the expression matches the name or the path of t; unlike matches_named() leaves no text of the path in a. */
static bool matches_once(const struct regex *re, struct named t, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    bool match = matches_named(re, &t, a);
    arena_release(a, mark);
    return match;
}

bool pattern_matches_node(const struct regex *re, const struct module *m, nid n, struct arena *a)
{
    return matches_once(re, named_node(m, n), a);
}

uint8_t *pattern_nodes(const struct regex *re, const struct ctx *x, const uint8_t *follows,
                       struct arena *a, uint32_t *hits)
{
    const struct open_calls *o = x->results.opened;
    const struct wdag *g = x->levels.base;
    uint8_t *site = arena_alloc(a, o ? o->nsite : 1), *in = arena_alloc(a, x->scene.m->nnode);
    *hits = 0;
    for (uint32_t s = 1; o && s < o->nsite; s++)
        site[s] = site[o->site[s].parent] || matches_once(re, named_call(x, s), a);
    for (uint32_t v = 0; v < g->n; v++) {
        nid n = g->node[v];
        in[n] = o && site[o->within[n]] ? !follows[n] : pattern_matches_node(re, x->scene.m, n, a);
        *hits += in[n];
    }
    return in;
}

/* Returns the first pattern that matches, and counts a hit for the pattern; NULL: no pattern matches.  O(patterns). */
static struct pattern *find_pattern(struct patterns *p, struct named of)
{
    if (!p->n)
        return NULL;
    struct arena_mark mark = arena_mark(p->own);
    struct pattern *found = NULL;
    for (uint32_t i = 0; i < p->n && !found; i++)
        if (matches_named(p->at[i].re, &of, p->own))
            found = &p->at[i];
    arena_release(p->own, mark);
    if (found)
        found->hits++;
    return found;
}

struct pattern **patterns_nodes(struct patterns *p, const struct ctx *x, struct arena *a)
{
    const struct open_calls *o = x->results.opened;
    const uint8_t *follows = place_follows(x->scene.m, x->scene.place, a);
    struct pattern **hit = arena_array(a, x->scene.m->nnode, sizeof(struct pattern *));
    struct pattern **call = arena_array(a, o ? o->nsite : 1, sizeof(struct pattern *));
    /* of two matching patterns the earlier one counts, that is, the one with the smaller address */
    for (uint32_t s = 1; o && s < o->nsite; s++) {
        call[s] = find_pattern(p, named_call(x, s));
        struct pattern *outer = call[o->site[s].parent];
        call[s] = outer && (!call[s] || outer < call[s]) ? outer : call[s];
    }
    for (uint32_t v = 0; v < x->levels.base->n; v++) {
        nid n = x->levels.base->node[v];
        hit[n] = find_pattern(p, named_node(x->scene.m, n));
        struct pattern *outer = o ? call[o->within[n]] : NULL;
        if (outer)
            hit[n] = follows[n] ? NULL : hit[n] && hit[n] < outer ? hit[n] : outer;
    }
    return hit;
}

void patterns_warn_idle(const struct patterns *p, const char *where, struct diag *d)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (!p->at[i].hits)
            diag_warning(d, WARN_UNMATCHED_PATTERN,
                         "%s: '%s' matches no placed node that is still free", where,
                         p->at[i].text);
}

void patterns_free(struct patterns *p)
{
    arena_free(p->own);
    *p = (struct patterns){0};
}
