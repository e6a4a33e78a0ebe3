# What ip-place says of latencies: solved to the end, in so many subgraphs, by a share, beside plans that take less with
# unlimited CPUs, and within a limit.
# RUN: %pcc %s -p 'ip-place{objective=latency}' -q --emit ir | FileCheck %s
# RUN: %pcc %s -p 'ip-place{objective=latency:limit=7us}' -q --emit ir | FileCheck %s
# CHECK: status=optimal value=8us bound=8us scope=contiguous bound_all=7us argument="no contiguous plan takes less: lp_solve"
# RUN: %pcc %s -p 'ip-place{objective=latency:q=2}' -q --emit ir | FileCheck %s --check-prefix=TWO
# TWO: argument="no contiguous plan of up to 2 subgraphs on each accelerator takes less: lp_solve"
# RUN: %pcc %s -p 'ip-place{objective=latency:gap=0.5}' -q --emit ir | FileCheck %s --check-prefix=GAP
# GAP: status=feasible value=8us {{.*}}argument="no contiguous plan is better by a share of 500000 millionths, says lp_solve"
# RUN: sed 's/3us,9us/3us,1us/' %s > %t.pir
# RUN: %pcc %t.pir -p 'ip-place{objective=latency}' -q --emit ir | FileCheck %s --check-prefix=CPUS
# CPUS: status=feasible value=6us bound=5us {{.*}}argument="the best plan with unlimited CPUs takes less"
# RUN: %pcc %t.pir -p 'ip-place{objective=latency:limit=4us}' -q --emit ir | FileCheck %s --check-prefix=LIMIT
# LIMIT: status=feasible value=6us bound=5us {{.*}}argument="no contiguous plan is within the limit, says lp_solve"
# RUN: sed 's/acc x2/acc x1/; s/(%%[%%abc, ]*)/()/' %s > %t.wide.pir
# RUN: %pcc %t.wide.pir -p 'ip-place{objective=latency:solve=false:write=%t.mps}' -q --emit ir | FileCheck %s --check-prefix=WORK
# WORK: bound=5us {{.*}}argument="the plan of annealing; bound: all work, shared by all devices"
class acc x2
class cpu x1 host
graph {
  %a = profile:op() : ? !xfer=1us !time=[3us,9us]
  %b = profile:op() : ? !xfer=1us !time=[3us,9us]
  %c = profile:op(%a, %b) : ? !xfer=1us !time=[3us,2us]
  %d = profile:op(%c) : ? !xfer=1us !time=[3us,2us]
}
