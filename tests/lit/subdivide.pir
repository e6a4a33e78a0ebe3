# A node whose results cost differently gets a vertex for each; contract puts them together again.
# RUN: %pcc %s -p 'subdivide,contract{trivial=false}' --print-ir-after-all -q 2>&1 | FileCheck %s
# CHECK: level subdivide: 5 vertices, 3 nets
# CHECK-NEXT: 0: time=[7us] size=1B {a}
# CHECK-NEXT: 1: time=[0ps] size=0B {}
# CHECK-NEXT: 2: time=[0ps] size=0B {}
# CHECK-NEXT: 3: time=[2us] size=0B {b}
# CHECK-NEXT: 4: time=[4us] size=0B {c}
# CHECK: level contract: 3 vertices, 3 nets
# CHECK-NEXT: 0: time=[7us] size=1B {a}
class acc x2
graph {
  %a, %d = profile:op() : ? !xfer=1us, ? !xfer=2us name="a" !time=7us !own=1B
  %b = profile:op(%a) : ? !xfer=1us !time=2us
  %c = profile:op(%d, %b) : ? !xfer=1us !time=4us
}
