# Two classes of hosts: nodes that must share a device run on the class that takes least for them all, though each of them
# alone would be faster on another.  The plan's value is what the judge says; the bound takes each node where it is fastest.
# RUN: %pcc %s 2>&1 --objective=latency | FileCheck %s
# RUN: %pcc %s 2>&1 --objective=latency --cpus=unbounded | FileCheck %s
# RUN: %pcc %s 2>&1 --objective=latency -p 'latency-place{max-states=0}' | FileCheck %s
# CHECK-NOT: error
# CHECK: latency 7.000 us
# CHECK-NEXT: bound 4.000 us
class one x2 host
class two x2 host
costs 2
graph {
  %a = profile:op() : ? !time=[2us,5us] !color=1
  %b = profile:op(%a) : ? !time=[5us,2us] !color=1
}
