# Element types that attributes name by number: those that ONNX has not leave the type open.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = Cast(%x) {to=1} : f32[4]
# CHECK: %b = Cast(%x) {to=0} : none[4]
# CHECK: %c = Cast(%x) {to=-1} : none[4]
# CHECK: %d = Cast(%x) {to=26} : {{[a-z]+[0-9]+}}[4]
# CHECK: %e = Cast(%x) {to=27} : none[4]
# CHECK: %f = Cast(%x) {to=1000000000000} : none[4]
class acc x1
graph {
  in %x : i64[4]
  %a = Cast(%x) {to=1}
  %b = Cast(%x) {to=0}
  %c = Cast(%x) {to=-1}
  %d = Cast(%x) {to=26}
  %e = Cast(%x) {to=27}
  %f = Cast(%x) {to=1000000000000}
  out %a, %b, %c, %d, %e, %f
}
