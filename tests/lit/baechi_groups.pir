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
# So with a CPU, to which values have one hop, not two: acc0 ran u, f could start there at 22 and on the CPU at 17.
# RUN: sed -n 's/^#CPU //p' %s > %t.pir
# RUN: %pcc %t.pir -p m-sct-place --emit ir -q | FileCheck %s --check-prefix=CPU
# CPU: "p" = acc0
# CPU-NEXT: "w" = acc1
# CPU-NEXT: "r4" = acc2
# CPU-NEXT: "r0" = cpu0
# CPU-NEXT: "u" = acc0
# CPU-NEXT: "z1" = acc0
# CPU-NEXT: "z2" = acc1
# CPU-NEXT: "f" = cpu0
#CPU ir_version 0
#CPU cluster io_free objective=makespan network=host contention=none memory_model=sum
#CPU class acc x3 link=1TB/s,0ps
#CPU class cpu x1 host
#CPU graph {
#CPU   %p = profile:op() : ? !xfer=10us !time=[5us,never]
#CPU   %w, %w2 = profile:op() : ? !xfer=5us, ? !xfer=0us !time=[12us,never]
#CPU   %r4 = profile:op() : ? !time=[100us,never]
#CPU   %r0 = profile:op() : ? !time=[never,13us]
#CPU   %u = profile:op(%p) : ? !xfer=6us !time=[5us,never]
#CPU   %z1 = profile:op(%w2) : ? !time=[1us,never]
#CPU   %z2 = profile:op(%w2) : ? !time=[1us,never]
#CPU   %f = profile:op(%u, %w) : ? !time=[1us,1us]
#CPU }
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
