# Tables as PyTorch's own operator reads them, and their gradients; lists of columns side by side.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = {{.*}} : f32[b,s,8]
# CHECK: %b = {{.*}} : f32[30,8]
# CHECK: %c = {{.*}} : f32[30,8]
# CHECK: %d = org.pytorch.aten:ATen(%g, %i, %rows) {operator="other"}{{$}}
# CHECK: %e = {{.*}} : f32[b,9]
# CHECK: %f = {{.*}} : f32[b,?]
# CHECK: %h = {{.*}} : f32[b,?]
# CHECK: %j = {{.*}} : f32[b,?]
opset ai.onnx 17
opset ai.onnx.ml 1
opset org.pytorch.aten 1
graph {
  in %t : f32[30,8]
  in %i : i64[b,s]
  in %g : f32[b,s,8]
  in %m : f32[b,5]
  init %rows : i64[] = [30]
  %a = org.pytorch.aten:ATen(%t, %i) {operator="embedding"}
  %b = org.pytorch.aten:ATen(%g, %i, %rows) {operator="embedding_backward"}
  %c = org.pytorch.aten:ATen(%g, %i, %rows) {operator="embedding_dense_backward"}
  %d = org.pytorch.aten:ATen(%g, %i, %rows) {operator="other"}
  %e = ai.onnx.ml:FeatureVectorizer(%m, %m) {inputdimensions=[4, 5]}
  %f = ai.onnx.ml:FeatureVectorizer(%m, %m, %m) {inputdimensions=[2, -1, 3]}
  %h = ai.onnx.ml:FeatureVectorizer(%m, %m) {inputdimensions=[3000000000, 1]}
  %j = ai.onnx.ml:FeatureVectorizer(%m)
  out %a
}
