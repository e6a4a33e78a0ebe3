# Shapes and operations of operators that compute, with names where that matters.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# RUN: %pcc %s -q --dim batch=2 --dim past=5 --emit csv | FileCheck %s --check-prefix=FLOPS
# RUN: %pcc --list-ops | FileCheck %s --check-prefix=LIST
# LIST: ai.onnx Conv
# LIST: ai.onnx ImageScaler
# LIST: ai.onnx.ml TreeEnsemble
# LIST: com.microsoft MatMulNBits
# LIST: ai.onnx.preview.training Adam
# CHECK: %state, %last = {{.*}} : f32[batch,3,16], f32[batch,2,4,4]
# CHECK: %turned = {{.*}} : f32[2,3,5]
# CHECK: %nbits = {{.*}} : f32[batch,3,8]
# CHECK: %experts = {{.*}} : f32[6,16]
# CHECK: %attn, %key, %value = {{.*}} : f32[batch,3,16], f32[batch,4,past + 3,4], f32[batch,4,past + 3,4]
# CHECK: %twice = {{.*}} : f32[batch,3,32,2*past]
# CHECK: %pool = {{.*}} : f32[batch,3,8,((past + 1)//2)]
# CHECK: %dots = {{.*}} : f32[batch,3,5]
# CHECK: %shifted = {{.*}} : f32[batch,3,9,2]
# CHECK: %new, %velocity = {{.*}} : f32[4,5], f32[4,5]
# CHECK: %dropped, %bits = {{.*}} : f32[4,5], u32[1]
# CHECK: %fp4 = {{.*}} : f16[batch,6]
# CHECK: %ordered = {{.*}} : i8[batch,3,8]
# CHECK: %packed_conv, %kept = {{.*}} : f32[10,6], f32[2,6,3]
# FLOPS: name,op,flops
# Each of 2 * 3 tokens: 2 heads write 4 * 4 elements and read them for the delta, 4 heads of queries read.
# FLOPS: linear,LinearAttention,1536,
# 2 * 3 * 5 results of 4 products.
# FLOPS: turned,FusedMatMul,240,
# 2 * 3 * 8 results of 32 products.
# FLOPS: nbits,MatMulNBits,3072,
# 6 tokens through one of two experts: 16 * 8 + 8 * 16 weights.
# FLOPS: experts,MoE,3072,
# 2 * 3 rows, 3 + 5 columns, 2 * (16 + 16) for products and 5 * 4 for the softmax.
# FLOPS: attn,MultiHeadAttention,4032,
# 2 * 3 * 5 results of 4 products.
# FLOPS: dots,Einsum,240,
# 3 * 5 results of 4 products, by an equation that leaves the result out.
# FLOPS: inner,Einsum,120,
# 2 * 3 * 9 complex points: 5 * 4 operations each, as 2^4 >= 9.
# FLOPS: shifted,DFT,1080,
# 2 * 6 results of 32 products.
# FLOPS: fp4,MatMulBlockQuantizedFp4Weight,768,
# 2 * 3 * 8 results of 32 products.
# FLOPS: ordered,QOrderedMatMul,3072,
# 10 * 6 results of 4 products.
# FLOPS: conv,VarlenCausalConvWithState,480,
pcc 1
ir_version 9
opset ai.onnx 21
opset com.microsoft 1
opset ai.onnx.preview.training 1
graph {
  in %e1 : f32[3,4]
  in %e2 : f32[4,5]
  in %q : f32[batch,3,16]
  in %k : f32[batch,3,8]
  in %pk : f32[batch,4,past,4]
  in %a : f32[3,2,4]
  in %b : f32[2,4,5]
  in %w : f32[batch,3,32]
  in %packed : u8[8,1,16]
  in %scale : f32[8]
  in %tokens : f32[6,16]
  in %gate : f32[6,2]
  in %fc1 : f32[2,8,16]
  in %fc2 : f32[2,16,8]
  in %image : f32[batch,3,16,past]
  in %x : f32[batch,3,4]
  in %y : f32[4,5]
  in %signal : f32[batch,3,16,1]
  in %half : f16[batch,32]
  in %nibbles : u8[6,16]
  in %bytes : i8[batch,3,32]
  in %columns : i8[32,8]
  in %stream : f32[10,6]
  in %taps : f32[6,1,4]
  in %starts : i32[3]
  in %before : f32[2,6,3]
  in %rate : f32[]
  in %step : i64[]
  init %scales : f32[4] = [1.0, 1.0, 2.0, 2.0]
  init %length : i64[] = [16]
  init %axis : i64[] = [2]
  %state, %last = com.microsoft:LinearAttention(%q, %k, %k) {kv_num_heads=2, q_num_heads=4, update_rule="delta"} name="linear"
  %turned = com.microsoft:FusedMatMul(%a, %b) {transBatchA=1} name="turned"
  %nbits = com.microsoft:MatMulNBits(%w, %packed, %scale) {K=32, N=8, bits=4, block_size=32} name="nbits"
  %experts = com.microsoft:MoE(%tokens, %gate, %fc1, _, %fc2) {k=1} name="experts"
  %attn, %key, %value = com.microsoft:MultiHeadAttention(%q, %q, %q, _, _, _, %pk, %pk) {num_heads=4} name="attn"
  %twice = Resize(%image, _, %scales) name="twice"
  %pool = MaxPool(%image) {ceil_mode=1, kernel_shape=[2, 2], strides=[2, 2]} name="pool"
  %dots = Einsum(%x, %y) {equation="...a,ab->...b"} name="dots"
  %inner = Einsum(%e1, %e2) {equation="ij,jk"} name="inner"
  %shifted = DFT(%signal, %length, %axis) {onesided=1} name="shifted"
  %new, %velocity = ai.onnx.preview.training:Momentum(%rate, %step, %y, %y, %y) {alpha=0.9, beta=0.9, mode="standard", norm_coefficient=0.0} name="train"
  %dropped, %bits = com.microsoft:BitmaskDropout(%y) name="drop"
  %fp4 = com.microsoft:MatMulBlockQuantizedFp4Weight(%half, %nibbles, %nibbles, %rate) name="fp4"
  %ordered = com.microsoft:QOrderedMatMul(%bytes, %rate, %columns, %rate, %rate) {order_A=1, order_B=0, order_Y=1} name="ordered"
  %packed_conv, %kept = com.microsoft:VarlenCausalConvWithState(%stream, %taps, %starts, _, %before) name="conv"
}
