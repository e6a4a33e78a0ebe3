# A plan of a training graph is contiguous if backward comes back through the same row of devices.  Here that is not
# the fastest: n5 and n7, which nothing ties to a layer, change places.
# RUN: %pcc %s -p dp-place 2>&1 | FileCheck %s --check-prefix=ROW
# ROW: bound 138 ps, gap 0.00 %: optimal among contiguous plans
# ROW-NEXT: shape: contiguous, 6 parts
# RUN: %pcc %s -p anneal-place 2>&1 | FileCheck %s --check-prefix=ANY
# ANY: time per sample 132 ps
# ANY: shape: not contiguous
cluster overlap=sum schedule=gpipe part_cost=0ps
class acc x4 link=1TB/s,0ps
class cpu x1 host
graph {
  in %v0 : f32[4] !bytes=10B !elems=65
  %v1 = Add(%v0, %v0) : f32[4] name="n0" !bytes=14B !elems=65 !own=2B !time=[36ps,128ps]
  %v2 = Add(%v1, %v1) : f32[4] name="n1" !bytes=17B !elems=65 !own=0B !time=[25ps,147ps]
  %v3 = Add(%v2, %v1) : f32[4] name="n2" !bytes=8B !elems=65 !own=1B !time=[31ps,119ps]
  %v4 = Add(%v3, %v3) : f32[4] name="n3" !bytes=5B !elems=65 !own=2B !time=[27ps,106ps]
  %v5 = Add(%v4, %v4) : f32[4] name="n4" !bytes=9B !elems=65 !own=5B !time=[18ps,109ps]
  %v6 = Add(%v5, %v1) : f32[4] name="n5" !bytes=15B !elems=65 !own=1B !time=[29ps,76ps] !backward
  %v7 = Add(%v6, %v3) : f32[4] name="n6" !bytes=17B !elems=65 !own=5B !time=[30ps,80ps] !backward
  %v8 = Add(%v7, %v5) : f32[4] name="n7" !bytes=5B !elems=65 !own=2B !time=[19ps,122ps] !backward
  out %v8
}
