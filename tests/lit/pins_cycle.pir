# A cycle that a colour closes, through nodes pinned to two devices, or cut apart: no plan is contiguous, others are found
# or can be given.
# RUN: %pcc %s -p auto-place --pin a=acc0 --pin b=acc1 2>&1 | FileCheck %s
# RUN: %pcc %s -p ip-place --pin a=acc0 --pin b=acc1 2>&1 | FileCheck %s
# RUN: printf 'b=acc1\n.=acc0\n' > %t.plan
# RUN: %pcc %s -p 'plan{from=%t.plan}' --pin a=acc0 --pin b=acc1 2>&1 | FileCheck %s
# CHECK: note: contract: no plan is contiguous: nodes 'a' and 'b' lie on a cycle of nodes that must share a device, and are pinned to two
# CHECK: time per sample 22.00 us
# CHECK-NEXT: bound 22.00 us, gap 0.00 %: optimal
# RUN: sh -c '%pcc %s -p dp-place --pin a=acc0 --pin b=acc1 > %t.dp 2>&1; echo "exit $?" >> %t.dp'; FileCheck --check-prefix=DP %s < %t.dp
# DP: error: no contiguous plan exists: node 'a' cannot run on any device that it may be on
# DP: exit 3
# RUN: %pcc %s -p 'plan{from=%t.plan}' --cut-at=a 2>&1 | FileCheck %s --check-prefix=CUT
# CUT: note: contract: no plan is contiguous: nodes 'a' and 'b', which --cut-at cuts apart, lie on a cycle of nodes that must share a device
# CUT: time per sample 22.00 us
# CUT-NEXT: bound 22.00 us, gap 0.00 %: optimal
# RUN: sh -c '%pcc %s -p auto-place --cut-at=a > %t.auto 2>&1; echo "exit $?" >> %t.auto'; FileCheck --check-prefix=DP %s < %t.auto
# RUN: not %pcc %s -p auto-place --pin a=acc0 --pin c=acc1 2>&1 | FileCheck %s --check-prefix=CLASS
# CLASS: error: contract: nodes that must share a device are pinned to two devices
class acc x2 link=1GB/s,0us
graph {
  %a = profile:op() : !xfer=1us !time=10us !color=1
  %b = profile:op(%a) : !xfer=1us !time=10us
  %c = profile:op(%b) : !xfer=1us !time=10us !color=1
}
