# Baechi's placers on devices of two classes, by hand: each node takes what it takes on its device's class, and b, which
# the fast one does not support, goes to the slow one.
# RUN: %pcc %s -p m-etf-place --emit ir -q | FileCheck %s --check-prefix=ETF
# RUN: %pcc %s -p m-sct-place --emit ir -q | FileCheck %s --check-prefix=ETF
# a at 0 (of two devices the first), c at 2, b at 3, when a has arrived; d at 6 beside b, not at 7 beside c.
# ETF: value=7us
# ETF-NEXT: "a" = acc0
# ETF-NEXT: "c" = acc0
# ETF-NEXT: "b" = acc1
# ETF-NEXT: "d" = acc1
# RUN: %pcc %s -p m-topo-place --emit ir -q | FileCheck %s --check-prefix=TOPO
# Four bytes, a share of 2 and the largest 1: the fast device goes on after b, and takes three.
# TOPO: value=9us
# TOPO-NEXT: "a" = acc0
# TOPO-NEXT: "b" = acc1
# TOPO-NEXT: "c" = acc0
# TOPO-NEXT: "d" = acc0
# A group goes where all of it can run: a at 0, b at 4, c at 5, and d at 8 could start on both.
# RUN: sed '/%%[ab] /s/$/ !color=1/' %s > %t.group.pir
# RUN: %pcc %t.group.pir -p m-etf-place --emit ir -q | FileCheck %s --check-prefix=GROUP
# GROUP: value=10us
# GROUP-NEXT: "a" = acc1
# GROUP-NEXT: "b" = acc1
# GROUP-NEXT: "c" = acc0
# GROUP-NEXT: "d" = acc0
# RUN: sed 's/never,3us/never,never/' %s > %t.never.pir
# RUN: not %pcc %t.never.pir -p m-etf-place -q 2>&1 | FileCheck %s --check-prefix=NEVER
# RUN: not %pcc %t.never.pir -p m-sct-place -q 2>&1 | FileCheck %s --check-prefix=NEVER
# RUN: not %pcc %t.never.pir -p m-topo-place -q 2>&1 | FileCheck %s --check-prefix=NEVER
# NEVER: error: {{.*}}no device can run 'b'
ir_version 0
cluster io_free objective=makespan network=direct contention=none memory_model=sum
class fast x1 memory=9B link=1TB/s,0ps
class slow x1 memory=9B link=1TB/s,0ps
graph {
  %a = profile:op() : ? !xfer=1us !time=[2us,4us] !own=1B
  %b = profile:op(%a) : ? !xfer=1us !time=[never,3us] !own=1B
  %c = profile:op(%a) : ? !xfer=1us !time=[2us,6us] !own=1B
  %d = profile:op(%b, %c) : ? !xfer=1us !time=[2us,1us] !own=1B
}
