/* The printer of the textual IR: declarations that its files share.  Private to ir/text.  Functions named text_put
 * write to p->f. */
#ifndef PCC_IR_TEXT_PRINT_H
#define PCC_IR_TEXT_PRINT_H

#include "ir/text/text.h"

/* State of printing a module. */
struct printer {
    FILE *f; /* the output */
    const struct module *m;
    struct arena *a;     /* for data that only the printer needs */
    struct module *dims; /* scratch module in which spellings of dimensions are parsed */
    /* [ndefined] graph << 32 | name for each value, sorted; NULL: the module has no bodies */
    uint64_t *defined;
    uint32_t ndefined;
    uint32_t *lost; /* [value] N of a value without a name, printed as "%~N"; 0: none yet */
    uint32_t nlost; /* the last N given */
};

/* print_data.c: writes s as it is. */
void text_put(const struct printer *p, const char *s);
/* Writes s in quotes, with escapes. */
void text_put_quoted(const struct printer *p, const char *s);
/* Writes s as it is if it is a word of the textual IR, else in quotes. */
void text_put_name(const struct printer *p, const char *s);
/* Writes the name s of a value: "%x", or "%\"...\"" if the name holds characters that need quotes. */
void text_put_value_name(const struct printer *p, const char *s);
/* Writes the label of a graph: "@main", "@g2". */
void text_put_label(const struct printer *p, gid g);
/* Writes module.type[type]; "?" for an unknown type. */
void text_put_type(struct printer *p, uint32_t type);
/* Writes the tensor of the initializer v, the text after its '='. */
void text_put_init(struct printer *p, vid v);
/* Writes an attribute of a node or function: "name=value". */
void text_put_attr(struct printer *p, const struct attr *a);

/* about.c: writes n bytes as hexadecimal digits in quotes. */
void text_put_hex(const struct printer *p, const unsigned char *data, uint64_t n);
/* Writes " !doc=... !meta={...} !onnx=..." of module.about[about], each only if set. */
void text_put_about(const struct printer *p, uint32_t about);

/* print.c: writes `key`, such as " !flops=", and n with the largest unit of a power of 1000 that divides n.  units: a
 * letter for each power from 0 on; the first stands for no unit and is not written: " kMGT". */
void text_put_count(const struct printer *p, const char *key, int64_t n, const char *units);
/* Writes `key`, such as " link=", and a rate in bytes per second with its unit: " link=25GB/s". */
void text_put_rate(const struct printer *p, const char *key, int64_t bps);

/* settings.c: writes " key=word", with the word in quotes if it holds a '-' and so is no single token. */
void text_put_choice(const struct printer *p, const char *key, const char *word);
/* Writes the line that begins with "cluster": the settings of the cluster and of the execution model. */
void text_put_settings(const struct printer *p, const struct cluster *c,
                       const struct exec_model *e);

/* training.c: writes " stages" and the stages of a plan. */
void text_put_stages(const struct printer *p, const struct stages *s);

#endif
