# A weight that two CPUs of a class read is in their memory once: 100 B, and x, a, b and x again for the other CPU, 4 B.
# RUN: printf '.=cpu0\n' > %t.plan
# RUN: %pcc %s --objective=latency -p 'plan{from=%t.plan}' 2>&1 | FileCheck %s
# RUN: %pcc %s --objective=latency --memory-model=sum -p 'plan{from=%t.plan}' 2>&1 | FileCheck %s
# CHECK-NOT: error
# CHECK: latency 20 ps
# A byte less in all, and it does not fit.
# RUN: sed 's/memory=52B/memory=51B/' %s > %t.less.pir
# RUN: not %pcc %t.less.pir --objective=latency -p 'plan{from=%t.plan}' 2>&1 | FileCheck %s --check-prefix=LESS
# LESS: error: plan from {{.*}}: the hosts of class cpu need 104 B and have 102 B
pcc 1
cluster memory_model=live
class acc x1 memory=1kB link=1TB/s,1ps
class cpu x2 host memory=52B
costs 2
graph {
  in %x : i8[10] !bytes=1B !elems=10
  init %w : i8[1] = [1] !bytes=100B !elems=100
  %a = Add(%x, %w) : i8[100] name="a" !bytes=1B !own=1B !time=[100ps,20ps]
  %b = Mul(%x, %w) : i8[100] name="b" !bytes=1B !own=1B !time=[100ps,20ps]
  out %a
  out %b
}
