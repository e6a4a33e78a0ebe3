/* Makes a configuration for onnxruntime-genai: --for=genai.
 *
 * genai_config.json of the type decoder-pipeline makes each part a stage; genai runs the stages in order for each token
 * and keeps the caches, which it knows by patterns of names: past_key_values.%d.key comes in, present.%d.key goes out.
 * What genai needs to know of a decoder is read from the manifest: layers, heads and sizes from the caches, the
 * vocabulary from the logits.  Token ids and the length of the context are in no model: they come from the user's own
 * genai_config.json (--genai-base); without that file they are guessed, and a note says so.  The form of the file
 * is that of genai's published page "Config reference".  O(tensors). */
#include "backends/engines/engines.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/memory.h"
#include "ir/base/name_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS, VALUES, CACHES }; /* the caches of a layer */

/* What genai must know of a decoder. */
struct decoder {
    const char *past[CACHES], *present[CACHES]; /* patterns of names: "present.%d.key" */
    const char *logits;                         /* name of the output with the logits */
    int64_t layers;                             /* number of layers */
    /* number of heads of a cache, elements of a head, tokens of the vocabulary, elements of the hidden state */
    int64_t kv_heads, head_size, vocabulary, hidden;
    /* inputs of the model that are caches, for each of which one part both reads the input and makes the cache's
     * next content */
    struct names kept;
    struct names read; /* tensors that parts read */
    json_t *base;      /* the user's genai_config.json; NULL: not given */
};

/* Reports that genai cannot run the split because of the tensor `name`; why: a clause that follows the name.  Returns
 * -1. */
static int refuse(const struct export_folder *x, const char *name, const char *why)
{
    return diag_error(x->diag, "%s: --for=genai: '%s' %s", x->name, name, why);
}

/* Returns the pattern of a name, in x->a: the name with %d in place of its last number, which goes to *n.  NULL: the
 * name has no number, or one of more than six digits, or printing the pattern would not give the name back, as the
 * number begins with a needless 0 or the name has a '%'. */
static const char *pattern_of(const struct export_folder *x, const char *name, uint32_t *n)
{
    size_t end = strlen(name), at;
    while (end && !isdigit((unsigned char)name[end - 1]))
        end--;
    for (at = end; at && isdigit((unsigned char)name[at - 1]);)
        at--;
    if (at == end || end - at > 6 || (name[at] == '0' && end - at > 1) || strchr(name, '%'))
        return NULL;
    *n = (uint32_t)strtoul(name + at, NULL, 10);
    return arena_fmt(x->a, "%.*s%%d%s", (int)at, name, name + end);
}

/* Returns the shape of a tensor, a list of JSON; NULL or JSON's null: the shape is not known. */
static const json_t *shape_of(const struct export_folder *x, const char *name)
{
    const json_t *values = json_object_get(x->manifest, "values");
    return json_object_get(json_object_get(values, name), "shape");
}

/* Checks that dimension k of the tensor has the size *size; if *size is -1, sets it to the size of the dimension.
 * Returns 0, or -1 and an error. */
static int take_size(const struct export_folder *x, const char *name, size_t k, int64_t *size)
{
    int64_t found;
    if (!json_int_in(json_array_get(shape_of(x, name), k), 1, INT32_MAX, &found))
        return refuse(x, name, "is a cache without a fixed number of heads and size of a head");
    if (*size >= 0 && *size != found)
        return refuse(x, name, "is a cache of another size than the others");
    *size = found;
    return 0;
}

/* Fills g->read, all tensors that parts read, and g->kept, the inputs with a cache that are read by the part that makes
 * the cache's next content. */
static void find_readers(const struct export_folder *x, struct decoder *g)
{
    const json_t *parts = json_object_get(x->manifest, "parts");
    /* maker: tensor -> 1 + number of the part that makes it; home: input with a cache -> 1 + number of the part that
     * makes the cache's next content */
    struct names maker = names_new(x->a, 64), home = names_new(x->a, 64);
    size_t i, k;
    json_t *part, *row;
    json_array_foreach(parts, i, part)
    {
        json_array_foreach(json_object_get(part, "outputs"), k, row)
        {
            names_add(&maker, json_string_value(row), (uint32_t)i + 1);
        }
    }
    json_array_foreach(json_object_get(x->manifest, "states"), i, row)
    {
        const char *in = json_get_text(row, "in"), *out = json_get_text(row, "out");
        if (in && out)
            names_add(&home, in, names_get(&maker, out, 0));
    }
    json_array_foreach(parts, i, part)
    {
        json_array_foreach(json_object_get(part, "inputs"), k, row)
        {
            const char *name = json_string_value(row);
            names_add(&g->read, name, 1);
            if (names_get(&home, name, 0) == i + 1)
                names_add(&g->kept, name, 1);
        }
    }
}

/* Checks that genai can keep a cache, the input `in` whose next content is the output `out`: the part that makes `out`
 * reads `in`, and no part reads `out`.  Returns 0, or -1 and an error. */
static int check_place(const struct export_folder *x, const struct decoder *g, const char *in,
                       const char *out)
{
    if (!names_get(&g->kept, in, 0))
        return refuse(x, in,
                      arena_fmt(x->a,
                                "and '%s', a cache, are in different parts: genai keeps a "
                                "cache with one stage",
                                out));
    return names_get(&g->read, out, 0)
               ? refuse(x, out,
                        "is a cache that a part reads from another one: genai hands no cache from "
                        "stage to stage (--no-cut=/attn/ forbids cuts between nodes with that in "
                        "their names)")
               : 0;
}

/* Returns the offset of the last `word` in the name; -1: the name has none. */
static ptrdiff_t last_word(const char *name, const char *word)
{
    ptrdiff_t found = -1;
    for (const char *at = name; (at = strstr(at, word)); at++)
        found = at - name;
    return found;
}

/* Checks that `pair`, a row of the manifest's "states", is the cache of keys or of values of a layer, as genai wants
 * it; puts its patterns and sizes into *g.  Sets seen[which * states + layer] to 1, where `which` is KEYS or
 * VALUES; it is an error if the entry was 1 before. states: number of rows.  Returns 0, or -1 and an error. */
static int take_cache(const struct export_folder *x, struct decoder *g, const json_t *pair,
                      uint8_t *seen, uint32_t states)
{
    const char *in = json_get_text(pair, "in"), *out = json_get_text(pair, "out");
    uint32_t layer = 0, same = 0;
    const char *past = in ? pattern_of(x, in, &layer) : NULL;
    const char *present = out ? pattern_of(x, out, &same) : NULL;
    /* a name such as past_key_values.0.key has both the words "key" and "value": the last of the two tells which
     * cache it is */
    uint32_t which = in && last_word(in, "value") > last_word(in, "key") ? VALUES : KEYS;
    if (!past || !present || layer != same || !strstr(past, "past") ||
        !strstr(present, "present") || (which == KEYS && !strstr(in, "key")))
        return refuse(x, in ? in : "",
                      "is a state, but not named as genai names caches: "
                      "past...N...key and ...value, present...N..., N a number as %d "
                      "writes it, without another %");
    if (!g->past[which]) {
        g->past[which] = past;
        g->present[which] = present;
    }
    if (strcmp(g->past[which], past) != 0 || strcmp(g->present[which], present) != 0 ||
        layer >= states || seen[which * states + layer]++)
        return refuse(x, in, "is a cache named otherwise than those of the other layers");
    if (json_array_size(shape_of(x, in)) != 4)
        return refuse(x, in, "is a cache without four dimensions");
    return take_size(x, in, 1, &g->kv_heads) || take_size(x, in, 3, &g->head_size) ||
                   check_place(x, g, in, out)
               ? -1
               : 0;
}

/* Checks that all states of the manifest are caches, with keys and values for each layer; sets the fields of *g
 * about caches, and puts the names of the caches, both as inputs and as outputs, into `managed`.  Returns 0, or -1
 * and an error. */
static int take_caches(const struct export_folder *x, struct decoder *g, struct names *managed)
{
    const json_t *states = json_object_get(x->manifest, "states");
    uint32_t n = (uint32_t)json_array_size(states);
    uint8_t *seen = arena_alloc(x->a, CACHES * (size_t)n + 1);
    size_t i;
    json_t *pair;
    json_array_foreach(states, i, pair)
    {
        if (take_cache(x, g, pair, seen, n))
            return -1;
        names_add(managed, json_get_text(pair, "in"), 1);
        names_add(managed, json_get_text(pair, "out"), 1);
    }
    /* rounded up, so that the loop also looks at a layer with only one cache */
    g->layers = (n + 1) / CACHES;
    for (uint32_t k = 0; k < g->layers; k++)
        if (!seen[KEYS * n + k] || !seen[VALUES * n + k])
            return diag_error(x->diag,
                              "%s: --for=genai: layer %u has not both a cache of keys and one "
                              "of values",
                              x->name, k);
    if (n)
        return 0;
    return diag_error(x->diag,
                      "%s: --for=genai: the model is no decoder with caches, pairs of an input "
                      "past...N... and an output present...N...",
                      x->name);
}

/* Returns genai's name for an input of a decoder; NULL: it has none. */
static const char *known_input(const char *name)
{
    static const char *const known[] = {"input_ids", "attention_mask", "position_ids"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(known[k], name))
            return known[k];
    return NULL;
}

/* Checks that genai knows all inputs of the model but the caches, and that all outputs but one, the logits, are
 * caches. Sets g->logits and g->vocabulary.  managed: names of the caches.  Returns 0, or -1 and an error. */
static int take_border(const struct export_folder *x, struct decoder *g,
                       const struct names *managed)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(x->manifest, "inputs"), i, row)
    {
        const char *name = json_get_text(row, "name");
        if (!names_get(managed, name, 0) && !known_input(name))
            return refuse(x, name,
                          "is an input that genai does not give: expected input_ids, "
                          "attention_mask, position_ids and caches");
    }
    json_array_foreach(json_object_get(x->manifest, "outputs"), i, row)
    {
        const char *name = json_get_text(row, "name");
        if (names_get(managed, name, 0))
            continue;
        if (g->logits)
            return refuse(x, name,
                          arena_fmt(x->a,
                                    "is an output beside '%s' and the caches: genai wants "
                                    "one, the logits",
                                    g->logits));
        g->logits = name;
    }
    const json_t *shape = g->logits ? shape_of(x, g->logits) : NULL;
    if (json_array_size(shape) == 3 &&
        json_int_in(json_array_get(shape, 2), 1, INT32_MAX, &g->vocabulary))
        return 0;
    return refuse(x, g->logits ? g->logits : "logits",
                  "must be an output, of three dimensions, the "
                  "last of them the size of the vocabulary");
}

/* Returns the size of the hidden state: the last dimension of the first tensor between parts that has three
 * dimensions and whose last dimension is a number; `otherwise` if there is none. */
static int64_t hidden_size(const struct export_folder *x, int64_t otherwise)
{
    int64_t size;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(x->manifest, "tensors"), i, row)
    {
        const char *name = json_get_text(row, "name");
        const json_t *shape = name ? shape_of(x, name) : NULL;
        if (json_array_size(shape) == 3 &&
            json_int_in(json_array_get(shape, 2), 1, INT32_MAX, &size))
            return size;
    }
    return otherwise;
}

/* Checks that the token ids at `key` of the user's file are below the size of the vocabulary.  Returns 0, or -1 and an
 * error. */
static int check_token(const struct export_folder *x, const struct decoder *g, const char *key)
{
    const json_t *id = json_object_get(json_object_get(g->base, "model"), key);
    bool list = json_is_array(id); /* false: the file has one id, or none */
    size_t n = list ? json_array_size(id) : id != NULL;
    for (size_t k = 0; k < n; k++) {
        int64_t v;
        if (!json_int_in(list ? json_array_get(id, k) : id, 0, g->vocabulary - 1, &v))
            return diag_error(x->diag,
                              "%s: model: %s: expected numbers below the vocabulary's %lld",
                              x->o->genai_base, key, (long long)g->vocabulary);
    }
    return 0;
}

/* Reads the file of --genai-base, if it is given, into g->base, and checks its token ids; g->vocabulary must be set.
 * Returns 0, or -1 and an error. */
static int read_base(const struct export_folder *x, struct decoder *g)
{
    const char *path = x->o->genai_base;
    json_error_t e;
    size_t n;
    if (!path || !*path)
        return 0;
    const char *text = infile_read(path, INFILE_LIST, x->a, &n, x->diag);
    if (!text)
        return -1;
    g->base = json_read(x->a, text, n, &e);
    if (!g->base)
        return diag_error(x->diag, "%s:%d:%d: %s", path, e.line, e.column, e.text);
    if (!json_is_object(json_object_get(g->base, "model")))
        return diag_error(x->diag, "%s: expected a genai_config.json, an object with \"model\"",
                          path);
    return check_token(x, g, "bos_token_id") || check_token(x, g, "eos_token_id") ||
                   check_token(x, g, "pad_token_id")
               ? -1
               : 0;
}

/* Fills *g from the manifest and the file of --genai-base.  Returns 0; or -1 and an error that says why genai cannot
 * run the split. */
static int read_decoder(const struct export_folder *x, struct decoder *g)
{
    struct names managed = names_new(x->a, 64);
    *g = (struct decoder){
        .kv_heads = -1, .head_size = -1, .kept = names_new(x->a, 64), .read = names_new(x->a, 64)};
    find_readers(x, g);
    if (take_caches(x, g, &managed) || take_border(x, g, &managed) || read_base(x, g))
        return -1;
    g->hidden = hidden_size(x, g->kv_heads * g->head_size);
    return 0;
}

/* Refuses a split with devices other than CPUs and NVIDIA's GPUs, or of a model that is no decoder with caches.
 * Returns 0, or -1 and an error. */
static int check_genai(const struct export_folder *x)
{
    struct decoder g;
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(x->manifest, "parts"), i, part)
    {
        if (export_check_devices(x, "genai", part))
            return -1;
    }
    return read_decoder(x, &g);
}

/* ---- the file --------------------------------------------------------------------------------- */

/* Returns the member `key` of o, an object; if the member is missing or is no object, an empty object takes its
 * place. */
static json_t *object_in(json_t *o, const char *key)
{
    if (!json_is_object(json_object_get(o, key)))
        json_object_set_new(o, key, json_object());
    return json_object_get(o, key);
}

/* If o has no member `key`, sets it to v and appends "key=v" to the list *guessed, in x->a. */
static void guess(const struct export_folder *x, json_t *o, const char *key, int64_t v,
                  const char **guessed)
{
    if (json_object_get(o, key))
        return;
    json_object_set_new(o, key, json_integer(v));
    *guessed = arena_fmt(x->a, "%s%s%s=%lld", *guessed, **guessed ? ", " : "", key, (long long)v);
}

/* Returns a JSON object that describes the part as a stage of genai's pipeline. */
static json_t *stage_of(const struct export_folder *x, const json_t *part)
{
    int64_t gpu = export_gpu(x, json_get_text(part, "device"));
    json_t *stage = json_object(), *options = object_in(stage, "session_options");
    json_object_set_new(stage, "filename", json_string(json_get_text(part, "file")));
    json_object_set(stage, "inputs", json_object_get(part, "inputs"));
    json_object_set(stage, "outputs", json_object_get(part, "outputs"));
    json_object_set_new(options, "provider_options",
                        gpu >= 0 ? json_pack("[{s{ss}}]", "cuda", "device_id",
                                             arena_fmt(x->a, "%lld", (long long)gpu))
                                 : json_array());
    return stage;
}

/* Sets the members "inputs" and "outputs" of the object `decoder`: what the model calls each input and output that
 * genai knows. */
static void set_names(const struct export_folder *x, const struct decoder *g, json_t *decoder)
{
    json_t *in = json_object(), *out = json_object(), *row;
    size_t i;
    json_array_foreach(json_object_get(x->manifest, "inputs"), i, row)
    {
        const char *known = known_input(json_get_text(row, "name"));
        if (known)
            json_object_set_new(in, known, json_string(known));
    }
    json_object_set_new(in, "past_key_names", json_string(g->past[KEYS]));
    json_object_set_new(in, "past_value_names", json_string(g->past[VALUES]));
    json_object_set_new(out, "logits", json_string(g->logits));
    json_object_set_new(out, "present_key_names", json_string(g->present[KEYS]));
    json_object_set_new(out, "present_value_names", json_string(g->present[VALUES]));
    json_object_set_new(decoder, "inputs", in);
    json_object_set_new(decoder, "outputs", out);
}

/* Sets those members of the configuration `root` that describe the model. A note tells the user which of the values
 * are guessed. */
static void set_model(const struct export_folder *x, const struct decoder *g, json_t *root)
{
    enum { CONTEXT = 2048 }; /* tokens */
    json_t *model = object_in(root, "model"), *decoder = object_in(model, "decoder");
    const char *guessed = "";
    json_object_set_new(model, "type", json_string("decoder-pipeline"));
    json_object_set_new(model, "vocab_size", json_integer(g->vocabulary));
    /* no model tells these: the last token of the vocabulary stands for all special tokens */
    guess(x, model, "context_length", CONTEXT, &guessed);
    guess(x, model, "bos_token_id", g->vocabulary - 1, &guessed);
    guess(x, model, "eos_token_id", g->vocabulary - 1, &guessed);
    guess(x, model, "pad_token_id", g->vocabulary - 1, &guessed);
    guess(x, decoder, "hidden_size", g->hidden, &guessed);
    guess(x, decoder, "num_attention_heads", g->hidden / g->head_size, &guessed);
    json_object_set_new(decoder, "num_hidden_layers", json_integer(g->layers));
    json_object_set_new(decoder, "num_key_value_heads", json_integer(g->kv_heads));
    json_object_set_new(decoder, "head_size", json_integer(g->head_size));
    /* names a model in one file, which a pipeline does not have */
    json_object_del(decoder, "filename");
    set_names(x, g, decoder);
    json_object_set(object_in(root, "search"), "past_present_share_buffer", json_false());
    if (*guessed)
        diag_note(x->diag,
                  "--for=genai: guessed: %s (your own genai_config.json says it: --genai-base)",
                  guessed);
}

/* Makes genai_config.json: the user's own file or, without one, an empty object, in which the decoder and its
 * stages are set.  Returns 0, or -1 and an error. */
static int write_genai(struct export_folder *x)
{
    struct decoder g;
    struct memory m;
    size_t i;
    json_t *part;
    if (read_decoder(x, &g))
        return -1;
    json_t *root = json_keep(x->a, g.base ? json_deep_copy(g.base) : json_object());
    set_model(x, &g, root);
    json_t *stages = json_object(), *decoder = object_in(object_in(root, "model"), "decoder");
    json_array_foreach(json_object_get(x->manifest, "parts"), i, part)
    {
        const char *file = json_get_text(part, "file");
        /* a stage has the name of its part's file without the ending */
        json_object_set_new(stages, arena_fmt(x->a, "%.*s", (int)strcspn(file, "."), file),
                            stage_of(x, part));
    }
    json_object_set_new(decoder, "pipeline", json_pack("[o]", stages));
    memory_begin(&m, x->a);
    if (m.f && json_dumpf(root, m.f, JSON_INDENT(2)) == 0)
        putc('\n', m.f);
    const char *text = memory_end(&m, /*ok=*/true, "genai_config.json", x->a, x->diag);
    return text ? export_text(x, "genai_config.json", text) : -1;
}

const struct engine_kind engine_genai = {.name = "genai",
                                         .part_cost = 15 * (PS_PER_S / 1000000),
                                         .verified_with = "onnxruntime-genai 0.18.0, on a CPU",
                                         .check = check_genai,
                                         .write = write_genai};
