# m-SCT on groups of two devices, by hand.  acc2 ran u, whose favourite child f could start there at 17; but where w ran, on
# the second device of the other group, it could at 15.  So acc2 does not wait, and takes z2 at 12.
# RUN: %pcc %s -p m-sct-place --emit ir -q | FileCheck %s
# CHECK: "r0" = acc0
# CHECK-NEXT: "w" = acc1
# CHECK-NEXT: "p" = acc2
# CHECK-NEXT: "r3" = acc3
# CHECK-NEXT: "u" = acc2
# CHECK-NEXT: "z1" = acc1
# CHECK-NEXT: "z2" = acc2
# CHECK-NEXT: "f" = acc1
ir_version 0
cluster io_free objective=makespan network=direct contention=none memory_model=sum
class acc x4 link=1TB/s,0ps group=2 inner_share=1000000
graph {
  %r0 = profile:op() : ? !time=100us
  %w, %w2 = profile:op() : ? !xfer=5us, ? !xfer=0us !time=12us
  %p = profile:op() : ? !xfer=10us !time=5us
  %r3 = profile:op() : ? !time=100us
  %z1 = profile:op(%w2) : ? !time=1us
  %z2 = profile:op(%w2) : ? !time=1us
  %u = profile:op(%p) : ? !xfer=5us !time=5us
  %f = profile:op(%u, %w) : ? !time=1us
}
