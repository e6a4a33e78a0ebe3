# The table of devices and the chart round the share of time that a device is busy down: 100 % is all of it.
# RUN: %pcc %s -p dp-place -o %t.gantt.svg | FileCheck %s --check-prefix=TABLE
# RUN: FileCheck %s --check-prefix=CHART < %t.gantt.svg
# TABLE: acc0 {{.*}}# 100 %
# TABLE: acc1 {{.*}}.  99 %
# CHART: >1.000 ms, 100 %<
# CHART: >996.0 us, 99 %<
class acc x2 link=1TB/s,0us
graph {
  %a = profile:op() : !xfer=0us !time=1000us !own=1MiB !device=acc0
  %b = profile:op(%a) : !xfer=0us !time=996us !own=1MiB !device=acc1
}
