# Plans from elsewhere: a list of patterns (the first match counts), plan JSON, and what is wrong with them.
# RUN: printf '# by hand\na|b=acc0\n.=acc1\n' > %t.list
# RUN: %pcc %s -p 'plan{from=%t.list}' --emit ir -q | FileCheck %s
# RUN: %pcc %s -p 'plan{from=%t.list}' -q -o %t.json
# RUN: %pcc %s -p 'plan{from=%t.json}' --emit ir -q | FileCheck %s
# CHECK: plan "plan" status=optimal value=21us bound=21us
# CHECK-NEXT: "a" = acc0
# CHECK-NEXT: "b" = acc0
# CHECK-NEXT: "c" = acc1
# RUN: %pcc %s -p dp-place -q -o %t.dp.json && %pcc %s -p 'plan{from=%t.dp.json}' -q --emit ir | FileCheck %s --check-prefix=SAME
# SAME: argument="read from {{.*}}.dp.json; bound:
# RUN: printf 'b=acc0\na=acc0\n' > %t.part
# RUN: not %pcc %s -p 'plan{from=%t.part}' -q 2>&1 | FileCheck %s --check-prefix=PART
# PART: error: {{.*}}.part: 1 of 3 placed nodes have no device, the first is 'c'
# RUN: printf '.=acc0\na=acc1\n' > %t.idle
# RUN: %pcc %s -p 'plan{from=%t.idle}' -q 2>&1 | FileCheck %s --check-prefix=IDLE
# IDLE: warning: {{.*}}.idle: 'a' matches no placed node that is still free
# RUN: printf 'a=acc0\n.=acc9\n' > %t.device
# RUN: not %pcc %s -p 'plan{from=%t.device}' -q 2>&1 | FileCheck %s --check-prefix=DEVICE
# DEVICE: error: {{.*}}.device: there is no device 'acc9': expected one of acc0
# RUN: printf 'acc0\n' > %t.form
# RUN: not %pcc %s -p 'plan{from=%t.form}' -q 2>&1 | FileCheck %s --check-prefix=FORM
# FORM: error: {{.*}}.form:1: 'acc0': expected REGEX=DEVICE
# RUN: printf '(=acc0\n' > %t.regex
# RUN: not %pcc %s -p 'plan{from=%t.regex}' -q 2>&1 | FileCheck %s --check-prefix=REGEX
# REGEX: error: {{.*}}.regex:1: '(' is not a regular expression
# RUN: echo '{"pcc_plan": 1, "devices": [{"name": "acc0", "nodes": ["a", "b", "zz"]}]}' > %t.zz.json
# RUN: not %pcc %s -p 'plan{from=%t.zz.json}' -q 2>&1 | FileCheck %s --check-prefix=NODE
# NODE: error: {{.*}}: there is no node 'zz' in
# RUN: echo '{"pcc_plan": 1, "devices": [{"name": "acc0", "nodes": ["a", "b"]}, {"name": "acc1", "nodes": ["b", "c"]}]}' > %t.two.json
# RUN: not %pcc %s -p 'plan{from=%t.two.json}' -q 2>&1 | FileCheck %s --check-prefix=TWO
# TWO: error: {{.*}}: node 'b' is on 'acc0' and on 'acc1': expected one device
# RUN: echo '{"plan": 1}' > %t.key.json
# RUN: not %pcc %s -p 'plan{from=%t.key.json}' -q 2>&1 | FileCheck %s --check-prefix=KEY
# KEY: error: {{.*}}: expected one of the keys 'pcc_plan', 'pcc_manifest', 'fpgas'
# RUN: not %pcc %s -p plan -q 2>&1 | FileCheck %s --check-prefix=NOFILE
# NOFILE: error: plan: expected plan{from=FILE}
# RUN: not %pcc %s -p 'plan{from=self}' -q 2>&1 | FileCheck %s --check-prefix=SELF
# SELF: error: {{.*}}: no node of it says where it runs
# RUN: not %pcc %s -p 'plan{from=%t.list}' --pin a=acc1 -q 2>&1 | FileCheck %s --check-prefix=PIN
# PIN: error: plan from {{.*}}: node 'a' is on 'acc0' and pinned to 'acc1'
class acc x2 memory=16MiB link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us !own=5MiB
  %b = profile:op(%a) : !xfer=1us !time=10us !own=5MiB
  %c = profile:op(%b) : !xfer=1us !time=10us !own=5MiB
}
