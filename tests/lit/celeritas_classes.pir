# A cluster of nodes that no device runs all of is parted: each goes where it can run, with its group.
# RUN: %pcc %s -p order-place --emit ir -q | FileCheck %s
# RUN: %pcc %s -p celeritas-place --emit ir -q | FileCheck %s
# CHECK: of 2 clusters, 1 without room
# CHECK-DAG: "a" = acc0
# CHECK-DAG: "b" = acc0
# CHECK-DAG: "c" = acc1
# CHECK-DAG: "d" = acc1
# Of two devices with the same bytes it is the first.
# RUN: sed 's/other x1/other x2/' %s > %t.pir
# RUN: %pcc %t.pir -p order-place --emit ir -q | FileCheck %s
cluster io_free objective=makespan network=direct contention=none
class acc x1 link=1TB/s,0ps
class other x1 link=1TB/s,0ps
graph {
  %a = profile:op() : ? !xfer=1us !time=[1us,1us] !color=1
  %c = profile:op(%a) : ? !xfer=1us !time=[1us,1us] !color=2
  %b = profile:op(%c) : ? !xfer=1us !time=[1us,never] !color=1
  %d = profile:op(%b) : ? !xfer=1us !time=[never,1us] !color=2
}
