# Plans that keep layers together as asked, of which every planner's argument speaks in the same words; 20 us by
# cutting a layer, 30 us without.
# RUN: %pcc %s -p 'contract{by=layer},anneal-place' 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'contract{by=layer},ip-place' 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'contract{by=layer},auto-place' 2>&1 | FileCheck %s --check-prefix=AUTO
# RUN: %pcc %s -p 'contract{by=layer},dpl-place' 2>&1 | FileCheck %s --check-prefix=DPL
# DPL: bound 30.00 us, gap 0.00 %: optimal among contiguous plans that keep groups of
# DPL: why: no plan among contiguous plans that keep groups of nodes together takes
# DPL-NEXT: less: longest node
# CHECK: time per sample 30.00 us
# CHECK-NEXT: optimal among plans that keep groups of nodes
# CHECK: why: no plan among plans that keep groups of nodes together {{takes less|is better by }}
# AUTO: time per sample 30.00 us
# AUTO-NEXT: optimal among plans that keep groups of nodes
# AUTO: why: contiguous; no plan among plans that keep groups of nodes together
# A plan that is read again has its own bound; what its planner claimed is said where that was more, and could be.
# RUN: %pcc %s -p 'contract{by=layer},anneal-place' -q -o %t.json
# RUN: %pcc %s -p 'plan{from=%t.json}' -q --emit ir | FileCheck %s --check-prefix=AGAIN
# AGAIN: value=30us bound=20us {{.*}}, which claims a bound of 30.00 us (scope: {{(contiguous-)?}}layers): not proven again; bound:
# RUN: sed 's/"bound_s": [0-9.e-]*/"bound_s": 7/' %t.json > %t.false.json
# RUN: %pcc %s -p 'plan{from=%t.false.json}' -q --emit ir | FileCheck %s --check-prefix=FALSE
# FALSE: argument="read from {{.*}}.false.json; bound:
class acc x2
graph {
  %a = profile:op() : !xfer=0us !time=10us !layer=1
  %b = profile:op(%a) : !xfer=0us !time=10us !layer=1
  %c = profile:op(%b) : !xfer=0us !time=10us !layer=1
  %d = profile:op(%c) : !xfer=0us !time=10us !layer=2
}
