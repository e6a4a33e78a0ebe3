# Two classes of accelerators and no host: the first nodes run on the second class only, the others on the first one.
# Annealing starts from a plan in which devices come in whatever order is needed, and finds the best without a search.
# RUN: %pcc %s --objective=latency -p 'latency-place{max-states=0}' | FileCheck %s
# CHECK: latency 12.00 us
# RUN: %pcc %s --objective=latency | FileCheck %s --check-prefix=SEARCH
# SEARCH: latency 12.00 us
# SEARCH-NEXT: bound 12.00 us, gap 0.00 %: optimal among contiguous plans
# A few nodes can be placed in few ways, which are tried one by one, not annealed a million times.
# RUN: sed '/^#/d; s/costs 2/class cpu x1 host\ncosts 3/; s/us\]/us,9us]/; s/never\]/never,9us]/; s/!xfer=1us/& !backward/' %s > %t.pir
# RUN: %pcc %t.pir --objective=latency | FileCheck %s --check-prefix=FEW
# FEW: why: best of {{[0-9][0-9]?[0-9]?[0-9]?[0-9]?}} moves
class big x2 link=1GB/s,0us
class small x3 link=1GB/s,0us
costs 2
graph {
  %a = profile:op() : ? !xfer=1us !time=[never,2us]
  %b = profile:op(%a) : ? !xfer=1us !time=[never,2us]
  %c = profile:op(%b) : ? !xfer=1us !time=[3us,never]
  %d = profile:op(%c) : ? !xfer=1us !time=[3us,never]
}
