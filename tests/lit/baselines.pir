# The simple planners on a graph whose plans can be worked out by hand; the table of --baselines.
# a, c fill acc0 in the depth-first order a c b x d e; x is too large for an empty accelerator and does not end
# acc1, which takes b and d; e is left for the host.
# RUN: %pcc %s -p greedy-place --emit ir -q | FileCheck %s --check-prefix=GREEDY
# GREEDY: plan "greedy-place" status=feasible value=420us
# GREEDY-SAME: accelerators filled in a depth-first order, 2 of 6 vertices left for the hosts
# GREEDY-NEXT: "a" = acc0
# GREEDY-NEXT: "b" = acc1
# GREEDY-NEXT: "c" = acc0
# GREEDY-NEXT: "x" = cpu0
# GREEDY-NEXT: "d" = acc1
# GREEDY-NEXT: "e" = cpu0
# A pin comes first.
# RUN: %pcc %s -p greedy-place --pin 'a=acc1' --emit ir -q | FileCheck %s --check-prefix=PIN
# PIN: "a" = acc1
# PIN-NEXT: "b" = acc0
# PIN-NEXT: "c" = acc0
# PIN-NEXT: "x" = cpu0
# PIN-NEXT: "d" = acc1
# PIN-NEXT: "e" = cpu0
# Everything fits the host alone; on an accelerator it is faster, and over memory.
# RUN: %pcc %s -p one-place --emit ir -q | FileCheck %s --check-prefix=ONE
# ONE: plan "one-place" status=feasible value=1ms
# ONE-NOT: acc
# RUN: %pcc %s -p 'one-place{best-effort=true}' --emit ir -q 2>&1 | FileCheck %s --check-prefix=BEST
# BEST: warning: one-place: acc0 would need 36.00 MiB of memory and has 10.00 MiB [-Wover-memory]
# BEST: plan "one-place" status="over-memory" value=70us
# BEST-NOT: cpu0
# RUN: sh -c '%pcc %s -p one-place --pin x=acc1 -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=FULL < %t.out
# FULL: error: one-place: acc1 would need 36.00 MiB of memory and has 10.00 MiB (best-effort=true leaves the plan all the same)
# FULL: exit 3
# RUN: sh -c '%pcc %s -p one-place --pin a=acc0 --pin e=acc1 -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=PINS < %t.out
# PINS: error: one-place: no device can run everything: nodes are pinned to several devices
# PINS: exit 3
# RUN: sh -c '%pcc %s -p local-place --pin "a|b|c=acc0" -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=LOCAL < %t.out
# LOCAL: error: local-place: acc{{[01]}} would need {{.*}} MiB of memory and has 10.00 MiB
# LOCAL: exit 3
# Planners whose loads are plain sums say so.
# RUN: sh -c '%pcc %s -p local-place --overlap=max -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s --check-prefix=OVERLAP < %t.out
# OVERLAP: error: local-place knows no transfers beside computing; dpl-place, dp-place, ip-place, anneal-place, auto-place and pipedream-place do{{$}}
# OVERLAP: exit 1
# The table: the plan's row, then the baselines'; beside --emit on stderr.
# RUN: %pcc %s -p dp-place --baselines -q | FileCheck %s --check-prefix=TABLE
# RUN: %pcc %s -p dp-place --baselines --emit json 2>&1 >%t.json | FileCheck %s --check-prefix=TABLE
# RUN: %pcc %s -p dp-place --emit json > %t.alone.json
# RUN: cmp %t.json %t.alone.json
# TABLE: time per sample of plan's memory shape parts seconds planner
# TABLE-NEXT: 330.0 us 1.000 fits contiguous 3 - dp-place
# TABLE-NEXT: 70.00 us 0.212 over contiguous 1 {{[0-9.]+}} one-place
# TABLE-NEXT: 420.0 us 1.273 fits scattered 5 {{[0-9.]+}} greedy-place
# TABLE-NEXT: 42.00 us 0.127 over contiguous 2 {{[0-9.]+}} local-place
# TABLE-NEXT: 580.0 us 1.758 fits contiguous 2 {{[0-9.]+}} pipedream-place
# TABLE-NEXT: {{.*}} scotch-place
# TABLE-NEXT: {{.*}} metis-place
# The summary of the same plan: what each device does, and has.
# RUN: %pcc %s -p dp-place 2>%t.err | FileCheck %s --check-prefix=DEVICES
# DEVICES: 3.03x one cpu (1.000 ms to 330.0 us per sample)
# DEVICES: device class parts nodes compute transfer memory used of busy
# DEVICES-NEXT: acc0 acc 1 2 20.00 us 2.000 us 8.000 MiB of 10.00 MiB {{[.#]+}} 6 %
# DEVICES-NEXT: acc1 acc 1 2 20.00 us 3.000 us 8.000 MiB of 10.00 MiB {{[.#]+}} 6 %
# DEVICES-NEXT: cpu0 cpu 1 2 330.0 us 0 ps 20.00 MiB of any {{#+}} 100 %
# RUN: not %pcc %s -p cost --baselines -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: --baselines: there is no plan to hold them against: give a planner, such as -p auto-place
class acc x2 memory=10MiB link=1GB/s,1us
class cpu host
graph {
  %a = profile:op() : !xfer=1us !time=[10us,100us] !own=4MiB
  %b = profile:op(%a) : !xfer=1us !time=[10us,150us] !own=4MiB
  %c = profile:op(%a) : !xfer=1us !time=[10us,130us] !own=4MiB
  %x = profile:op(%b) : !xfer=1us !time=[20us,200us] !own=16MiB
  %d = profile:op(%b, %c, %x) : !xfer=1us !time=[10us,200us] !own=4MiB
  %e = profile:op(%d) : !xfer=1us !time=[10us,220us] !own=4MiB
}
