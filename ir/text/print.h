/* The printer of the textual IR: what its two files share.  Private to ir/text_*.c. */
#ifndef PCC_IR_TEXT_PRINT_H
#define PCC_IR_TEXT_PRINT_H

#include "ir/text/text.h"

struct printer {
    FILE *f;
    const struct module *m;
    struct arena *a;
    struct module *dims; /* scratch module in which spellings of dimensions are parsed */
    uint64_t *defined;   /* (graph, name) of all values, sorted; only if there are bodies */
    uint32_t ndefined;
    uint32_t *lost; /* [value] number of a value without a name */
    uint32_t nlost;
};

/* print_data.c */
void text_put(const struct printer *p, const char *s);
void text_put_quoted(const struct printer *p, const char *s);
/* A word as it is, anything else quoted. */
void text_put_name(const struct printer *p, const char *s);
/* "%x", quoted if odd. */
void text_put_value_name(const struct printer *p, const char *s);
/* "@g2" */
void text_put_label(const struct printer *p, gid g);
void text_put_type(struct printer *p, uint32_t type);
/* Writes the payload of an initializer, after its "=". */
void text_put_init(struct printer *p, vid v);
void text_put_attr(struct printer *p, const struct attr *a);

/* about.c */
void text_put_hex(const struct printer *p, const unsigned char *data, uint64_t n);
/* Writes " !doc=... !meta={...} !onnx=...", each only if set. */
void text_put_about(const struct printer *p, uint32_t about);

/* print.c: " key=" and the number with the largest unit of powers of ten that divides it. */
void text_put_count(const struct printer *p, const char *key, int64_t n, const char *units);

/* settings.c: " key=word", the word in quotes where it is no single token. */
void text_put_choice(const struct printer *p, const char *key, const char *word);
/* Writes the line "cluster": the settings of the cluster and of the execution model. */
void text_put_settings(const struct printer *p, const struct cluster *c,
                       const struct exec_model *e);

/* training.c */
void text_put_stages(const struct printer *p, const struct stages *s);

#endif
