# Cutting a from b costs a transfer that plans without the rule avoid; the bound holds for plans that obey, and it is
# said why.
# RUN: %pcc %s -p dpl-place --cut-at=a --explain-bound 2>&1 | FileCheck %s
# CHECK: time per sample 110
# CHECK: gap 0.00 %: optimal
# CHECK: that joins nodes that are to be cut apart, or are pinned to different devices: no plan takes less than 0.11 ms
class acc x2 link=1GB/s,0us
graph {
  %a = profile:op() : !xfer=100us !time=10us
  %b = profile:op(%a) : !xfer=0us !time=10us
}
