# Another plan beside the run's; one that does not hold is shown, too.
# RUN: printf 'a=acc0\n.=acc1\n' > %t.worse
# RUN: %pcc %s -p dp-place --compare %t.worse -q | FileCheck %s
# CHECK: time per sample bottleneck largest memory bytes cut plan
# CHECK-NEXT: 31.00 us acc0 8.000 MiB 4.000 KiB dp-place
# CHECK-NEXT: 41.00 us acc1 12.00 MiB 4.000 KiB {{.*}}.worse
# RUN: printf '.=acc1\n' > %t.full
# RUN: %pcc %s -p dp-place --compare %t.full -q 2>&1 | FileCheck %s --check-prefix=FULL
# FULL: warning: {{.*}}.full: this plan does not hold: acc1 needs 16.00 MiB and has 14.00 MiB
# FULL: 50.00 us acc1 16.00 MiB 0 B {{.*}}.full
# RUN: not %pcc %s -p cost --compare %t.worse -q 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error: --compare={{.*}}.worse: there is no plan to compare it with
# Reports come first: where one fails nothing is written.
# RUN: rm -f %t.json; not %pcc %s -p dp-place --compare %t.none -o %t.json -q
# RUN: test ! -e %t.json
class acc x2 memory=14MiB link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !bytes=4KiB !time=10us !own=4MiB
  %b = profile:op(%a) : !xfer=1us !bytes=4KiB !time=20us !own=4MiB
  %c = profile:op(%b) : !xfer=1us !bytes=4KiB !time=10us !own=4MiB
  %d = profile:op(%c) : !xfer=1us !bytes=4KiB !time=10us !own=4MiB
}
