# Links between devices: printed and read again; no planner can honour them in a time per sample, and a plan that is
# given cannot either.
# RUN: %pcc %s --emit ir | FileCheck %s --check-prefix=IR
# RUN: %pcc %s --emit ir > %t.pir
# RUN: %pcc %t.pir --emit ir | FileCheck %s --check-prefix=IR
# RUN: not %pcc %s -p dp-place 2>&1 | FileCheck %s --check-prefix=DP
# RUN: not %pcc %s -p auto-place 2>&1 | FileCheck %s --check-prefix=AUTO
# RUN: not %pcc %s -p hier-place --group 2:0.5 2>&1 | FileCheck %s --check-prefix=HIER
# RUN: printf 'a=acc0\nb=acc1\n' > %t.lines
# RUN: not %pcc %s -p 'plan{from=%t.lines}' 2>&1 | FileCheck %s --check-prefix=PLAN
# RUN: %pcc %s -p 'plan{from=%t.lines}' --objective makespan --network direct 2>&1 | FileCheck %s --check-prefix=DIRECT
# RUN: %pcc %s -p 'plan{from=%t.lines}' --objective makespan --network host 2>&1 | FileCheck %s --check-prefix=HOST
# RUN: not %pcc %s -p dp-place --objective makespan --network direct 2>&1 | FileCheck %s --check-prefix=SPAN
# IR: class "acc" x4
# IR-NEXT: class "cpu" x1 host
# IR-NEXT: between acc0 acc1=300GB/s,2us
# IR-NEXT: between acc3 acc1 oneway=50GB/s,0ps
# DP: error: dp-place knows no links between devices; no planner knows all that is wanted: links between devices{{$}}
# AUTO: error: auto-place knows no links between devices; no planner
# HIER: error: hier-place knows no links between devices; no planner knows all that is wanted: groups of devices and links between devices{{$}}
# PLAN: error: plan knows no links between devices; no planner
# DIRECT: link acc0 and acc1: 300GB/s, 2us{{$}}
# DIRECT-NEXT: link acc3 to acc1: 50GB/s, 0ps{{$}}
# DIRECT: makespan 40.83 us
# HOST: link acc0 and acc1: 300GB/s, 2us (not used by network host)
# HOST: makespan 60.00 us
# SPAN: error: dp-place knows no makespan and no links between devices
class acc x4 link=25GB/s,10us
class cpu x1 host
between acc0 acc1=300GB/s,2us
between acc3 acc1 oneway=50GB/s,0ps
graph {
  %a = profile:op() : !xfer=10us !time=[20us,90us]
  %b = profile:op(%a) : !xfer=10us !time=[20us,90us]
}
