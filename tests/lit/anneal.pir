# anneal-place: parts need not be contiguous, the plan does not depend on threads, and memory that is too
# small is reported with what would do, here the two largest nodes on one of two devices.
# RUN: %pcc %s -p dp-place | FileCheck %s --check-prefix=CHAIN
# RUN: %pcc %s -p anneal-place | FileCheck %s
# RUN: %pcc %s -p fuse,anneal-place | FileCheck %s
# RUN: %pcc %s -p 'anneal-place{threads=1:seed=7}' | FileCheck %s
# RUN: %pcc %s -p anneal-place --pin a=acc0 --pin b=acc0 --pin e=acc0 | FileCheck %s --check-prefix=PINS
# RUN: sed 's/class acc x2/class acc x2 memory=10MiB/' %s > %t.pir
# RUN: sh -c '%pcc %t.pir -p anneal-place > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=SMALL < %t.out
# RUN: %pcc %s -p anneal-place --overlap=max 2>&1 | FileCheck %s --check-prefix=OVERLAP
# CHAIN: time per sample 71.00 us
# CHECK: time per sample 63.00 us
# CHECK-NEXT: bound 63.00 us
# PINS: time per sample 82.00 us
# SMALL: error: no plan fits the memory of the devices: {{.*}} 12.00 MiB
# SMALL: exit 3
# OVERLAP: optimal
# OVERLAP: why: no plan takes less
class acc x2 link=1TB/s,0us
graph {
  %a = profile:op() : !xfer=1us !time=30us !own=6MiB
  %b = profile:op(%a) : !xfer=1us !time=10us !own=1MiB
  %c = profile:op(%b) : !xfer=1us !time=10us !own=1MiB
  %d = profile:op(%c) : !xfer=1us !time=30us !own=6MiB
  %e = profile:op(%d) : !xfer=1us !time=40us !own=6MiB
}
