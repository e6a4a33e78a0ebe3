/* What the reader of the textual IR refuses: the place and the words of each error; at each limit a text that is
 * taken, and one beyond it that is not. */
#include "ir/ir.h"

#include "ir/text/text.h"
#include "tests/support/sink.h"
#include "tools/lib/exec/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

struct refused {
    const char *text, *want; /* NULL: taken */
};

/* The first line that is said of it, without the file; "" if it is taken. */
static void first_error(const char *text, size_t n, char *out, size_t size)
{
    static const char path[] = "t:";
    struct sink s;
    struct diag d = diag_of(&s);
    struct text_module t;

    out[0] = '\0';
    if (module_parse(&t, &(struct named_text){"t", text, n, exec_kinds}, NULL, &d) == 0) {
        assert_int_equal(d.errors, 0);
        arena_free(t.scene.m->mem);
        return;
    }
    assert_int_equal(d.errors, 1);
    assert_memory_equal(s.last[0], path, strlen(path));
    snprintf(out, size, "%.*s", (int)size - 1, s.last[0] + strlen(path));
}

static void check_all(const struct refused *t, size_t n)
{
    int wrong = 0;

    for (size_t i = 0; i < n; i++) {
        char got[600];
        const char *want = t[i].want ? t[i].want : "";
        first_error(t[i].text, strlen(t[i].text), got, sizeof got);
        if (strcmp(got, want) == 0)
            continue;
        print_error("text: %s\ngot:  %s\nwant: %s\n", t[i].text, got, want);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

#define CHECK_ALL(t) check_all(t, sizeof(t) / sizeof *(t))

static void test_header(void **state)
{
    static const struct refused t[] = {
        {"pcc 1 graph { }", NULL},
        {"pcc 0 graph { }", "1:5: 0 is out of range (1 to 1)"},
        {"pcc one graph { }", "1:5: expected the version of the text, 1, found 'one'"},
        {"path main.onnx graph { }", "1:6: expected a string, found 'main.onnx'"},
        {"path \"a\\x00b\" graph { }", "1:6: this string cannot hold the byte \\x00"},
        {"ir_version 9223372036854775807 graph { }", NULL},
        {"ir_version 9223372036854775808 graph { }",
         "1:12: 9223372036854775808 is out of range (-9223372036854775808 to 9223372036854775807)"},
        {"ir_version ten graph { }", "1:12: expected a number, found 'ten'"},
        {"opset none graph { }", NULL},
        {"opset ai.onnx graph { }", "1:15: expected a version, found 'graph'"},
        {"opset 18 graph { }", "1:7: expected a domain, found '18'"},
        {"file 1 \"a\" file 2 \"b\" size=18446744073709551615 graph { }", NULL},
        {"file 1 \"a\" size=18446744073709551616 graph { }",
         "1:17: 18446744073709551616 is out of range (0 to 18446744073709551615)"},
        {"file 2 \"a\" graph { }", "1:6: files are numbered in order: expected 1"},
        {"file 1 \"a\" file 1 \"b\" graph { }", "1:17: files are numbered in order: expected 2"},
        {"file 0 \"a\" graph { }", "1:6: files are numbered in order: expected 1"},
        {"file one \"a\" graph { }", "1:6: expected the number of the file, found 'one'"},
        {"file -1 \"a\" graph { }", "1:6: expected the number of the file, found '-1'"},
        {"file 1 a graph { }", "1:8: expected the path of the file, quoted, found 'a'"},
        {"file 1 \"a\" size=big graph { }", "1:17: expected the size of the file, found 'big'"},
        {"file 1 \"a\" location=b graph { }", "1:21: expected a string, found 'b'"},
        {"costs 1 graph { }", NULL},
        {"costs 8 graph { }", NULL},
        {"costs 0 graph { }", "1:7: 0 is out of range (1 to 8)"},
        {"costs 9 graph { }", "1:7: 9 is out of range (1 to 8)"},
        {"costs 2 costs 2 graph { }", "1:15: the number of classes is known already"},
        {"costs all graph { }", "1:7: expected the number of device classes, found 'all'"},
        {"grpah { }",
         "1:1: expected 'graph', 'function', 'opset', 'file', 'cluster', 'class', 'between', 'costs', 'plan', 'about', "
         "'path' "
         "or 'ir_version', found 'grpah'"},
        {"graph { } plan { } graph { }", "1:20: nothing follows the plan"},
        {"graph { } plan { } plan { }", "1:20: nothing follows the plan"},
    };

    (void)state;
    CHECK_ALL(t);
}

static void test_names(void **state)
{
    static const struct refused t[] = {
        {"graph { in %\"a\\x41\" }", NULL},
        {"graph { in %\"a\\x4g\" }", "1:15: unknown escape (known: \\\" \\\\ \\n \\r \\t \\xNN)"},
        {"graph { in %\"a\\xg4\" }", "1:15: unknown escape (known: \\\" \\\\ \\n \\r \\t \\xNN)"},
        {"graph { in %\"a\\x00\" }", "1:13: a name cannot hold the byte \\x00"},
        {"graph { in %\"\" }", "1:12: the name of a value is not empty"},
        {"graph { in % }", "1:12: expected a name after '%' (quote odd ones)"},
        {"graph { in %! }", "1:12: expected a name after '%' (quote odd ones)"},
        {"graph @ { }", "1:7: expected a name after '@' (quote odd ones)"},
        {"graph { in x }", "1:12: expected a value (%name), found 'x'"},
        {"graph { in %~1 %a = A(%~1) }", NULL},
        {"graph { in %~1 %a = A(%~2) }", "1:23: there is no such lost value above"},
        {"graph { in %~1 %a = A(%~0) }", "1:23: there is no such lost value above"},
        {"graph { in %~1 %a = A(%~x) }", "1:23: there is no such lost value above"},
        {"graph { %~1, %~3 = A() }", "1:14: lost values are numbered in order: expected %~2"},
        {"graph { in %x %a = A(x) }", "1:22: expected a value (%name) or '_', found 'x'"},
        {"graph { in %x %a = A(%x, _) out %a, %x }", NULL},
        {"graph { in %x out _ }", "1:19: an output of a graph is a value"},
        {"graph { in %x %a = A(%x@g) }", "1:24: there is no such graph above"},
        {"graph { in %x %a = A(%x@main) }", NULL},
        {"graph { in %x out x }", "1:19: expected a value (%name) or '_', found 'x'"},
        {"graph { in %x : f32[1] init %x = [1] }", NULL},
        {"graph { in %x : f32[1] init %x : f32[1] = [1] }",
         "1:32: the type of an input stands at its 'in' line"},
        {"graph { in %x : f32[1] init %x = [1] init %x = [1] }",
         "1:43: value 'x' is defined twice in its graph"},
        {"graph { init %x = [1] }",
         "1:19: expected 'tensor' and a shape: the value's type has none"},
        {"graph { init %x : f32[*] = [1] }",
         "1:28: expected 'tensor' and a shape: the value's type has none"},
        {"graph { %a = () }", "1:14: expected an operator, found '('"},
        {"graph { %a = d:A:o() }", NULL},
        {"graph { %a = d:A:o:p() }", "1:19: expected '(', found ':'"},
        {"graph { (%a) = A() }", "1:10: expected ')', found '%a'"},
        {"graph { %a = A(%b }", "1:16: value 'b' is not defined above"},
        {"graph { in %b %a = A(%b }", "1:25: expected ',', '|' or ')', found '}'"},
        {"graph { in %b %a = A(%b | %b | %b) }",
         "1:30: expected a value (%name) or '_', found '|'"},
        {"graph { %a, %b = A() : ? ? }",
         "1:26: expected ',' and the type of the next result, found '?'"},
        {"graph { %a, _ = A() : ?, _ }", NULL},
        {"graph { %a, _ = A() : ?, ? }",
         "1:26: expected '_', for the result is omitted, found '?'"},
        {"graph { _ = A() !bytes=1B }", "1:17: the node has not one result: say this after a type"},
        {"graph { %a = A() name=a }", "1:23: expected a string, found 'a'"},
        {"graph { x }", "1:9: expected 'in', 'init', 'out', a node or '}', found 'x'"},
        {"graph { ", "1:9: expected 'in', 'init', 'out', a node or '}', found the end of the text"},
        {"graph { %a = A() {b=@g} } graph { }",
         "1:33: expected the label of the graph (@name), found '{'"},
        {"graph { %a = A() {b=@g} } graph @g { } graph @g { }", "1:46: graph @g is defined twice"},
        {"graph { %a = A() {b=@g, c=@g} } graph @g { }",
         "1:27: graph @g is a body of another attribute already"},
        {"graph { %a = A() {b=@main} }",
         "1:21: graph @main is defined above the node that owns it"},
        {"graph { %a = A() {b=@g} } graph @g of \"a\" { }", NULL},
        {"graph { %a = A() {b=@g} } graph @g of \"b\" { }", "1:39: there is no node 'b' above"},
        {"graph { %a = A() {b=@g} %c = B() } graph @g of \"c\" { }",
         "1:48: node 'c' does not own this graph"},
        {"graph { %a = A() {b=@g} } graph @g of a { }",
         "1:39: expected the name of a node, quoted, found 'a'"},
        {"function f { graph @g { %a = A() {b=@h} } graph @h { } } graph { }", NULL},
        {"function f { graph { } attribute x } graph { }",
         "1:34: expected the name of an attribute, quoted, found 'x'"},
        {"function f { attribute \"x\" attribute \"y\" graph { } } graph { }", NULL},
        {"function f { attribute \"x\" graph { %a = A() {k=[\"s\"]} } attribute \"y\" } graph { }",
         "1:71: 'attribute' lines stand together, before the graphs"},
        {"function f { } graph { }", "1:14: expected a graph, found '}'"},
        {"function f { grph { } } graph { }",
         "1:14: expected 'opset', 'attribute', 'default', 'graph' or '}', found 'grph'"},
        {"function f { graph { } } function f:f { graph { } } graph { }", NULL},
        {"function f { graph { } } function f { graph { } } graph { }",
         "1:35: the function is defined twice"},
        {"function f { graph { %a = A() !layer=1 } } graph { }",
         "1:42: the nodes and values of functions have no costs and facts"},
        {"function f { graph { %a = A() !time=1us } } graph { }",
         "1:43: the nodes and values of functions have no costs and facts"},
        {"function f { graph { %a = A() !color=1 } } graph { }",
         "1:42: the nodes and values of functions have no costs and facts"},
        {"function f { graph { %a = A() !backward } } graph { }",
         "1:43: the nodes and values of functions have no costs and facts"},
        {"function f { graph { %a = A() !device=d } } graph { }",
         "1:43: the nodes and values of functions have no costs and facts"},
        {"function f { graph { %a = A() !slot=1 } } graph { }",
         "1:41: the nodes and values of functions have no costs and facts"},
    };

    (void)state;
    CHECK_ALL(t);
}

static void test_types_and_tensors(void **state)
{
    static const struct refused t[] = {
        {"graph { in %x : f32[9223372036854775807] }", NULL},
        {"graph { in %x : f32[9223372036854775808] }",
         "1:21: expected a dimension (a number, symbol, expression or '?')"},
        {"graph { in %x : f32[1, ] }",
         "1:24: expected a dimension (a number, symbol, expression or '?')"},
        {"graph { in %x : f32[1,\"n\",n + 1, ?] }", NULL},
        {"graph { in %x : f32[n +] }", "1:21: cannot read the dimension 'n +'"},
        {"graph { in %x : f32[*, 1] }", "1:22: expected ']', found ','"},
        {"graph { in %x : f32 }", "1:21: expected '[', found '}'"},
        {"graph { in %x : seq }", "1:21: expected '(', found '}'"},
        {"graph { in %x : seq(?, ?) }", "1:22: expected ')', found ','"},
        {"graph { in %x : map(i64) }", "1:24: expected ',', found ')'"},
        {"graph { in %x : map(?, ?) }", "1:21: expected a type, found '?'"},
        {"graph { in %x : sparse f32[2] in %y : opaque in %z : none[] }", NULL},
        {"graph { init %x : u8[4] = bytes \"00fFA9\" }",
         "1:27: the shape wants 4 bytes, here are 3"},
        {"graph { init %x : u8[3] = bytes \"00fFA9\" }", NULL},
        {"graph { init %x : u8[3] = bytes \"00fFA\" }",
         "1:33: expected pairs of hexadecimal digits"},
        {"graph { init %x : u8[3] = bytes \"00fFAg\" }",
         "1:33: expected pairs of hexadecimal digits"},
        {"graph { init %x : u8[3] = bytes 00 }",
         "1:33: expected a string of hexadecimal digits, found '00'"},
        {"graph { init %x : f32[1] = [nan(7f800001)] }", NULL},
        {"graph { init %x : f32[1] = [nan(7f800000)] }",
         "1:29: expected the bits of a nan in hexadecimal"},
        {"graph { init %x : f32[1] = [nan(7fx)] }",
         "1:29: expected the bits of a nan in hexadecimal"},
        {"graph { init %x : f32[1] = [nan(7f800001] }", "1:41: expected ')', found ']'"},
        {"graph { init %x : f32[1] = [3.4e38] }", NULL},
        {"graph { init %x : f32[1] = [3.5e38] }", "1:29: 3.5e38 is too large for f32"},
        {"graph { init %x : f32[1] = [-3.5e38] }", "1:29: -3.5e38 is too large for f32"},
        {"graph { init %x : f32[1] = [1.2.3] }", "1:29: expected a number, found '1.2.3'"},
        {"graph { init %x : f64[2] = [1.7e308, inf] }", NULL},
        {"graph { init %x : f64[1] = [1.8e308] }", "1:29: 1.8e308 is too large for f64"},
        {"graph { init %x : f64[1] = [1.2.3] }", "1:29: expected a number, found '1.2.3'"},
        {"graph { init %x : bool[2] = [0, 1] }", NULL},
        {"graph { init %x : bool[1] = [2] }", "1:30: 2 is out of range (0 to 1)"},
        {"graph { init %x : u8[1] = [256] }", "1:28: 256 is out of range (0 to 255)"},
        {"graph { init %x : u8[2] = [255, 0] }", NULL},
        {"graph { init %x : i8[2] = [-128, 127] }", NULL},
        {"graph { init %x : i8[1] = [-129] }", "1:28: -129 is out of range (-128 to 127)"},
        {"graph { init %x : i64[1] = [-9223372036854775808] }", NULL},
        {"graph { init %x : u64[1] = [18446744073709551615] }", NULL},
        {"graph { init %x : f16[1] = [1] }", "1:29: elements of f16 are written as bytes \"...\""},
        {"graph { init %x : i4[2] = [1, 1] }", "1:28: elements of i4 are written as bytes \"...\""},
        {"graph { init %x : u8[2] = [1 2] }", "1:30: expected ',' or ']', found '2'"},
        {"graph { init %x : str[1] = strings [\"a\"] }", NULL},
        {"graph { init %x : str[2] = strings [\"a\"] }",
         "1:28: the shape wants 2 strings, here are 1"},
        {"graph { init %x : str[2] = strings [\"a\" \"b\"] }",
         "1:41: expected ',' or ']', found '\"b\"'"},
        {"graph { init %x : str[1] = strings [a] }", "1:37: expected a string, found 'a'"},
        {"graph { init %x : u8[2] = here }",
         "1:27: expected 'file', 'bytes', 'strings', 'slice', 'opaque', '{' or '[', found 'here'"},
        {"graph { init %x : u8[2] = opaque named 1 }", "1:40: expected a string, found '1'"},
        {"graph { init %x = tensor u8[4611686018427387904,4] bytes \"\" }",
         "1:52: the tensor has too many elements"},
        {"graph { init %x = tensor u8[-1] bytes \"\" }",
         "1:29: -1 is out of range (0 to 9223372036854775807)"},
        {"graph { init %x = tensor u8[n] bytes \"\" }",
         "1:29: expected a dimension (a number), found 'n'"},
        {"graph { init %x = tensor u8[1 1] bytes \"\" }", "1:31: expected ',' or ']', found '1'"},
        {"file 1 \"a\" size=9 graph { init %x : u8[4] = file 1 at 5 len 4 }", NULL},
        {"file 1 \"a\" size=8 graph { init %x : u8[4] = file 1 at 5 len 4 }",
         "1:61: the file has only 8 bytes"},
        {"file 1 \"a\" size=8 graph { init %x : u8[0] = file 1 at 8 len 0 }", NULL},
        {"file 1 \"a\" size=8 graph { init %x : u8[0] = file 1 at 9 len 0 }",
         "1:61: the file has only 8 bytes"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 1 at 9223372036854775806 len 1 }", NULL},
        {"file 1 \"a\" graph { init %x : u8[1] = file 1 at 9223372036854775807 len 1 }",
         "1:72: offset and length overflow"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 0 at 0 len 1 }",
         "1:43: there is no file 0 above"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 2 at 0 len 1 }",
         "1:43: there is no file 2 above"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 1 len 1 }",
         "1:45: expected 'at', found 'len'"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 1 at 0 1 }",
         "1:50: expected 'len', found '1'"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 1 at x len 1 }",
         "1:48: expected an offset, found 'x'"},
        {"file 1 \"a\" graph { init %x : u8[1] = file 1 at 0 len x }",
         "1:54: expected a length, found 'x'"},
    };

    (void)state;
    CHECK_ALL(t);
}

static void test_attributes(void **state)
{
    static const struct refused t[] = {
        {"graph { %a = A() {x=1, y=-9223372036854775808, z=ints[], t=type ?, u=none} }", NULL},
        {"graph { %a = A() {x=9223372036854775808} }",
         "1:21: 9223372036854775808 is out of range (-9223372036854775808 to 9223372036854775807)"},
        {"graph { %a = A() {x=1 y=1} }", "1:23: expected ',' or '}', found 'y'"},
        {"graph { %a = A() {1=1} }", "1:19: expected the name of an attribute, found '1'"},
        {"graph { %a = A() {x:1} }", "1:20: expected '=', found ':'"},
        {"graph { %a = A() {x=word} }", "1:21: expected the value of an attribute, found 'word'"},
        {"graph { %a = A() {x=int} }", "1:21: expected the value of an attribute, found 'int'"},
        {"graph { %a = A() {x=ref} }", "1:24: expected a kind of attribute, found '}'"},
        {"graph { %a = A() {x=ref int \"alpha\"} }", NULL},
        {"graph { %a = A() {x=ref int alpha} }",
         "1:29: expected the name of an attribute of the function, quoted, found 'alpha'"},
        {"graph { %a = A() {x=%b} }", "1:21: expected the value of an attribute, found '%b'"},
        {"graph { %a = A() {x=[1, \"a\"]} }", "1:25: expected an integer, found '\"a\"'"},
        {"graph { %a = A() {x=[\"a\", 1]} }", "1:27: expected a string, found '1'"},
        {"graph { %a = A() {x=[1 2]} }", "1:24: expected ',' or ']', found '2'"},
        {"graph { %a = A() {x=[@g, 1]} }", "1:26: expected a graph (@name), found '1'"},
        {"graph { %a = A() {x=[tensor u8[1] [1], 1]} }", "1:40: expected 'tensor', found '1'"},
        {"graph { %a = A() {x=[sparse u8[1] opaque, 1]} }", "1:43: expected 'sparse', found '1'"},
        {"graph { %a = A() {x=[1.5, a]} }", "1:27: expected a number, found 'a'"},
        {"graph { %a = A() {x=floats 1} }", "1:28: expected '[', found '1'"},
        {"graph { %a = A() {x=\"a\\x00b\"} }", NULL},
    };

    (void)state;
    CHECK_ALL(t);
}

static void test_cluster(void **state)
{
    static const struct refused t[] = {
        {"cluster \"2xa100\" cluster \"2xa100\" graph { }",
         "1:26: the cluster is described already"},
        {"class a cluster graph { }", "1:17: the cluster is described already"},
        {"cluster part_cost=1s class a graph { }", NULL},
        {"cluster part_cost=1000000000001ps class a graph { }",
         "1:18: expected a time in 0s..1s, such as 20us"},
        {"cluster part_cost=2 class a graph { }", "1:19: expected a time (5us), found '2'"},
        {"cluster efficiency=0 class a graph { }", "1:20: 0 is out of range (1 to 1000000)"},
        {"cluster sync=1 class a graph { }", "1:14: expected a rate (25GB/s), found '1'"},
        {"cluster reduce=x class a graph { }", "1:16: expected a rate (3GB/s), found 'x'"},
        {"cluster overlap=some class a graph { }",
         "1:17: expected sum, max or duplex, found 'some'"},
        {"cluster levels=8 class a graph { }",
         "1:16: expected levels such as \"8:25GB/s,0us/2:3GB/s,0us\", found '8'"},
        {"cluster optimizer=4 class a graph { }", NULL},
        {"cluster optimizer=5 class a graph { }", "1:19: expected 0, 1, 2, 3 or 4, found '5'"},
        {"cluster micro_batches=1000000 class a graph { }", NULL},
        {"cluster micro_batches=1000001 class a graph { }",
         "1:23: 1000001 is out of range (1 to 1000000)"},
        {"cluster micro_batches=0 class a graph { }", "1:23: 0 is out of range (1 to 1000000)"},
        {"cluster weight_share=1000001 class a graph { }",
         "1:22: 1000001 is out of range (1 to 1000000)"},
        {"cluster weight_share=some class a graph { }", "1:22: expected a number, found 'some'"},
        {"cluster warm_up=0 class a graph { }", "1:17: 0 is out of range (1 to 4294967295)"},
        {"cluster warm_up=pc class a graph { }",
         "1:17: expected best, pa, pb or a number, found 'pc'"},
        {"cluster per_device=4294967296 class a graph { }",
         "1:20: 4294967296 is out of range (1 to 4294967295)"},
        {"class a class b class c class d class e class f class g class h graph { }", NULL},
        {"class a class b class c class d class e class f class g class h class i graph { }",
         "1:71: a cluster has at most 8 classes"},
        {"class a x1024 graph { }", NULL},
        {"class a x1000 class b x24 graph { }", NULL},
        {"class a x1000 class b x25 graph { }", "1:27: a cluster has at most 1024 devices"},
        {"class a x graph { }", "1:9: expected a count from x0 to x1024"},
        {"class a x1y graph { }", "1:9: expected a count from x0 to x1024"},
        {"class 7 graph { }", "1:7: expected the name of the class, found '7'"},
        {"class \"a\\x1bb\" graph { }",
         "1:7: the name of a class holds a character that cannot be shown"},
        {"class a x4 group=2 graph { }", NULL},
        {"class a x4 group=3 graph { }",
         "1:17: a group is a divisor of the devices of an accelerator class"},
        {"class a x4 group=5 graph { }", "1:18: 5 is out of range (1 to 4)"},
        {"class a x4 host group=2 graph { }",
         "1:22: a group is a divisor of the devices of an accelerator class"},
        {"class a inner_share=1000001 graph { }", "1:21: 1000001 is out of range (1 to 1000000)"},
        {"class a inner_share=1000000 graph { }", NULL},
        {"class a memory=2GiB reserve=2147483647B graph { }", NULL},
        {"class a memory=8Q graph { }", "1:16: expected bytes (80GiB), found '8Q'"},
        {"class a overhead=1 graph { }", "1:18: expected a time (10us), found '1'"},
        {"class a bandwidth=1 graph { }", "1:19: expected a rate (25GB/s), found '1'"},
        {"class a link=1GB/s graph { }", "1:20: expected ',', found 'graph'"},
        {"class a link=1GB/s,1 graph { }", "1:20: expected a time (10us), found '1'"},
        {"class a peak=[f32:1G, f16:2T] graph { }", NULL},
        {"class a peak=[f32:1G f16:2T] graph { }", "1:22: expected ',' or ']', found 'f16'"},
        {"class a peak=[float:1G] graph { }", "1:15: expected an element type, found 'float'"},
        {"class a peak=[f32:x] graph { }",
         "1:19: expected operations per second (19500G), found 'x'"},
        {"class a between a0 = graph { }", "1:20: expected the name of a device, found '='"},
    };

    (void)state;
    CHECK_ALL(t);
}

#define ONE "class acc x2 graph { %a = A() %b = B() } plan "

static void test_facts(void **state)
{
    static const struct refused t[] = {
        {"graph { %a = A() !time=[1us,1us,1us,1us,1us,1us,1us,1us] }", NULL},
        {"graph { %a = A() !time=[1us,1us,1us,1us,1us,1us,1us,1us,1us] }",
         "1:23: there are at most 8 device classes"},
        {"graph { %a = A() !time=[1us 2us] }", "1:29: expected ',' or ']', found '2us'"},
        {"graph { in %x : \"none\" }", "1:17: expected a type, found '\"none\"'"},
        {"graph { %a = A() !time=1us, 2us }",
         "1:27: expected 'in', 'init', 'out', a node or '}', found ','"},
        {"graph { %a = A() !time=[1us,2us] %b = B() !time=[1us] }",
         "1:48: expected 2 times, one for each device class, found 1"},
        {"graph { %a = A() !flops=-1 }", "1:25: expected a count, found '-1'"},
        {"graph { %a = A() !traffic=x }", "1:27: expected bytes (4KiB), found 'x'"},
        {"graph { %a = A() !own=x }", "1:23: expected bytes (4KiB), found 'x'"},
        {"graph { %a = A() !params=x }", "1:26: expected bytes (4KiB), found 'x'"},
        {"graph { %a = A() !bytes=x }", "1:25: expected bytes (4KiB), found 'x'"},
        {"graph { %a = A() !elems=x }", "1:25: expected a count, found 'x'"},
        {"graph { %a = A() !color=16777216 }", NULL},
        {"graph { %a = A() !color=16777217 }", "1:25: 16777217 is out of range (0 to 16777216)"},
        {"graph { %a = A() !layer=4294967295 }", NULL},
        {"graph { %a = A() !layer=4294967296 }",
         "1:25: 4294967296 is out of range (0 to 4294967295)"},
        {"graph { %a = A() !slot=65537 }", "1:24: 65537 is out of range (0 to 65536)"},
        {"graph { %a = A() !layer=one }", "1:25: expected a number, found 'one'"},
        {"graph { %a = A() !device=7 }", "1:26: expected the name of a device, found '7'"},
        {ONE "{ a=acc0 b=1 }", NULL},
        {ONE "{ a=acc0 a=1 }", "1:56: node 'a' is placed twice"},
        {ONE "{ a=2 }", "1:51: 2 is out of range (0 to 1)"},
        {ONE "{ a=acc2 }", "1:51: expected a device of the cluster, found 'acc2'"},
        {ONE "{ a=\"acc1\" }", "1:51: expected a device (acc0), found '\"acc1\"'"},
        {ONE "{ a=accelerator_of_a_very_long_name_1 }",
         "1:51: expected a device of the cluster, found 'accelerator_of_a_very_long_name_1'"},
        {ONE "{ 7=acc1 }", "1:49: expected the name of a node, found '7'"},
        {ONE "{ a=acc0 slot=65536 }", NULL},
        {ONE "{ a=acc0 slot=65537 }", "1:61: 65537 is out of range (1 to 65536)"},
        {ONE "{ a=acc0 slot=0 }", "1:61: 0 is out of range (1 to 65536)"},
        {ONE "{ a=acc0 stage=0 }", "1:62: 0 is out of range (0 to -1)"},
        {ONE "copies=[1,1] { }", NULL},
        {ONE "copies=[1] { }", "1:53: expected 2 numbers, one for each device, found 1"},
        {ONE "copies=[1,1,1] { }", "1:53: expected 2 numbers, one for each device, found 3"},
        {ONE "copies=[1,1025] { }", "1:57: 1025 is out of range (0 to 1024)"},
        {ONE "copies=[a] { }", "1:55: expected a number of devices, found 'a'"},
        {ONE "status=good { }",
         "1:54: expected none, optimal, feasible, heuristic, \"over-memory\" or infeasible, found 'good'"},
        {ONE "status=infeasible scope=all value=never bound=none { }", NULL},
        {ONE "scope=some { }",
         "1:53: expected all, contiguous, layers, fused, \"contiguous-layers\" or \"contiguous-fused\", found 'some'"},
        {ONE "argument=x { }", "1:56: expected a string, found 'x'"},
        {ONE "states=-1 { }", "1:54: expected a number, found '-1'"},
        {ONE "bound=1 { }", "1:53: expected a time (1.5us) or 'never', found '1'"},
        {ONE "colour=1 { }",
         "1:47: expected objective, status, value, bound, scope, bound_all, states, copies, stages, argument, ordered "
         "or '{', found 'colour'"},
        {ONE "objective=speed { }",
         "1:57: expected time-per-sample, makespan, iteration-time or latency, found 'speed'"},
        {ONE "stages { }", "1:54: expected '[', found '{'"},
        {ONE "stages [0 ahead=1] [1 ahead=1] { a=0 stage=0 b=1 stage=1 }", NULL},
        {ONE "stages [0 ahead=1] [1 ahead=1] { a=0 stage=2 }", "1:90: 2 is out of range (0 to 1)"},
        {ONE "stages [0 ahead=0] { }", "1:63: 0 is out of range (1 to 4294967295)"},
        {ONE "stages [2 ahead=1] { }", "1:55: 2 is out of range (0 to 1)"},
        {ONE "stages [x ahead=1] { }", "1:55: expected the number of a device, found 'x'"},
        {ONE "stages [0] { }", "1:56: expected ',' or 'ahead=', found ']'"},
        {ONE "stages [0 ahead=1 { }", "1:65: expected ']', found '{'"},
    };

    (void)state;
    CHECK_ALL(t);
}

/* Numbers are at most 31 bytes, quantities 63; of what was found 40 bytes are shown. */
static void test_long_tokens(void **state)
{
    static const struct refused t[] = {
        {"ir_version 0000000000000000000000000000010 graph { }", NULL},
        {"ir_version 00000000000000000000000000000010 graph { }",
         "1:12: expected a number, found '00000000000000000000000000000010'"},
        {"path a234567890123456789012345678901234567890 graph { }",
         "1:6: expected a string, found 'a234567890123456789012345678901234567890'"},
        {"path a2345678901234567890123456789012345678901 graph { }",
         "1:6: expected a string, found 'a234567890123456789012345678901234567890...'"},
        {"graph { }\n\n\n   \"a\nb\"", "4:4: the string does not end on its line"},
        {"graph { }\r\n\t?",
         "2:2: expected 'graph', 'function', 'opset', 'file', 'cluster', 'class', 'between', "
         "'costs', 'plan', 'about', 'path' or 'ir_version', found '?'"},
    };
    char got[600], text[3000], dim[1100];

    (void)state;
    CHECK_ALL(t);
    for (int n = 1023; n <= 1024; n++) { /* an expression of a dimension */
        memset(dim, 'n', (size_t)n);
        dim[n] = '\0';
        snprintf(text, sizeof text, "graph { in %%x : f32[%s] }", dim);
        first_error(text, strlen(text), got, sizeof got);
        if (n == 1023)
            assert_string_equal(got, "");
        else
            assert_string_equal(got, "1:1044: expected ',' or ']', found 'n'");
    }
    first_error("graph { in %\"a\0b\" }", 19, got, sizeof got);
    assert_string_equal(got, "1:13: the string does not end on its line");
}

/* A type has a rank of at most 32767. */
static void test_rank(void **state)
{
    static char text[70000];
    char got[600];

    (void)state;
    for (int rank = 32767; rank <= 32768; rank++) {
        size_t n = (size_t)snprintf(text, sizeof text, "graph { in %%x : f32[");
        for (int i = 0; i < rank; i++, n += 2)
            memcpy(text + n, "1,", 2);
        memcpy(text + n - 1, "] }", 4);
        first_error(text, n + 2, got, sizeof got);
        if (rank == 32767)
            assert_string_equal(got, "");
        else
            assert_string_equal(got, "1:65556: a type has at most 32767 dimensions");
    }
}

/* What is nested 100 deep is taken, 101 deep not. */
static void test_nesting(void **state)
{
    static char text[20000];
    char got[600], want[600];

    (void)state;
    for (int depth = 100; depth <= 101; depth++) {
        size_t n = (size_t)snprintf(text, sizeof text, "graph { in %%x : ");
        for (int i = 0; i < depth; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "opt(");
        n += (size_t)snprintf(text + n, sizeof text - n, "?");
        for (int i = 0; i < depth; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, ")");
        n += (size_t)snprintf(text + n, sizeof text - n, " }");
        first_error(text, n, got, sizeof got);
        assert_string_equal(got, depth == 100 ? "" : "1:417: types are nested more than 100 deep");
        n = (size_t)snprintf(text, sizeof text, "graph {\n");
        for (int i = 1; i <= depth; i++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "() = If() {body=@b%d} }\ngraph @b%d {\n", i, i);
        n += (size_t)snprintf(text + n, sizeof text - n, "}");
        first_error(text, n, got, sizeof got);
        snprintf(want, sizeof want, "203:7: bodies are nested more than 100 deep");
        assert_string_equal(got, depth == 100 ? "" : want);
    }
}

/* A text is at most 2 GiB - 1: what is longer is not even looked at. */
static void test_length(void **state)
{
    struct sink s;
    struct diag d = diag_of(&s);
    struct text_module t;

    (void)state;
    assert_int_equal(module_parse(&t,
                                  &(struct named_text){"t", "", (size_t)INT32_MAX + 1, exec_kinds},
                                  NULL, &d),
                     -1);
    assert_string_equal(s.last[0], "t: a text of more than 2 GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_types_and_tensors),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_long_tokens),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
