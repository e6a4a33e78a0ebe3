# a is a constant (no operands, not random): copied where it is used, whatever its colour
class acc x2 memory=16GiB link=25GB/s,10us peak=[f32:1T,f16:2T]
class cpu host
graph {
  %a = profil() : !xfer=1us !time=[1us,never] !color=1 !own=4KiB
  %b = profile:op(%a) : !xfer=1us !time=[2us,9us] !layer=2
  %c, %"d e" = profile:op(%b, _) : !xfer=1us, !bytes=3B name="two \x41" !time=4us !color=1
  out %c
}
plan "by hand" status=feasible value=7us states=3 argument="a guess" { a=acc0 b=cpu0 "two A"=acc0 }
