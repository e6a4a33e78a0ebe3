/* The parser of the textual IR: what its files share.  Private to ir/text_*.c.
 *
 * lex.c makes tokens and reports errors; parse.c reads the module, its graphs and nodes;
 * data.c types, tensors and attributes; facts.c cluster, costs and plan.
 * The first error stops everything: it sets `failed`, after which every token is T_BAD and further
 * errors are silent, so a function may go on to its next check and return that one's -1. */
#ifndef PCC_IR_TEXT_PARSE_H
#define PCC_IR_TEXT_PARSE_H

#include "ir/base/map.h"
#include "ir/text/text.h"

enum { TEXT_DEPTH = 100 }; /* bodies in bodies, types in types */

/* Tokens: punctuation is its own character. */
enum { T_END = 256, T_BAD, T_WORD, T_NUM, T_STR, T_VALUE, T_LOST, T_GRAPH, T_KEY };

/* Name spaces of text_lookup; values of a graph have its gid. */
enum { SPACE_NODES = -1, SPACE_LABELS = -2, SPACE_FUNCTIONS = -3 }; /* as uint32_t */

/* "@then": a graph that its owner node has mentioned, or that has been defined. */
struct text_label {
    sid name;
    gid graph; /* 0: not yet defined */
    nid owner; /* 0: not yet mentioned */
    size_t at; /* position in the text of the mention */
};

struct text_result {
    sid name; /* 0: lost or omitted */
    bool omitted;
    size_t at;
};

/* Values of a node's or value's keys; kept until the end of the text, where the number of classes is known. */
struct node_fact {
    uint32_t time, ntime; /* ntime entries of parser.time; 1: for every class */
    int64_t flops, traffic, own;
    uint32_t color, layer, slot;
    sid device;
    int64_t params;
    uint8_t backward;
};
struct value_fact {
    int64_t bytes;
    uint64_t elems, xfer; /* plus 1: 0 is not given */
};

struct token {
    int kind;
    size_t at;     /* position of its first character */
    const char *s; /* its text (names and strings: decoded, ended by NUL, until the next token) */
    size_t len;
    char *buf;
    uint32_t capbuf;
};

/* Values and results of the node or graph being read. */
struct text_lists {
    vid *lost;
    uint32_t nlost, caplost; /* by number, from 1 */
    struct text_result *res;
    uint32_t nres, capres;
    vid *in;
    uint32_t nin, capin; /* of the graph */
    vid *init;
    uint32_t ninit, capinit;
    vid *out;
    uint32_t nout, capout;
};

/* Costs and facts of nodes and values, as read from the keys. */
struct text_facts {
    bool has_cost;
    uint32_t nclass; /* 0: not said yet */
    struct node_fact *nf;
    uint32_t capnf;
    struct value_fact *vf;
    uint32_t capvf;
    int64_t *time;
    uint32_t ntime, captime;
    bool has_params, has_color, has_layer, has_backward, has_device, has_slot;
};

struct parser {
    const char *src;
    size_t n, pos; /* pos: after the current token */
    const char *path;
    struct diag *diag;
    struct arena *a; /* until the end of parsing */
    bool failed;

    struct token tok; /* the current token */
    struct module *m;
    struct cluster *cluster;
    struct exec_model model;
    uint32_t placed;   /* of the plan: nodes so far */
    size_t cluster_at; /* position in the text of its first mention */
    struct plan *plan;
    struct map names; /* (space, name) -> value, node, label */
    struct text_label *label;
    uint32_t nlabel, caplabel;
    gid graph; /* being read */
    bool has_path, has_opset;

    struct text_lists list;
    unsigned char *bytes;
    uint32_t capbytes;
    struct text_facts facts;
};

/* lex.c: all int functions return 0, or -1 after the error is reported. */
void text_next(struct parser *p);
/* Makes p go on where `from` stands in the text. */
void text_move(struct parser *p, const struct parser *from);
/* Reports an error at byte `at` of the text; always returns -1. */
int text_error(struct parser *p, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports "expected WHAT, found" and the current token; always returns -1. */
int text_expected(struct parser *p, const char *what);
/* The current token must be of that kind; goes to the next one. */
int text_want(struct parser *p, int kind, const char *what);
/* If the current token is the punctuation, goes to the next one. */
bool text_take(struct parser *p, int punct);
bool text_is(const struct parser *p, const char *word);
/* If the current token is the word, goes to the next one. */
bool text_take_word(struct parser *p, const char *word);
/* Copies the current token into buf[size], false if it is too long. */
bool text_copy(const struct parser *p, char *buf, size_t size);
/* Reads a number in the range, and goes to the next token. */
int text_int(struct parser *p, int64_t lo, int64_t hi, int64_t *out, const char *what);
int text_uint(struct parser *p, uint64_t hi, uint64_t *out, const char *what);
/* Reads a string or word as an interned string. */
int text_name(struct parser *p, sid *out, const char *what);
int text_string(struct parser *p, sid *out, const char *what);
/* Reads a string that may hold NUL bytes. */
int text_bytes(struct parser *p, sid *out, const char *what);

/* parse.c */
uint32_t text_lookup(const struct parser *p, uint32_t space, sid name); /* 0: absent */
void text_bind(struct parser *p, uint32_t space, sid name, uint32_t index);

/* data.c */
extern const char *const text_attr_kind[ATTR_TYPES + 1]; /* "int", ... */
int text_type(struct parser *p, uint32_t *out);
/* The payload of a tensor, after "=" of an initializer: elem and shape from `type` unless given. */
int text_init_tensor(struct parser *p, uint32_t type, sid name, tid *out);
/* Reads "{...}" of node n into m->attr (0: of a function, whose attributes have no bodies). */
int text_attrs(struct parser *p, nid n, struct slice *out);

/* about.c */
/* "00ff", decoded into the module's memory. */
int text_hex(struct parser *p, unsigned char **data, size_t *n);
/* Takes one of !doc=, !meta=, !onnx= into m->about[*about] (*about 0: a new entry): 1; 0: the current token is none. */
int text_about_key(struct parser *p, uint32_t *about);
/* Takes all such keys that follow. */
int text_about(struct parser *p, uint32_t *about);

/* facts.c */
int text_cluster(struct parser *p); /* after "cluster" */
int text_class(struct parser *p);   /* after "class" */
int text_between(struct parser *p); /* after "between" */
int text_costs(struct parser *p);   /* after "costs" */
bool text_is_value_key(const struct parser *p);
/* The current token is a key: "!bytes=4KiB". */
int text_value_key(struct parser *p, vid v);
int text_node_key(struct parser *p, nid n);
int text_plan(struct parser *p); /* after "plan" */
/* A number of at least 0 in the form that `parse` reads.  0, or -1 and an error: "expected WHAT". */
int text_quantity(struct parser *p, bool (*parse)(const char *, int64_t *), int64_t *out,
                  const char *what);
/* settings.c: takes a setting of the execution model and its value: 1; 0: the current word is no setting; -1 and an
 * error. */
int text_setting(struct parser *p);
/* '=' and the value of a setting, into p->model; of a flag nothing.  0, or -1 and an error. */
int text_setting_value(struct parser *p, const struct opt *o);
/* training.c */
int text_stages(struct parser *p, struct plan *plan);              /* after "stages" */
int text_slot(struct parser *p, struct plan *plan, nid n);         /* optional "slot=2" */
int text_placed_stage(struct parser *p, struct plan *plan, nid n); /* optional "stage=2" */
/* Makes the module's cost and fact arrays out of p->facts. */
int text_finish_facts(struct parser *p);

#endif
