# DequantizeLinear, operator and QuantizeLinear are one vertex.  dq1 has three readers: relu1 and relu2
# come first and are joined with it, the residual add reads it later; qdq=all joins that, too, and what lies
# between.  A QuantizeLinear of a model input and one whose scale is computed stay alone.
# RUN: %pcc %s -p contract --print-ir-after=contract 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'contract{qdq=all}' --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=ALL
# RUN: %pcc %s -p 'contract{qdq=none}' --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %pcc %s -p 'contract{qdq=some}' 2>&1 | FileCheck %s --check-prefix=BAD
# CHECK-NOT: warning
# CHECK: note: contract: 6 QuantizeLinear and DequantizeLinear stay with their operators (contract{qdq=none} lets them go)
# CHECK: level contract: 6 vertices
# CHECK-NEXT: {q0}
# CHECK-NEXT: {dq0, op0, q1}
# CHECK-NEXT: {dq1, relu1, relu2, q2}
# CHECK-NEXT: {dq2, add, q3}
# CHECK-NEXT: {scale}
# CHECK-NEXT: {q4}
# ALL: warning: contract: 7 nodes from 'dq1' to 'q3' must stay together (contract{qdq}) and take
# ALL: level contract: 5 vertices
# ALL: {dq1, relu1, relu2, q2, dq2, add, q3}
# NONE-NOT: QuantizeLinear and
# NONE: level contract: 13 vertices
# BAD: error: -p: contract{{.*}}qdq
# RUN: not %pcc %s -p dp-place --cut-at='^dq1$' 2>&1 | FileCheck %s --check-prefix=CUT
# CUT: error: --cut-at=^dq1$: nodes 'dq1' and 'relu1' must stay together (contract{qdq}): contract{qdq=none} lets them be cut
class acc x2 link=1GB/s,1us
graph {
  init %s : f32[] = [0.5]
  init %z : i8[] = [0]
  in %x : f32[8]
  %xq = QuantizeLinear(%x, %s, %z) : i8[8] !time=1us name="q0"
  %xf = DequantizeLinear(%xq, %s, %z) : f32[8] !time=1us name="dq0"
  %a = Relu(%xf) : f32[8] !time=10us name="op0"
  %aq = QuantizeLinear(%a, %s, %z) : i8[8] !time=1us name="q1"
  %af = DequantizeLinear(%aq, %s, %z) : f32[8] !time=1us name="dq1"
  %b = Relu(%af) : f32[8] !time=10us name="relu1"
  %c = Relu(%af) : f32[8] !time=10us name="relu2"
  %bq = QuantizeLinear(%b, %s, %z) : i8[8] !time=1us name="q2"
  %bf = DequantizeLinear(%bq, %s, %z) : f32[8] !time=1us name="dq2"
  %d = Sum(%bf, %af, %c) : f32[8] !time=10us name="add"
  %dq = QuantizeLinear(%d, %s, %z) : i8[8] !time=1us name="q3"
  %t = ReduceMax(%x) {keepdims=0} : f32[] !time=1us name="scale"
  %e = QuantizeLinear(%d, %t, %z) : i8[8] !time=1us name="q4"
  out %dq, %e
}
