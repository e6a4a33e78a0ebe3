pcc 1
ir_version 8
opset ai.onnx 17
opset com.x 1
file 1 "weights" size=256 location="w.bin"
cluster "2xa100,1xcpu" io_free
graph @main name="g" {
  in %x : f32[batch,past + seq,"odd name",?]
  in %s : seq(opt(map(i64,f16[*])))
  init %w : f32[8,8] = file 1 at 0 len 256 named "w0"
  init %k : i64[3] = [1, -2, 9223372036854775807]
  init %f : f32[2] = [nan(0x7fc00001), -inf]
  init %t : str[2] = strings ["a\x00b", "\"\\\n"]
  init %n = tensor u4[3] bytes "2101" !elems=3
  %~1, %h = MatMul(%x, %w) {alpha=0x1p-3, axes=[1,2], e=ints[], s="t", v=tensor i8[] [5], q=ref int "z"} : ?, f32[4,8] name="first"
  %y = com.x:Op:over(%h, _, %k) : f32[Min(batch, 8),seq//2] !own=1KiB !flops=2M !traffic=3kB !unnamed
  out %y, %w
}
