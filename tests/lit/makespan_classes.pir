# Of several classes each one's plan on one device is judged by its parts: here the slower class, whose inputs are at hand.
# RUN: printf 'name,time\na,25us\nb,25us\nc,25us\nd,25us\n' > %t.a.csv
# RUN: printf 'name,time\na,31.26us\nb,31.26us\nc,31.26us\nd,31.26us\n' > %t.h.csv
# RUN: %pcc %s --costs=%t.a.csv:a --costs=%t.h.csv:h --objective=makespan --part-cost=10us | FileCheck %s
# CHECK: as 1 part, each of which waits for all that it reads: 135.0 us
class a x1 link=1GB/s,0us
class h x1 host
graph {
  in %x1 : f32[6250]
  in %x2 : f32[6250]
  in %x3 : f32[6250]
  in %x4 : f32[6250]
  %a = my:op(%x1) : f32[7500]
  %b = my:op(%a, %x2) : f32[7500]
  %c = my:op(%b, %x3) : f32[7500]
  %d = my:op(%c, %x4) : f32[10]
  out %d
}
