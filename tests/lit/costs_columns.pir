# Columns of one name are of the classes of that name, in their order, whatever classes are between them.
# RUN: printf 'name,ps_a100,ps_cpu,ps_a100\na,1,2,3\n' > %t.csv
# RUN: %pcc %s -d 1xa100,1xcpu,1xa100:40GiB --costs=%t.csv -p cost -q --emit ir | FileCheck %s
# CHECK: %a = Relu(%x) {{.*}} !time=[1ps,2ps,3ps]
# A table that begins with a byte order mark is read as without it.
# RUN: printf '\357\273\277name,time\na,7us\n' > %t.mark.csv
# RUN: %pcc %s -d 1xa100 --costs=%t.mark.csv -p cost -q --emit ir | FileCheck %s --check-prefix=MARK
# MARK: %a = Relu(%x) {{.*}} !time=7us
graph {
  in %x : f32[4]
  %a = Relu(%x)
  out %a
}
