# Nodes that do not depend on the inputs become initializers with the names of their results.
# RUN: %pcc %s -v -p fold-constants --emit ir 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p fold-constants --emit ir > %t.pir
# RUN: %pcc %t.pir -v -p fold-constants 2>&1 | FileCheck %s --check-prefix=AGAIN
# RUN: %pcc %s -q -p fold-constants,fold-constants --verify-each --emit ir | diff %t.pir -
# RUN: %pcc %s -v -p 'fold-constants{max=16B}' --emit ir 2>&1 | FileCheck %s --check-prefix=LESS
# RUN: %pcc %s -v -p 'fold-constants{max=0B}' --emit ir 2>&1 | FileCheck %s --check-prefix=LEAST
# RUN: not %pcc %s -p 'fold-constants{max=-1}' 2>&1 | FileCheck %s --check-prefix=WRONG
# RUN: %pcc --help-pass=fold-constants | FileCheck %s --check-prefix=HELP

# CHECK: note: fold-constants: 15 nodes are now 7: 7 were computed, 128B of results
# The batch is a symbol, but not the width: what only folded nodes read is gone.
# CHECK-NOT: %shape
# CHECK-NOT: %one :
# CHECK-NOT: %more
# CHECK: init %root : f32[1] = [8.0]
# CHECK-NEXT: init %table : i64[2,4] = [1, 2, 3, 4, 2, 4, 6, 8]
# CHECK-NEXT: init %twice : f32[2] = [4.0, 4.0]
# A default that callers may override is no constant, nor is a random number.
# CHECK: %open = Add(%given, %given)
# CHECK: %noise = RandomNormal()
# Results stay in their body.
# CHECK: %chosen = If(%c | %x, %root)
# An output of the model stays what its node makes; what reads it is folded all the same.
# CHECK: %sum = Add(%ones, %ones)
# CHECK: %q = Mul(%twice, %open)
# CHECK: graph @{{.*}} name="then"
# CHECK-NEXT: init %four : f32[2] = [4.0, 4.0]
# CHECK-NEXT: out %four
# CHECK: graph @{{.*}} name="else"
# CHECK-NEXT: %n = Mul(%x, %root)

# AGAIN: note: fold-constants: no node can be computed

# LESS: note: fold-constants: 15 nodes are now {{.*}} were computed
# LESS: %table = Concat(
# LEAST: note: fold-constants: no node can be computed
# WRONG: error: -p: fold-constants: option 'max' wants
# HELP: fold-constants: compute nodes
# HELP: needs infer-shapes
ir_version 10
opset ai.onnx 17
graph {
  in %x : f32[batch,64]
  in %given : f32[2]
  in %c : bool[]
  in %ids : i64[n]
  init %given = [1.0, 2.0]
  init %one : i64[1] = [1]
  init %ones : f32[2] = [1.0, 1.0]
  init %row : i64[1,4] = [1, 2, 3, 4]
  %shape = Shape(%x)
  %width = Gather(%shape, %one) {axis=0}
  %wide = Cast(%width) {to=1}
  %root = Sqrt(%wide)
  %more = Add(%row, %row)
  %table = Concat(%row, %more) {axis=0}
  %open = Add(%given, %given)
  %noise = RandomNormal() {shape=[2]}
  %chosen = If(%c | %x, %root) {then_branch=@then, else_branch=@else}
  %sum = Add(%ones, %ones)
  %twice = Add(%sum, %sum)
  %q = Mul(%twice, %open)
  %picked = Gather(%table, %ids)
  out %q, %sum, %chosen, %noise, %picked
}
graph @then {
  init %two : f32[2] = [2.0, 2.0]
  %four = Mul(%two, %two)
  out %four
}
graph @else {
  %n = Mul(%x, %root)
  out %n
}
