# Memory for the time per sample where values have sizes: what the samples that follow each other have at once.  On one
# device: x of this sample and of the next (10 each), a (40) with b (20), and b of the sample before: 100 B.
# RUN: %pcc %s -p one-place | FileCheck %s
# CHECK: memory live of
# CHECK: acc0 {{.*}} 100 B of 100 B
# What that is made of: x, a and b at one time, and x and b of its neighbours.
# RUN: %pcc %s -p one-place -v 2>&1 | FileCheck %s --check-prefix=MADE
# MADE: memory live weights, state one sample others together as sum
# MADE-NEXT: acc0 0 B 70 B 30 B 100 B 60 B
# A plan that fits by one of the rules alone: the one that holds is obeyed, and both figures are said.
# RUN: sed 's/memory=100B/memory=60B/' %s > %t.60.pir
# RUN: printf '.=acc0\n' > %t.plan
# RUN: %pcc %t.60.pir -p 'plan{from=%t.plan}' --memory-model=sum 2>&1 | FileCheck %s --check-prefix=RULE
# RULE: note: plan from {{.*}}: --memory-model=sum, by which it is judged, says that it fits; by live it does not: acc0 needs 100 B at one time, and 60 B in all
# RUN: sh -c '%pcc %t.60.pir -p "plan{from=%t.plan}" > %t.out 2>&1; echo "exit $?" >> %t.out'
# RUN: FileCheck %s --check-prefix=OTHER < %t.out
# OTHER: error: plan from {{.*}}: acc0 needs 100 B and has 60 B (at one time; --memory-model=sum counts 60 B)
# OTHER: note: plan from {{.*}}: --memory-model=live, by which it is judged, says that it does not fit; by sum it does: acc0 needs 100 B at one time, and 60 B in all
# OTHER: exit 3
# RUN: %pcc %t.60.pir -p 'plan{from=%t.plan,best-effort=true}' -q --emit ir 2>&1 | FileCheck %s --check-prefix=BEST
# The sum counts what nodes make, once.
# RUN: %pcc %s -p one-place --memory-model=sum | FileCheck %s --check-prefix=SUM
# SUM: memory used of
# SUM: acc0 {{.*}} 60 B of 100 B
# Texts of such plans say so, since they state times.
# RUN: %pcc %s -p one-place --emit ir -q | FileCheck %s --check-prefix=TEXT
# TEXT: memory_model=live
# A planner that does not look for plans that fit says so, or leaves its plan.
# RUN: sed 's/memory=100B/memory=99B/' %s > %t.pir
# RUN: not %pcc %t.pir -p one-place -q 2>&1 | FileCheck %s --check-prefix=ONE
# ONE: error: one-place: acc0 would need 100 B of memory and has 99 B (best-effort=true leaves the plan all the same)
# RUN: %pcc %t.pir -p 'one-place{best-effort=true}' --emit ir -q 2>&1 | FileCheck %s --check-prefix=BEST
# BEST: status="over-memory"
# b alone needs a and its own result, whatever runs before or after.
# RUN: sed 's/memory=100B/memory=59B/' %s > %t.tight.pir
# RUN: not %pcc %t.tight.pir -p dp-place -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: no contiguous plan fits the memory of the devices: they need 100 B per device (proven): node 'b' needs 60 B
pcc 1
cluster memory_model=live
class acc x2 memory=100B link=1TB/s,1ps
graph {
  in %x : i8[10] !bytes=10B !elems=10
  %a = Relu(%x) : i8[40] name="a" !bytes=40B !elems=40 !time=10ps !own=40B
  %b = Relu(%a) : i8[20] name="b" !bytes=20B !elems=20 !time=10ps !own=20B
  out %b
}
