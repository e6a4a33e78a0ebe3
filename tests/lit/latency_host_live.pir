# Hosts of a class share their memory where values have sizes, too: a and b need 70 B on one CPU, which has 50 B, and the
# other one has 50 B more.
# RUN: %pcc %s --objective=latency -p latency-place | FileCheck %s
# RUN: %pcc %s --objective=latency | FileCheck %s
# CHECK: cpu0 {{.*}} 70 B of 50 B
# CHECK: latency 92 ps
# CHECK-NEXT: bound 92 ps, gap 0.00 %: optimal
# A plan over memory is looked for again: with 20 B for each host the accelerator runs all.
# RUN: sed 's/memory=50B/memory=20B/' %s > %t.less.pir
# RUN: %pcc %t.less.pir --objective=latency | FileCheck %s --check-prefix=AGAIN
# AGAIN: acc0 {{.*}} 70 B of 200 B
# AGAIN: latency 152 ps
# AGAIN-NEXT: bound 92 ps
# RUN: sed 's/memory=200B/memory=60B/' %t.less.pir > %t.none.pir
# RUN: not %pcc %t.none.pir --objective=latency -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: latency-place: no plan was found that fits the memory of the devices (not proven): the hosts of class cpu need
# What a plan needs by the other memory model is about all hosts of a class, too.
# RUN: sed 's/memory=50B/memory=40B/' %s > %t.40.pir
# RUN: printf '.=cpu0\n' > %t.plan
# RUN: %pcc %t.40.pir --objective=latency -p 'plan{from=%t.plan}' 2>&1 | FileCheck %s --check-prefix=BOTH
# BOTH: note: {{.*}} by sum it does not: the hosts of class cpu need 70 B at one time, and 90 B in all
pcc 1
cluster memory_model=live
class acc x1 memory=200B link=1TB/s,1ps
class cpu x2 host memory=50B
costs 2
graph {
  in %x : i8[10] !bytes=10B !elems=10
  %a = Relu(%x) : i8[10] name="a" !bytes=40B !own=40B !time=[10ps,20ps]
  %b = Relu(%a) : i8[10] name="b" !bytes=20B !own=20B !time=[90ps,10ps]
  %c = Relu(%b) : i8[10] name="c" !bytes=30B !own=30B !time=[10ps,90ps]
  out %c
}
