# A sequence of maps from labels to scores.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = {{.*}} : seq(map(i64, f32[]))
# CHECK: %b = {{.*}} : seq(map(str, f32[]))
opset ai.onnx 17
opset ai.onnx.ml 1
graph {
  in %x : f32[n,3]
  %a = ai.onnx.ml:ZipMap(%x) {classlabels_int64s=[1, 2, 3]}
  %b = ai.onnx.ml:ZipMap(%x) {classlabels_strings=["a", "b", "c"]}
  %c = SequenceLength(%a)
  out %c
}
