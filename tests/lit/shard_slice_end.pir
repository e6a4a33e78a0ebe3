# A Slice to the end, whatever the size is, keeps unequal pieces: nothing of its lists is divided.
# RUN: %pcc %s --io=free --part-cost=0 -q -p 'shard{ways=2}' --emit ir | FileCheck %s
# CHECK: %"k@0" = Slice(%"a@0", %start, %stop, %axis) : f32[2048,4095]
# CHECK: %"k@1" = Slice(%"a@1", %start, %stop, %axis) : f32[2047,4095]
cluster network=direct
class acc x2 link=1GB/s,1us peak=[f32:1T] bandwidth=1TB/s
opset ai.onnx 17
graph {
  in %x : f32[4095,4095]
  init %start : i64[1] = [0]
  init %stop : i64[1] = [9223372036854775807]
  init %axis : i64[1] = [0]
  %a = Exp(%x)
  %k = Slice(%a, %start, %stop, %axis)
  %b = Tanh(%k)
  %s = Shape(%b)
  out %s
}
