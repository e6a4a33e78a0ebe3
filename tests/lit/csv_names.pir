# Names in tables: quoted where they hold commas or quotes, harmless for programs that take = + - @ for formulas, and
# for terminals; all of them are read back. What a stray character is is said.
# RUN: %pcc %s -q -p cost --emit csv | FileCheck %s
# RUN: %pcc %s -q -p cost --emit csv >%t.csv && sed 's/,[0-9]*$/,7000/' %t.csv >%t.more.csv
# RUN: %pcc %s -q -p cost --costs %t.more.csv --emit csv -Werror | grep -c ,7000$ | FileCheck %s --check-prefix=ALL
# RUN: printf 'name\342\200\213,time\n' >%t.bad.csv; not %pcc %s -q -p cost --costs %t.bad.csv 2>&1 | FileCheck %s --check-prefix=HEAD
# RUN: printf '.\357\274\235acc0\n' >%t.txt; not %pcc %s -q -p 'plan{from=%t.txt}' 2>&1 | FileCheck %s --check-prefix=SIGN
# RUN: printf 'plain\357\273\277=acc0\n.=acc0\n' >%t.txt; %pcc %s -q -p 'plan{from=%t.txt}' 2>&1 | FileCheck %s --check-prefix=IDLE
# CHECK: {{^}}"'=sum(a,b)",Neg,4,
# CHECK-NEXT: {{^}}'@plain,Neg,4,
# CHECK-NEXT: {{^}}"say ""hi""",Neg,4,
# CHECK-NEXT: {{^}}"'-""x""",Neg,4,
# CHECK-NEXT: {{^}}a\x1b[31m\x07,Neg,4,
# CHECK-NEXT: {{^}}a\x5cx1b[31m\x5cx07,Neg,4,
# CHECK-NEXT: {{^}}two\x0alines\u202e\,Neg,4,
# ALL: {{^}}7
# HEAD: unknown key 'name​', {{.*}}; there is U+200B (zero width space) in it
# SIGN: {{.*}}:1: '.＝acc0': expected REGEX=DEVICE; there is U+FF1D (fullwidth equals sign) in it
# IDLE: matches no placed node that is still free; there is U+FEFF (byte order mark) in it
class acc x1 link=1GB/s,1us bandwidth=1GB/s peak=[f32:1G]
graph {
  in %x : f32[4]
  %a = Neg(%x) : f32[4] name="=sum(a,b)"
  %b = Neg(%a) : f32[4] name="@plain"
  %c = Neg(%b) : f32[4] name="say \"hi\""
  %d = Neg(%c) : f32[4] name="-\"x\""
  %e = Neg(%d) : f32[4] name="a\x1b[31m\x07"
  %f = Neg(%e) : f32[4] name="a\\x1b[31m\\x07"
  %g = Neg(%f) : f32[4] name="two\nlines\xe2\x80\xae\\"
  out %g
}
