# What parts take is compared with the whole model as one part on one device: 62 us of nodes and 10 us for the part.
# RUN: %pcc %s --objective=makespan -p heft-place --part-cost=10us | FileCheck %s
# CHECK: as 2 parts, each of which waits for all that it reads: {{.*}} us
# CHECK-NEXT: as {{.}}, with --cut=transfers: {{.*}} us
# CHECK-NEXT: as 1, on one acc (--judge=makespan -p one-place): 72.00 us
# The default planner chooses by what parts take.  With few parts no plan for two devices is quicker than that part, even
# where a part takes no time; parts cut at transfers are.
# RUN: sed -e 's/profile:op()/my:op(%x)/; s/profile:op/my:op/; s/: !xfer=1us !time=.*/: f32[250]/' \
# RUN:   -e 's/^graph {/graph {\n  in %x : f32[250]/; s/^}/  out %f\n}/' %s > %t.op.pir
# RUN: printf 'name,time\na,10us\nb,12us\nc,10us\nd,10us\ne,10us\nf,10us\n' > %t.csv
# RUN: %pcc %t.op.pir --costs=%t.csv --io=free --objective=makespan --part-cost=10us | FileCheck %s --check-prefix=CHOSEN
# CHOSEN: as 1 part, each of which waits for all that it reads: 72.00 us
# CHOSEN: why: everything on one device; its parts take less than those of the
# RUN: %pcc %t.op.pir --costs=%t.csv --io=free --objective=makespan --part-cost=0us --cut=few | FileCheck %s --check-prefix=FEW
# FEW: as 1 part, each of which waits for all that it reads: 62.00 us
# Of a profile no folder can be made: its nodes decide.
# RUN: %pcc %s --objective=makespan --part-cost=10us --cut=few | FileCheck %s --check-prefix=PROFILE
# PROFILE: makespan 44.00 us
# That command shows it.  Where the model returns values on the way, more parts of that device are slower, and nothing is
# said of one part again.
# RUN: sed 's/^}/  out %b, %d, %f\n}/' %s > %t.out.pir
# RUN: %pcc %t.out.pir --judge=makespan -p one-place --part-cost=10us | FileCheck %s --check-prefix=ONE
# ONE: as 1 part, each of which waits for all that it reads: 75.00 us
# ONE-NEXT: makespan
# A part that takes no time: the plan's parts are quicker, and nothing is said.
# RUN: %pcc %s --objective=makespan --part-cost=0us | FileCheck %s --check-prefix=FREE
# FREE: as 6 parts, each of which waits for all that it reads: 44.00 us
# FREE-NEXT: as 2, with --cut=few: 66.00 us
# FREE-NEXT: makespan 44.00 us
# What a plan is shown by does not change the parts of its folder.
# RUN: %pcc %t.op.pir --costs=%t.csv --io=free --objective=makespan --part-cost=0us -q --pictures=none -o %t.one/
# RUN: %pcc %t.op.pir --costs=%t.csv --io=free --objective=makespan --part-cost=0us -q --pictures=none --judge=time-per-sample -o %t.two/
# RUN: ls %t.one | grep -c 'part.*onnx' | FileCheck %s --check-prefix=FOLDER
# RUN: ls %t.two | grep -c 'part.*onnx' | FileCheck %s --check-prefix=FOLDER
# FOLDER: 6
class acc x2 link=1GB/s,0us
graph {
  %a = profile:op() : !xfer=1us !time=10us
  %b = profile:op(%a) : !xfer=1us !time=12us
  %c = profile:op(%a) : !xfer=1us !time=10us
  %d = profile:op(%b) : !xfer=1us !time=10us
  %e = profile:op(%b, %c) : !xfer=1us !time=10us
  %f = profile:op(%d, %e) : !xfer=1us !time=10us
}
