# What is taken over from functions: names that are taken, also those that were just made, are not given again; tensors
# of strings keep their strings where the model has others.
# RUN: %pcc %s -q -p inline-functions --verify-each --emit ir | FileCheck %s
# CHECK: init %names : str[2] = strings ["of", "model"]
# CHECK: %c/y_1 = Neg(%x)
# CHECK-NEXT: %c/y_2 = Abs(%c/y_1)
# CHECK-NEXT: %c/first = Constant() {value=tensor str[1] strings ["one"]}
# CHECK-NEXT: %second = Constant() {value=tensor str[2] strings ["two", "three"]}
# CHECK-NEXT: %z = Relu(%c/y_2)
# CHECK-NEXT: %c/y = Exp(%z)
class acc x2
function my:f {
  graph {
    in %x
    %y = Neg(%x)
    %y_1 = Abs(%y)
    %first = Constant() {value=tensor str[1] strings ["one"]}
    %second = Constant() {value=tensor str[2] strings ["two", "three"]}
    %z = Relu(%y_1)
    out %z
    out %second
  }
}
graph {
  in %x : f32[4]
  init %names : str[2] = strings ["of", "model"]
  %z, %second = my:f(%x) name="c"
  %c/y = Exp(%z)
  out %c/y
  out %second
  out %names
}
