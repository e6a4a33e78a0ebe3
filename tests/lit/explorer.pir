# Node data for Model Explorer: microseconds, exact, and the colour of its device for each node.
# RUN: printf 'a=acc0\n.=acc1\n' > %t.list
# RUN: %pcc %s -q -p 'plan{from=%t.list}' --emit explorer | FileCheck %s --match-full-lines
# RUN: %pcc %s -q -p 'plan{from=%t.list}' -o %t.explorer.json && FileCheck %s --input-file=%t.explorer.json
# RUN: %pcc %s -q --emit explorer | FileCheck %s --check-prefix=PLANNED
# CHECK: {
# CHECK-NEXT:   "results": {
# CHECK-NEXT:     "a": {"value": 12.500001, "bgColor": "#cddff5"},
# CHECK-NEXT:     "\"b\\": {"value": 0.0, "bgColor": "#f4e4cd"}
# CHECK-NEXT:   }
# CHECK-NEXT: }
# PLANNED: "a": {"value": 12.500001, "bgColor": "#cddff5"}
class acc x2 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=12500001ps
  %"\"b\\" = profile:op(%a) : !xfer=1us !time=0us
}
