# Nodes that hosts run at once stand in rows of one lane, each on the first that is free, in the order of their beginning
# and end.
# RUN: %pcc %s -q --cpus=unbounded -o %t.trace.json && FileCheck %s --check-prefix=TRACE < %t.trace.json
# TRACE: "name": "c", {{.*}} "ts": 0, "dur": 2,
# TRACE-NEXT: "name": "a", {{.*}} "ts": 0, "dur": 4,
# TRACE-NEXT: "name": "b", {{.*}} "ts": 0, "dur": 4,
# TRACE-NEXT: "name": "e", {{.*}} "ts": 2, "dur": 1,
# RUN: %pcc %s -q --cpus=unbounded -o %t.gantt.svg && FileCheck %s < %t.gantt.svg
# CHECK: <g><title>acc</title><rect x="0" y="112" width="1316" height="38"
# CHECK: <g><title>cpu</title><rect x="0" y="150" width="1316" height="74"
# CHECK: 'c' {{.*}}<rect x="56.00" y="155.0" width="260.00" height="20.0"
# CHECK: 'e' {{.*}}<rect x="316.00" y="155.0" width="130.00" height="20.0"
# CHECK: 'a' {{.*}}<rect x="56.00" y="177.0" width="520.00" height="20.0"
# CHECK: 'b' {{.*}}<rect x="56.00" y="199.0" width="520.00" height="20.0"
class acc x1
class cpu x1 host
graph {
  %a = profile:op() : ? !xfer=1us !time=[9us,4us]
  %b = profile:op() : ? !xfer=1us !time=[9us,4us]
  %c = profile:op() : ? !xfer=1us !time=[9us,2us]
  %e = profile:op(%c) : ? !xfer=1us !time=[9us,1us]
  %d = profile:op(%a, %b, %e) : ? !xfer=1us !time=[1us,9us]
}
plan "by hand" objective="latency" status=heuristic value=8us {
  a=cpu0
  b=cpu0
  c=cpu0
  e=cpu0
  d=acc0 slot=1
}
