# Of what must stay together more than a tenth of the time is warned of, of what the user asked for more than half.
# RUN: %pcc %s -p 'contract{trivial=false}' 2>&1 | FileCheck %s --check-prefix=MUST
# RUN: printf 'a b\n' > %t.small
# RUN: %pcc %s -p 'contract{blocks=%t.small:trivial=false}' 2>&1 | FileCheck %s --check-prefix=MUST
# RUN: printf 'a b c\n' > %t.large
# RUN: %pcc %s -p 'contract{blocks=%t.large:trivial=false}' 2>&1 | FileCheck %s --check-prefix=ASKED
# MUST-NOT: from 'a'
# MUST: warning: contract: 2 nodes from 'd' to 'e' must stay together (colours) and take 11 % of the time
# MUST-NOT: must stay
# ASKED: warning: contract: 3 nodes from 'a' to 'c' must stay together {{.*}} and take 51 % of the time
# ASKED: warning: contract: 2 nodes from 'd' to 'e' must stay together (colours) and take 11 % of the time
# ASKED-NOT: must stay
class acc x2
graph {
  %a = profile:op() : !xfer=1us !time=25us
  %b = profile:op(%a) : !xfer=1us !time=25us
  %c = profile:op(%b) : !xfer=1us !time=1us
  %d = profile:op(%c) : !xfer=1us !time=10us !color=1
  %e = profile:op(%d) : !xfer=1us !time=1us !color=1
  %f = profile:op(%e) : !xfer=1us !time=9us !color=2
  %g = profile:op(%f) : !xfer=1us !time=1us !color=2
  %h = profile:op(%g) : !xfer=1us !time=28us
}
