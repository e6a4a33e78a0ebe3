# STFT: how many frames fit into the samples, from a window or a length; none that is shorter than its window.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = STFT{{.*}} : f32[2,22,9,2]
# CHECK: %b = STFT{{.*}} : f32[2,22,16,2]
# CHECK: %c = STFT{{.*}} : f32[2,22,8,2]
# CHECK: %e = STFT{{.*}} : f32[2,22,9,2]
# CHECK: %f = STFT{{.*}} : f64[b,(n//2) - 7,16,2]
# CHECK: %g = STFT{{.*}} : f32[2,?,9,2]
# CHECK: %h = STFT{{.*}} : f32[2,?,?,2]
# CHECK: %i = STFT{{.*}} : f32[2,1,51,2]
# CHECK: %j = STFT{{.*}} : f32[2,?,51,2]
# CHECK: %k = STFT{{.*}} : f32[2,?,9,2]
opset ai.onnx 17
graph {
  in %x : f32[2,100,1]
  in %d : f64[b,n,2]
  in %w : f32[16]
  in %step : i64[]
  init %two : i64[] = [2]
  init %s4 : i64[] = [4]
  init %l15 : i64[] = [15]
  init %l16 : i64[] = [16]
  init %l100 : i64[] = [100]
  init %l101 : i64[] = [101]
  init %zero : i64[] = [0]
  %a = STFT(%x, %s4, %w)
  %b = STFT(%x, %s4, %w) {onesided=0}
  %c = STFT(%x, %s4, _, %l15)
  %e = STFT(%x, %s4, %w, %l16) {onesided=1}
  %f = STFT(%d, %two, _, %l16) {onesided=0}
  %g = STFT(%x, %step, %w)
  %h = STFT(%x, %s4)
  %i = STFT(%x, %s4, _, %l100)
  %j = STFT(%x, %s4, _, %l101)
  %k = STFT(%x, %zero, %w)
  out %a
}
