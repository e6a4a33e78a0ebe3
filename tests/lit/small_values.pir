# Each value that crosses pays the link's latency, however small it is, but results of Shape and of what is computed
# from them: of the three that cross, %s is at the host, %e is no integer, %d is computed from what a device has made.
# RUN: %pcc %s -q -p dp-place --pin=[aekd]=acc0 --pin=[xyz]=acc1 --io=free --emit json | FileCheck %s
# CHECK: "name": "acc0"
# CHECK: "transfer_s": 2.0024e-5,
# CHECK: "name": "acc1"
# CHECK: "transfer_s": 2.0024e-5,
class acc x2 link=1GB/s,10us
graph {
  in %i : f32[1000]
  %a = Relu(%i) : f32[1000] name="a" !time=1us
  %s = Shape(%a) : i64[1] !bytes=8B !elems=1
  %e = x:Op(%a) : f32[2] !bytes=8B !elems=2 name="e" !time=1us
  %k = ArgMax(%a) {keepdims = 1} : i64[1] !bytes=8B !elems=1 name="k" !time=1us
  %d = Mul(%k, %k) : i64[1] !bytes=8B !elems=1 name="d" !time=1us
  %x = x:Op(%s) : f32[1000] name="x" !time=1us
  %y = x:Op(%e) : f32[1000] name="y" !time=1us
  %z = x:Op(%d) : f32[1000] name="z" !time=1us
  out %x
  out %y
  out %z
}
