# Times and memory measured at two batch sizes give those of another.
# RUN: printf 'name,time,memory\na,10us,100\nb,20us,200\n' > %t.1.csv
# RUN: printf 'name,time,memory\na,12us,140\nb,30us,200\n' > %t.3.csv
# RUN: %pcc %s -q -p cost --profile-at=1=%t.1.csv --profile-at=3=%t.3.csv --dim batch=5 --emit csv | FileCheck %s
# CHECK: a,Relu,
# CHECK-SAME: ,14000000
# CHECK: b,Neg,
# CHECK-SAME: ,40000000
class acc x1
graph {
  in %x : f32[batch]
  %a = Relu(%x) : f32[batch] name="a"
  %b = Neg(%a) : f32[batch] name="b"
  out %b
}
