# Blocks from a file: a line for each, or JSON; the first expression that matches a node counts.
# RUN: printf '# blocks\n^a$ ^b$\n^(c|d)$\n' > %t.txt
# RUN: %pcc %s -p 'contract{blocks=%t.txt:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: echo '[["^a$", "b"], "[cd]"]' > %t.json
# RUN: %pcc %s -p 'contract{blocks=%t.json:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# RUN: echo '{"front": ["a", "b"], "back": ["c", "d"]}' > %t.obj.json
# RUN: %pcc %s -p 'contract{blocks=%t.obj.json:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s
# CHECK: level contract: 3 vertices
# CHECK-NEXT: {a, b}
# CHECK-NEXT: {c, d}
# CHECK-NEXT: {e}
# RUN: printf 'a e\n' > %t.cycle
# RUN: %pcc %s -p 'contract{blocks=%t.cycle:trivial=false}' --print-ir-after=contract -q 2>&1 | FileCheck %s --check-prefix=CYCLE
# CYCLE: warning: contract: 5 nodes from 'a' to 'e' must stay together
# CYCLE: level contract: 1 vertices
# RUN: printf 'a zz\n' > %t.idle
# RUN: %pcc %s -p 'contract{blocks=%t.idle}' -q 2>&1 | FileCheck %s --check-prefix=IDLE
# IDLE: warning: {{.*}}.idle: 'zz' matches no placed node
# RUN: echo '[["a"], 7]' > %t.bad.json
# RUN: not %pcc %s -p 'contract{blocks=%t.bad.json}' -q 2>&1 | FileCheck %s --check-prefix=BAD
# BAD: error: {{.*}}: block 2: expected a regular expression or a list of them
# RUN: not %pcc %s -p 'contract{blocks=%t.none}' -q 2>&1 | FileCheck %s --check-prefix=NOFILE
# NOFILE: error: {{.*}}.none: cannot open: No such file
class acc x2
graph {
  %a = profile:op() : !xfer=1us !time=1us
  %b = profile:op(%a) : !xfer=1us !time=2us
  %c = profile:op(%b) : !xfer=1us !time=4us
  %d = profile:op(%c) : !xfer=1us !time=8us
  %e = profile:op(%d) : !xfer=1us !time=1us
}
