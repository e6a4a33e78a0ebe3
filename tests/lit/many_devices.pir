# More than 256 devices: a step names the devices that a transfer is between, and its figures are theirs.
# RUN: %pcc %s | FileCheck %s
# CHECK: acc1 acc {{.*}} 4.000 us 3.000 us {{.*}} 28 %
# CHECK: acc700 acc {{.*}} 1.000 us 5.000 us {{.*}} 7 %
# CHECK: acc1023 acc {{.*}} 4.000 us 2.000 us {{.*}} 28 %
# CHECK: 4.000 us acc1: n0
# CHECK-NEXT: 3.000 us acc1 to acc700: e0
# CHECK-NEXT: 1.000 us acc700: n1
# CHECK-NEXT: 2.000 us acc700 to acc1023: e1
# CHECK-NEXT: 4.000 us acc1023: n2
cluster io_free objective=makespan network=direct contention=port
class acc x1024 link=1TB/s,0ps
graph {
  %n0, %e0 = profile:op() : ?, ? !xfer=3us !time=4us
  %n1, %e1 = profile:op(%e0) : ?, ? !xfer=2us !time=1us
  %n2 = profile:op(%e1) : ? !time=4us
}
plan "by hand" {
  "n0" = acc1
  "n1" = acc700
  "n2" = acc1023
}
