# What list schedulers go by, on Celeritas' example of ten nodes, before and after fusing: levels, a critical path, and
# the weight of transfers.  A tensor that two nodes of a cluster read is two edges to the paper and one transfer here.
# RUN: %pcc %s -p levels -q | FileCheck %s --match-full-lines --strict-whitespace --check-prefix=BASE
#      BASE:level        vertices    edges   transfers   computing      CCR of means    once
# BASE-NEXT:base               10       12    33.00 us    28.00 us    1.179    0.982   1.179
# BASE-NEXT:critical path: 28.00 us, 6 of 10 vertices
# BASE-NEXT:  n1 -> n2 -> n5 -> n6 -> n8 -> n9
# BASE-NEXT:      tlevel       blevel          sum  vertex
# BASE-NEXT:        0 ps     26.00 us     26.00 us  n0
# BASE-NEXT:        0 ps     28.00 us     28.00 us  n1
# BASE-NEXT:    4.000 us     24.00 us     28.00 us  n2
# BASE-NEXT:    9.000 us     16.00 us     25.00 us  n3
# BASE-NEXT:    7.000 us     19.00 us     26.00 us  n4
# BASE-NEXT:    12.00 us     16.00 us     28.00 us  n5
# BASE-NEXT:    14.00 us     14.00 us     28.00 us  n6
# BASE-NEXT:    19.00 us     6.000 us     25.00 us  n7
# BASE-NEXT:    23.00 us     5.000 us     28.00 us  n8
# BASE-NEXT:    27.00 us     1.000 us     28.00 us  n9
# BASE-NOT:{{.}}
# RUN: %pcc %s -p 'fuse{range=3:mem=6B:cut=edge},levels' | FileCheck %s --check-prefix=FUSE
#      FUSE: base 10 12 33.00 us 28.00 us 1.179 0.982
# FUSE-NEXT: contract 10 12 33.00 us 28.00 us 1.179 0.982
# FUSE-NEXT: fuse 5 7 16.00 us 28.00 us 0.571 0.408
# FUSE-NEXT: critical path: 27.00 us, 4 of 5 vertices
# FUSE-NEXT: n1 -> n2 (+1) -> n0 (+2) -> n8 (+1)
#      FUSE: 0 ps 27.00 us 27.00 us n1
# FUSE-NEXT: 4.000 us 23.00 us 27.00 us n2, n5
# FUSE-NEXT: 10.00 us 17.00 us 27.00 us n0, n4, n6
# FUSE-NEXT: 10.00 us 14.00 us 24.00 us n3, n7
# FUSE-NEXT: 24.00 us 3.000 us 27.00 us n8, n9
# FUSE-NOT: operators
# RUN: %pcc %s -p 'fuse{range=4:mem=8B:cut=edge},levels' -o %t.levels.csv -q | FileCheck %s --check-prefix=FOUR
# RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t.levels.csv --check-prefix=CSV
# RUN: %pcc %s -p 'fuse{range=4:mem=8B:cut=edge}' --emit levels 2>/dev/null | FileCheck %s --match-full-lines --strict-whitespace --check-prefix=CSV
# FOUR: fuse 4{{ }}
#      CSV:name,vertex,tlevel_ps,blevel_ps,sum_ps,critical
# CSV-NEXT:n1,0,0,28000000,28000000,1
# CSV-NEXT:n2,0,0,28000000,28000000,1
# CSV-NEXT:n5,0,0,28000000,28000000,1
# CSV-NEXT:n0,1,11000000,17000000,28000000,1
# A pass of the library's users, too: the whole table is one of the texts; without the pass an error says so.
# RUN: %pcc %s --emit levels -q 2>%t.err | FileCheck %s --check-prefix=ALONE
# RUN: FileCheck %s --input-file=%t.err --check-prefix=PAGE
# ALONE: n9,9,27000000,1000000,28000000,1
# ALONE-NOT: critical path
# PAGE: critical path: 28.00 us
# No vertices, no time, one vertex, vertices apart.
# RUN: printf 'class acc x2\ngraph {\n}\n' > %t.none.pir && %pcc %t.none.pir -p levels -q | FileCheck %s --check-prefix=NONE
#      NONE: base 0 0 0 ps 0 ps n/a n/a n/a
# NONE-NEXT: critical path: 0 ps, 0 of 0 vertices
# NONE-NEXT: tlevel
# RUN: sed 's/!time=[0-9]*us/!time=0us/' %s > %t.zero.pir && %pcc %t.zero.pir -p levels -q | FileCheck %s --check-prefix=ZERO
#      ZERO: base 10 12 33.00 us 0 ps n/a n/a n/a
# ZERO-NEXT: critical path: 13.00 us, 6 of 10 vertices
# RUN: printf 'class acc x2\ngraph {\n  %%%%a = profile:op() : ? !time=3us\n}\n' > %t.one.pir && %pcc %t.one.pir -p levels -q | FileCheck %s --check-prefix=ONE
#      ONE: base 1 0 0 ps 3.000 us 0.000 n/a
# ONE-NEXT: critical path: 3.000 us, 1 of 1 vertices
# ONE-NEXT: {{^}} a
# RUN: printf 'class acc x2\ngraph {\n%%%%a = profile:op() : ? !time=3us\n%%%%b = profile:op() : ? !xfer=2us !time=2us\n%%%%c = profile:op(%%%%b) : ? !time=1us\n}\n' > %t.apart.pir
# RUN: %pcc %t.apart.pir -p levels -q | FileCheck %s --check-prefix=APART
#      APART: base 3 1 2.000 us 6.000 us 0.333 1.000
# APART-NEXT: critical path: 5.000 us, 2 of 3 vertices
# APART-NEXT: b -> c
#      APART: 0 ps 3.000 us 3.000 us a
# APART-NEXT: 0 ps 5.000 us 5.000 us b
# APART-NEXT: 4.000 us 1.000 us 5.000 us c
# Times are those of the first accelerators, not of the host.
# RUN: printf 'class cpu x1 host\nclass acc x2\ngraph {\n%%%%a = profile:op() : ? !xfer=1us !time=[9us, 3us]\n%%%%b = profile:op(%%%%a) : ? !time=[8us, 2us]\n}\n' > %t.host.pir
# RUN: %pcc %t.host.pir -p levels -q | FileCheck %s --check-prefix=HOST
#      HOST: base 2 1 1.000 us 5.000 us
# HOST-NEXT: critical path: 6.000 us
class acc x2
graph {
  %a04 = profile:op() : !xfer=3us name="n0" !time=4us !own=3B
  %a12, %a13, %a14 = profile:op() : !xfer=3us, !xfer=1us, !xfer=4us name="n1" !time=1us !own=3B
  %a23, %a25 = profile:op(%a12) : !xfer=1us, !xfer=4us name="n2" !time=4us !own=3B
  %a37 = profile:op(%a13, %a23) : !xfer=4us name="n3" !time=6us !own=1B
  %a46 = profile:op(%a04, %a14) : !xfer=4us name="n4" !time=1us !own=1B
  %a56 = profile:op(%a25) : !xfer=1us name="n5" !time=1us !own=2B
  %a68 = profile:op(%a46, %a56) : !xfer=3us name="n6" !time=6us !own=2B
  %a79 = profile:op(%a37) : !xfer=3us name="n7" !time=2us !own=3B
  %a89 = profile:op(%a68) : !xfer=2us name="n8" !time=2us !own=3B
  %a9 = profile:op(%a79, %a89) : !xfer=0ps name="n9" !time=1us !own=1B
}
