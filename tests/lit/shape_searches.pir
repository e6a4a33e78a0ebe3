# Searches for tokens: batch, sequences that are returned, length; scores per step, sequence, beam and token.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: com.microsoft:BeamSearch({{.*}} : i32[2,3,20], f32[2,3], f32[?,2,5,100]
# CHECK: com.microsoft:GreedySearch({{.*}} : i32[2,20]
# CHECK: com.microsoft:Sampling({{.*}} : i32[2,20]
# CHECK: com.microsoft:WhisperBeamSearch({{.*}} : i32[2,3,20], f32[2,3], f32[?,2,5,100], f32[*], f32[2]
class acc x1
opset com.microsoft 1
graph {
  in %ids : i32[2,7]
  in %sound : f32[2,80,3000]
  in %penalty : f32[1]
  init %most : i32[1] = [20]
  init %least : i32[1] = [1]
  init %beams : i32[1] = [5]
  init %given : i32[1] = [3]
  %b, %bs, %ba = com.microsoft:BeamSearch(%ids, %most, %least, %beams, %given, %penalty, %penalty) {vocab_size=100}
  %g = com.microsoft:GreedySearch(%ids, %most, %least)
  %s = com.microsoft:Sampling(%ids, %most, %least)
  %w, %ws, %wa, %wc, %wp = com.microsoft:WhisperBeamSearch(%sound, %most, %least, %beams, %given, %penalty, %penalty) {vocab_size=100}
  out %b, %bs, %ba, %g, %s, %w, %ws, %wa, %wc, %wp
}
