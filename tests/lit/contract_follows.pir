# The Shape and the DequantizeLinear of what one layer made carry the name of another layer: they follow the
# operators that they belong to, and the two layers stay apart.
# RUN: %pcc %s -p 'contract{by=layer}' --print-ir-after=contract 2>&1 | FileCheck %s
# RUN: %pcc %s -p contract --keep-blocks --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=KEEP
# RUN: %pcc %s -p 'contract{by=layer:qdq=none}' --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=LOOSE
# CHECK: level contract: 2 vertices
# CHECK-NEXT: {/h.0/a, /h.0/q, /h.1/shape}
# CHECK-NEXT: {/h.0/dq, /h.1/a, /h.1/b, /h.1/c}
# KEEP: warning: --keep-blocks: no repeated layers were found (2 layers
# LOOSE: level contract: 2 vertices
# LOOSE-NEXT: {/h.0/a, /h.0/q, /h.0/dq, /h.1/shape}
class acc x2 link=1GB/s,1us
graph {
  init %s : f32[] = [0.5]
  init %z : i8[] = [0]
  in %x : f32[?,100]
  %a = Relu(%x) : f32[?,100] !time=10us name="/h.0/a"
  %q = QuantizeLinear(%a, %s, %z) : i8[?,100] !time=1us name="/h.0/q"
  %d = DequantizeLinear(%q, %s, %z) : f32[?,100] !time=1us name="/h.0/dq"
  %n = Shape(%q) : i64[2] !time=1us name="/h.1/shape"
  %b = Relu(%d) : f32[?,100] !time=10us name="/h.1/a"
  %c = Expand(%b, %n) : f32[?,100] !time=10us name="/h.1/b"
  %e = Relu(%c) : f32[?,100] !time=10us name="/h.1/c"
  out %e
}
