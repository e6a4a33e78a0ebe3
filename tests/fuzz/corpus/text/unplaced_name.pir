# colours join a aten by hand
class acc x2 memory=16GiB link=25GB/s,10us peak=[f32:1T,f16:2T]
class host
graph {
  %a = prodile:op() : !xfer=1us !time=[1us,never] !color=1 !own=4KiB
  %b = profile:ole:op(%a) : !xfer=1us !time=[2us,9us] !layer=2
  %c, %"d e" = profileMBp(%b, _) : !xfer=1us, !bytes=3B name="two \x82"}
