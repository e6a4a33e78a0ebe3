# Looking inside, ending early, messages as JSON, warnings as errors.
# RUN: %pcc %s -q -p contract,dp-place --print-ir-before=dp-place --emit json 2>&1 | FileCheck %s --check-prefix=BEFORE
# RUN: %pcc %s -q -p contract,dp-place --stop-after=contract --emit ir 2>&1 | FileCheck %s --check-prefix=STOP
# RUN: not %pcc %s -q -p contract --stop-after=fuse 2>&1 | FileCheck %s --check-prefix=NEVER
# RUN: not %pcc %s -q -p dp-place --stop-after=cost -o %t.json 2>&1 | FileCheck %s --check-prefix=NOPLAN
# RUN: not %pcc %s -q --stop-after=nope 2>&1 | FileCheck %s --check-prefix=NOPE
# RUN: %pcc %s -p dp-place --pin '"no"=acc1' --emit json --diag=json 2>%t.err | FileCheck %s --check-prefix=PLAN
# RUN: %python -c "import json,sys; [print(m['level'], '|', m['message']) for m in map(json.loads, open(sys.argv[1]))]" %t.err | FileCheck %s --check-prefix=JSON
# RUN: %pcc %s -p dp-place --emit json --diag=json --time-passes --print-pipeline --print-ir-after-all --explain-bound --baselines 2>%t.err >%t.out
# RUN: %python -c "import json,sys; [print(m['level'], m.get('name'), m['message'].splitlines()[0]) for m in map(json.loads, open(sys.argv[1]))]" %t.err | FileCheck %s --check-prefix=REPORTS
# RUN: not %pcc --diag=json --nope 2>&1 | FileCheck %s --check-prefix=USAGE
# RUN: not %pcc --diag=yaml %s 2>&1 | FileCheck %s --check-prefix=YAML
# RUN: rm -rf %t.json; not %pcc %s -q -p dp-place --pin no=acc1 -Werror -o %t.json 2>&1 | FileCheck %s --check-prefix=WERROR
# RUN: test ! -e %t.json
# RUN: %pcc %s -q -p dp-place -Werror -o %t.json
# RUN: test -e %t.json
# RUN: not %pcc %s -Wnope 2>&1 | FileCheck %s --check-prefix=WNOPE
# RUN: not %pcc --help-completion=csh 2>&1 | FileCheck %s --check-prefix=FISH
# BEFORE-NOT: # before contract
# BEFORE: # before dp-place
# BEFORE-NOT: plan "dp-place"
# BEFORE: "value_s"
# STOP: graph
# STOP-NOT: plan
# NEVER: error: --stop-after=fuse: the pass does not run (see --print-pipeline)
# NOPLAN: error: 'json' shows a plan
# NOPE: error: --stop-after=nope: there is no such pass (see --list-passes)
# PLAN: "value_s"
# JSON: warning | --pin '"no"=acc1' matches no node
# REPORTS: {{^}}report print-pipeline infer-shapes,cost,
# REPORTS: {{^}}report print-ir-after # after cost
# REPORTS: {{^}}report time-passes {{.*}} ms  cost
# REPORTS: {{^}}report print-ir-after # after dp-place
# REPORTS: {{^}}report reports time per sample
# USAGE: {"level":"error","message":"unknown option '--nope' (see --help)"}
# YAML: error: --diag 'yaml': expected text or json
# WERROR: warning: --pin 'no=acc1' matches no node
# WERROR: error: -Werror: 1 warning
# WNOPE: error: -Wnope: there is no warning 'nope'
# FISH: error: --help-completion 'csh': expected bash, zsh or fish
class acc x2 link=1GB/s,1us
graph {
  %a = profile:op() : !xfer=1us !time=10us
  %b = profile:op(%a) : !xfer=1us !time=10us
  %c = profile:op(%b) : !xfer=1us !time=10us
}
