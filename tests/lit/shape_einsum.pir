# An ellipsis stands once in an operand of an equation: a second one says nothing of the result, and reads no dimension
# beyond the operand's.
# RUN: %pcc %s -p infer-shapes -q --emit=ir | FileCheck %s
# CHECK: %once = Einsum(%x) {equation="...a->a..."} : f32[9,1,2,3,4,5,6,7,8]
# CHECK: %twice = Einsum(%x) {equation="......->"} : f32[*]
graph {
  in %x : f32[1,2,3,4,5,6,7,8,9]
  %once = Einsum(%x) {equation="...a->a..."}
  %twice = Einsum(%x) {equation="......->"}
  out %once, %twice
}
