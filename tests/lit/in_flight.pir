# Samples on their way at once, for which devices have room: on one device x, a and b of one sample (10, 40 and 20 B); x of
# the next one, or b of the last; with three or more both.
# RUN: %pcc %s -p one-place --in-flight=1 | FileCheck %s --check-prefix=ONE
# ONE: acc0 {{.*}} 70 B of 100 B
# RUN: %pcc %s -p one-place --in-flight=2 | FileCheck %s --check-prefix=TWO
# TWO: acc0 {{.*}} 90 B of 100 B
# RUN: %pcc %s -p one-place --in-flight=3 | FileCheck %s --check-prefix=THREE
# RUN: %pcc %s -p one-place --in-flight=auto | FileCheck %s --check-prefix=THREE
# THREE: acc0 {{.*}} 100 B of 100 B
# A plan keeps the number; what a sample takes is said where these are fewer than the plan needs.
# RUN: sed 's/memory=100B/memory=65B/' %s > %t.pir
# RUN: %pcc %t.pir -p auto-place --in-flight=1 2>&1 | FileCheck %s --check-prefix=SLOW
# SLOW: note: --in-flight=1: the plan's time per sample takes 2 samples on their way at once; with 1 it is up to 144 ps
# RUN: %pcc %t.pir -p auto-place --in-flight=1 -q --emit json > %t.json
# RUN: FileCheck %s --check-prefix=JSON < %t.json
# JSON: "in_flight": 1{{,|$}}
# RUN: %pcc %t.pir -p 'plan{from=%t.json}' -q --emit ir | FileCheck %s --check-prefix=KEPT
# KEPT: cluster {{.*}}in_flight=1
# So it is where transfers overlap computing (in, computing, out), where copies take turns (a round for each), and by the
# sum, which counts no samples.
# RUN: %pcc %s -p dp-place --overlap=duplex --in-flight=1 2>&1 | FileCheck %s --check-prefix=OVERLAP
# OVERLAP: takes 3 samples on their way at once; with 1 it is up to 63 ps
# RUN: sed 's/time=10ps/time=1ns/' %s > %t.two.pir
# RUN: %pcc %t.two.pir -p dp-place --replicate --in-flight=1 2>&1 | FileCheck %s --check-prefix=TURNS
# TURNS: takes 2 samples on their way at once; with 1 it is up to 2.032 ns
# RUN: %pcc %t.two.pir -p dp-place --replicate --in-flight=2 2>&1 | FileCheck %s --check-prefix=ENOUGH
# ENOUGH-NOT: note
# RUN: sed 's/memory=100B/memory=50B/' %s > %t.50.pir
# RUN: %pcc %t.50.pir -p auto-place --memory-model=sum --in-flight=1 2>&1 | FileCheck %s --check-prefix=COUNTS
# COUNTS: takes 2 samples on their way at once; with 1 it is up to 144 ps
# COUNTS: note: --in-flight=1: by --memory-model=sum devices need the same memory for any number of samples; --memory-model=live counts them
# Where nothing fits, the message says with how many samples something does; exit 3.
# RUN: sh -c '%pcc %t.pir -p dp-place > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=NONE < %t.out
# NONE: error: no contiguous plan fits the memory of the devices: they need 100 B per device (proven); with --in-flight=1 one does
# NONE: exit 3
# RUN: not %pcc %t.pir -p auto-place --in-flight=2 2>&1 | FileCheck %s --check-prefix=FEWER
# FEWER: error: no plan was found {{.*}}; with --in-flight=1 one does
# RUN: sed 's/acc x2/acc x3/; s/name="a" \(.*\)time=10ps/name="a" \1time=1ns/' %t.pir > %t.copies.pir
# RUN: not %pcc %t.copies.pir -p dp-place --replicate 2>&1 | FileCheck %s --check-prefix=COPIES
# RUN: %pcc %t.copies.pir -p dp-place --replicate --in-flight=1 2>&1 | FileCheck %s --check-prefix=ALLOWED
# COPIES: error: no contiguous plan fits the memory of the devices: {{.*}}; with --in-flight=1 one does
# ALLOWED: time per sample
# A plan that is given: which device, what it needs and has, and the largest number that fits.
# RUN: sed 's/memory=100B/memory=95B/' %s > %t.95.pir
# RUN: printf '.=acc0\n' > %t.plan
# RUN: sh -c '%pcc %t.95.pir -p "plan{from=%t.plan}" --in-flight=7 > %t.out 2>&1; echo "exit $?" >> %t.out'
# RUN: FileCheck %s --check-prefix=GIVEN < %t.out
# GIVEN: error: plan from {{.*}}: acc0 needs 100 B and has 95 B {{.*}}; with --in-flight=2 it does
# GIVEN: exit 3
# One sample alone has no others.
# RUN: %pcc %s --objective=latency --in-flight=2 -o %t.alone 2>&1 | FileCheck %s --check-prefix=ALONE
# ALONE: warning: --in-flight has no effect: it is about --objective=time-per-sample
# RUN: FileCheck %s --check-prefix=ONCE < %t.alone/schedule.json
# ONCE: "in_flight": 1,
pcc 1
cluster memory_model=live
class acc x2 memory=100B link=1TB/s,1ps
graph {
  in %x : i8[10] !bytes=10B !elems=10
  %a = Relu(%x) : i8[40] name="a" !bytes=40B !elems=40 !time=10ps !own=40B
  %b = Relu(%a) : i8[20] name="b" !bytes=20B !elems=20 !time=10ps !own=20B
  out %b
}
