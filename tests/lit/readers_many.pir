# A tensor that many parts read: ten are named.
# RUN: %pcc %s 2>/dev/null | FileCheck %s
# CHECK: 1 tensor crosses
# CHECK-NEXT: part 0 -> part 1, part 2, part 3, part 4, part 5, part 6, part 7,
# CHECK-NEXT: part 8, part 9, part 10 and 19 more a
class acc x30
graph {
  %a = profile:op() : ? !xfer=1us !time=10us
  %b1 = profile:op(%a) : ? !xfer=0us !time=10us
  %b2 = profile:op(%a) : ? !xfer=0us !time=10us
  %b3 = profile:op(%a) : ? !xfer=0us !time=10us
  %b4 = profile:op(%a) : ? !xfer=0us !time=10us
  %b5 = profile:op(%a) : ? !xfer=0us !time=10us
  %b6 = profile:op(%a) : ? !xfer=0us !time=10us
  %b7 = profile:op(%a) : ? !xfer=0us !time=10us
  %b8 = profile:op(%a) : ? !xfer=0us !time=10us
  %b9 = profile:op(%a) : ? !xfer=0us !time=10us
  %b10 = profile:op(%a) : ? !xfer=0us !time=10us
  %b11 = profile:op(%a) : ? !xfer=0us !time=10us
  %b12 = profile:op(%a) : ? !xfer=0us !time=10us
  %b13 = profile:op(%a) : ? !xfer=0us !time=10us
  %b14 = profile:op(%a) : ? !xfer=0us !time=10us
  %b15 = profile:op(%a) : ? !xfer=0us !time=10us
  %b16 = profile:op(%a) : ? !xfer=0us !time=10us
  %b17 = profile:op(%a) : ? !xfer=0us !time=10us
  %b18 = profile:op(%a) : ? !xfer=0us !time=10us
  %b19 = profile:op(%a) : ? !xfer=0us !time=10us
  %b20 = profile:op(%a) : ? !xfer=0us !time=10us
  %b21 = profile:op(%a) : ? !xfer=0us !time=10us
  %b22 = profile:op(%a) : ? !xfer=0us !time=10us
  %b23 = profile:op(%a) : ? !xfer=0us !time=10us
  %b24 = profile:op(%a) : ? !xfer=0us !time=10us
  %b25 = profile:op(%a) : ? !xfer=0us !time=10us
  %b26 = profile:op(%a) : ? !xfer=0us !time=10us
  %b27 = profile:op(%a) : ? !xfer=0us !time=10us
  %b28 = profile:op(%a) : ? !xfer=0us !time=10us
  %b29 = profile:op(%a) : ? !xfer=0us !time=10us
}
plan {
  a=acc0
  b1=acc1
  b2=acc2
  b3=acc3
  b4=acc4
  b5=acc5
  b6=acc6
  b7=acc7
  b8=acc8
  b9=acc9
  b10=acc10
  b11=acc11
  b12=acc12
  b13=acc13
  b14=acc14
  b15=acc15
  b16=acc16
  b17=acc17
  b18=acc18
  b19=acc19
  b20=acc20
  b21=acc21
  b22=acc22
  b23=acc23
  b24=acc24
  b25=acc25
  b26=acc26
  b27=acc27
  b28=acc28
  b29=acc29
}
