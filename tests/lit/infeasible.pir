# Memory that is too small: exit code 3, and the size that would do.
# RUN: sh -c '%pcc %s -p dp-place -q > %t.out 2>&1; echo "exit $?" >> %t.out'; FileCheck %s < %t.out
# CHECK: error: {{.*}}memory
# CHECK: exit 3
class acc x2 memory=10MiB link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us !own=8MiB
  %b = profile:op(%a) : !xfer=1us !time=10us !own=8MiB
  %c = profile:op(%b) : !xfer=1us !time=10us !own=8MiB
}
