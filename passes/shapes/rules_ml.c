/* Shape inference: rules of operators of ai.onnx.ml, and of operators on strings and text.
 * The formulas are those of the operator documents.  Where these leave a size open (classifiers with two labels,
 * dictionaries), the size is that of ONNX Runtime's results.  O(operands + elements of an attribute) for each node. */
#include "passes/shapes/infer.h"

#include <string.h>

/* Returns the number of entries of a list attribute; 0: it is absent, or no list. */
static uint32_t list_length(const struct infer *f, nid n, const char *name)
{
    const struct attr *a = node_attr(f->m, n, name);
    bool list =
        a != NULL && (a->kind == ATTR_INTS || a->kind == ATTR_STRINGS || a->kind == ATTR_FLOATS);
    return list ? a->u.list.n : 0;
}

/* Returns the number of rows of a matrix; a vector is one row. */
static struct dim row_count(const struct shape *s)
{
    return s->rank == 1 ? dim_num(1) : s->rank == 2 ? s->d[0] : dim_unknown();
}

/* Returns the number of columns of SVMClassifier's scores: one for each label, or one for each pair of labels. */
static struct dim svm_scores(const struct infer *f, nid n, uint32_t labels)
{
    bool pairs = list_length(f, n, "prob_a") == 0 && list_length(f, n, "vectors_per_class") > 0;
    if (!pairs || labels <= 2)
        return dim_num(labels);
    return dim_num((int64_t)labels * (labels - 1) / 2);
}

/* Rule for classifiers: result 0 has the label of each row, result 1 the scores of each row, one for each label.
 * arg: one of CLASSIFY_*. */
void rule_classifier(struct infer *f, nid n, int arg)
{
    static const char *const list[] = {"classlabels_int64s", "classlabels_ints",
                                       "classlabels_strings"};
    struct shape in = operand_shape(f, n, 0), label = shape_vector(ELEM_NONE, row_count(&in)),
                 score = {.elem = ELEM_F32, .rank = 2};
    score.d[0] = row_count(&in);
    score.d[1] = dim_unknown();
    for (size_t i = 0; i < 3; i++) {
        uint32_t k = list_length(f, n, list[i]);
        if (k == 0)
            continue;
        label.elem = i < 2 ? ELEM_I64 : ELEM_STR;
        score.d[1] = arg == CLASSIFY_SVM ? svm_scores(f, n, k) : dim_num(k);
    }
    /* two labels have two scores, even if the classifier has one intercept */
    if (arg == CLASSIFY_LINEAR && list_length(f, n, "intercepts") > 0 && score.d[1].value != 2)
        score.d[1] = dim_num(list_length(f, n, "intercepts"));
    shape_set(f, n, 0, &label);
    shape_set(f, n, 1, &score);
}

/* Rule for regressors: the result has the shape (rows, targets).  arg: one of TARGETS_*, which says where the number
 * of targets is given. */
void rule_regressor(struct infer *f, nid n, int arg)
{
    struct shape in, out = {.elem = ELEM_F32, .rank = 2};
    const char *name = arg == TARGETS_LINEAR ? "targets" : "n_targets";
    shape_in(f, n, 0, &in);
    out.elem = arg == TARGETS_ENSEMBLE ? in.elem : ELEM_F32;
    out.d[0] = row_count(&in);
    out.d[1] = dim_num(arg == TARGETS_ONE ? 1 : node_attr_int(f->m, n, name, 1));
    shape_set(f, n, 0, &out);
}

/* Rule for OneHotEncoder: the result has a new last axis with an entry for each category. */
void rule_one_hot_encoder(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    uint32_t ints = list_length(f, n, "cats_int64s"), strings = list_length(f, n, "cats_strings");
    (void)arg;
    s.elem = ELEM_F32;
    if (s.rank >= 0 && s.rank < SHAPE_RANK)
        s.d[s.rank++] = ints + strings > 0 ? dim_num(ints > 0 ? ints : strings) : dim_unknown();
    else
        s.rank = -1;
    shape_set(f, n, 0, &s);
}

/* Rule for ArrayFeatureExtractor: picks the entries of the last axis whose indices operand 1 lists. */
void rule_array_features(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), index = operand_shape(f, n, 1), out = in;
    (void)arg;
    struct dim k = index.rank >= 0 ? dim_product(f->m, index.d, 0, index.rank) : dim_unknown();
    if (in.rank == 1) {
        out.rank = 2;
        out.d[0] = dim_num(1);
    }
    if (out.rank > 0)
        out.d[out.rank - 1] = k;
    shape_set(f, n, 0, &out);
}

/* Rule for LabelEncoder, CategoryMapper: the result has the shape of operand 0.  Its element type is that of the
 * attribute with the new labels; of CategoryMapper and old LabelEncoders, which map strings to int64 or back, it is the
 * one of the two that operand 0 has not. */
void rule_label_encoder(struct infer *f, nid n, int arg)
{
    static const struct {
        const char *name;
        uint8_t elem;
    } form[] = {
        {"values_strings", ELEM_STR}, {"values_int64s", ELEM_I64}, {"values_floats", ELEM_F32}};
    const struct attr *t = node_attr(f->m, n, "values_tensor");
    enum elem in = elem_in(f, n, 0), e = ELEM_NONE;
    (void)arg;
    if (t != NULL && t->kind == ATTR_TENSOR)
        e = (enum elem)f->m->tensor[t->u.t].elem;
    for (size_t i = 0; i < 3; i++) {
        if (list_length(f, n, form[i].name) > 0)
            e = (enum elem)form[i].elem;
    }
    if (list_length(f, n, "classes_strings") + list_length(f, n, "cats_strings") > 0)
        e = in == ELEM_STR ? ELEM_I64 : in == ELEM_I64 ? ELEM_STR : ELEM_NONE;
    struct shape s = operand_shape(f, n, 0);
    s.elem = (uint8_t)e;
    shape_set(f, n, 0, &s);
}

/* Rule for FeatureVectorizer: puts the columns of all operands side by side; an attribute lists their numbers. */
void rule_feature_vectorizer(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = {.elem = ELEM_F32, .rank = 2};
    int64_t size[SHAPE_VALUES], total = 0;
    int k = attr_ints(f, n, "inputdimensions", size, SHAPE_VALUES);
    (void)arg;
    for (int i = 0; i < k; i++)
        total = total < 0 || size[i] < 0 || size[i] > INT32_MAX ? -1 : total + size[i];
    out.d[0] = row_count(&in);
    out.d[1] = dim_num(k > 0 ? total : -1);
    shape_set(f, n, 0, &out);
}

/* --- dictionaries --- */

/* Returns the element type of the values in v, a map; ELEM_NONE: v is no map. */
static enum elem map_value(const struct infer *f, vid v)
{
    const struct type *t = &f->m->type[v != 0 ? f->type[v] : 0];
    if (t->kind != TYPE_MAP || f->m->type[t->inner].kind != TYPE_TENSOR)
        return ELEM_NONE;
    return (enum elem)f->m->type[t->inner].elem;
}

/* Rule for DictVectorizer: the result is a row with an entry for each word of a vocabulary. */
void rule_dict_vectorizer(struct infer *f, nid n, int arg)
{
    uint32_t k = list_length(f, n, "string_vocabulary") + list_length(f, n, "int64_vocabulary");
    struct shape s = {.elem = (uint8_t)map_value(f, node_in(f->m, n, 0)), .rank = 2};
    (void)arg;
    s.d[0] = dim_num(1);
    s.d[1] = k > 0 ? dim_num(k) : dim_unknown();
    shape_set(f, n, 0, &s);
}

/* Rule for CastMap: the result is a row with the values of a map; the row's length is known only for sparse maps. */
void rule_cast_map(struct infer *f, nid n, int arg)
{
    const char *to = node_attr_str(f->m, n, "cast_to", "TO_FLOAT");
    bool sparse = strcmp(node_attr_str(f->m, n, "map_form", "DENSE"), "SPARSE") == 0;
    struct shape s = {.elem = ELEM_F32, .rank = 2};
    (void)arg;
    s.elem = strcmp(to, "TO_STRING") == 0  ? ELEM_STR
             : strcmp(to, "TO_INT64") == 0 ? ELEM_I64
                                           : ELEM_F32;
    s.d[0] = dim_num(1);
    s.d[1] = sparse ? dim_num(node_attr_int(f->m, n, "max_map", 1)) : dim_unknown();
    shape_set(f, n, 0, &s);
}

/* --- strings and text --- */

/* Rule for StringNormalizer: the result has the shape of operand 0.  Stop words are left out, so if there are any,
 * the number of strings is unknown; if no string is left, the result is one empty string. */
void rule_string_normalizer(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    (void)arg;
    s.elem = ELEM_STR;
    if (s.rank > 0 && (list_length(f, n, "stopwords") > 0 || s.d[s.rank - 1].value == 0))
        s.d[s.rank - 1] = dim_unknown();
    shape_set(f, n, 0, &s);
}

/* Rule for Tokenizer: splits each string into pieces on a new last axis.  arg 1: StringSplit, whose result 1 has the
 * number of pieces of each string. */
void rule_string_split(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    s.elem = ELEM_I64;
    if (arg == 1)
        shape_set(f, n, 1, &s);
    s.elem = ELEM_STR;
    if (s.rank >= 0 && s.rank < SHAPE_RANK)
        s.d[s.rank++] = dim_unknown();
    else
        s.rank = -1;
    shape_set(f, n, 0, &s);
}

/* Rule for TfIdfVectorizer: the last axis of the operand is replaced by an axis with a weight for each n-gram; the
 * largest index in an attribute gives the number of n-grams. */
void rule_tfidf(struct infer *f, nid n, int arg)
{
    struct shape s;
    const struct attr *a = node_attr(f->m, n, "ngram_indexes");
    int64_t max = -1;
    (void)arg;
    for (uint32_t i = 0; a != NULL && a->kind == ATTR_INTS && i < a->u.list.n; i++) {
        int64_t v = f->m->ints[a->u.list.at + i];
        max = larger(v, max);
    }
    shape_in(f, n, 0, &s);
    s.elem = ELEM_F32;
    s.rank = s.rank == 0 ? 1 : s.rank;
    if (s.rank > 0)
        s.d[s.rank - 1] = max >= 0 && max < INT64_MAX ? dim_num(max + 1) : dim_unknown();
    shape_set(f, n, 0, &s);
}
