/* The type of a value in the words of a manifest, of ONNX and of numpy, as members of a JSON object. */
#ifndef PCC_BACKENDS_SPLIT_TYPE_WORDS_H
#define PCC_BACKENDS_SPLIT_TYPE_WORDS_H

#include "ir/base/json_out.h"
#include "ir/model/module.h"

enum type_words {
    TYPE_WORDS_IR,  /* "f32", "seq<f32>", "map<i64,f32>" */
    TYPE_WORDS_ONNX /* "tensor(float)", "seq(tensor(float))", "map(int64,tensor(float))" */
};

/* "type" or "onnx_type": the type with that index in m->type; null if something in it is unknown.  O(its depth). */
void type_put(struct json_out *o, const struct module *m, uint32_t type, enum type_words words);
/* "numpy_type": of an array that holds a tensor of the type, "float32"; null: no tensor, or numpy has none. */
void numpy_type_put(struct json_out *o, const struct module *m, uint32_t type);
/* "shape": ["batch", 128], a number, a symbol or null for each dimension; null: no tensor, or its rank is unknown. */
void shape_put(struct json_out *o, const struct module *m, uint32_t type);

#endif
