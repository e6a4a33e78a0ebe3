cluster cpus=unbounded pieces=apart objective=latency
class acc x1
class cpu host
graph {
  %a = profile:op() : ? !time=[1us,2us]
  %b = profile:op(%a) : ? !time=[2us,5us]
}
plan "by hand" objective=latency status=heuristic value=3us { a=acc0 slot=2 b=cpu0 slot=1 }
