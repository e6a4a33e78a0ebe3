# A model without a backward pass: four micro-batches follow each other through the stages of a plan, each of which takes
# 12 us: 12 + 1.26 + 12 + 3 * 12 us.  No planner makes such stages.
# RUN: %pcc %s -p dp-place -q -o %t.json && %pcc %s -p 'plan{from=%t.json}' --objective=iteration-time --micro-batches=4 2>&1 | FileCheck %s
# RUN: %pcc %s -p 'plan{from=%t.json}' --objective=iteration-time --micro-batches=4 -q -o %t.gantt.svg && grep -q "4 micro-batches" %t.gantt.svg
# RUN: %pcc %s -p 'plan{from=%t.json}' --objective=iteration-time --micro-batches=4 -q -o %t/ && %pcc %t/ --check-schedule | FileCheck %s --check-prefix=LISTS
# RUN: not %pcc %s --objective=iteration-time 2>&1 | FileCheck %s --check-prefix=NONE
# CHECK: 4 micro-batches through 2 stages
# CHECK: stage devices forward to next
# CHECK: 0 acc0 12.00 us 1.260 us
# CHECK: 1 acc1 12.00 us
# CHECK: iteration time 61.26 us
# CHECK-NEXT: bound 48.00 us, gap 21.65 %: feasible
# LISTS: the schedule holds for an iteration of 4 micro-batches
# NONE: error: pipeline-place: the model has no backward pass; -p 'plan{from=FILE}' runs the stages of a plan forward
class acc x2 link=1GB/s,1us
graph {
  in %x : f32[65]
  %a = Relu(%x) : f32[65] name="a" !bytes=260B !elems=65 !own=260B !time=10us
  %b = Relu(%a) : f32[65] name="b" !bytes=260B !elems=65 !own=260B !time=2us
  %c = Relu(%b) : f32[65] name="c" !bytes=260B !elems=65 !own=260B !time=10us
  %d = Relu(%c) : f32[65] name="d" !bytes=260B !elems=65 !own=260B !time=2us
  out %d
}
