/* What a training graph runs once an iteration, and what lets samples of a batch meet (update_pass.h, batch_mix.h): a
 * model of one weight, changed a line at a time, against what is said of it. */
#include "ir/plan/update_pass.h"
#include "ir/text/text.h"
#include "tests/support/aim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { CHANGES = 4, ROOM = 8192 };

/* One weight, a mean of squares, its gradient and update. */
static const char model[] = "pcc 1\nopset ai.onnx 20\nclass acc x2\ngraph {\n"
                            "  in %x : f32[batch,4]\n"
                            "  in %t : f32[batch,2]\n"
                            "  in %rate : f32[]\n"
                            "  init %w : f32[4,2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n"
                            "  init %two : f32[] = [2.0]\n"
                            "  init %half : f32[] = [0.5]\n"
                            "  init %none : f32[] = [0.0]\n"
                            "  init %yes : bool[] = [1]\n"
                            "  init %no : bool[] = [0]\n"
                            "  init %k : i64[] = [0]\n"
                            "  init %ks : i64[1] = [0]\n"
                            "  init %at : i64[1,1] = [0]\n"
                            "  init %end : i64[1] = [9]\n"
                            "  init %last : i64[1] = [2]\n"
                            "  init %one : f32[2] = [1.0, 1.0]\n"
                            "  %h = MatMul(%x, %w) : f32[batch,2]\n"
                            "  %e = Sub(%h, %t) : f32[batch,2]\n"
                            "  %q = Mul(%e, %e) : f32[batch,2] name=\"q\"\n"
                            "  %loss = ReduceMean(%q) {keepdims = 0} : f32[]\n"
                            "  %n = Size(%e) : i64[] !backward\n"
                            "  %f = Cast(%n) {to = 1} : f32[] !backward\n"
                            "  %g = Mul(%e, %two) : f32[batch,2] !backward\n"
                            "  %d = Div(%g, %f) : f32[batch,2] name=\"d\" !backward\n"
                            "  %xt = Transpose(%x) {perm = [1, 0]} : f32[4,batch] !backward\n"
                            "  %dw = MatMul(%xt, %d) : f32[4,2] name=\"dw\" !backward\n"
                            "  %u = Mul(%dw, %rate) : f32[4,2] name=\"u\" !backward\n"
                            "  %w_new = Sub(%w, %u) : f32[4,2] name=\"w_new\" !backward\n"
                            "  out %loss\n"
                            "  out %w_new\n"
                            "}\n";

/* A change of the model: text, and what stands for it. */
struct change {
    const char *old, *now;
};

struct row {
    const char *what;
    struct change change[CHANGES];
    const char *why; /* a piece of why there is no pass; NULL: there is one */
};

/* Returns the model with changes, in to[ROOM]. */
static const char *changed(char *to, const struct change *change)
{
    snprintf(to, ROOM, "%s", model);
    for (int i = 0; i < CHANGES && change[i].old; i++) {
        char rest[ROOM], *at = strstr(to, change[i].old);
        if (!at)
            fail_msg("'%s' is not in\n%s", change[i].old, to);
        snprintf(rest, sizeof rest, "%s", at + strlen(change[i].old));
        snprintf(at, (size_t)(to + ROOM - at), "%s%s", change[i].now, rest);
    }
    return to;
}

/* A model that is trained, for four micro-batches. */
struct trained {
    struct arena *a;
    struct text_module t;
    struct scene scene;
    struct place place; /* all nodes have a place */
};

static void begin(struct trained *x, const char *text)
{
    struct diag d = {0};
    *x = (struct trained){.a = arena_new(NULL)};
    if (module_parse(&x->t, &(struct named_text){"model", text, strlen(text), NULL}, NULL, &d))
        fail_msg("does not parse:\n%s", text);
    x->scene = x->t.scene;
    x->place.kind = arena_alloc(x->a, x->scene.m->nnode);
    memset(x->place.kind, PLACE_NODE, x->scene.m->nnode);
    x->scene.place = &x->place;
    aim_at(&x->scene.model, "iteration-time");
    x->scene.model.training.micro_batches = 4;
    x->scene.m->ir_version = 10;
}

static void end(struct trained *x)
{
    arena_free(x->t.scene.m->mem);
    arena_free(x->a);
}

static struct update_pass find(struct trained *x)
{
    return update_pass_find(&(struct staged_plan){.scene = &x->scene}, NULL, x->a);
}

static void check_rows(const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[ROOM];
        struct trained x;
        begin(&x, changed(text, row[i].change));
        struct update_pass u = find(&x);
        if (!u.why != !row[i].why || (u.why && !strstr(u.why, row[i].why)))
            fail_msg("%s: expected '%s', found '%s'", row[i].what, row[i].why ? row[i].why : "",
                     u.why ? u.why : "");
        end(&x);
    }
}

/* ---- gradients ---------------------------------------------------------------------------------- */

static void test_gradient(void **state)
{
    char text[ROOM];
    struct trained x;
    (void)state;
    begin(&x, changed(text, (const struct change[CHANGES]){{0}}));
    struct update_pass u = find(&x);
    const struct module *m = x.scene.m;
    assert_null(u.why);
    assert_int_equal(u.n, 1);
    assert_string_equal(value_name(m, u.of[0].parameter), "w");
    assert_string_equal(value_name(m, u.of[0].gradient), "dw");
    assert_string_equal(value_name(m, u.of[0].fresh), "w_new");
    assert_int_equal(u.join, LOSS_MEAN);
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        assert_int_equal(u.own[n],
                         !strcmp(node_name(m, n), "u") || !strcmp(node_name(m, n), "w_new"));
    end(&x);
}

/* Two weights whose gradients are scaled by a norm of both: only their names tell which values are gradients. */
#define NORM                                                                                       \
    {"  %u = Mul(%dw, %rate) : f32[4,2] name=\"u\" !backward\n",                                   \
     "  %w2_grad = MatMul(%xt, %d) : f32[4,2] !backward\n"                                         \
     "  %s1 = ReduceSum(%w_grad) {keepdims = 0} : f32[] !backward\n"                               \
     "  %s2 = ReduceSum(%w2_grad) {keepdims = 0} : f32[] !backward\n"                              \
     "  %s = Add(%s1, %s2) : f32[] !backward\n"                                                    \
     "  %u = Div(%w_grad, %s) : f32[4,2] !backward\n"                                              \
     "  %u2 = Div(%w2_grad, %s) : f32[4,2] !backward\n"                                            \
     "  %w2_new = Sub(%w2, %u2) : f32[4,2] !backward\n"},                                          \
        {"  init %two", "  init %w2 : f32[4,2] = [1, 2, 3, 4, 5, 6, 7, 8]\n  init %two"},          \
        {"  out %w_new", "  out %w_new\n  out %w2_new"}, {"%dw = MatMul", "%w_grad = MatMul"}

static void test_refused(void **state)
{
    static const struct row row[] = {
        {"as it is", {{0}}, NULL},
        {"a count of steps by which the update is scaled",
         {{"  %u = Mul(%dw, %rate)",
           "  %none_new = Add(%none, %half) : f32[] !backward\n"
           "  %r = Mul(%rate, %none_new) : f32[] !backward\n  %u = Mul(%dw, %r)"},
          {"  out %loss\n", "  out %loss\n  out %none_new\n"}},
         NULL},
        {"its last value scales the update",
         {{"  %u = Mul(%dw, %rate)",
           "  %none_new = Add(%none, %half) : f32[] !backward\n  %u = Mul(%dw, %none)"},
          {"  out %loss\n", "  out %loss\n  out %none_new\n"}},
         NULL},
        {"a count that its name does not tell",
         {{"  %u = Mul(%dw, %rate)",
           "  %next = Add(%none, %half) : f32[] !backward\n  %u = Mul(%dw, %none)"},
          {"  out %loss\n", "  out %loss\n  out %next\n"}},
         "'u' (Mul) is computed with 'none', of which the output 'next' may be the next value"},
        {"a rate by the count of steps, which is returned",
         {{"  %u = Mul(%dw, %rate)",
           "  %none_new = Add(%none, %half) : f32[] !backward\n"
           "  %used = Pow(%two, %none_new) : f32[] !backward\n  %u = Mul(%dw, %used)"},
          {"  out %loss\n", "  out %loss\n  out %used\n  out %none_new\n"}},
         NULL},
        {"of which the other operand counts",
         {{"  %u = Mul(%dw, %rate)",
           "  %next = Add(%half, %none) : f32[] !backward\n  %u = Mul(%dw, %none)"},
          {"  out %loss\n", "  out %loss\n  out %next\n"}},
         "'u' (Mul) is computed with 'none', of which the output 'next' may be the next value"},
        {"a count by its name, through another type",
         {{"  %u = Mul(%dw, %rate)",
           "  %kf = Cast(%k) {to = 1} : f32[] !backward\n  %kg = Add(%kf, %half) : f32[] !backward\n"
           "  %k_new = Cast(%kg) {to = 7} : i64[] !backward\n  %u = Mul(%dw, %kf)"},
          {"  out %loss\n", "  out %loss\n  out %k_new\n"}},
         NULL},
        {"a scale that follows from gradients, but not by one of its type",
         {{"  %u = Mul(%dw, %rate)", "  %i = Cast(%dw) {to = 7} : i64[4,2] !backward\n"
                                     "  %most = ReduceMax(%i) {keepdims = 0} : i64[] !backward\n"
                                     "  %big = Greater(%most, %k) : bool[] !backward\n"
                                     "  %half_new = Where(%big, %half, %two) : f32[] !backward\n"
                                     "  %u = Mul(%dw, %half)"},
          {"  out %loss\n", "  out %loss\n  out %half_new\n"}},
         "whose next value 'half_new' depends on samples, but not by a gradient of its type"},
        {"an update that is returned, called after the parameter, and a new value that is not",
         {{"  out %w_new", "  out %u2\n  out %w_step"},
          {"  %u =", "  %w_step = Add(%w, %dw) : f32[4,2] !backward\n"
                     "  %u2 = Sub(%w, %w_step) : f32[4,2] !backward\n  %u ="}},
         "are both new values of 'w'"},
        {"a count of samples",
         {{"  %u = Mul(%dw, %rate)",
           "  %none_new = Add(%none, %f) : f32[] !backward\n  %u = Mul(%dw, %none)"},
          {"  out %loss\n", "  out %loss\n  out %none_new\n"}},
         "'none_new', the next value of 'none', depends on the number of samples"},
        {"an update that is returned beside the new value of a state",
         {{"  %u = Mul(%dw, %rate)", "  %s = Mul(%v, %rate) : f32[4,2] !backward\n"
                                     "  %v_new = Add(%s, %dw) : f32[4,2] !backward\n"
                                     "  %u = Mul(%v_new, %rate)"},
          {"  init %two", "  init %v : f32[4,2] = [1, 2, 3, 4, 5, 6, 7, 8]\n  init %two"},
          {"  out %w_new", "  out %u\n  out %v_new\n  out %w_new"}},
         NULL},
        {"a count that nothing reads",
         {{"  %u = Mul", "  %none_new = Add(%none, %half) : f32[] !backward\n  %u = Mul"},
          {"  out %loss\n", "  out %loss\n  out %none_new\n"}},
         NULL},
        {"a constant that is returned as it is",
         {{"  %u = Mul(%dw, %rate)",
           "  %same = Identity(%half) : f32[] !backward\n  %u = Mul(%dw, %half)"},
          {"  out %loss\n", "  out %loss\n  out %same\n"}},
         NULL},
        {"a norm of all", {NORM}, NULL},
        {"a batch without a name",
         {{"[batch,4]", "[2,4]"}, {"[batch,2]", "[2,2]"}},
         "the batch has no name"},
        {"no new value", {{"  out %w_new\n", ""}}, "no output of the model is the new value"},
        {"an output twice", {{"  out %w_new", "  out %w_new\n  out %w_new"}}, NULL},
        {"a gradient that is returned without an update",
         {{"  out %w_new", "  out %w2_grad\n  out %w_new"},
          {"  %u =", "  %w2_grad = Neg(%dw) : f32[4,2] !backward\n  %u ="},
          {"  init %two", "  init %w2 : f32[4,2] = [1, 2, 3, 4, 5, 6, 7, 8]\n  init %two"}},
         "the gradient 'w2_grad' has no update"},
        {"a new value that does not follow from the gradient of that name",
         {{"  %u =", "  %w_grad = Neg(%dw) : f32[4,2] !backward\n  %u ="}},
         "'w_new', the new value of 'w', does not follow from the gradient 'w_grad'"},
        {"an update that reads what each micro-batch makes",
         {{"%dw = MatMul", "%w_grad = MatMul"}, {"Mul(%dw, %rate)", "Mul(%w_grad, %loss)"}},
         "reads 'loss', which each micro-batch makes anew"},
        {"a gradient that is rounded behind the sum over samples",
         {{"%dw = MatMul", "%raw = MatMul"},
          {"  %u =", "  %whole = Cast(%raw) {to = 7} : i64[4,2] name=\"round\" !backward\n"
                     "  %w_grad = Cast(%whole) {to = 1} : f32[4,2] !backward\n  %u ="},
          {"Mul(%dw", "Mul(%w_grad"}},
         "'round' (Cast) works on gradients of all samples together"},
        {"a decay in the gradient of a sum",
         {{"%dw = MatMul", "%raw = MatMul"},
          {"  %u =", "  %wd = Mul(%w, %rate) : f32[4,2] !backward\n"
                     "  %w_grad = Add(%raw, %wd) : f32[4,2] name=\"add\" !backward\n  %u ="},
          {"Mul(%dw", "Mul(%w_grad"},
          {"ReduceMean", "ReduceSum"}},
         "'add' (Add) works on gradients of all samples together"},
    };
    (void)state;
    check_rows(row, sizeof row / sizeof *row);
}

static void test_said(void **state)
{
    static const struct {
        struct said_names said;
        const char *why;
    } row[] = {{{"w", "dw"}, NULL},
               {{"w", "u"}, NULL},
               {{"v", "dw"}, "the model has no parameter 'v'"},
               {{"w", "nothing"}, "the model has no value 'nothing'"},
               {{"w", "d"}, "'d' has not the type and sizes of 'w'"},
               {{"two", "f"}, "'f' does not follow from all samples"},
               {{"w", "w_new"}, "does not follow from the gradient 'w_new'"},
               {{"half", "dn"}, "the gradient 'dn' has no update"}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[ROOM];
        struct trained x;
        begin(&x, changed(text, (const struct change[CHANGES]){
                                    {"  %u =", "  %dn = ReduceSum(%dw) {keepdims = 0} : f32[] "
                                               "!backward\n  %u ="}}));
        x.scene.model.training.gradient = &row[i].said;
        x.scene.model.training.ngradient = 1;
        struct update_pass u = find(&x);
        if (!u.why != !row[i].why || (u.why && !strstr(u.why, row[i].why)))
            fail_msg("%s=%s: %s", row[i].said.parameter, row[i].said.value, u.why ? u.why : "");
        if (!u.why)
            assert_string_equal(value_name(x.scene.m, u.of[0].gradient), row[i].said.value);
        end(&x);
    }
}

/* Next values that the user names (--next), of a model that counts in `none`. */
static void test_next(void **state)
{
    static const struct {
        struct said_names said;
        const char *why;
        uint32_t counters;
    } row[] = {{{"none", "next"}, NULL, 1},
               {{"none", "none"}, NULL, 0},
               {{"half", "half"}, "'u' (Mul) is computed with 'none'", 0},
               {{"nothing", "next"}, "the model has no initializer 'nothing'", 0},
               {{"none", "u"}, "no node makes an output 'u'", 0},
               {{"none", "w_new"}, "'w_new' has not the type and sizes of 'none'", 0},
               {{"none", "loss"}, "'loss' depends on samples", 0},
               {{"w", "w_new"}, "a gradient leads to the new value of 'w'", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[ROOM];
        struct trained x;
        begin(&x, changed(text, (const struct change[CHANGES]){
                                    {"  %u = Mul(%dw, %rate)",
                                     "  %next = Mul(%none, %none) : f32[] !backward\n"
                                     "  %u = Mul(%dw, %next)"},
                                    {"  out %loss\n", "  out %loss\n  out %next\n"}}));
        x.scene.model.training.next = &row[i].said;
        x.scene.model.training.nnext = 1;
        struct update_pass u = find(&x);
        if (!u.why != !row[i].why || (u.why && !strstr(u.why, row[i].why)))
            fail_msg("%s=%s: %s", row[i].said.parameter, row[i].said.value, u.why ? u.why : "");
        if (!u.why)
            assert_int_equal(u.ncounter, row[i].counters);
        end(&x);
    }
}

/* ---- samples that meet -------------------------------------------------------------------------- */

/* Rows of what stands for "Mul(%e, %e)". */
static const struct {
    const char *op, *why;
} operators[] = {
    {"Softmax(%e) {axis = 1}", NULL},
    {"Softmax(%e) {axis = 0}", "'q' (Softmax) works along the axis of the batch"},
    {"CumSum(%e, %k)", "'q' (CumSum) works along"},
    {"Slice(%e, %k, %end, %ks)", "'q' (Slice) works along"},
    {"Gather(%e, %ks) {axis = 0}", "'q' (Gather) works along"},
    {"GatherND(%e, %at)", "'q' (GatherND) works along"},
    {"GatherND(%e, %at) {batch_dims = -9223372036854775808}", "'q' (GatherND) works along"},
    {"Mul(%e, %e) {num_scan_inputs = -9223372036854775808}", NULL},
    {"ScatterND(%e, %at, %e)", "'q' (ScatterND) works along"},
    {"NonZero(%e)", "'q' (NonZero) works along"},
    {"Trilu(%e)", "'q' (Trilu) works along"},
    {"ReverseSequence(%e, %ks) {time_axis = 0, batch_axis = 1}", "takes samples for steps of time"},
    {"ReverseSequence(%e, %ks) {time_axis = 1, batch_axis = 0}", NULL},
    {"MeanVarianceNormalization(%e) {axes = [0]}", "(MeanVarianceNormalization) works along"},
    {"BatchNormalization(%e, %one, %one, %one, %one) {training_mode = 1}",
     "'q' (BatchNormalization) takes mean and variance of all samples"},
    {"BatchNormalization(%e, %one, %one, %one, %one)", NULL},
    {"Dropout(%e, %half, %yes)", "'q' (Dropout) draws random numbers"},
    {"Dropout(%e, %none, %yes)", NULL},
    {"Dropout(%e, %half, %no)", NULL},
    {"Dropout(%e, %half)", NULL},
    {"RandomNormalLike(%e)", "'q' (RandomNormalLike) draws random numbers"},
};

static void test_operators(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct row row = {operators[i].op, {{"Mul(%e, %e)", operators[i].op}}, operators[i].why};
        check_rows(&row, 1);
    }
}

/* Losses, and what else of the model is not along one axis. */
static void test_meetings(void **state)
{
    static const struct row row[] = {
        {"labels that are ignored",
         {{"ReduceMean(%q) {keepdims = 0}", "SoftmaxCrossEntropyLoss(%q, %y) {ignore_index = 3}"},
          {"  in %t", "  in %y : i64[batch]\n  in %t"}},
         "(SoftmaxCrossEntropyLoss) means over labels that are not ignore_index"},
        {"labels that are ignored, in a sum",
         {{"ReduceMean(%q) {keepdims = 0}",
           "SoftmaxCrossEntropyLoss(%q, %y) {ignore_index = 3, reduction = \"sum\"}"},
          {"  in %t", "  in %y : i64[batch]\n  in %t"}},
         NULL},
        {"classes with weights",
         {{"ReduceMean(%q) {keepdims = 0}", "NegativeLogLikelihoodLoss(%q, %y, %one)"},
          {"  in %t", "  in %y : i64[batch]\n  in %t"}},
         "(NegativeLogLikelihoodLoss) means with weights"},
        {"no weights",
         {{"ReduceMean(%q) {keepdims = 0}", "SoftmaxCrossEntropyLoss(%q, %y)"},
          {"  in %t", "  in %y : i64[batch]\n  in %t"}},
         NULL},
        {"pairs of samples",
         {{"Mul(%e, %e) : f32[batch,2]", "LogSoftmax(%z) : f32[batch,batch]"},
          {"  %q =", "  %et = Transpose(%e) {perm = [1, 0]} : f32[2,batch]\n"
                     "  %z = MatMul(%e, %et) : f32[batch,batch] name=\"z\"\n  %q ="}},
         "'z' (MatMul) makes a result with the batch along two axes"},
        {"twice the samples",
         {{"Mul(%e, %e) : f32[batch,2]", "Concat(%e, %e) {axis = 0} : f32[2*batch,2]"}},
         "'q' (Concat) works along"},
        {"rows that become columns",
         {{"Mul(%e, %e) : f32[batch,2]", "Reshape(%e, %ks) : f32[2,batch]"}},
         "'q' (Reshape) moves numbers from samples to others"},
        {"a mean that goes back to samples",
         {{"Mul(%e, %e)", "Div(%e, %mean)"},
          {"  %q =", "  %mean = ReduceMean(%e) {keepdims = 0} : f32[]\n  %q ="}},
         "'q' (Div) reads 'mean', which is of all samples together"},
        {"a count",
         {{"Mul(%e, %e)", "Div(%e, %f0)"},
          {"  %q =", "  %n0 = Size(%e) : i64[]\n  %f0 = Cast(%n0) {to = 1} : f32[]\n  %q ="}},
         "'q' (Div) reckons with 'f0', which tells how many samples there are"},
        {"a largest gradient",
         {{"MatMul(%xt, %d)", "ReduceMax(%o, %last) {keepdims = 0}"},
          {"  %dw =", "  %o = Einsum(%x, %d) {equation = \"bi,bj->ijb\"} : f32[4,2,batch] "
                      "!backward\n  %dw ="}},
         "and not by adding them up"},
        {"rows of a table that are written",
         {{"MatMul(%xt, %d)", "ScatterND(%w, %i, %d)"},
          {"  in %t", "  in %i : i64[batch,1]\n  in %t"}},
         "'dw' (ScatterND) takes gradients of samples together, and not by adding them up"},
        {"an operand that is left out behind a result that is left out",
         {{"%q = Mul(%e, %e) : f32[batch,2]", "%q, _ = Mul(%e, %e) : f32[batch,2], _"},
          {"  %u = Mul(%dw, %rate)",
           "  %up = Clip(%rate, _, %two) : f32[] !backward\n  %u = Mul(%dw, %up)"}},
         NULL},
        {"rows of a table that are added",
         {{"MatMul(%xt, %d)", "ScatterND(%w, %i, %d) {reduction = \"add\"}"},
          {"  in %t", "  in %i : i64[batch,1]\n  in %t"}},
         NULL},
    };
    (void)state;
    check_rows(row, sizeof row / sizeof *row);
}

/* Bodies, at any depth. */
#define NEGATED(name)                                                                              \
    "graph @" name " {\n  %" name "0 = Neg(%e) : f32[batch,2]\n  out %" name "0\n}\n"
static void test_bodies(void **state)
{
    static const struct row row[] = {
        {"a state that goes from sample to sample",
         {{"%q = Mul(%e, %e) : f32[batch,2] name=\"q\"\n",
           "%q, %by = Scan(%one, %e) {num_scan_inputs = 1, body = @step} : f32[2], f32[batch,2] name=\"scan\"\n"},
          {"  out %w_new\n}", "  out %w_new\n}\ngraph @step {\n  in %s : f32[2]\n  in %r : f32[2]\n"
                              "  %next = Add(%s, %r) : f32[2]\n  out %next, %r\n}"},
          {"ReduceMean(%q)", "ReduceMean(%by)"}},
         "'scan' (Scan) takes samples one after the other"},
        {"a body within a body",
         {{"Mul(%e, %e)", "If(%yes | %e) {then_branch = @then, else_branch = @else}"},
          {"  out %w_new\n}",
           "  out %w_new\n}\n" NEGATED(
               "else") "graph @then {\n"
                       "  %a = If(%no | %e) {then_branch = @inner, else_branch = @other} : f32[batch,2]\n"
                       "  out %a\n}\ngraph @inner {\n"
                       "  %b = Softmax(%e) {axis = 0} : f32[batch,2] name=\"b\"\n  out %b\n}\n" NEGATED(
                           "other")}},
         "'b' (Softmax), in 'q' (If), works along the axis of the batch"},
        {"bodies that keep samples apart",
         {{"Mul(%e, %e)", "If(%yes | %e) {then_branch = @then, else_branch = @else}"},
          {"  out %w_new\n}", "  out %w_new\n}\n" NEGATED("else") NEGATED("then")}},
         NULL},
    };
    (void)state;
    check_rows(row, sizeof row / sizeof *row);
}

/* Nodes that are let be are listed. */
static void test_allowed(void **state)
{
    char text[ROOM];
    struct trained x;
    (void)state;
    begin(&x,
          changed(text, (const struct change[CHANGES]){{"Mul(%e, %e)", "Softmax(%e) {axis = 0}"}}));
    x.scene.model.training.mixing = true;
    struct update_pass u = find(&x);
    assert_null(u.why);
    assert_int_equal(u.nmixing, 1);
    assert_string_equal(node_name(x.scene.m, u.mixing[0]), "q");
    end(&x);
}

/* ---- losses ------------------------------------------------------------------------------------- */

static void test_losses(void **state)
{
    static const struct {
        const char *loss; /* behind "%loss" */
        enum loss_join join;
    } row[] = {
        {" = ReduceMean(%q) {keepdims = 0} : f32[]", LOSS_MEAN},
        {" = ReduceSum(%q) {keepdims = 0} : f32[]", LOSS_SUM},
        {" = ReduceMax(%q) {keepdims = 0} : f32[]", LOSS_UNKNOWN},
        {"0 = ReduceSum(%q) {keepdims = 0} : f32[]\n  %loss = Div(%loss0, %two) : f32[]", LOSS_SUM},
        {"0 = ReduceSum(%q) {keepdims = 0} : f32[]\n  %c0 = Size(%q) : i64[]\n"
         "  %c = Cast(%c0) {to = 1} : f32[]\n  %loss = Div(%loss0, %c) : f32[]",
         LOSS_MEAN},
        {"0 = ReduceMean(%q) {keepdims = 0} : f32[]\n  %c0 = Size(%q) : i64[]\n"
         "  %c = Cast(%c0) {to = 1} : f32[]\n  %loss = Div(%loss0, %c) : f32[]",
         LOSS_UNKNOWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[ROOM];
        struct trained x;
        enum loss_join how;
        begin(&x, changed(text, (const struct change[CHANGES]){
                                    {" = ReduceMean(%q) {keepdims = 0} : f32[]", row[i].loss}}));
        assert_string_equal(value_name(x.scene.m, loss_find(x.scene.m, &how, x.a)), "loss");
        assert_int_equal(how, row[i].join);
        for (uint32_t said = LOSS_MEAN; said <= LOSS_SUM; said++) {
            x.scene.model.training.loss = said;
            struct update_pass u = find(&x);
            bool differs = how && said != (uint32_t)how;
            assert_int_equal(u.why != NULL && strstr(u.why, "the loss 'loss' is a ") != NULL,
                             differs);
            assert_true(differs ||
                        (!u.why && u.join == (enum loss_join)said && u.join_said == !how));
        }
        end(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_said),      cmocka_unit_test(test_next),
        cmocka_unit_test(test_operators), cmocka_unit_test(test_meetings),
        cmocka_unit_test(test_bodies),    cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_losses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
