# Memory for the latency where values have sizes: one sample alone, so that a device needs its weights and its largest
# subgraph, not all together.  In two slots acc0 runs a (x 10 B, a 40 B, w 8 B), later c (b 20 B, c 30 B): it has x and a
# at once, then b, which comes back, and c.  As one part with b between them this would be no plan.
# RUN: %pcc %s | FileCheck %s
# CHECK: memory live of
# CHECK: acc0 {{.*}} 58 B of 58 B
# CHECK: acc1 {{.*}} 60 B of 60 B
# All of it together, as the sum counts, is not there.
# RUN: %pcc %s -q --emit json > %t.json
# RUN: not %pcc %s -p 'plan{from=%t.json}' --memory-model=sum 2>&1 | FileCheck %s --check-prefix=SUM
# SUM: error: {{.*}}acc0 needs 78 B and has 58 B
# SUM: note: {{.*}} by live it does: acc0 needs 58 B at one time, and 78 B in all
# A byte less, and nothing fits; the message says what holds in every order.
# RUN: sed "s/memory=58B/memory=57B/; s/memory=60B/memory=57B/" %s > %t.less.pir
# RUN: not %pcc %t.less.pir --objective=latency -p latency-place -q 2>&1 | FileCheck %s --check-prefix=LESS
# LESS: error: no contiguous plan {{.*}}(proven): node {{.*}}b{{.*}} needs 60 B
# Planners find the plan, where an accelerator may have two slots, and prove it.
# RUN: not %pcc %s --objective=latency -p latency-place -q 2>&1 | FileCheck %s --check-prefix=ONE
# ONE: they need 78 B per device (proven)
# RUN: %pcc %s --objective=latency -p 'latency-place{q=2}' | FileCheck %s --check-prefix=TWO
# RUN: %pcc %s --objective=latency -p 'ip-place{q=2}' | FileCheck %s --check-prefix=BOTH
# BOTH: acc0 {{.*}} 58 B of 58 B
# TWO: acc0 {{.*}} 58 B of 58 B
# TWO: optimal among contiguous plans
# The table of Baechi's paper is about makespans.
# RUN: sh -c '%pcc %s --objective=latency --memory-model=paper -q > %t.out 2>&1; echo "exit $?" >> %t.out'
# RUN: FileCheck %s --check-prefix=PAPER < %t.out
# PAPER: error: --memory-model=paper is about one sample alone: it needs --objective=makespan or --judge=makespan
# PAPER: exit 2
pcc 1
cluster memory_model=live
class acc x1 memory=58B link=1TB/s,1ps
class big x1 memory=60B link=1TB/s,1ps
costs 2
graph {
  in %x : i8[10] !bytes=10B !elems=10
  init %w : i8[8] = [1, 2, 3, 4, 5, 6, 7, 8] !bytes=8B !elems=8
  %a = Relu(%x, %w) : i8[40] name="a" !bytes=40B !elems=40 !time=[10ps,90ps] !own=40B
  %b = Relu(%a) : i8[20] name="b" !bytes=20B !elems=20 !time=[90ps,10ps] !own=20B
  %c = Relu(%b) : i8[30] name="c" !bytes=30B !elems=30 !time=[10ps,90ps] !own=30B
  out %c
}
plan "by hand" objective="latency" status=heuristic value=1us {
  "a" = acc0 slot=1
  "b" = acc1 slot=1
  "c" = acc0 slot=2
}
