# Annealing where devices take turns and parts cost something: half of its runs are priced by the parts of their plans,
# which must leave nothing on the devices for the plan that is priced next, whose devices take turns in another way.
# RUN: %pcc %s -q -p 'anneal-place{moves=20000}' --replicate --part-cost=1us --emit ir > %t.pir
# RUN: FileCheck %s < %t.pir
# CHECK: plan "anneal-place"
class acc x4 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=20us
  %b = profile:op(%a) : !xfer=1us !time=10us
  %c = profile:op(%a) : !xfer=1us !time=15us
  %d = profile:op(%b, %c) : !xfer=1us !time=30us
  %e = profile:op(%d) : !xfer=1us !time=5us
  %f = profile:op(%d) : !xfer=1us !time=25us
}
