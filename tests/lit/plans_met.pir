# Searches count more for some sets of nodes than the judge does (the neighbours of a sample).  Where none of their plans
# fits, a plan that they meet while they look for the memory that would do is taken.
# RUN: %pcc %s -p auto-place | FileCheck %s
# RUN: %pcc %s -p anneal-place | FileCheck %s
# RUN: %pcc %s -p dp-place | FileCheck %s
# CHECK: acc0 {{.*}} 102 B of 106 B
# CHECK: time per sample 216 ps
# CHECK-NEXT: bound 21{{[45]}} ps
pcc 1
cluster memory_model=live
class acc x2 memory=106B link=1TB/s,1ps
graph {
  in %x0 : i8[1] !bytes=10B
  in %x1 : i8[1] !bytes=19B
  %v0 = profile:op(%x0) : ? !bytes=2B !time=13ps
  %v1 = profile:op(%x1) : ? !bytes=4B !time=17ps
  %v2 = profile:op(%x1) : ? !bytes=12B !time=85ps
  %v3 = profile:op(%x1) : ? !bytes=0B !time=91ps
  %v4 = profile:op(%x1) : ? !bytes=20B !time=73ps
  %v5 = profile:op(%x1) : ? !bytes=22B !time=54ps
  out %v4
  out %v5
}
