# Groups of two: the dear tensor crosses inside one, the cheap one between them; planners that know no
# groups refuse, and plan judges by the same costs.
# RUN: %pcc %s -p hier-place 2>&1 | FileCheck %s
# RUN: %pcc %s -p hier-place --emit json -q | FileCheck %s --check-prefix=JSON
# RUN: %pcc %s -p 'hier-place{ideals=0}' 2>&1 | FileCheck %s --check-prefix=ORDERS
# RUN: %pcc %s -p hier-place --group 4:0.5 2>&1 | FileCheck %s --check-prefix=FOUR
# RUN: %pcc %s -p hier-place -q -o %t.json
# RUN: %pcc %s -p 'plan{from=%t.json}' 2>&1 | FileCheck %s --check-prefix=JUDGED
# RUN: %pcc %s -p hier-place -q --emit ir | FileCheck %s --check-prefix=IR
# RUN: not %pcc %s -p dp-place 2>&1 | FileCheck %s --check-prefix=DP
# RUN: not %pcc %s -p dpl-place 2>&1 | FileCheck %s --check-prefix=DPL
# RUN: not %pcc %s -p hier-place --overlap max 2>&1 | FileCheck %s --check-prefix=OVERLAP
# RUN: %pcc %s -p hier-place --replicate 2>&1 | FileCheck %s --check-prefix=REPLICATE
# RUN: not %pcc %s -p dp-place --replicate 2>&1 | FileCheck %s --check-prefix=COPIES
# RUN: not %pcc %s -p hier-place --replicate --overlap=max 2>&1 | FileCheck %s --check-prefix=BOTH
# RUN: not %pcc %s -p hier-place --group 3:0.5 2>&1 | FileCheck %s --check-prefix=THREE
# RUN: not %pcc %s -p hier-place --group 2:fast 2>&1 | FileCheck %s --check-prefix=FORM
# RUN: not %pcc %s -p hier-place --pin 'a=acc0' --pin 'b=acc2' --pin 'c=acc1' 2>&1 | FileCheck %s --check-prefix=NONE
# CHECK: acc1 {{.*}} 20.00 us 11.00 us
# CHECK: acc2 {{.*}} 20.00 us 18.00 us
# CHECK: acc3 {{.*}} 40.00 us 8.000 us
# CHECK: time per sample 48.00 us
# CHECK-NEXT: bound 48.00 us, {{.*}} optimal among contiguous plans
# CHECK: why: each group a contiguous piece: every such plan was searched or ruled out
# JSON: "planner": "hier-place"
# ORDERS: time per sample 48.00 us
# ORDERS-NEXT: bound 41.00 us,
# ORDERS-NEXT: shape: contiguous
# ORDERS-NEXT: why: best of 20 topological orders
# FOUR: time per sample 50.00 us
# FOUR-NEXT: bound 50.00 us
# JUDGED: time per sample 48.00 us
# IR: class "acc" x4 group=2 inner_share=100000
# DP: error: dp-place knows no groups of devices; hier-place does{{$}}
# DPL: error: dpl-place knows no groups of devices; hier-place does{{$}}
# OVERLAP: error: hier-place knows no transfers beside computing; no planner knows all that is wanted: groups of devices and transfers beside computing; for devices without groups (-d {{.*}}) {{.*}} do{{(es)?}}; a plan that is made by hand can be given (plan){{$}}
# REPLICATE: acc0 to acc3 take turns with the parts of acc0
# REPLICATE: time per sample 25.00 us
# REPLICATE-NEXT: bound 25.00 us, {{.*}} optimal
# COPIES: error: dp-place knows no groups of devices; hier-place does{{$}}
# BOTH: error: hier-place knows no transfers beside computing; no planner knows all that is wanted: groups of devices, transfers beside computing and copies of stages
# THREE: error: group '3:0.5': class acc has 4 devices, expected a multiple of 3
# FORM: error: group '2:fast': expected a number of devices and their inner link
# NONE: error: no plan exists in which each group takes a contiguous piece
class acc x4 group=2 inner_share=100000
graph {
  %a = profile:op() : !xfer=10us !time=20us
  %b = profile:op(%a) : !xfer=10us !time=20us
  %c = profile:op(%b) : !xfer=80us !time=20us
  %d = profile:op(%c) : !xfer=10us !time=20us
  %e = profile:op(%d) : !xfer=0us !time=20us
}
