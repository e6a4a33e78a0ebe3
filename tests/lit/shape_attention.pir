# Attention: results and caches of ai.onnx and com.microsoft, with and without a past, of own, grouped and packed heads.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a0, {{.*}} : f32[b,5,72], f32[b,3,s,8], f32[b,3,s,12], f32[b,6,5,s]
# CHECK: %c0, {{.*}} : f32[b,5,72], f32[b,3,p + s,8], f32[b,3,p + s,12], f32[b,6,5,p + s]
# CHECK: %d0, {{.*}} : f32[b,6,5,12], f32[b,3,s,8], f32[b,3,s,12], f32[b,6,5,s]
# CHECK: %e0, {{.*}} : f32[b,6,5,12], f32[b,3,p + s,8], f32[b,3,p + s,12], f32[b,6,5,p + s]
# CHECK: %f0, {{.*}} : f32[b,5,?], f32[*], f32[*], f32[*]
# CHECK: %ma0, {{.*}} : f32[b,s,24], f32[2,b,3,s,8]
# CHECK: %mb0, {{.*}} : f32[b,s,36], f32[2,b,3,s,12]
# CHECK: %mc0, {{.*}} : f32[b,s,24], f32[2,b,3,p + s,8]
# CHECK: %md0, {{.*}} : f32[b,s,24], f32[2,b,3,p,8]
# CHECK: %me0, {{.*}} : f32[b,s,48], f32[b,6,s,8], f32[b,6,s,8]
# CHECK: %mf0, {{.*}} : f32[b,s,48], f32[b,6,p + s,8], f32[b,6,p + s,8]
# CHECK: %mg0, {{.*}} : f32[b,s,48], f32[b,2,?,8], f32[b,2,?,8]
# CHECK: %mh0, {{.*}} : f32[b,s,48], f32[b,2,?,8], f32[b,2,?,8]
# CHECK: %mi0, {{.*}} : f32[b,s,48], f32[b,2,7,8], f32[b,2,9,8]
# CHECK: %mj0, {{.*}} : f32[b,s,48], f32[b,2,7,8], f32[b,2,7,8]
# CHECK: %mk0, {{.*}} : f32[b,s,48], f32[b,2,7,8], f32[b,2,7,8]
# CHECK: %ml0, {{.*}} : f32[b,s,24], f32[b,3,s + 4,8], f32[b,3,s + 4,8], f32[b,3,s,s + 4]
# CHECK: %mm0, {{.*}} : f32[b,s,48], f32[b,6,s,8], f32[b,6,s,8]
# CHECK: %mx0, {{.*}} : f32[b,s,48], f32[b,2,p + s,8], f32[b,2,p,8]
# CHECK: %my0, {{.*}} : f32[b,s,48], f32[b,2,p + s,8], f32[b,2,p + s,8]
opset ai.onnx 23
opset com.microsoft 1
graph {
  in %q : f32[b, 5, 48]
  in %k : f32[b, s, 24]
  in %v : f32[b, s, 36]
  in %pk : f32[b, 3, p, 8]
  in %pv : f32[b, 3, p, 12]
  in %q4 : f32[b, 6, 5, 8]
  in %k4 : f32[b, 3, s, 8]
  in %v4 : f32[b, 3, s, 12]
  in %x : f32[b,s,24]
  in %w : f32[24,72]
  in %bias : f32[72]
  in %past : f32[2,b,3,p,8]
  in %mq : f32[b,s,48]
  in %mk : f32[b,s,16]
  in %mp : f32[b,2,p,8]
  in %lens : i32[b]
  in %all : i32[]
  init %seven : i32[] = [7]
  in %p4 : f32[b,2,4,8]
  in %p9 : f32[b,2,9,8]
  in %packed : f32[b,s,80]
  in %p8 : f32[b,3,4,8]
  in %five : f32[b,s,6,3,8]
  %a0, %a1, %a2, %a3 = Attention(%q, %k, %v) {q_num_heads=6, kv_num_heads=3}
  %c0, %c1, %c2, %c3 = Attention(%q, %k, %v, _, %pk, %pv) {q_num_heads=6, kv_num_heads=3}
  %d0, %d1, %d2, %d3 = Attention(%q4, %k4, %v4)
  %e0, %e1, %e2, %e3 = Attention(%q4, %k4, %v4, _, %pk, %pv)
  %f0, %f1, %f2, %f3 = Attention(%q, %k, %v) {q_num_heads=6}
  %ma0, %ma1 = com.microsoft:Attention(%x, %w, %bias) {num_heads=3}
  %mb0, %mb1 = com.microsoft:Attention(%x, %w, %bias) {num_heads=3, qkv_hidden_sizes=[18, 18, 36]}
  %mc0, %mc1 = com.microsoft:Attention(%x, %w, %bias, _, %past) {num_heads=3}
  %md0, %md1 = com.microsoft:Attention(%x, %w, %bias, _, %past) {num_heads=3, past_present_share_buffer=1}
  %me0, %me1, %me2 = com.microsoft:MultiHeadAttention(%mq, %mq, %mq) {num_heads=6}
  %mf0, %mf1, %mf2 = com.microsoft:MultiHeadAttention(%mq, %mq, %mq, _, _, _, %mp, %mp) {num_heads=6}
  %mg0, %mg1, %mg2 = com.microsoft:GroupQueryAttention(%mq, %mk, %mk, %mp, %mp, %lens, %all) {num_heads=6, kv_num_heads=2}
  %mh0, %mh1, %mh2 = com.microsoft:GroupQueryAttention(%mq, %mk, %mk, _, _, %lens, %all) {num_heads=6, kv_num_heads=2}
  %mi0, %mi1, %mi2 = com.microsoft:GroupQueryAttention(%mq, %mk, %mk, %p4, %p9, %lens, %seven) {num_heads=6, kv_num_heads=2}
  %mj0, %mj1, %mj2 = com.microsoft:GroupQueryAttention(%mq, %mk, %mk, _, _, %lens, %seven) {num_heads=6, kv_num_heads=2}
  %mk0, %mk1, %mk2 = com.microsoft:GroupQueryAttention(%packed, _, _, _, _, %lens, %seven) {num_heads=6, kv_num_heads=2}
  %ml0, %ml1, %ml2, %ml3 = com.microsoft:MultiHeadAttention(%x, %x, %x, _, _, _, %p8, %p8) {num_heads=3}
  %mm0, %mm1, %mm2 = com.microsoft:MultiHeadAttention(%five) {num_heads=6}
  in %long : f32[b,2,p + s,8]
  in %short : f32[b,2,p,8]
  in %vs : f32[p]
  in %vps : f32[p + s]
  %vn1 = Shape(%vs)
  %vn2 = Squeeze(%vn1)
  %vn3 = Cast(%vn2) {to=6}
  %vm1 = Shape(%vps)
  %vm2 = Squeeze(%vm1)
  %vm3 = Cast(%vm2) {to=6}
  %mx0, %mx1, %mx2 = com.microsoft:GroupQueryAttention(%mq, %mk, %mk, %long, %short, %lens, %vn3) {num_heads=6, kv_num_heads=2}
  %my0, %my1, %my2 = com.microsoft:GroupQueryAttention(%mq, %mk, %mk, %long, %short, %lens, %vm3) {num_heads=6, kv_num_heads=2}
  out %a0
}
