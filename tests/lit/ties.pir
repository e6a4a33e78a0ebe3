# Plans of equal time: fewer parts first (one node takes 100 us, all others together 40, so two devices do), then
# fewer tensors and bytes: c and d may be on either side of the cut, and what c makes is four times smaller.
# RUN: %pcc %s -p dp-place | FileCheck %s
# RUN: %pcc %s -p auto-place | FileCheck %s
# CHECK: acc0 {{.*}} 1 3
# CHECK: acc1 {{.*}} 1 2
# CHECK: acc2 {{.*}} 0 0
# CHECK: acc3 {{.*}} 0 0
# CHECK: 1 tensor crosses, 1.000 KiB
# CHECK: time per sample 102.0 us
# CHECK-NEXT: bound 102.0 us, {{.*}} optimal
pcc 1
cluster io_free
class acc x4 link=1GB/s,1us
graph {
  in %x : f32[256]
  %a = Tanh(%x) : f32[1024] name="a" !time=10us !bytes=4KiB !elems=1024
  %b = Tanh(%a) : f32[1024] name="b" !time=10us !bytes=4KiB !elems=1024
  %c = Tanh(%b) : f32[256] name="c" !time=10us !bytes=1KiB !elems=256
  %d = Tanh(%c) : f32[1024] name="d" !time=0us !bytes=4KiB !elems=1024
  %e = Tanh(%d) : f32[1024] name="e" !time=100us !bytes=4KiB !elems=1024
  out %e
}
