# Names of today's PyTorch exporter say no place, metadata do: layers, --keep-blocks, pins, blocks, plans by lines and
# --around go by the path, "/m/h.0/attn/node_add", or by the name.
# RUN: %pcc %s 2>/dev/null | FileCheck %s --check-prefix=SUMMARY
# SUMMARY: layers 2 x {attn, mlp}, 2 nodes each
# RUN: %pcc %s -p 'contract{by=layer:trivial=false}' --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=LAYER
# LAYER: note: contract: 2 layers, 2 of 6 placed nodes outside them
# LAYER: {node_embed}
# LAYER-NEXT: {node_add, node_relu}
# LAYER-NEXT: {node_add_1, node_relu_1}
# LAYER-NEXT: {node_out}
# RUN: %pcc %s -p dp-place --keep-blocks 2>&1 | FileCheck %s --check-prefix=KEEP
# KEEP: note: contract: 2 of 2 layers repeat and stay whole: 2 x 2 nodes
# RUN: %pcc %s -q -p dp-place --pin '^/m/h[.]0/=acc1' --pin '^node_embed$=acc1' --pin '.=acc0' --emit json | FileCheck %s --check-prefix=PIN
# PIN: "name": "acc1"
# PIN: "nodes": [
# PIN-NEXT: "node_embed",
# PIN-NEXT: "node_add",
# PIN-NEXT: "node_relu"
# PIN-NEXT: ]
# RUN: printf 'attn\nm/h.1/mlp/node_relu_1\n' > %t.blocks
# RUN: %pcc %s -p 'contract{blocks=%t.blocks:trivial=false}' --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=BLOCK
# BLOCK-NOT: warning
# BLOCK: {node_add, node_relu, node_add_1}
# RUN: printf '/h[.]0/=acc1\n.*=acc0\n' > %t.plan
# RUN: %pcc %s -q -p 'plan{from=%t.plan}' --emit json | FileCheck %s --check-prefix=LINES
# LINES: "name": "acc1"
# LINES: "nodes": [
# LINES-NEXT: "node_add",
# LINES-NEXT: "node_relu"
# LINES-NEXT: ]
# RUN: %pcc %s -q -p dp-place -o %t.dot --view=nodes --around=/m/h.1/attn/node_add_1:0
# RUN: FileCheck %s --check-prefix=NEAR < %t.dot
# RUN: %pcc %s -q -p dp-place -o %t.name.dot --view=nodes --around=node_add_1:0
# RUN: diff %t.dot %t.name.dot
# NEAR: label="/m/h.1/attn/node_add_1\nAdd
# NEAR-NOT: node_relu
# RUN: %pcc %s -q -p 'contract{by=layer},dp-place' -o %t.dot --view=blocks
# RUN: FileCheck %s --check-prefix=TITLE < %t.dot
# TITLE: label="/m/h.0: attn, mlp\n
# RUN: sed 's/m[.]h[.]/m.h/; s/h[.]/h/g' %s > %t.pir
# RUN: %pcc %t.pir -p 'contract{by=layer}' 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: warning: contract: by=layer finds no layers: no node's name has a scope such as '/h.3/', and neither metadata nor a profile give them
class a100 x2 link=1GB/s,1us
graph {
  in %x : f32[4]
  %a = Relu(%x) : f32[4] !time=10us !xfer=1us name="node_embed" !meta={"namespace"=": M/m: B/relu: aten.relu"}
  %b = Add(%a, %a) : f32[4] !time=10us !xfer=1us name="node_add" !meta={"namespace"=": M/m: B/m.h.0: L/m.h.0.attn: A/add: aten.add"}
  %c = Relu(%b) : f32[4] !time=10us !xfer=1us name="node_relu" !meta={"pkg.torch.onnx.name_scopes"="['', 'm', 'm.h.0', 'm.h.0.mlp', 'relu']"}
  %d = Add(%c, %c) : f32[4] !time=10us !xfer=1us name="node_add_1" !meta={"namespace"=": M/m: B/m.h.1: L/m.h.1.attn: A/add_1: aten.add"}
  %e = Relu(%d) : f32[4] !time=10us !xfer=1us name="node_relu_1" !meta={"pkg.torch.onnx.name_scopes"="['', 'm', 'm.h.1', 'm.h.1.mlp', 'relu_1']"}
  %f = Neg(%e) : f32[4] !time=10us !xfer=1us name="node_out"
  out %f
}
