# Pins move nodes, are obeyed exactly, and say when they match nothing or cannot hold.
# RUN: %pcc %s -p dp-place --pin 'a|b=acc1' --emit json -q | FileCheck %s
# RUN: echo '# comment' > %t.pins; echo 'a|b=acc1' >> %t.pins
# RUN: %pcc %s -p dp-place --pin @%t.pins --emit json -q | FileCheck %s
# RUN: %pcc %s -p dp-place --pin 'nothing=acc1' -q 2>&1 | FileCheck %s --check-prefix=NOTHING
# RUN: not %pcc %s -p dp-place --pin 'a=acc7' -q 2>&1 | FileCheck %s --check-prefix=DEVICE
# RUN: not %pcc %s -p dp-place --pin '(=acc1' -q 2>&1 | FileCheck %s --check-prefix=REGEX
# RUN: not %pcc %s -p dp-place --pin 'acc1' -q 2>&1 | FileCheck %s --check-prefix=FORM
# CHECK: "name": "acc1"
# CHECK: "nodes": [
# CHECK-NEXT: "a",
# CHECK-NEXT: "b"
# NOTHING: warning: --pin 'nothing=acc1' matches no node that is placed
# DEVICE: error: --pin 'a=acc7': there is no device 'acc7'
# REGEX: error: --pin '(=acc1': not a regular expression
# FORM: error: --pin 'acc1': expected REGEX=DEVICE
class acc x2 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us
  %b = profile:op(%a) : !xfer=1us !time=10us
  %c = profile:op(%b) : !xfer=1us !time=10us
}
