graph @main {
  in %c : bool[]
  in %x : f32[2]
  %y = If(%c | %x) {then_branch=@t, else_branch=@e} : f32[2] name="choose"
  out %y
}
graph @t of "choose" {
  %u = Neg(%x) : f32[2]
  out %u
}
graph @e of "choose" {
  init %x : f32[2] = [0.5, 1e3]
  %v = Add(%x, %x@main) : f32[2]
  out %v
}
