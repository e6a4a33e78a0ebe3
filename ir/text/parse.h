/* The parser of the textual IR: declarations that its files share.  Private to ir/text.
 *
 * lex.c makes tokens and reports errors; parse.c reads the module, its graphs and nodes; names.c finds named things;
 * data.c reads types, tensors and attributes; about.c documentation and metadata; facts.c cluster, costs and plan;
 * settings.c the settings of the execution model; training.c stages and slots.
 *
 * The parser looks at one token at a time, the current token p->tok; "takes" means: goes to the next token.  The first
 * error stops everything: it sets `failed`, after which every token is T_BAD and further errors are silent, so a
 * function may go on to its next check and return that check's -1. */
#ifndef PCC_IR_TEXT_PARSE_H
#define PCC_IR_TEXT_PARSE_H

#include "ir/base/map.h"
#include "ir/text/text.h"

enum { TEXT_DEPTH = 100 }; /* largest nesting of bodies in bodies, and of types in types */
enum { TEXT_DIM = 1024 };  /* bytes of the longest dimension without quotes, with a NUL */

/* Kinds of tokens.  The kind of a punctuation character is the character itself.  T_BAD: after an error.  T_LOST:
 * "%~1", the number of a value that lost its name; T_KEY: "!word".  The others: words of text.md. */
enum { T_END = 256, T_BAD, T_WORD, T_NUM, T_STR, T_VALUE, T_LOST, T_GRAPH, T_KEY };

/* Name spaces for text_lookup(), passed as uint32_t; the name space for the values of a graph is the graph's gid. */
enum { SPACE_NODES = -1, SPACE_LABELS = -2, SPACE_FUNCTIONS = -3 };

/* A label such as "@then", the name that the text gives to a graph: a node has mentioned the label, or the text has
 * defined the graph. */
struct text_label {
    sid name;
    gid graph; /* the graph; 0: not yet defined */
    nid owner; /* the node that mentioned the label in an attribute; 0: not yet mentioned */
    size_t at; /* position of the mention in the text, in bytes */
};

/* A name before the '=' of a node, or the name of an input or initializer that is being defined. */
struct text_result {
    sid name;     /* 0: "%~1", a lost name, or "_" */
    bool omitted; /* the text has "_": the node has no value at this place */
    size_t at;    /* position in the text, in bytes */
};

/* Times of a node: entries [at, at + n) of text_facts.time, one for each class; n == 1: one time for every class; n
 * == 0: the text gives none. */
struct fact_times {
    uint32_t at, n;
};

/* The facts that the keys of one node or value give, in the units of struct costs; 0: not given.  They are kept until
 * the end of the text, where the number of device classes is known. */
struct node_fact {
    struct fact_times time, overhead;
    int64_t flops, traffic, own;
    uint32_t color, layer, slot;
    sid device, shard;
    int64_t params;
    uint8_t backward;
};
struct value_fact {
    int64_t bytes;
    uint64_t elems, xfer; /* 1 + the number in the text; 0: not said */
};

/* The token that the parser looks at. */
struct token {
    int kind;  /* T_*, or a punctuation character */
    size_t at; /* position of the token's first character in the text, in bytes */
    /* the token's text without '%', '@' or '!'; of a quoted token: the decoded string, in buf */
    const char *s;
    size_t len; /* bytes of s */
    char *buf;  /* memory of the last decoded string; the next decoded string replaces it */
    uint32_t capbuf;
};

/* Growing lists: lost values of the whole module or function, results of the node being read, and inputs,
 * initializers and outputs of the graph being read. */
struct text_lists {
    vid *lost; /* [number - 1] value "%~number" */
    uint32_t nlost, caplost;
    struct text_result *res;
    uint32_t nres, capres;
    vid *in;
    uint32_t nin, capin;
    vid *init;
    uint32_t ninit, capinit;
    vid *out;
    uint32_t nout, capout;
};

/* Costs and facts of nodes and values, as read from the keys. */
struct text_facts {
    bool has_cost;        /* the text has a key for costs, or the statement "costs" */
    bool any_accelerator; /* the times are for any accelerator (costs.measured), and nclass is 1 */
    uint32_t nclass;      /* number of device classes that times are for; 0: not known yet */
    struct node_fact *nf; /* [node] what the text says of the node */
    uint32_t capnf;
    struct value_fact *vf; /* [value] what the text says of the value */
    uint32_t capvf;
    int64_t *time; /* times of all nodes, ps or COST_NEVER */
    uint32_t ntime, captime;
    uint32_t estimated; /* costs.estimated */
    /* some node has the key !params, !color, ... */
    bool has_overhead, has_params, has_color, has_layer, has_backward, has_device, has_slot,
        has_shard;
};

/* State of parsing a text; a function of the model is parsed by a parser of its own. */
struct parser {
    const char *src;
    size_t n, pos;    /* bytes of src; position after the current token */
    const char *path; /* name of the text, for messages */
    struct diag *diag;
    struct arena *a; /* for data that only the parser needs */
    bool failed;     /* an error was reported */

    struct token tok;        /* the current token */
    struct module *m;        /* the module that is being made */
    struct cluster *cluster; /* NULL: the text has not described one yet */
    struct exec_model model; /* the execution model, with the settings read so far */
    uint32_t placed;         /* number of nodes that the plan has placed so far */
    size_t cluster_at; /* position of the statement that describes the cluster first, in bytes */
    struct plan *plan; /* NULL: the text has not given one yet */
    struct map names;  /* (name space, name) -> index of a value, node, label or function */
    struct text_label *label;
    uint32_t nlabel, caplabel; /* the labels are 1 .. nlabel - 1 */
    gid graph;                 /* the graph that is being read */
    bool has_path, has_opset;  /* the text has had that statement */

    struct text_lists list;
    unsigned char *bytes; /* buffer for the elements of a tensor */
    uint32_t capbytes;
    struct text_facts facts;
};

/* All int functions of this header return 0, or -1 after an error was reported, unless their comment says otherwise.
 *
 * lex.c: goes to the next token. */
void text_next(struct parser *p);
/* Makes p continue in the text of `from`, at the token of `from`; p keeps its module and names. */
void text_move(struct parser *p, const struct parser *from);
/* Reports an error at byte `at` of the text, unless another one was reported before; always returns -1. */
int text_error(struct parser *p, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports the error "expected WHAT, found TOKEN" at the current token; always returns -1. */
int text_expected(struct parser *p, const char *what);
/* Takes the current token; reports "expected WHAT" if the token is not of that kind. */
int text_want(struct parser *p, int kind, const char *what);
/* Takes the current token if it is the character `punct`; returns whether it is. */
bool text_take(struct parser *p, int punct);
/* Whether the current token is the word, or the key "!word". */
bool text_is(const struct parser *p, const char *word);
/* Takes the current token if it is the word (without '!'); returns whether it is. */
bool text_take_word(struct parser *p, const char *word);
/* Copies the current token with a final NUL into buf, which has `size` bytes; returns false if it is too long. */
bool text_copy(const struct parser *p, char *buf, size_t size);
/* text_int takes an integer in lo..hi into *out, text_uint an integer in 0..hi; `what` names the number in the error
 * "expected WHAT". */
int text_int(struct parser *p, int64_t lo, int64_t hi, int64_t *out, const char *what);
int text_uint(struct parser *p, uint64_t hi, uint64_t *out, const char *what);
/* Take a token into *out as an interned string; `what` names it in errors.  text_name: a word, or a quoted string
 * without NUL bytes; text_string: a quoted string without NUL bytes; text_bytes: a quoted string of any bytes. */
int text_name(struct parser *p, sid *out, const char *what);
int text_string(struct parser *p, sid *out, const char *what);
int text_bytes(struct parser *p, sid *out, const char *what);

/* names.c: returns the index that a name of a name space (SPACE_*, or a gid) is bound to; 0: it is not bound. */
uint32_t text_lookup(const struct parser *p, uint32_t space, sid name);
/* Binds the name to an index, which must not be 0. */
void text_bind(struct parser *p, uint32_t space, sid name, uint32_t index);

/* data.c: [enum attr_kind] the kind's word: "none", "float", "int", ... */
extern const char *const text_attr_kind[ATTR_TYPES + 1];
/* Reads a type into module.type, its index into *out. */
int text_type(struct parser *p, uint32_t *out);
/* Reads the tensor of an initializer, the text after its '=', into module.tensor, its index into *out.  Where the
 * text gives no element type and shape, they are taken from `type`, the type of the value; `name`: the default name. */
int text_init_tensor(struct parser *p, uint32_t type, sid name, tid *out);
/* Reads the attributes "{...}" of node n into module.attr, their place into *out.  n == 0: attributes of a function,
 * which have no bodies. */
int text_attrs(struct parser *p, nid n, struct slice *out);

/* about.c: decodes a string of hexadecimal digits, "00ff", into *n bytes at *data, in the module's memory. */
int text_hex(struct parser *p, unsigned char **data, size_t *n);
/* Reads a key !doc=, !meta= or !onnx= into module.about[*about]; *about == 0: makes an entry and sets *about.
 * Returns 1; 0 if the current token is none of these keys; -1 after an error. */
int text_about_key(struct parser *p, uint32_t *about);
/* Reads all keys !doc=, !meta= and !onnx= that follow, as text_about_key() reads one. Returns 0; -1 after an error. */
int text_about(struct parser *p, uint32_t *about);

/* facts.c: read the rest of a statement, after its first word.  text_cluster: devices and settings into p->cluster
 * and p->model; text_class, text_between: add a class of devices, or a link of two devices, to p->cluster;
 * text_costs: the number of device classes into p->facts; text_plan: the plan into p->plan. */
int text_cluster(struct parser *p);
int text_class(struct parser *p);
int text_between(struct parser *p);
int text_costs(struct parser *p);
int text_plan(struct parser *p);
/* Whether the current token is a key of values: !bytes, !elems, !xfer or !typed. */
bool text_is_value_key(const struct parser *p);
/* text_value_key reads a key of value v and what follows it, such as "!bytes=4KiB"; text_node_key a key of node n.
 * The current token must be a key, for text_value_key a key of values. */
int text_value_key(struct parser *p, vid v);
int text_node_key(struct parser *p, nid n);
/* Takes a number >= 0 with a unit into *out, read by `parse`, a function of units.h such as time_parse; `what` names
 * the number in the error "expected WHAT". */
int text_quantity(struct parser *p, bool (*parse)(const char *, int64_t *), int64_t *out,
                  const char *what);
/* settings.c: reads a setting of the execution model, such as "optimizer=2", into p->model.  Returns 1; 0 if the
 * current word is no setting; -1 after an error. */
int text_setting(struct parser *p);
/* Reads '=' and the value of the setting o, whose name was taken before, into p->model; a flag has neither and is
 * set. */
int text_setting_value(struct parser *p, const struct opt *o);
/* training.c: reads the stages of a plan, after the word "stages", into plan->stages. */
int text_stages(struct parser *p, struct plan *plan);
/* Read what may follow the device of node n in a plan: text_slot "slot=2" into plan->slot, text_placed_stage
 * "stage=2" into plan->stage_of.  If the text has another token there, nothing is read. */
int text_slot(struct parser *p, struct plan *plan, nid n);
int text_placed_stage(struct parser *p, struct plan *plan, nid n);
/* facts.c, at the end of the text: checks that the cluster, if there is one, has devices, makes the module's arrays of
 * costs and facts out of p->facts, and finds the scopes of its nodes (module_note_scopes). */
int text_finish_facts(struct parser *p);

#endif
