# A cluster of nodes that no device runs all of is parted: each goes where it can run.
# RUN: %pcc %s -p order-place --emit ir -q | FileCheck %s
# RUN: %pcc %s -p celeritas-place --emit ir -q | FileCheck %s
# CHECK: 1 clusters, 1 without room
# CHECK: "a" = acc0
# CHECK: "b" = acc1
# CHECK: "c" = acc0
cluster io_free objective=makespan network=direct contention=none
class acc x1 link=1TB/s,0ps
class other x1 link=1TB/s,0ps
graph {
  %a = profile:op() : ? !xfer=1us !time=[1us,never]
  %b = profile:op(%a) : ? !xfer=1us !time=[never,1us]
  %c = profile:op(%b) : ? !xfer=1us !time=[1us,never]
}
