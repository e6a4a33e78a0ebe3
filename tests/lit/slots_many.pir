# Slots without nodes cost a line each in a file that lists them: millions of them are refused.
# RUN: %pcc %s -q --emit=ir | FileCheck %s
# CHECK-DAG: "n16" = acc16 slot=65536
# RUN: not %pcc %s --emit=json 2>&1 | FileCheck %s --check-prefix=MANY
# RUN: sed '1i ir_version 0' %s > %t.pir && not %pcc %t.pir --emit=json 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: error: {{.*}}cannot list 1114112 slots, most of them without nodes: expected 1048593 at most
# RUN: sed 's/acc0 slot=65536/acc0 slot=1/' %s > %t.fewer && %pcc %t.fewer --emit=json | FileCheck %s --check-prefix=FEWER
# FEWER: "pcc_plan": 1
class acc x17
graph {
  %n0 = profile:op() {id=0} : ? !xfer=0us !time=1us
  %n1 = profile:op() {id=1} : ? !xfer=0us !time=1us
  %n2 = profile:op() {id=2} : ? !xfer=0us !time=1us
  %n3 = profile:op() {id=3} : ? !xfer=0us !time=1us
  %n4 = profile:op() {id=4} : ? !xfer=0us !time=1us
  %n5 = profile:op() {id=5} : ? !xfer=0us !time=1us
  %n6 = profile:op() {id=6} : ? !xfer=0us !time=1us
  %n7 = profile:op() {id=7} : ? !xfer=0us !time=1us
  %n8 = profile:op() {id=8} : ? !xfer=0us !time=1us
  %n9 = profile:op() {id=9} : ? !xfer=0us !time=1us
  %n10 = profile:op() {id=10} : ? !xfer=0us !time=1us
  %n11 = profile:op() {id=11} : ? !xfer=0us !time=1us
  %n12 = profile:op() {id=12} : ? !xfer=0us !time=1us
  %n13 = profile:op() {id=13} : ? !xfer=0us !time=1us
  %n14 = profile:op() {id=14} : ? !xfer=0us !time=1us
  %n15 = profile:op() {id=15} : ? !xfer=0us !time=1us
  %n16 = profile:op() {id=16} : ? !xfer=0us !time=1us
}
plan "by hand" objective="latency" status=heuristic value=1us {
  "n0" = acc0 slot=65536
  "n1" = acc1 slot=65536
  "n2" = acc2 slot=65536
  "n3" = acc3 slot=65536
  "n4" = acc4 slot=65536
  "n5" = acc5 slot=65536
  "n6" = acc6 slot=65536
  "n7" = acc7 slot=65536
  "n8" = acc8 slot=65536
  "n9" = acc9 slot=65536
  "n10" = acc10 slot=65536
  "n11" = acc11 slot=65536
  "n12" = acc12 slot=65536
  "n13" = acc13 slot=65536
  "n14" = acc14 slot=65536
  "n15" = acc15 slot=65536
  "n16" = acc16 slot=65536
}
