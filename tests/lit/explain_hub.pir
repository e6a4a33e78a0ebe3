# The bound around a hub: six of twelve branches with the node that reads all, the others send 4 us each, 96 us on either
# device.  No average says that (72 us), nor the longest node, nor the least load of a device with that node (48 us).
# RUN: printf 'b[0-5]$=acc0\n^b=acc1\nhub=acc0\n' > %t.plan
# RUN: %pcc %s -p 'plan{from=%t.plan}' --explain-bound | FileCheck %s
# CHECK: bound 96.00 us, gap 0.00 %: optimal
# CHECK: what the devices of some nodes must hold or receive
# CHECK: nodes and transfers that somebody pays: 0.144 ms
# CHECK: 0.144 ms by 'hub', 256/256 of its load
# CHECK: hold at most 2 * 1 + 256/256 times T: (0.144 ms + 0.144 ms) / that = 0.096 ms
# CHECK: no plan takes less
class acc x2
graph {
  %b0 = profile:op() : ? !xfer=4us !time=12us
  %b1 = profile:op() : ? !xfer=4us !time=12us
  %b2 = profile:op() : ? !xfer=4us !time=12us
  %b3 = profile:op() : ? !xfer=4us !time=12us
  %b4 = profile:op() : ? !xfer=4us !time=12us
  %b5 = profile:op() : ? !xfer=4us !time=12us
  %b6 = profile:op() : ? !xfer=4us !time=12us
  %b7 = profile:op() : ? !xfer=4us !time=12us
  %b8 = profile:op() : ? !xfer=4us !time=12us
  %b9 = profile:op() : ? !xfer=4us !time=12us
  %b10 = profile:op() : ? !xfer=4us !time=12us
  %b11 = profile:op() : ? !xfer=4us !time=12us
  %hub = profile:op(%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7, %b8, %b9, %b10, %b11) : ? !time=0us
}
