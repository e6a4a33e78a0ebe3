# Memory for the time per sample where values have sizes: what the samples that follow each other have at once.  On one
# device: x of this sample and of the next (10 each), a (40) with b (20), and b of the sample before: 100 B.
# RUN: %pcc %s -p one-place | FileCheck %s
# CHECK: memory live of
# CHECK: acc0 {{.*}} 100 B of 100 B
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
