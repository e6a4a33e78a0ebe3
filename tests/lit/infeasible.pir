# Memory that is too small: exit code 3, the size that would do, what needs it, and whether that is proven.
# RUN: sh -c '%pcc %s -p dp-place -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s < %t.out
# RUN: sh -c '%pcc %s -p "auto-place{contiguous=true}" -q > %t.auto 2>&1; echo "exit $?" >> %t.auto'; FileCheck %s < %t.auto
# RUN: sh -c '%pcc %s -p dpl-place -q > %t.dpl 2>&1; echo "exit $?" >> %t.dpl'; FileCheck --check-prefix=DPL %s < %t.dpl
# RUN: sh -c 'sed s/=12MiB/=8MiB/ %s > %t.pir; %pcc %t.pir -p dp-place -q > %t.sum 2>&1; echo "exit $?" >> %t.sum'; FileCheck --check-prefix=SUM %s < %t.sum
# CHECK: error: no contiguous plan fits the memory of the devices: they need 14.00 MiB per device (proven): node 'b' needs 12.00 MiB, the largest device that may run it has 8.000 MiB
# CHECK: exit 3
# DPL: error: no contiguous plan fits the memory of the devices: nothing below 12.00 MiB per device does (proven): node 'b' needs 12.00 MiB, {{.*}}; the smallest found needs 14.00 MiB
# DPL: exit 3
# SUM: they need 10.00 MiB per device (proven): all nodes need 18.00 MiB, the devices that may run them have 16.00 MiB in all
# SUM: exit 3
class acc x2 memory=8MiB link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us !own=8MiB
  %b = profile:op(%a) : !xfer=1us !time=10us !own=12MiB
  %c = profile:op(%b) : !xfer=1us !time=10us !own=2MiB
}
