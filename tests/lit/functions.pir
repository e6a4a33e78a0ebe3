# Functions of the model: printing, costs of calls, and their nodes in place of the calls.
# RUN: %pcc %s -q -p cost --emit ir | FileCheck %s --check-prefix=KEEP
# RUN: %pcc %s -q -p cost --emit ir > %t.pir
# RUN: %pcc %t.pir -q -p infer-shapes --emit ir | diff %t.pir -
# RUN: %pcc %s -q -p inline-functions,cost --verify-each --emit ir | FileCheck %s --check-prefix=INLINE
# RUN: %pcc %s -p inline-functions 2>&1 | FileCheck %s --check-prefix=NOTE
# RUN: %pcc %s -q -p 'inline-functions{only=^outer$},cost' --emit ir | FileCheck %s --check-prefix=ONLY
# RUN: not %pcc %s -p 'inline-functions{only=nobody}' 2>&1 | FileCheck %s --check-prefix=NOBODY
# RUN: not %pcc %s -p 'inline-functions{max-nodes=8}' 2>&1 | FileCheck %s --check-prefix=MOST
# RUN: not %pcc %s -p infer-shapes,inline-functions 2>&1 | FileCheck %s --check-prefix=LATE

# Two operations per multiply-add and one per element of Mul and Cast; the If takes its larger branch.
# KEEP: function my:layer
# KEEP: attribute "to"
# KEEP: default {by=2.0}
# KEEP: %a = my:layer(%x, %w, _) {to=1} : f32[2,8] {{.*}} name="first" {{.*}} !flops=288
# KEEP: %b = my:outer(%a, %w, %c) : f32[2,8] {{.*}} !flops=288
# KEEP: %d = my:old(%b) : f32[2,8] {{.*}} !flops=24

# INLINE-NOT: function my:layer
# INLINE: function my:old
# INLINE: %first/m = MatMul(%x, %w) : f32[2,8]
# INLINE: %first/k = Constant() {value_float=2.0} : f32[]
# INLINE: %a = Cast(%first/s) {to=1} : f32[2,8]
# INLINE: %b = If(%c | %a, %w) {then_branch=@g2, else_branch=@g3} : f32[2,8]
# INLINE: %d = my:old(%b)
# INLINE: %twin = Identity(%x)
# INLINE: graph @g2 of "b/r"
# INLINE: %b/then.t/k = Constant() {value_float=0.5}

# NOTE: note: inline-functions: 'my:old' stays: its Split is of opset ai.onnx 11, the model's would be of 20
# NOTE: note: inline-functions: 4 nodes with 4 calls are now 12 nodes with 1 calls
# ONLY: %a = my:layer(
# ONLY: %b = If(
# ONLY: my:layer(
# NOBODY: error: inline-functions: only=nobody matches no function of the model
# MOST: error: {{.*}}: with its calls replaced the model would have up to 15 nodes, most of them from function 'my:outer'
# LATE: error: inline-functions comes before all other passes
class acc x2
file 1 "w"
function my:layer {
  attribute "to"
  default {by=2.0}
  graph {
    in %x
    in %w
    in %skip
    %m = MatMul(%x, %w)
    %k = Constant() {value_float=ref float "by"}
    %s = Mul(%m, %k)
    %y = Cast(%s) {to=ref int "to"}
    out %y
  }
}
function my:outer {
  graph {
    in %p
    in %w
    in %c
    %r = If(%c | %p, %w) {then_branch=@then, else_branch=@else}
    out %r
  }
  graph @then {
    %t = my:layer(%p, %w, _) {to=1, by=0.5}
    out %t
  }
  graph @else {
    %n = Neg(%p)
    out %n
  }
}
function my:old {
  opset ai.onnx 11
  graph {
    in %x
    %l, %r = Split(%x) {axis=1}
    %y = Concat(%l, %r) {axis=1}
    out %y
  }
}
function my:same {
  graph {
    in %x
    out %x
  }
}
graph {
  in %x : f32[2,8]
  in %c : bool[]
  init %w : f32[8,8] = file 1 at 0 len 256
  %a = my:layer(%x, %w, _) {to=1} name="first"
  %b = my:outer(%a, %w, %c)
  %d = my:old(%b)
  %twin = my:same(%x)
  out %d, %twin
}
