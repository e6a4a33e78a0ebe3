# StringNormalizer keeps the sizes of its operand, named ones too; without strings it makes one, and stop words leave
# the number open.
# RUN: %pcc %s -q -p infer-shapes --emit ir | FileCheck %s
# CHECK: %a = {{.*}} : str[n]{{$| name}}
# CHECK: %b = {{.*}} : str[1,n]{{$| name}}
# CHECK: %c = {{.*}} : str[3]{{$| name}}
# CHECK: %d = {{.*}} : str[?]{{$| name}}
# CHECK: %e = {{.*}} : str[?]{{$| name}}
opset ai.onnx 17
graph {
  in %x : str[n]
  in %y : str[1,n]
  in %z : str[3]
  in %none : str[0]
  %a = StringNormalizer(%x)
  %b = StringNormalizer(%y)
  %c = StringNormalizer(%z)
  %d = StringNormalizer(%none)
  %e = StringNormalizer(%x) {stopwords=["the"]}
  out %a
}
