# Trip counts: a constant counts whatever it is, and a loop that would take too long takes as long as can be
# added up; a computed one, or "forever" with a condition that the body computes, counts as 16 passes.
# RUN: %pcc %s -q -p cost --emit csv 2>&1 | FileCheck %s
# RUN: %pcc %s -p dp-place -o %t.json 2>&1 | FileCheck %s --check-prefix=PLAN
# CHECK: warning: 2 loops have no known trip count: each counts as 16 passes [-Wloop-count]
# CHECK: warning: 2 loops run longer than can be counted: each counts as 41176 s [-Wloop-count]
# CHECK: name,op
# CHECK: thousand,Loop,4000,32000,16,5000019000
# CHECK: large,Loop,9223372036854775807,{{.*}},41175768021673106
# CHECK: larger,Loop,9223372036854775807,{{.*}},41175768021673106
# CHECK: forever,Loop,144,976,16,240000592
# CHECK: computed,Loop,64,512,16,80000304
# PLAN: time per sample
pcc 1
ir_version 8
opset ai.onnx 17
graph @main {
  in %x : f32[4]
  in %n : i64[]
  init %thousand_count : i64[] = [1000]
  init %large_count : i64[] = [4611686018427387904]
  init %larger_count : i64[] = [4611686018427387904]
  init %forever_count : i64[] = [9223372036854775807]
  init %true : bool[] = [1]
  %v0 = Exp(%x)
  %v1 = Loop(%thousand_count, %true, %v0) {body=@thousand} name="thousand"
  %v2 = Loop(%large_count, %true, %v1) {body=@large} name="large"
  %v3 = Loop(%larger_count, %true, %v2) {body=@larger} name="larger"
  %v4 = Loop(%forever_count, %true, %v3) {body=@forever} name="forever"
  %v5 = Loop(%n, %true, %v4) {body=@computed} name="computed"
  %y = Exp(%v5)
  out %y
}
graph @thousand of "thousand" {
  in %i : i64[]
  in %c : bool[]
  in %s : f32[4]
  %t = Relu(%s)
  %d = Identity(%c)
  out %d
  out %t
}
graph @large of "large" {
  in %i : i64[]
  in %c : bool[]
  in %s : f32[4]
  %t = Relu(%s)
  %d = Identity(%c)
  out %d
  out %t
}
graph @larger of "larger" {
  in %i : i64[]
  in %c : bool[]
  in %s : f32[4]
  init %zero : f32[] = [0.0]
  %t = Relu(%s)
  %r = ReduceSum(%t) {keepdims=0}
  %d = Greater(%r, %zero)
  out %d
  out %t
}
graph @forever of "forever" {
  in %i : i64[]
  in %c : bool[]
  in %s : f32[4]
  init %zero : f32[] = [0.0]
  %t = Relu(%s)
  %r = ReduceSum(%t) {keepdims=0}
  %d = Greater(%r, %zero)
  out %d
  out %t
}
graph @computed of "computed" {
  in %i : i64[]
  in %c : bool[]
  in %s : f32[4]
  %t = Relu(%s)
  %d = Identity(%c)
  out %d
  out %t
}
