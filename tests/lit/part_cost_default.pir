# A part costs 5 us beside its nodes where pcc estimates their times, and nothing where a file brings times, unless said;
# what is written and read again keeps it.
# RUN: %pcc %s -p dp-place 2>/dev/null | FileCheck %s --check-prefix=FIVE
# RUN: %pcc %s -p dp-place --part-cost=0 2>/dev/null | FileCheck %s --check-prefix=NONE
# RUN: %pcc %s -q -p dp-place --emit ir > %t.five.pir
# RUN: %pcc %t.five.pir -p dp-place 2>/dev/null | FileCheck %s --check-prefix=FIVE
# RUN: %pcc %s -q -p dp-place --part-cost=0 --emit ir > %t.none.pir
# RUN: %pcc %t.none.pir -p dp-place 2>/dev/null | FileCheck %s --check-prefix=NONE
# FIVE: each part takes 5us beside its nodes
# NONE-NOT: each part takes
cluster "2xa100"
graph {
  in %i : f32[100,100]
  %a = Relu(%i) : f32[100,100] name="a"
  out %a
}
