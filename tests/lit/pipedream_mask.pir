# What takes no time and reads nothing is no part of a branching: two layers of a chain read a mask, and the chain can
# still be cut between any two of them.  One that takes time ties together what lies between its readers.
# RUN: %pcc %s -p 'contract{trivial=false},pipedream-place' --emit ir -q | FileCheck %s
# CHECK: plan "pipedream-place" {{.*}}value=2{{[0-9.]*}}ms
# CHECK: "a" = acc[[FIRST:[0-9]]]
# CHECK-NEXT: "b" = acc[[FIRST]]
# CHECK-NEXT: "c" = acc[[SECOND:[0-9]]]
# CHECK-NEXT: "d" = acc[[SECOND]]
# RUN: sed 's/time=0us/time=1us/' %s > %t.timed
# RUN: %pcc %t.timed -p 'contract{trivial=false},pipedream-place' --emit ir -q | FileCheck %s --check-prefix=TIMED
# TIMED: plan "pipedream-place" {{.*}}value=3{{[0-9.]*}}ms
class acc x2
graph {
  %mask = profile:op() : ? !xfer=1us !time=0us
  %a = profile:op(%mask) : ? !xfer=1us !time=1ms
  %b = profile:op(%a) : ? !xfer=1us !time=1ms
  %c = profile:op(%b) : ? !xfer=1us !time=1ms
  %d = profile:op(%c, %mask) : ? !xfer=1us !time=1ms
}
