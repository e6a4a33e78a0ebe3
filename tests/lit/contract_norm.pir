# norm=true joins decomposed LayerNorm (with its mean, scale and shift), RMSNorm (through casts), Softmax,
# Gelu with Erf and with Tanh, and GroupNorm; a residual addition, a Sqrt that is no norm, and an Erf whose
# result gates another value stay out, and so does a quotient whose dividend is not the sum's operand.
# RUN: %pcc %s -p 'contract{norm=true}' --print-ir-after=contract 2>&1 | FileCheck %s
# RUN: %pcc %s -p contract --print-ir-after=contract 2>&1 | FileCheck %s --check-prefix=OFF
# CHECK-NOT: warning
# CHECK: note: contract: 6 normalisations and activations stay together
# CHECK: level contract: 18 vertices
# CHECK-NEXT: {start}
# CHECK-NEXT: {mean, d, d2, var, ve, sd, n, ns, ln}
# CHECK-NEXT: {res}
# CHECK-NEXT: {c1, p, ms, mse, rms, inv, rn, c2, rw}
# CHECK-NEXT: {max, sub, exp, sum, soft}
# CHECK-NEXT: {scaled, erf, one, gated, gelu}
# CHECK-NEXT: {p3, p3s, inner, tin, tanh, tone, half, tgelu}
# CHECK-NEXT: {r1, inst, r2, gs, gn}
# CHECK-NEXT: {sq}
# CHECK-NEXT: {lone}
# CHECK-NEXT: {s3}
# CHECK-NEXT: {erf3}
# CHECK-NEXT: {one3}
# CHECK-NEXT: {gate3}
# CHECK-NEXT: {exp4}
# CHECK-NEXT: {sum4}
# CHECK-NEXT: {other4}
# CHECK-NEXT: {div4}
# OFF: level contract: 53 vertices
class acc x2 link=1GB/s,1us
graph {
  init %w : f32[8] = [1, 1, 1, 1, 1, 1, 1, 1]
  init %k : f32[] = [0.5]
  init %two : f32[] = [2]
  init %ch : f32[2] = [1, 1]
  init %ax : i64[1] = [2]
  init %g3 : i64[3] = [1, 2, 32]
  init %g4 : i64[3] = [1, 8, 8]
  in %x : f32[1,8,8]
  %start = Relu(%x) : f32[1,8,8] !time=9us
  %mean = ReduceMean(%start, %ax) : f32[1,8,1] !time=1us
  %d = Sub(%start, %mean) : f32[1,8,8] !time=1us
  %d2 = Pow(%d, %two) : f32[1,8,8] !time=1us
  %var = ReduceMean(%d2, %ax) : f32[1,8,1] !time=1us
  %ve = Add(%var, %k) : f32[1,8,1] !time=1us
  %sd = Sqrt(%ve) : f32[1,8,1] !time=1us
  %n = Div(%d, %sd) : f32[1,8,8] !time=1us
  %ns = Mul(%n, %w) : f32[1,8,8] !time=1us
  %ln = Add(%ns, %w) : f32[1,8,8] !time=1us
  %res = Add(%ln, %start) : f32[1,8,8] !time=9us
  %c1 = Cast(%res) {to=1} : f32[1,8,8] !time=1us
  %p = Mul(%c1, %c1) : f32[1,8,8] !time=1us
  %ms = ReduceMean(%p, %ax) : f32[1,8,1] !time=1us
  %mse = Add(%k, %ms) : f32[1,8,1] !time=1us
  %rms = Sqrt(%mse) : f32[1,8,1] !time=1us
  %inv = Div(%k, %rms) : f32[1,8,1] !time=1us
  %rn = Mul(%c1, %inv) : f32[1,8,8] !time=1us
  %c2 = Cast(%rn) {to=1} : f32[1,8,8] !time=1us
  %rw = Mul(%w, %c2) : f32[1,8,8] !time=1us
  %max = ReduceMax(%rw, %ax) : f32[1,8,1] !time=1us
  %sub = Sub(%rw, %max) : f32[1,8,8] !time=1us
  %exp = Exp(%sub) : f32[1,8,8] !time=1us
  %sum = ReduceSum(%exp, %ax) : f32[1,8,1] !time=1us
  %soft = Div(%exp, %sum) : f32[1,8,8] !time=1us
  %scaled = Div(%soft, %k) : f32[1,8,8] !time=1us
  %erf = Erf(%scaled) : f32[1,8,8] !time=1us
  %one = Add(%erf, %k) : f32[1,8,8] !time=1us
  %gated = Mul(%soft, %one) : f32[1,8,8] !time=1us
  %gelu = Mul(%gated, %k) : f32[1,8,8] !time=1us
  %p3 = Pow(%gelu, %two) : f32[1,8,8] !time=1us
  %p3s = Mul(%p3, %k) : f32[1,8,8] !time=1us
  %inner = Add(%gelu, %p3s) : f32[1,8,8] !time=1us
  %tin = Mul(%inner, %k) : f32[1,8,8] !time=1us
  %tanh = Tanh(%tin) : f32[1,8,8] !time=1us
  %tone = Add(%tanh, %k) : f32[1,8,8] !time=1us
  %half = Mul(%gelu, %k) : f32[1,8,8] !time=1us
  %tgelu = Mul(%half, %tone) : f32[1,8,8] !time=1us
  %r1 = Reshape(%tgelu, %g3) : f32[1,2,32] !time=1us
  %inst = InstanceNormalization(%r1, %ch, %ch) : f32[1,2,32] !time=1us
  %r2 = Reshape(%inst, %g4) : f32[1,8,8] !time=1us
  %gs = Mul(%r2, %w) : f32[1,8,8] !time=1us
  %gn = Add(%gs, %w) : f32[1,8,8] !time=1us
  %sq = Sqrt(%gn) : f32[1,8,8] !time=9us
  %lone = Div(%gn, %sq) : f32[1,8,8] !time=9us
  %s3 = Div(%lone, %k) : f32[1,8,8] !time=9us
  %erf3 = Erf(%s3) : f32[1,8,8] !time=9us
  %one3 = Add(%erf3, %k) : f32[1,8,8] !time=9us
  %gate3 = Mul(%one3, %gn) : f32[1,8,8] !time=9us
  %exp4 = Exp(%gate3) : f32[1,8,8] !time=9us
  %sum4 = ReduceSum(%exp4, %ax) : f32[1,8,1] !time=9us
  %other4 = Neg(%exp4) : f32[1,8,8] !time=9us
  %div4 = Div(%other4, %sum4) : f32[1,8,8] !time=9us
  out %div4
}
