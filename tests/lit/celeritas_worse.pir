# Adjusting takes 10 here, Order-Place 7: the published claim that it never takes longer does not hold, so both are
# run and the better one stays.
# RUN: %pcc %s -p 'celeritas-place{range=1:contention=none}' --emit ir -q | FileCheck %s
# CHECK: value=7us {{.*}} argument="Order-Place of 4 clusters
cluster io_free objective=makespan network=direct contention=none
class acc x2 link=1TB/s,0ps
graph {
  %a, %e0 = profile:op() : ?, ? !xfer=1us !time=1us
  %b, %e1 = profile:op() : ?, ? !xfer=8us !time=2us
  %c, %e2 = profile:op(%e0) : ?, ? !xfer=5us !time=2us
  %d = profile:op(%e1, %e2) : ? !time=2us
  out %d
}
