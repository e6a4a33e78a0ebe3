# ConvTranspose: with SAME the result is stride times as large, or less where the kernel is shorter than the stride.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %plain = {{.*}} : f32[1,3,3*h - 1,14]
# CHECK: %same = {{.*}} : f32[1,3,2*h,10]
# CHECK: %short = {{.*}} : f32[1,3,3*h - 1,14]
# CHECK: %apart = {{.*}} : f32[1,3,3*h,15]
# CHECK: %padded = {{.*}} : f32[1,3,3*h,15]
pcc 1
opset ai.onnx 11
graph {
  in %x : f32[1,4,h,5]
  in %w : f32[4,3,2,2]
  %plain = ConvTranspose(%x, %w) {strides=[3, 3]}
  %same = ConvTranspose(%x, %w) {strides=[2, 2], auto_pad="SAME_UPPER"}
  %short = ConvTranspose(%x, %w) {strides=[3, 3], auto_pad="SAME_LOWER"}
  %apart = ConvTranspose(%x, %w) {strides=[3, 3], dilations=[2, 3], auto_pad="SAME_LOWER"}
  %padded = ConvTranspose(%x, %w) {strides=[3, 3], output_padding=[1, 1], auto_pad="SAME_LOWER"}
  out %plain
  out %same
  out %short
  out %apart
  out %padded
}
