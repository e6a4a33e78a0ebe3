# Inputs whose size nothing tells: their bytes count as 0, and the plan and messages on memory say so, never "(proven)".
# RUN: %pcc %s -d 2xa100 -p auto-place | FileCheck %s
# CHECK: memory without 2 values of unknown size, the first 'x'
# CHECK: memory live of
# CHECK: acc0 {{.*}} 15.6
# RUN: not %pcc %s -d 2xa100:3000B -p auto-place 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: no plan fits {{.*}}nothing below 7.8{{.*}}(memory without 2 values of unknown size, the first 'x'): node 'a' needs
# NONE-NOT: proven
# RUN: sed 's/in %x : ?/in %x : f32[3]/; s/in %z : ?/in %z : f32[3]/' %s > %t.pir
# RUN: %pcc %t.pir -d 2xa100 -p auto-place | FileCheck %s --check-prefix=ALL
# ALL-NOT: memory without
# ALL: memory live of
# The text of a plan keeps that.
# RUN: %pcc %s -d 2xa100 -p auto-place --emit ir -q > %t.plan.pir
# RUN: %pcc %t.plan.pir -p auto-place | FileCheck %s
graph {
  in %x : ?
  in %y : f32[1000]
  in %z : ?
  %s = Shape(%x) : i64[1]
  %t = Shape(%z) : i64[1]
  %a = Relu(%y) : f32[1000]
  out %a, %s, %t
}
