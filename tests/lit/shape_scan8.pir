# Scan of opset 8: a batch axis first, which the body does not see, and lengths as operand 0, which may be missing; its
# results get both axes back, as far as a rank of 16 allows.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %s1, %y = Scan{{.*}} : f32[2,5], f32[2,7,3] name="one"
# CHECK: %s2, %z = Scan{{.*}} : f32[2,5], f32[*] name="two"
# CHECK: %s3, %w = Scan{{.*}} : f32[2,5], f32[*] name="three"
# CHECK: %all = Scan{{.*}} : f32[2,7,3] name="four"
# CHECK: %r16 = Scan{{.*}} : f32[2,7,{{(1,){13}1}}] name="most"
# CHECK: %r17 = Scan{{.*}} : f32[*] name="more"
# CHECK: %next = Neg(%state) : f32[5]
# CHECK: %r = Shape(%element) : i64[1]
# CHECK: %pair = Neg(%element) : f32[3]
# CHECK: %next2 = Neg(%state2) : f32[5]
# CHECK: %pair2 = Neg(%element2) : f32[*]
# CHECK: %next3 = Neg(%state3) : f32[5]
# CHECK: %pair3 = Neg(%element3) : f32[*]
# CHECK: %pair4 = Neg(%element4) : f32[3]
opset ai.onnx 8
graph {
  in %len : i64[2]
  in %s : f32[2,5]
  in %x : f32[2,7,3]
  in %u : f32[*]
  in %flat : f32[2]
  %s1, %y = Scan(_, %s, %x) {body=@body, num_scan_inputs=1} name="one"
  %s2, %z = Scan(%len, %s, %u) {body=@unknown, num_scan_inputs=1} name="two"
  %s3, %w = Scan(_, %s, %flat) {body=@short, num_scan_inputs=1} name="three"
  %all = Scan(_, %x) {body=@scans, num_scan_inputs=1} name="four"
  %r16 = Scan(_, %x) {body=@most, num_scan_inputs=1} name="most"
  %r17 = Scan(_, %x) {body=@more, num_scan_inputs=1} name="more"
  out %s1, %y, %s2, %z, %s3, %w, %all, %r16, %r17
}
graph @body of "one" {
  in %state
  in %element
  %next = Neg(%state)
  %r = Shape(%element)
  %pair = Neg(%element)
  out %next, %pair
}
graph @unknown of "two" {
  in %state2
  in %element2
  %next2 = Neg(%state2)
  %pair2 = Neg(%element2)
  out %next2, %pair2
}
graph @short of "three" {
  in %state3
  in %element3
  %next3 = Neg(%state3)
  %pair3 = Neg(%element3)
  out %next3, %pair3
}
graph @scans of "four" {
  in %element4
  %pair4 = Neg(%element4)
  out %pair4
}
graph @most of "most" {
  in %e14
  init %s14 : i64[14] = [1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  %c14 = ConstantOfShape(%s14)
  out %c14
}
graph @more of "more" {
  in %e15
  init %s15 : i64[15] = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
  %c15 = ConstantOfShape(%s15)
  out %c15
}
