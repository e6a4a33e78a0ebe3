# What is left on the table is true as it is rounded: 9.6 us, a and c on one device, is 4.00 % less than 10 us, so
# no plan takes 4.01 % less.
# RUN: %pcc %s -p auto-place 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'auto-place{gain=0}' 2>&1 | FileCheck %s --check-prefix=ALL
# CHECK: time per sample 10.00 us
# CHECK-NEXT: bound 10.00 us, {{.*}} optimal among contiguous plans
# CHECK: no plan of any shape takes 4.01 % less
# ALL: time per sample 9.600 us
# ALL-NEXT: bound 9.600 us, {{.*}}: optimal
# ALL: why: not contiguous: 4.00 % less than
class acc x2
graph {
  %a = profile:op() : !xfer=0us !time=5000ns
  %b = profile:op(%a) : !xfer=0us !time=5000ns
  %c = profile:op(%b) : !xfer=0us !time=4600ns
  %d = profile:op(%c) : !xfer=0us !time=4600ns
}
