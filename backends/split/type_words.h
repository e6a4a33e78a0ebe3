/* Writes the type of a value as members of a JSON object, in the words of the textual IR, of ONNX, or of numpy. */
#ifndef PCC_BACKENDS_SPLIT_TYPE_WORDS_H
#define PCC_BACKENDS_SPLIT_TYPE_WORDS_H

#include "ir/base/json_out.h"
#include "ir/model/module.h"

enum type_words {
    TYPE_WORDS_IR,  /* "f32", "seq<f32>", "map<i64,f32>" */
    TYPE_WORDS_ONNX /* "tensor(float)", "seq(tensor(float))", "map(int64,tensor(float))" */
};

/* In all three functions, type is an index in m->type.  type_put: writes the member "type" or "onnx_type", without the
 * shape; null if an element type in it is unknown.  O(nesting of the type). */
void type_put(struct json_out *o, const struct module *m, uint32_t type, enum type_words words);
/* Writes the member "numpy_type", the dtype of an array with such a tensor ("float32"); null if the type is no tensor,
 * or numpy has no such dtype. */
void numpy_type_put(struct json_out *o, const struct module *m, uint32_t type);
/* Writes the member "shape", such as ["batch", 128]: for each dimension its number, its symbol, or null if it is
 * unknown; null instead of the list if the type is no tensor, or its rank is unknown. */
void shape_put(struct json_out *o, const struct module *m, uint32_t type);
/* Returns the element type that ONNX calls word[n], such as "float"; ELEM_NONE: there is none. */
enum elem elem_of_onnx_word(const char *word, size_t n);

#endif
