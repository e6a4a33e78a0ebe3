# Shapes are inferred of tensors of at most 16 dimensions: at the limit each rule says all, behind it nothing, and what
# has the type of an operand keeps it.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %un15 = {{.*}} : f32[{{(1,){15}1}}]{{$| name}}
# CHECK: %un16 = {{.*}} : f32[*]{{$| name}}
# CHECK: %oh15 = {{.*}} : f32[{{(1,){14}1}},3]{{$| name}}
# CHECK: %oh16 = {{.*}} : f32[*]{{$| name}}
# CHECK: %cs16 = {{.*}} : f32[{{(2,){15}2}}]{{$| name}}
# CHECK: %cs17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %ex16 = {{.*}} : f32[{{(2,){15}2}}]{{$| name}}
# CHECK: %ex17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %rl16 = {{.*}} : f32[{{(1,){15}1}}]{{$| name}}
# CHECK: %rl17 = {{.*}} : f32[{{(1,){16}1}}]{{$| name}}
# CHECK: %rs16 = {{.*}} : f32[{{(2,){15}2}}]{{$| name}}
# CHECK: %rs17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %ga14 = {{.*}} : f32[{{(1,){13}1}},3]{{$| name}}
# CHECK: %ga15 = {{.*}} : f32[{{(1,){14}1}},3]{{$| name}}
# CHECK: %ga16 = {{.*}} : f32[*]{{$| name}}
# CHECK: %rf15 = {{.*}} : f32[{{(1,){15}2}}]{{$| name}}
# CHECK: %rf16 = {{.*}} : f32[*]{{$| name}}
# CHECK: %irf16 = {{.*}} : f32[{{(1,){14}1}}]{{$| name}}
# CHECK: %irf17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %tr16 = {{.*}} : f32[{{(1,){15}1}}]{{$| name}}
# CHECK: %tr17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %sq16 = {{.*}} : f32[{{(1,){14}1}}]{{$| name}}
# CHECK: %sq17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %rd16 = {{.*}} : f32[{{(1,){14}1}}]{{$| name}}
# CHECK: %rd17 = {{.*}} : f32[*]{{$| name}}
# CHECK: %sh16 = {{.*}} : i64[16]{{$| name}}
# CHECK: %sh17 = {{.*}} : i64[?]{{$| name}}
# CHECK: %fl16 = {{.*}} : f32[1,1]{{$| name}}
# CHECK: %fl17 = {{.*}} : f32[?,?]{{$| name}}
# CHECK: %cf15 = {{.*}} : f32[?,{{(1,){14}1}}]{{$| name}}
# CHECK: %cf16 = {{.*}} : f32[*]{{$| name}}
# CHECK: %lo15 = {{.*}} : f32[3,{{(1,){14}1}}]{{$| name}}
# CHECK: %lo16 = {{.*}} : f32[*]{{$| name}}
# CHECK: %sn15 = {{.*}} : f32[{{(1,){14}1}},4]{{$| name}}
# CHECK: %sn16 = {{.*}} : f32[*]{{$| name}}
opset ai.onnx 17
opset com.microsoft 1
graph {
  in %r14 : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  in %r15 : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  in %r16 : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  in %r17 : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  in %b15 : f32[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]
  init %ax : i64[1] = [0]
  init %depth : i64[] = [3]
  init %vals : f32[2] = [0,1]
  in %i14 : i64[1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  in %i15 : i64[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  in %i16 : i64[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  init %s16 : i64[16] = [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]
  init %s17 : i64[17] = [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]
  %un15 = Unsqueeze(%r15, %ax)
  %un16 = Unsqueeze(%r16, %ax)
  %oh15 = OneHot(%i15, %depth, %vals)
  %oh16 = OneHot(%i16, %depth, %vals)
  %cs16 = ConstantOfShape(%s16)
  %cs17 = ConstantOfShape(%s17)
  %ex16 = Expand(%r16, %s16)
  %ex17 = Expand(%r17, %s17)
  %rl16 = Relu(%r16)
  %rl17 = Relu(%r17)
  %rs16 = Reshape(%r16, %s16)
  %rs17 = Reshape(%r17, %s17)
  in %v2 : f32[3,3]
  %ga14 = Gather(%v2, %i14)
  %ga15 = Gather(%v2, %i15)
  %ga16 = Gather(%v2, %i16)
  %rf15 = com.microsoft:Rfft(%r15) {onesided=1, normalized=0, signal_ndim=1}
  %rf16 = com.microsoft:Rfft(%r16) {onesided=1, normalized=0, signal_ndim=1}
  %irf16 = com.microsoft:Irfft(%r16) {onesided=0, normalized=0, signal_ndim=1}
  %irf17 = com.microsoft:Irfft(%r17) {onesided=0, normalized=0, signal_ndim=1}
  %tr16 = Transpose(%r16)
  %tr17 = Transpose(%r17)
  %sq16 = Squeeze(%r16, %ax)
  %sq17 = Squeeze(%r17, %ax)
  %rd16 = ReduceSum(%r16, %ax) {keepdims=0}
  %rd17 = ReduceSum(%r17, %ax) {keepdims=0}
  %sh16 = Shape(%r16)
  %sh17 = Shape(%r17)
  %fl16 = Flatten(%r16) {axis=16}
  %fl17 = Flatten(%r17) {axis=16}
  in %seq : seq(f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])
  in %seq16 : seq(f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])
  %cf15 = ConcatFromSequence(%seq) {axis=0, new_axis=1}
  %cf16 = ConcatFromSequence(%seq16) {axis=0, new_axis=1}
  init %trips : i64[] = [3]
  init %go : bool[] = [1]
  in %steps : f32[4,1]
  %lo15 = Loop(%trips, %go | %r15) {body=@l15} name="l15"
  %lo16 = Loop(%trips, %go | %r16) {body=@l16} name="l16"
  %sn15 = Scan(%steps | %r15) {body=@s15, num_scan_inputs=1, scan_output_axes=[-1]} name="s15"
  %sn16 = Scan(%steps | %r16) {body=@s16, num_scan_inputs=1, scan_output_axes=[-1]} name="s16"
  out %r14
}
graph @l15 of "l15" {
  in %i15l
  in %c15l
  %d15l = Identity(%c15l)
  %m15 = Relu(%r15@main)
  out %d15l, %m15
}
graph @l16 of "l16" {
  in %i16l
  in %c16l
  %d16l = Identity(%c16l)
  %m16 = Relu(%r16@main)
  out %d16l, %m16
}
graph @s15 of "s15" {
  in %e15
  %n15 = Relu(%r15@main)
  out %n15
}
graph @s16 of "s16" {
  in %e16
  %n16 = Relu(%r16@main)
  out %n16
}
