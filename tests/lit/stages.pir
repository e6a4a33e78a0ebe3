# A training graph: forward a, b and their backward siblings are two stages; the backward node c without
# a sibling lies between those of its readers, turned round.
# RUN: %pcc %s -p 'contract{trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: %pcc %s -p dp-place -q --emit=json 2>/dev/null | FileCheck %s --check-prefix=PLAN
# CHECK: level contract: 3 vertices
# CHECK-NEXT: 0: time=[5us] size=0B {a, ga}
# CHECK-NEXT: 1: time=[1us] size=0B {gc}
# CHECK-NEXT: 2: time=[6us] size=0B {b, gb}
# PLAN: "a",
# PLAN-NEXT: "gc",
# PLAN-NEXT: "ga"
# PLAN: "b",
# PLAN-NEXT: "gb"
class acc x2
graph {
  %a = profile:op() {id=1} : ? !xfer=1us !time=2us !color=1
  %b = profile:op(%a) {id=2} : ? !xfer=1us !time=3us !color=2
  %gb = profile:op(%b) {id=3} : ? !xfer=1us !time=3us !color=2 !backward
  %gc = profile:op(%gb) {id=5} : ? !xfer=1us !time=1us !backward
  %ga = profile:op(%gc) {id=4} : ? !xfer=1us !time=3us !color=1 !backward
}
