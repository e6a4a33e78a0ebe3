# Results of unknown size: what a selection leaves stays rows, not a weight's; TopK, Slice and NonMaxSuppression have
# bounds of their own; a plan whose time comes of such sizes says so.
# RUN: %pcc %s -q -d 2xa100 -p cost --emit csv | FileCheck %s
# CHECK: name,op,flops,traffic_bytes,result_bytes
# 80 classes, at most 100 boxes each: 8,000 rows of 3 i64.
# CHECK: boxes,NonMaxSuppression,{{.*}},192000,
# The first 1,000 of them at most, then as many rows of a product with a weight of 12,544 rows.
# CHECK: first,Slice,{{.*}},24000,
# Two columns of all rows: what a selection takes of each row bounds no rows.
# CHECK: columns,Slice,{{.*}},128000,
# CHECK: larger,TopK,{{.*}},128000,
# CHECK: taken,Gather,{{.*}},8000,
# CHECK: regions,Gather,{{.*}},50176000,
# CHECK: fc6,Gemm,1605632000,{{.*}},256000,
# The smallest of 300 and a count that is not known.
# CHECK: best,TopK,{{.*}},288000,
# RUN: %pcc %s -q -d 2xa100 --dim '?=7' -p cost --emit csv | FileCheck %s --check-prefix=SEVEN
# SEVEN: boxes,NonMaxSuppression,{{.*}},168,
# SEVEN: fc6,Gemm,11239424,{{.*}},1792,
# RUN: %pcc %s -d 1xa100 2>&1 | FileCheck %s --check-prefix=SAID
# SAID: for estimated sizes: {{[0-9.]+}} % of the time
# SAID: optimal for these sizes
# The text of a plan keeps that.
# RUN: %pcc %s -q -d 1xa100 -p dp-place --emit ir -Wno-unknown-size > %t.plan.pir
# RUN: %pcc %t.plan.pir -p dp-place | FileCheck %s --check-prefix=SAID
# RUN: printf 'name,op,ps_a100\nfc6,,5000000\nregions,,5000000\nboxes,,5000000\nbest,,5000000\nfirst,,5000000\ncolumns,,5000000\nlarger,,5000000\ntaken,,5000000\n' > %t.csv
# RUN: %pcc %s -d 1xa100 --costs %t.csv -W no-unsized-cost 2>&1 | FileCheck %s --check-prefix=MEASURED
# MEASURED-NOT: estimated sizes
# MEASURED: optimal
graph {
  in %at : f32[1,5000,4]
  in %scores : f32[1,80,5000]
  in %maps : f32[5000,12544]
  in %count : i64[1]
  init %most : i64[1] = [100]
  init %zero : i64[1] = [0]
  init %thousand : i64[1] = [1000]
  init %zeroth : i64[1] = [0]
  init %second : i64[1] = [1]
  init %two : i64[1] = [2]
  init %single : i64[1] = [1]
  init %column : i64[] = [2]
  in %weight : f32[12544,64]
  init %limit : i64[1] = [300]
  %boxes = NonMaxSuppression(%at, %scores, %most)
  %first = Slice(%boxes, %zero, %thousand, %zeroth)
  %columns = Slice(%boxes, %zero, %two, %second)
  %larger, %which = TopK(%columns, %single) {axis=1}
  %taken = Gather(%first, %column) {axis=1}
  %regions = Gather(%maps, %taken) {axis=0}
  %fc6 = Gemm(%regions, %weight)
  %least = Min(%limit, %count)
  %best, %places = TopK(%scores, %least) {axis=2}
  out %larger
  out %fc6
  out %best
  out %places
}
