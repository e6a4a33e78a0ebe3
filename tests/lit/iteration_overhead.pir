# Devices that share a micro-batch each take what operators take beside computing, whole: of 10 us 4 us and half of 6 us,
# of 12 us 12 us.  Text carries it; what a file of times gives has none.
# RUN: %pcc %s -d 2xv100 --link 1000GB/s,0us --objective=iteration-time --slices=any --part-cost=0s -p data-parallel-place --emit ir -q > %t.pir
# RUN: FileCheck %s < %t.pir
# RUN: %pcc %t.pir --judge=iteration-time | FileCheck %s --check-prefix=AGAIN
# RUN: printf 'name,time\na,10us\nb,12us\n' > %t.csv
# RUN: %pcc %s -d 2xv100 --link 1000GB/s,0us --objective=iteration-time --slices=any --part-cost=0s -p data-parallel-place --costs %t.csv --emit ir -q | FileCheck %s --check-prefix=GIVEN
# CHECK: %a = profile:op() : ? !xfer=0ps !time=10us !overhead=4us
# CHECK: plan "data-parallel-place" {{.*}} value=19us
# AGAIN: iteration time 19.00 us
# GIVEN-NOT: overhead=12us
# GIVEN: plan "data-parallel-place" {{.*}} value=11us
# Times of any accelerator are whole, and no overhead is longer than its time.
# RUN: sed 's/^graph/costs accelerator\ngraph/' %s > %t.2.pir
# RUN: not %pcc %t.2.pir 2>&1 | FileCheck %s --check-prefix=ANY
# ANY: the times of 'costs accelerator' have no overhead
# Costs say by themselves that overheads are known, where all of them are 0.
# RUN: sed 's/ !overhead=[0-9us]*//; s/^graph/costs 1 overhead\ngraph/' %s > %t.3.pir
# RUN: %pcc %t.3.pir --emit ir -q | FileCheck %s --check-prefix=KNOWN
# KNOWN: costs 1 overhead
# KNOWN-NOT: !overhead
graph {
  %a = profile:op() : !xfer=0us !time=10us !overhead=4us
  %b = profile:op(%a) : !xfer=0us !time=12us !overhead=99us !backward
}
