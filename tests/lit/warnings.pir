# Warnings have names: hidden, shown again, fatal by name, fatal but for one; the last switch counts.
# RUN: %pcc %s -q -p dp-place --pin no=acc1 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p dp-place --pin no=acc1 -Wno-unmatched-pin --emit ir 2>&1 | FileCheck %s --check-prefix=HIDDEN
# RUN: %pcc %s -q -p dp-place --pin no=acc1 -Wno-unmatched-pin -Wunmatched-pin 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p dp-place --pin no=acc1 -Werror -Wno-unmatched-pin -o %t.json
# RUN: %pcc %s -q -p dp-place --pin no=acc1 -Werror -Wno-error=unmatched-pin -o %t.json 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p dp-place --pin no=acc1 -Werror=unmatched-pin -Wno-error -o %t.json 2>&1 | FileCheck %s
# RUN: %pcc %s -q -p dp-place --pin no=acc1 -Werror=large-class -o %t.json 2>&1 | FileCheck %s
# RUN: rm %t.json; not %pcc %s -q -p dp-place --pin no=acc1 --pin none=acc0 -Wno-unmatched-pin --warnings=error=unmatched-pin -o %t.json 2>&1 | FileCheck %s --check-prefix=FATAL
# RUN: test ! -e %t.json
# RUN: not %pcc %s -q -p dp-place --pin no=acc1 -W error --diag=json 2>&1 | FileCheck %s --check-prefix=JSON
# RUN: not %pcc %s -Wno-unmatched-pins 2>&1 | FileCheck %s --check-prefix=NEAR
# RUN: not %pcc %s -Werror=picturs 2>&1 | FileCheck %s --check-prefix=NEARERR
# RUN: not %pcc %s -Weror 2>&1 | FileCheck %s --check-prefix=EROR
# RUN: not %pcc %s -Wzebra 2>&1 | FileCheck %s --check-prefix=FAR
# RUN: %pcc --help=all | FileCheck %s --check-prefix=HELP
# RUN: %pcc --help-man | FileCheck %s --check-prefix=MAN
# RUN: %pcc --help-completion=bash | FileCheck %s --check-prefix=BASH
# CHECK: warning: --pin 'no=acc1' matches no node that is placed [-Wunmatched-pin]
# CHECK-NOT: error
# HIDDEN-NOT: warning:
# HIDDEN: graph
# FATAL: warning: --pin 'no=acc1' matches no node that is placed [-Werror=unmatched-pin]
# FATAL: error: -Werror: 2 warnings
# JSON: {"level":"warning","message":"--pin 'no=acc1' matches no node that is placed","name":"unmatched-pin"}
# JSON: {"level":"error","message":"-Werror: 1 warning"}
# NEAR: error: -Wno-unmatched-pins: there is no warning 'unmatched-pins'; did you mean 'unmatched-pin'? (see --help=all)
# NEARERR: error: -Werror=picturs: there is no warning 'picturs'; did you mean 'picture'?
# EROR: error: -Weror: there is no warning 'eror'; did you mean 'error'?
# FAR: error: -Wzebra: there is no warning 'zebra' (see --help=all)
# HELP: Warnings (-Wno-NAME
# HELP: large-class
# HELP: unmatched-pin
# MAN: .SH WARNINGS
# MAN: unmatched\-pin
# BASH: --warnings|-W) COMPREPLY=($(compgen -W 'error no-error annotation no-annotation error=annotation
class acc x2 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us
  %b = profile:op(%a) : !xfer=1us !time=10us
}
