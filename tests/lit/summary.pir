# What is said of a model that nothing is planned for: counts, weights, work, values of unknown size, the largest.
# RUN: %pcc %s 2>/dev/null | FileCheck %s
# CHECK: summary.pir: IR 10, ai.onnx 20
# CHECK-NEXT: nodes 3{{$}}
# CHECK-NEXT: operators 3 kinds: MatMul 1 (12.00 k), Relu 1 (100), Thing 1 (100)
# CHECK-NEXT: weights 3.000 k parameters, 11.72 KiB
# CHECK-NEXT: work 12.20 k FLOP per sample
# CHECK-NEXT: shapes 2 of 3 results known
# CHECK-NEXT: input x : f32[2,60]
# CHECK-NEXT: output c : f32[?]
# CHECK-NEXT: largest 11.72 KiB w : f32[60,50] (weight)
# CHECK-NEXT: 480 B x : f32[2,60]
# CHECK-NEXT: 400 B a : f32[2,50]
class acc x1
graph {
  in %x : f32[2,60]
  init %w : f32[60,50] = opaque
  %a = MatMul(%x, %w) : f32[2,50]
  %b = Relu(%a) : f32[2,50]
  %c = my:Thing(%b) : f32[?]
  out %c
}
