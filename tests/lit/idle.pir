# What -v says of devices without nodes: what it would cost to use them, in plans that the judge has tried.
# RUN: %pcc %s -v -p one-place 2>&1 | FileCheck %s --check-prefix=COST
# RUN: sed 's/xfer=100us/xfer=1us/' %s > %t.near.pir
# RUN: %pcc %t.near.pir -v -p one-place 2>&1 | FileCheck %s --check-prefix=SAVE
# RUN: %pcc %t.near.pir -v -p one-place --pin a=acc0 --pin b=acc0 2>&1 | FileCheck %s --check-prefix=PINNED
# RUN: %pcc %t.near.pir -v -p dp-place 2>&1 | FileCheck %s --check-prefix=THIRD
# RUN: %pcc %s -q -p one-place 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
# RUN: %pcc %s -v -p order-place --objective=makespan 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
# One device: 20 us.  Two: 10 us, and the transfer of %a, on each.
# COST: acc1, acc2 unused: would cost 450 % in the best of 4 plans that give it another device's first or last nodes
# SAVE: acc1, acc2 unused: would save 45 % in the best of 4 plans
# PINNED: acc1, acc2 unused: memory, pins or operators keep the other devices' first and last nodes off it
# THIRD: acc2 unused: no other device has two nodes
# QUIET-NOT: unused
class acc x3 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=100us !time=10us
  %b = profile:op(%a) : !xfer=0ps !time=10us
  out %b
}
