# Planners for the time of a training iteration: auto-place leaves it to pipeline-place; parts may cost something, which
# makes for fewer, larger micro-batches; pins and several classes are refused with what to do.
# RUN: %pcc %s -p auto-place --objective=iteration-time --micro-batches=4 2>&1 | FileCheck %s --check-prefix=AUTO
# AUTO: note: auto-place leaves iteration-time to pipeline-place
# AUTO-NOT: no effect
# AUTO: iteration time 24.00 us
# RUN: %pcc %s -p 'auto-place{gain=0}' --objective=iteration-time --micro-batches=4 2>&1 | FileCheck %s --check-prefix=GAIN
# GAIN: note: auto-place leaves iteration-time to pipeline-place; its own options have no effect
# RUN: %pcc %s -p auto-place | FileCheck %s --check-prefix=SAMPLE
# SAMPLE: time per sample
# RUN: not %pcc %s -p auto-place --objective=iteration-time --pin a=acc1 2>&1 | FileCheck %s --check-prefix=PIN
# PIN: error: pipeline-place knows no pins; no planner knows all that is wanted: iteration-time and pins; a plan that is made by hand can be given (plan)
# RUN: %pcc %s -p dapple-place --objective=iteration-time --micro-batches=4 --part-cost=1us | FileCheck %s --check-prefix=COST
# COST: iteration time 32.00 us
# COST-NEXT: bound 32.00 us
class acc x2 link=1TB/s,0ps
graph {
  %a = profile:op() {id=1} : ? !xfer=0us !time=2us !color=1
  %b = profile:op(%a) {id=2} : ? !xfer=0us !time=2us !color=2
  %gb = profile:op(%b) {id=3} : ? !xfer=0us !time=4us !color=2 !backward
  %ga = profile:op(%gb) {id=4} : ? !xfer=0us !time=4us !color=1 !backward
}
