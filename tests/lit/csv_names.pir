# Names in tables: quoted where they hold commas or quotes, harmless for programs that take = + - @ for formulas.
# RUN: %pcc %s -q -p cost --emit csv | FileCheck %s
# CHECK: {{^}}"'=sum(a,b)",Neg,4,
# CHECK-NEXT: {{^}}'@plain,Neg,4,
# CHECK-NEXT: {{^}}"say ""hi""",Neg,4,
# CHECK-NEXT: {{^}}"'-""x""",Neg,4,
class acc x1
graph {
  in %x : f32[4]
  %a = Neg(%x) : f32[4] name="=sum(a,b)"
  %b = Neg(%a) : f32[4] name="@plain"
  %c = Neg(%b) : f32[4] name="say \"hi\""
  %d = Neg(%c) : f32[4] name="-\"x\""
  out %d
}
