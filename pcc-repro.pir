# RUN: pcc pcc-repro.pir --passes='contract,anneal-place{moves=191999999:threads=1:starts=1}'
pcc 1
path "/work/shared/workloads/throughput/op_bert6_inference.json"
ir_version 0
opset none
cluster efficiency=1000000 sync=2147483648B/s
class "acc" x3 memory=16782592KiB
class "cpu" x1 host
costs 2

graph @main name="workload" {
  %cls.seq_relationship.weight = profile:op() {id=0} : ? !xfer=476.837ns !own=1KiB !color=85
  %cls.seq_relationship.bias = profile:op() {id=1} : ? !xfer=3.725ns !own=8B !color=85
  %cls.predictions.transform.dense_act.weight_transposed = profile:op() {id=2} : ? !xfer=30.517578us !own=64KiB !color=23
  %cls.predictions.transform.dense_act.bias = profile:op() {id=3} : ? !xfer=238.419ns !own=512B !color=84
  %cls.predictions.transform.LayerNorm.weight = profile:op() {id=4} : ? !xfer=238.419ns !own=512B !color=60
  %cls.predictions.transform.LayerNorm.bias = profile:op() {id=5} : ? !xfer=238.419ns !own=512B !color=60
  %cls.predictions.bias = profile:op() {id=6} : ? !xfer=56.862831us !own=122112B !color=83
  %bert.pooler.dense_act.weight_transposed = profile:op() {id=7} : ? !xfer=30.517578us !own=64KiB !color=64
  %bert.pooler.dense_act.bias = profile:op() {id=8} : ? !xfer=238.419ns !own=512B !color=82
  %bert.encoder.layer.5.output.dense.weight_transposed = profile:op() {id=9} : ? !xfer=976.5625us !own=2MiB !color=114
  %bert.encoder.layer.5.output.dense.bias = profile:op() {id=10} : ? !xfer=238.419ns !own=512B !color=81
  %bert.encoder.layer.5.output.LayerNorm.weight = profile:op() {id=11} : ? !xfer=238.419ns !own=512B !color=24
  %bert.encoder.layer.5.output.LayerNorm.bias = profile:op() {id=12} : ? !xfer=238.419ns !own=512B !color=24
  %bert.encoder.layer.5.intermediate.dense_act.weight_transposed = profile:op() {id=13} : ? !xfer=976.5625us !own=2MiB !color=21
  %bert.encoder.layer.5.intermediate.dense_act.bias = profile:op() {id=14} : ? !xfer=7.629395us !own=16KiB !color=56
  %bert.encoder.layer.5.attention.self.value.weight_transposed = profile:op() {id=15} : ? !xfer=30.517578us !own=64KiB !color=68
  %bert.encoder.layer.5.attention.self.value.bias = profile:op() {id=16} : ? !xfer=238.419ns !own=512B !color=36
  %bert.encoder.layer.5.attention.self.query.weight_transposed = profile:op() {id=17} : ? !xfer=30.517578us !own=64KiB !color=66
  %bert.encoder.layer.5.attention.self.query.bias = profile:op() {id=18} : ? !xfer=238.419ns !own=512B !color=63
  %bert.encoder.layer.5.attention.self.key.weight_transposed = profile:op() {id=19} : ? !xfer=30.517578us !own=64KiB !color=113
  %bert.encoder.layer.5.attention.self.key.bias = profile:op() {id=20} : ? !xfer=238.419ns !own=512B !color=22
  %bert.encoder.layer.5.attention.output.dense.weight_transposed = profile:op() {id=21} : ? !xfer=30.517578us !own=64KiB !color=110
  %bert.encoder.layer.5.attention.output.dense.bias = profile:op() {id=22} : ? !xfer=238.419ns !own=512B !color=30
  %bert.encoder.layer.5.attention.output.LayerNorm.weight = profile:op() {id=23} : ? !xfer=238.419ns !own=512B !color=80
  %bert.encoder.layer.5.attention.output.LayerNorm.bias = profile:op() {id=24} : ? !xfer=238.419ns !own=512B !color=80
  %bert.encoder.layer.4.output.dense.weight_transposed = profile:op() {id=25} : ? !xfer=976.5625us !own=2MiB !color=29
  %bert.encoder.layer.4.output.dense.bias = profile:op() {id=26} : ? !xfer=238.419ns !own=512B !color=78
  %bert.encoder.layer.4.output.LayerNorm.weight = profile:op() {id=27} : ? !xfer=238.419ns !own=512B !color=73
  %bert.encoder.layer.4.output.LayerNorm.bias = profile:op() {id=28} : ? !xfer=238.419ns !own=512B !color=73
  %bert.encoder.layer.4.intermediate.dense_act.weight_transposed = profile:op() {id=29} : ? !xfer=976.5625us !own=2MiB !color=53
  %bert.encoder.layer.4.intermediate.dense_act.bias = profile:op() {id=30} : ? !xfer=7.629395us !own=16KiB !color=43
  %bert.encoder.layer.4.attention.self.value.weight_transposed = profile:op() {id=31} : ? !xfer=30.517578us !own=64KiB !color=102
  %bert.encoder.layer.4.attention.self.value.bias = profile:op() {id=32} : ? !xfer=238.419ns !own=512B !color=51
  %bert.encoder.layer.4.attention.self.query.weight_transposed = profile:op() {id=33} : ? !xfer=30.517578us !own=64KiB !color=109
  %bert.encoder.layer.4.attention.self.query.bias = profile:op() {id=34} : ? !xfer=238.419ns !own=512B !color=77
  %bert.encoder.layer.4.attention.self.key.weight_transposed = profile:op() {id=35} : ? !xfer=30.517578us !own=64KiB !color=111
  %bert.encoder.layer.4.attention.self.key.bias = profile:op() {id=36} : ? !xfer=238.419ns !own=512B !color=76
  %bert.encoder.layer.4.attention.output.dense.weight_transposed = profile:op() {id=37} : ? !xfer=30.517578us !own=64KiB !color=112
  %bert.encoder.layer.4.attention.output.dense.bias = profile:op() {id=38} : ? !xfer=238.419ns !own=512B !color=12
  %bert.encoder.layer.4.attention.output.LayerNorm.weight = profile:op() {id=39} : ? !xfer=238.419ns !own=512B !color=15
  %bert.encoder.layer.4.attention.output.LayerNorm.bias = profile:op() {id=40} : ? !xfer=238.419ns !own=512B !color=15
  %bert.encoder.layer.3.output.dense.weight_transposed = profile:op() {id=41} : ? !xfer=976.5625us !own=2MiB !color=108
  %bert.encoder.layer.3.output.dense.bias = profile:op() {id=42} : ? !xfer=238.419ns !own=512B !color=75
  %bert.encoder.layer.3.output.LayerNorm.weight = profile:op() {id=43} : ? !xfer=238.419ns !own=512B !color=74
  %bert.encoder.layer.3.output.LayerNorm.bias = profile:op() {id=44} : ? !xfer=238.419ns !own=512B !color=74
  %bert.encoder.layer.3.intermediate.dense_act.weight_transposed = profile:op() {id=45} : ? !xfer=976.5625us !own=2MiB !color=106
  %bert.encoder.layer.3.intermediate.dense_act.bias = profile:op() {id=46} : ? !xfer=7.629395us !own=16KiB !color=10
  %bert.encoder.layer.3.attention.self.value.weight_transposed = profile:op() {id=47} : ? !xfer=30.517578us !own=64KiB !color=103
  %bert.encoder.layer.3.attention.self.value.bias = profile:op() {id=48} : ? !xfer=238.419ns !own=512B !color=67
  %bert.encoder.layer.3.attention.self.query.weight_transposed = profile:op() {id=49} : ? !xfer=30.517578us !own=64KiB !color=89
  %bert.encoder.layer.3.attention.self.query.bias = profile:op() {id=50} : ? !xfer=238.419ns !own=512B !color=37
  %bert.encoder.layer.3.attention.self.key.weight_transposed = profile:op() {id=51} : ? !xfer=30.517578us !own=64KiB !color=104
  %bert.encoder.layer.3.attention.self.key.bias = profile:op() {id=52} : ? !xfer=238.419ns !own=512B !color=13
  %bert.encoder.layer.3.attention.output.dense.weight_transposed = profile:op() {id=53} : ? !xfer=30.517578us !own=64KiB !color=105
  %bert.encoder.layer.3.attention.output.dense.bias = profile:op() {id=54} : ? !xfer=238.419ns !own=512B !color=25
  %bert.encoder.layer.3.attention.output.LayerNorm.weight = profile:op() {id=55} : ? !xfer=238.419ns !own=512B !color=72
  %bert.encoder.layer.3.attention.output.LayerNorm.bias = profile:op() {id=56} : ? !xfer=238.419ns !own=512B !color=72
  %bert.encoder.layer.2.output.dense.weight_transposed = profile:op() {id=57} : ? !xfer=976.5625us !own=2MiB !color=31
  %bert.encoder.layer.2.output.dense.bias = profile:op() {id=58} : ? !xfer=238.419ns !own=512B !color=50
  %bert.encoder.layer.2.output.LayerNorm.weight = profile:op() {id=59} : ? !xfer=238.419ns !own=512B !color=45
  %bert.encoder.layer.2.output.LayerNorm.bias = profile:op() {id=60} : ? !xfer=238.419ns !own=512B !color=45
  %bert.encoder.layer.2.intermediate.dense_act.weight_transposed = profile:op() {id=61} : ? !xfer=976.5625us !own=2MiB !color=57
  %bert.encoder.layer.2.intermediate.dense_act.bias = profile:op() {id=62} : ? !xfer=7.629395us !own=16KiB !color=44
  %bert.encoder.layer.2.attention.self.value.weight_transposed = profile:op() {id=63} : ? !xfer=30.517578us !own=64KiB !color=6
  %bert.encoder.layer.2.attention.self.value.bias = profile:op() {id=64} : ? !xfer=238.419ns !own=512B !color=28
  %bert.encoder.layer.2.attention.self.query.weight_transposed = profile:op() {id=65} : ? !xfer=30.517578us !own=64KiB !color=99
  %bert.encoder.layer.2.attention.self.query.bias = profile:op() {id=66} : ? !xfer=238.419ns !own=512B !color=52
  %bert.encoder.layer.2.attention.self.key.weight_transposed = profile:op() {id=67} : ? !xfer=30.517578us !own=64KiB !color=100
  %bert.encoder.layer.2.attention.self.key.bias = profile:op() {id=68} : ? !xfer=238.419ns !own=512B !color=62
  %bert.encoder.layer.2.attention.output.dense.weight_transposed = profile:op() {id=69} : ? !xfer=30.517578us !own=64KiB !color=101
  %bert.encoder.layer.2.attention.output.dense.bias = profile:op() {id=70} : ? !xfer=238.419ns !own=512B !color=32
  %bert.encoder.layer.2.attention.output.LayerNorm.weight = profile:op() {id=71} : ? !xfer=238.419ns !own=512B !color=65
  %bert.encoder.layer.2.attention.output.LayerNorm.bias = profile:op() {id=72} : ? !xfer=238.419ns !own=512B !color=65
  %bert.encoder.layer.1.output.dense.weight_transposed = profile:op() {id=73} : ? !xfer=976.5625us !own=2MiB !color=98
  %bert.encoder.layer.1.output.dense.bias = profile:op() {id=74} : ? !xfer=238.419ns !own=512B !color=58
  %bert.encoder.layer.1.output.LayerNorm.weight = profile:op() {id=75} : ? !xfer=238.419ns !own=512B !color=48
  %bert.encoder.layer.1.output.LayerNorm.bias = profile:op() {id=76} : ? !xfer=238.419ns !own=512B !color=48
  %bert.encoder.layer.1.intermediate.dense_act.weight_transposed = profile:op() {id=77} : ? !xfer=976.5625us !own=2MiB !color=97
  %bert.encoder.layer.1.intermediate.dense_act.bias = profile:op() {id=78} : ? !xfer=7.629395us !own=16KiB !color=39
  %bert.encoder.layer.1.attention.self.value.weight_transposed = profile:op() {id=79} : ? !xfer=30.517578us !own=64KiB !color=94
  %bert.encoder.layer.1.attention.self.value.bias = profile:op() {id=80} : ? !xfer=238.419ns !own=512B !color=27
  %bert.encoder.layer.1.attention.self.query.weight_transposed = profile:op() {id=81} : ? !xfer=30.517578us !own=64KiB !color=91
  %bert.encoder.layer.1.attention.self.query.bias = profile:op() {id=82} : ? !xfer=238.419ns !own=512B !color=41
  %bert.encoder.layer.1.attention.self.key.weight_transposed = profile:op() {id=83} : ? !xfer=30.517578us !own=64KiB !color=93
  %bert.encoder.layer.1.attention.self.key.bias = profile:op() {id=84} : ? !xfer=238.419ns !own=512B !color=49
  %bert.encoder.layer.1.attention.output.dense.weight_transposed = profile:op() {id=85} : ? !xfer=30.517578us !own=64KiB !color=95
  %bert.encoder.layer.1.attention.output.dense.bias = profile:op() {id=86} : ? !xfer=238.419ns !own=512B !color=9
  %bert.encoder.layer.1.attention.output.LayerNorm.weight = profile:op() {id=87} : ? !xfer=238.419ns !own=512B !color=42
  %bert.encoder.layer.1.attention.output.LayerNorm.bias = profile:op() {id=88} : ? !xfer=238.419ns !own=512B !color=42
  %bert.encoder.layer.0.output.dense.weight_transposed = profile:op() {id=89} : ? !xfer=976.5625us !own=2MiB !color=90
  %bert.encoder.layer.0.output.dense.bias = profile:op() {id=90} : ? !xfer=238.419ns !own=512B !color=5
  %bert.encoder.layer.0.output.LayerNorm.weight = profile:op() {id=91} : ? !xfer=238.419ns !own=512B !color=17
  %bert.encoder.layer.0.output.LayerNorm.bias = profile:op() {id=92} : ? !xfer=238.419ns !own=512B !color=17
  %bert.encoder.layer.0.intermediate.dense_act.weight_transposed = profile:op() {id=93} : ? !xfer=976.5625us !own=2MiB !color=7
  %bert.encoder.layer.0.intermediate.dense_act.bias = profile:op() {id=94} : ? !xfer=7.629395us !own=16KiB !color=35
  %bert.encoder.layer.0.attention.self.value.weight_transposed = profile:op() {id=95} : ? !xfer=30.517578us !own=64KiB !color=46
  %bert.encoder.layer.0.attention.self.value.bias = profile:op() {id=96} : ? !xfer=238.419ns !own=512B !color=40
  %bert.encoder.layer.0.attention.self.query.weight_transposed = profile:op() {id=97} : ? !xfer=30.517578us !own=64KiB !color=87
  %bert.encoder.layer.0.attention.self.query.bias = profile:op() {id=98} : ? !xfer=238.419ns !own=512B !color=16
  %bert.encoder.layer.0.attention.self.key.weight_transposed = profile:op() {id=99} : ? !xfer=30.517578us !own=64KiB !color=71
  %bert.encoder.layer.0.attention.self.key.bias = profile:op() {id=100} : ? !xfer=238.419ns !own=512B !color=26
  %bert.encoder.layer.0.attention.output.dense.weight_transposed = profile:op() {id=101} : ? !xfer=30.517578us !own=64KiB !color=54
  %bert.encoder.layer.0.attention.output.dense.bias = profile:op() {id=102} : ? !xfer=238.419ns !own=512B !color=11
  %bert.encoder.layer.0.attention.output.LayerNorm.weight = profile:op() {id=103} : ? !xfer=238.419ns !own=512B !color=4
  %bert.encoder.layer.0.attention.output.LayerNorm.bias = profile:op() {id=104} : ? !xfer=238.419ns !own=512B !color=4
  %bert.embeddings.word_embeddings.weight = profile:op() {id=105} : ? !xfer=7.278442383ms !own=15264KiB !color=19
  %bert.embeddings.token_type_embeddings.weight = profile:op() {id=106} : ? !xfer=476.837ns !own=1KiB !color=18
  %bert.embeddings.position_embeddings.weight = profile:op() {id=107} : ? !xfer=122.070313us !own=256KiB !color=3
  %bert.embeddings.LayerNorm.weight = profile:op() {id=108} : ? !xfer=238.419ns !own=512B !color=1
  %bert.embeddings.LayerNorm.bias = profile:op() {id=109} : ? !xfer=238.419ns !own=512B !color=1
  %Shape1 = profile:op() {id=111} : ? !xfer=7.451ns !time=[436ps,10.025ns] !own=16B
  %Unsqueeze1 = profile:op() {id=139} : ? !xfer=11.444092us !time=[765.595ns,17.608679us] !own=24KiB
  %Gather1 = profile:op(%bert.embeddings.word_embeddings.weight) {id=118} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=19
  %Transpose25 = profile:op(%bert.embeddings.word_embeddings.weight) {id=418} : ? !xfer=7.278442383ms !time=[486.838809us,11.197292598ms] !own=15264KiB !color=19
  %Gather3 = profile:op(%bert.embeddings.token_type_embeddings.weight) {id=120} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=18
  %Cast2 = profile:op(%Shape1) {id=112} : ? !xfer=3.725ns !time=[499ps,11.481ns] !own=8B
  %Unsqueeze2 = profile:op(%Unsqueeze1) {id=140} : ? !xfer=11.444092us !time=[765.595ns,17.608679us] !own=24KiB
  %Min1 = profile:op(%Cast2) {id=113} : ? !xfer=3.725ns !time=[249ps,5.731ns] !own=8B
  %Cast1 = profile:op(%Unsqueeze2) {id=141} : ? !xfer=5.722046us !time=[574.86ns,13.221777us] !own=12KiB
  %Cast3 = profile:op(%Min1) {id=114} : ? !xfer=7.451ns !time=[623ps,14.337ns] !own=16B
  %Sub1 = profile:op(%Cast1) {id=142} : ? !xfer=5.722046us !time=[382.735ns,8.802902us] !own=12KiB
  %Slice1 = profile:op(%Cast3) {id=115} : ? !xfer=58ps !time=[32.439ns,746.107ns]
  %Mul1 = profile:op(%Sub1) {id=143} : ? !xfer=5.722046us !time=[382.735ns,8.802902us] !own=12KiB
  %Expand1 = profile:op(%Shape1, %Slice1) {id=116} : ? !xfer=11.444092us !time=[381.97ns,8.785304us] !own=24KiB
  %Gather2 = profile:op(%bert.embeddings.position_embeddings.weight, %Expand1) {id=117} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=3
  %Add1 = profile:op(%Gather2, %Gather1) {id=119} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=117
  %Add2 = profile:op(%Add1, %Gather3) {id=121} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=128
  %LayerNormalization1 = profile:op(%bert.embeddings.LayerNorm.weight, %bert.embeddings.LayerNorm.bias, %Add2) {id=122} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=1
  %LayerNormalization1_139 = profile:op(%LayerNormalization1) {id=123} : ? !xfer=732.421875us !color=1
  %LayerNormalization1_saved_mean_1 = profile:op(%LayerNormalization1) {id=124} : ? !xfer=0ps !color=1
  %LayerNormalization1_saved_inv_std_var_2 = profile:op(%LayerNormalization1) {id=125} : ? !xfer=0ps !color=1
  %TrainableDropout1 = profile:op(%LayerNormalization1_139) {id=126} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=116
  %TrainableDropout1_140 = profile:op(%TrainableDropout1) {id=127} : ? !xfer=732.421875us !color=116
  %TrainableDropout1_141 = profile:op(%TrainableDropout1) {id=128} : ? !xfer=0ps !color=116
  %MatMul2 = profile:op(%bert.encoder.layer.0.attention.self.key.weight_transposed, %TrainableDropout1_140) {id=129} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=71
  %MatMul1 = profile:op(%bert.encoder.layer.0.attention.self.query.weight_transposed, %TrainableDropout1_140) {id=133} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=87
  %MatMul3 = profile:op(%bert.encoder.layer.0.attention.self.value.weight_transposed, %TrainableDropout1_140) {id=149} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=46
  %Add4 = profile:op(%bert.encoder.layer.0.attention.self.key.bias, %MatMul2) {id=130} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=26
  %Add3 = profile:op(%bert.encoder.layer.0.attention.self.query.bias, %MatMul1) {id=134} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=16
  %Add5 = profile:op(%bert.encoder.layer.0.attention.self.value.bias, %MatMul3) {id=150} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=40
  %Reshape2 = profile:op(%Add4) {id=131} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=132
  %Reshape1 = profile:op(%Add3) {id=135} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=127
  %Reshape3 = profile:op(%Add5) {id=151} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=2
  %Transpose2 = profile:op(%Reshape2) {id=132} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=167
  %Transpose1 = profile:op(%Reshape1) {id=136} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=165
  %Transpose3 = profile:op(%Reshape3) {id=152} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=92
  %MatMul4 = profile:op(%Transpose2, %Transpose1) {id=137} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=182
  %Div1 = profile:op(%MatMul4) {id=138} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=148
  %Add6 = profile:op(%Div1, %Mul1) {id=144} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=141
  %Softmax1 = profile:op(%Add6) {id=145} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=69
  %TrainableDropout2 = profile:op(%Softmax1) {id=146} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=213
  %TrainableDropout2_201 = profile:op(%TrainableDropout2) {id=147} : ? !xfer=5.859375ms !color=213
  %TrainableDropout2_202 = profile:op(%TrainableDropout2) {id=148} : ? !xfer=0ps !color=213
  %MatMul5 = profile:op(%TrainableDropout2_201, %Transpose3) {id=153} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=59
  %Transpose4 = profile:op(%MatMul5) {id=154} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=196
  %Reshape4 = profile:op(%Transpose4) {id=155} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=203
  %MatMul6 = profile:op(%bert.encoder.layer.0.attention.output.dense.weight_transposed, %Reshape4) {id=156} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=54
  %Add7 = profile:op(%bert.encoder.layer.0.attention.output.dense.bias, %MatMul6) {id=157} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=11
  %TrainableDropout3 = profile:op(%Add7) {id=158} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=123
  %TrainableDropout3_220 = profile:op(%TrainableDropout3) {id=159} : ? !xfer=732.421875us !color=123
  %TrainableDropout3_221 = profile:op(%TrainableDropout3) {id=160} : ? !xfer=0ps !color=123
  %Add8 = profile:op(%TrainableDropout1_140, %TrainableDropout3_220) {id=161} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=163
  %LayerNormalization2 = profile:op(%bert.encoder.layer.0.attention.output.LayerNorm.weight, %bert.encoder.layer.0.attention.output.LayerNorm.bias, %Add8) {id=162} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=4
  %LayerNormalization2_234 = profile:op(%LayerNormalization2) {id=163} : ? !xfer=732.421875us !color=4
  %LayerNormalization2_saved_mean_3 = profile:op(%LayerNormalization2) {id=164} : ? !xfer=0ps !color=4
  %LayerNormalization2_saved_inv_std_var_4 = profile:op(%LayerNormalization2) {id=165} : ? !xfer=0ps !color=4
  %MatMul7 = profile:op(%bert.encoder.layer.0.intermediate.dense_act.weight_transposed, %LayerNormalization2_234) {id=166} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=7
  %Add9 = profile:op(%bert.encoder.layer.0.intermediate.dense_act.bias, %MatMul7) {id=167} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=35
  %Gelu_0 = profile:op(%Add9) {id=168} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=139
  %MatMul8 = profile:op(%bert.encoder.layer.0.output.dense.weight_transposed, %Gelu_0) {id=169} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=90
  %Add11 = profile:op(%bert.encoder.layer.0.output.dense.bias, %MatMul8) {id=170} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=5
  %TrainableDropout4 = profile:op(%Add11) {id=171} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=8
  %TrainableDropout4_249 = profile:op(%TrainableDropout4) {id=172} : ? !xfer=732.421875us !color=8
  %TrainableDropout4_250 = profile:op(%TrainableDropout4) {id=173} : ? !xfer=0ps !color=8
  %Add12 = profile:op(%LayerNormalization2_234, %TrainableDropout4_249) {id=174} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=120
  %LayerNormalization3 = profile:op(%bert.encoder.layer.0.output.LayerNorm.weight, %bert.encoder.layer.0.output.LayerNorm.bias, %Add12) {id=175} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=17
  %LayerNormalization3_263 = profile:op(%LayerNormalization3) {id=176} : ? !xfer=732.421875us !color=17
  %LayerNormalization3_saved_mean_5 = profile:op(%LayerNormalization3) {id=177} : ? !xfer=0ps !color=17
  %LayerNormalization3_saved_inv_std_var_6 = profile:op(%LayerNormalization3) {id=178} : ? !xfer=0ps !color=17
  %MatMul10 = profile:op(%bert.encoder.layer.1.attention.self.key.weight_transposed, %LayerNormalization3_263) {id=179} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=93
  %MatMul9 = profile:op(%bert.encoder.layer.1.attention.self.query.weight_transposed, %LayerNormalization3_263) {id=183} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=91
  %MatMul11 = profile:op(%bert.encoder.layer.1.attention.self.value.weight_transposed, %LayerNormalization3_263) {id=194} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=94
  %Add14 = profile:op(%bert.encoder.layer.1.attention.self.key.bias, %MatMul10) {id=180} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=49
  %Add13 = profile:op(%bert.encoder.layer.1.attention.self.query.bias, %MatMul9) {id=184} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=41
  %Add15 = profile:op(%bert.encoder.layer.1.attention.self.value.bias, %MatMul11) {id=195} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=27
  %Reshape6 = profile:op(%Add14) {id=181} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=147
  %Reshape5 = profile:op(%Add13) {id=185} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=86
  %Reshape7 = profile:op(%Add15) {id=196} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=135
  %Transpose6 = profile:op(%Reshape6) {id=182} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=175
  %Transpose5 = profile:op(%Reshape5) {id=186} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=174
  %Transpose7 = profile:op(%Reshape7) {id=197} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=171
  %MatMul12 = profile:op(%Transpose6, %Transpose5) {id=187} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=187
  %Div3 = profile:op(%MatMul12) {id=188} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=168
  %Add16 = profile:op(%Mul1, %Div3) {id=189} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=204
  %Softmax2 = profile:op(%Add16) {id=190} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=209
  %TrainableDropout5 = profile:op(%Softmax2) {id=191} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=107
  %TrainableDropout5_323 = profile:op(%TrainableDropout5) {id=192} : ? !xfer=5.859375ms !color=107
  %TrainableDropout5_324 = profile:op(%TrainableDropout5) {id=193} : ? !xfer=0ps !color=107
  %MatMul13 = profile:op(%TrainableDropout5_323, %Transpose7) {id=198} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=185
  %Transpose8 = profile:op(%MatMul13) {id=199} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=195
  %Reshape8 = profile:op(%Transpose8) {id=200} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=115
  %MatMul14 = profile:op(%bert.encoder.layer.1.attention.output.dense.weight_transposed, %Reshape8) {id=201} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=95
  %Add17 = profile:op(%bert.encoder.layer.1.attention.output.dense.bias, %MatMul14) {id=202} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=9
  %TrainableDropout6 = profile:op(%Add17) {id=203} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=122
  %TrainableDropout6_342 = profile:op(%TrainableDropout6) {id=204} : ? !xfer=732.421875us !color=122
  %TrainableDropout6_343 = profile:op(%TrainableDropout6) {id=205} : ? !xfer=0ps !color=122
  %Add18 = profile:op(%LayerNormalization3_263, %TrainableDropout6_342) {id=206} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=14
  %LayerNormalization4 = profile:op(%bert.encoder.layer.1.attention.output.LayerNorm.weight, %bert.encoder.layer.1.attention.output.LayerNorm.bias, %Add18) {id=207} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=42
  %LayerNormalization4_356 = profile:op(%LayerNormalization4) {id=208} : ? !xfer=732.421875us !color=42
  %LayerNormalization4_saved_mean_7 = profile:op(%LayerNormalization4) {id=209} : ? !xfer=0ps !color=42
  %LayerNormalization4_saved_inv_std_var_8 = profile:op(%LayerNormalization4) {id=210} : ? !xfer=0ps !color=42
  %MatMul15 = profile:op(%bert.encoder.layer.1.intermediate.dense_act.weight_transposed, %LayerNormalization4_356) {id=211} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=97
  %Add19 = profile:op(%bert.encoder.layer.1.intermediate.dense_act.bias, %MatMul15) {id=212} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=39
  %Gelu_1 = profile:op(%Add19) {id=213} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=142
  %MatMul16 = profile:op(%bert.encoder.layer.1.output.dense.weight_transposed, %Gelu_1) {id=214} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=98
  %Add21 = profile:op(%bert.encoder.layer.1.output.dense.bias, %MatMul16) {id=215} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=58
  %TrainableDropout7 = profile:op(%Add21) {id=216} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=138
  %TrainableDropout7_371 = profile:op(%TrainableDropout7) {id=217} : ? !xfer=732.421875us !color=138
  %TrainableDropout7_372 = profile:op(%TrainableDropout7) {id=218} : ? !xfer=0ps !color=138
  %Add22 = profile:op(%LayerNormalization4_356, %TrainableDropout7_371) {id=219} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=143
  %LayerNormalization5 = profile:op(%bert.encoder.layer.1.output.LayerNorm.weight, %bert.encoder.layer.1.output.LayerNorm.bias, %Add22) {id=220} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=48
  %LayerNormalization5_385 = profile:op(%LayerNormalization5) {id=221} : ? !xfer=732.421875us !color=48
  %LayerNormalization5_saved_mean_9 = profile:op(%LayerNormalization5) {id=222} : ? !xfer=0ps !color=48
  %LayerNormalization5_saved_inv_std_var_10 = profile:op(%LayerNormalization5) {id=223} : ? !xfer=0ps !color=48
  %MatMul18 = profile:op(%bert.encoder.layer.2.attention.self.key.weight_transposed, %LayerNormalization5_385) {id=224} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=100
  %MatMul17 = profile:op(%bert.encoder.layer.2.attention.self.query.weight_transposed, %LayerNormalization5_385) {id=228} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=99
  %MatMul19 = profile:op(%bert.encoder.layer.2.attention.self.value.weight_transposed, %LayerNormalization5_385) {id=239} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=6
  %Add24 = profile:op(%bert.encoder.layer.2.attention.self.key.bias, %MatMul18) {id=225} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=62
  %Add23 = profile:op(%bert.encoder.layer.2.attention.self.query.bias, %MatMul17) {id=229} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=52
  %Add25 = profile:op(%bert.encoder.layer.2.attention.self.value.bias, %MatMul19) {id=240} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=28
  %Reshape10 = profile:op(%Add24) {id=226} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=151
  %Reshape9 = profile:op(%Add23) {id=230} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=149
  %Reshape11 = profile:op(%Add25) {id=241} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=133
  %Transpose10 = profile:op(%Reshape10) {id=227} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=178
  %Transpose9 = profile:op(%Reshape9) {id=231} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=177
  %Transpose11 = profile:op(%Reshape11) {id=242} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=169
  %MatMul20 = profile:op(%Transpose10, %Transpose9) {id=232} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=189
  %Div5 = profile:op(%MatMul20) {id=233} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=197
  %Add26 = profile:op(%Mul1, %Div5) {id=234} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=205
  %Softmax3 = profile:op(%Add26) {id=235} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=210
  %TrainableDropout8 = profile:op(%Softmax3) {id=236} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=215
  %TrainableDropout8_445 = profile:op(%TrainableDropout8) {id=237} : ? !xfer=5.859375ms !color=215
  %TrainableDropout8_446 = profile:op(%TrainableDropout8) {id=238} : ? !xfer=0ps !color=215
  %MatMul21 = profile:op(%TrainableDropout8_445, %Transpose11) {id=243} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=184
  %Transpose12 = profile:op(%MatMul21) {id=244} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=194
  %Reshape12 = profile:op(%Transpose12) {id=245} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=201
  %MatMul22 = profile:op(%bert.encoder.layer.2.attention.output.dense.weight_transposed, %Reshape12) {id=246} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=101
  %Add27 = profile:op(%bert.encoder.layer.2.attention.output.dense.bias, %MatMul22) {id=247} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=32
  %TrainableDropout9 = profile:op(%Add27) {id=248} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=137
  %TrainableDropout9_464 = profile:op(%TrainableDropout9) {id=249} : ? !xfer=732.421875us !color=137
  %TrainableDropout9_465 = profile:op(%TrainableDropout9) {id=250} : ? !xfer=0ps !color=137
  %Add28 = profile:op(%LayerNormalization5_385, %TrainableDropout9_464) {id=251} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=146
  %LayerNormalization6 = profile:op(%bert.encoder.layer.2.attention.output.LayerNorm.weight, %bert.encoder.layer.2.attention.output.LayerNorm.bias, %Add28) {id=252} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=65
  %LayerNormalization6_478 = profile:op(%LayerNormalization6) {id=253} : ? !xfer=732.421875us !color=65
  %LayerNormalization6_saved_mean_11 = profile:op(%LayerNormalization6) {id=254} : ? !xfer=0ps !color=65
  %LayerNormalization6_saved_inv_std_var_12 = profile:op(%LayerNormalization6) {id=255} : ? !xfer=0ps !color=65
  %MatMul23 = profile:op(%bert.encoder.layer.2.intermediate.dense_act.weight_transposed, %LayerNormalization6_478) {id=256} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=57
  %Add29 = profile:op(%bert.encoder.layer.2.intermediate.dense_act.bias, %MatMul23) {id=257} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=44
  %Gelu_2 = profile:op(%Add29) {id=258} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=144
  %MatMul24 = profile:op(%bert.encoder.layer.2.output.dense.weight_transposed, %Gelu_2) {id=259} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=31
  %Add31 = profile:op(%bert.encoder.layer.2.output.dense.bias, %MatMul24) {id=260} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=50
  %TrainableDropout10 = profile:op(%Add31) {id=261} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=88
  %TrainableDropout10_493 = profile:op(%TrainableDropout10) {id=262} : ? !xfer=732.421875us !color=88
  %TrainableDropout10_494 = profile:op(%TrainableDropout10) {id=263} : ? !xfer=0ps !color=88
  %Add32 = profile:op(%LayerNormalization6_478, %TrainableDropout10_493) {id=264} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=96
  %LayerNormalization7 = profile:op(%bert.encoder.layer.2.output.LayerNorm.weight, %bert.encoder.layer.2.output.LayerNorm.bias, %Add32) {id=265} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=45
  %LayerNormalization7_507 = profile:op(%LayerNormalization7) {id=266} : ? !xfer=732.421875us !color=45
  %LayerNormalization7_saved_mean_13 = profile:op(%LayerNormalization7) {id=267} : ? !xfer=0ps !color=45
  %LayerNormalization7_saved_inv_std_var_14 = profile:op(%LayerNormalization7) {id=268} : ? !xfer=0ps !color=45
  %MatMul26 = profile:op(%bert.encoder.layer.3.attention.self.key.weight_transposed, %LayerNormalization7_507) {id=269} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=104
  %MatMul25 = profile:op(%bert.encoder.layer.3.attention.self.query.weight_transposed, %LayerNormalization7_507) {id=273} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=89
  %MatMul27 = profile:op(%bert.encoder.layer.3.attention.self.value.weight_transposed, %LayerNormalization7_507) {id=284} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=103
  %Add34 = profile:op(%bert.encoder.layer.3.attention.self.key.bias, %MatMul26) {id=270} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=13
  %Add33 = profile:op(%bert.encoder.layer.3.attention.self.query.bias, %MatMul25) {id=274} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=37
  %Add35 = profile:op(%bert.encoder.layer.3.attention.self.value.bias, %MatMul27) {id=285} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=67
  %Reshape14 = profile:op(%Add34) {id=271} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=124
  %Reshape13 = profile:op(%Add33) {id=275} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=140
  %Reshape15 = profile:op(%Add35) {id=286} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=153
  %Transpose14 = profile:op(%Reshape14) {id=272} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=164
  %Transpose13 = profile:op(%Reshape13) {id=276} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=173
  %Transpose15 = profile:op(%Reshape15) {id=287} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=134
  %MatMul28 = profile:op(%Transpose14, %Transpose13) {id=277} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=170
  %Div7 = profile:op(%MatMul28) {id=278} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=192
  %Add36 = profile:op(%Mul1, %Div7) {id=279} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=199
  %Softmax4 = profile:op(%Add36) {id=280} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=33
  %TrainableDropout11 = profile:op(%Softmax4) {id=281} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=212
  %TrainableDropout11_567 = profile:op(%TrainableDropout11) {id=282} : ? !xfer=5.859375ms !color=212
  %TrainableDropout11_568 = profile:op(%TrainableDropout11) {id=283} : ? !xfer=0ps !color=212
  %MatMul29 = profile:op(%TrainableDropout11_567, %Transpose15) {id=288} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=190
  %Transpose16 = profile:op(%MatMul29) {id=289} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=55
  %Reshape16 = profile:op(%Transpose16) {id=290} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=206
  %MatMul30 = profile:op(%bert.encoder.layer.3.attention.output.dense.weight_transposed, %Reshape16) {id=291} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=105
  %Add37 = profile:op(%bert.encoder.layer.3.attention.output.dense.bias, %MatMul30) {id=292} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=25
  %TrainableDropout12 = profile:op(%Add37) {id=293} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=38
  %TrainableDropout12_586 = profile:op(%TrainableDropout12) {id=294} : ? !xfer=732.421875us !color=38
  %TrainableDropout12_587 = profile:op(%TrainableDropout12) {id=295} : ? !xfer=0ps !color=38
  %Add38 = profile:op(%LayerNormalization7_507, %TrainableDropout12_586) {id=296} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=145
  %LayerNormalization8 = profile:op(%bert.encoder.layer.3.attention.output.LayerNorm.weight, %bert.encoder.layer.3.attention.output.LayerNorm.bias, %Add38) {id=297} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=72
  %LayerNormalization8_600 = profile:op(%LayerNormalization8) {id=298} : ? !xfer=732.421875us !color=72
  %LayerNormalization8_saved_mean_15 = profile:op(%LayerNormalization8) {id=299} : ? !xfer=0ps !color=72
  %LayerNormalization8_saved_inv_std_var_16 = profile:op(%LayerNormalization8) {id=300} : ? !xfer=0ps !color=72
  %MatMul31 = profile:op(%bert.encoder.layer.3.intermediate.dense_act.weight_transposed, %LayerNormalization8_600) {id=301} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=106
  %Add39 = profile:op(%bert.encoder.layer.3.intermediate.dense_act.bias, %MatMul31) {id=302} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=10
  %Gelu_3 = profile:op(%Add39) {id=303} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=121
  %MatMul32 = profile:op(%bert.encoder.layer.3.output.dense.weight_transposed, %Gelu_3) {id=304} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=108
  %Add41 = profile:op(%bert.encoder.layer.3.output.dense.bias, %MatMul32) {id=305} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=75
  %TrainableDropout13 = profile:op(%Add41) {id=306} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=157
  %TrainableDropout13_615 = profile:op(%TrainableDropout13) {id=307} : ? !xfer=732.421875us !color=157
  %TrainableDropout13_616 = profile:op(%TrainableDropout13) {id=308} : ? !xfer=0ps !color=157
  %Add42 = profile:op(%LayerNormalization8_600, %TrainableDropout13_615) {id=309} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=154
  %LayerNormalization9 = profile:op(%bert.encoder.layer.3.output.LayerNorm.weight, %bert.encoder.layer.3.output.LayerNorm.bias, %Add42) {id=310} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=74
  %LayerNormalization9_629 = profile:op(%LayerNormalization9) {id=311} : ? !xfer=732.421875us !color=74
  %LayerNormalization9_saved_mean_17 = profile:op(%LayerNormalization9) {id=312} : ? !xfer=0ps !color=74
  %LayerNormalization9_saved_inv_std_var_18 = profile:op(%LayerNormalization9) {id=313} : ? !xfer=0ps !color=74
  %MatMul34 = profile:op(%bert.encoder.layer.4.attention.self.key.weight_transposed, %LayerNormalization9_629) {id=314} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=111
  %MatMul33 = profile:op(%bert.encoder.layer.4.attention.self.query.weight_transposed, %LayerNormalization9_629) {id=318} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=109
  %MatMul35 = profile:op(%bert.encoder.layer.4.attention.self.value.weight_transposed, %LayerNormalization9_629) {id=329} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=102
  %Add44 = profile:op(%bert.encoder.layer.4.attention.self.key.bias, %MatMul34) {id=315} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=76
  %Add43 = profile:op(%bert.encoder.layer.4.attention.self.query.bias, %MatMul33) {id=319} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=77
  %Add45 = profile:op(%bert.encoder.layer.4.attention.self.value.bias, %MatMul35) {id=330} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=51
  %Reshape18 = profile:op(%Add44) {id=316} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=158
  %Reshape17 = profile:op(%Add43) {id=320} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=70
  %Reshape19 = profile:op(%Add45) {id=331} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=47
  %Transpose18 = profile:op(%Reshape18) {id=317} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=180
  %Transpose17 = profile:op(%Reshape17) {id=321} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=181
  %Transpose19 = profile:op(%Reshape19) {id=332} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=176
  %MatMul36 = profile:op(%Transpose18, %Transpose17) {id=322} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=191
  %Div9 = profile:op(%MatMul36) {id=323} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=198
  %Add46 = profile:op(%Mul1, %Div9) {id=324} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=207
  %Softmax5 = profile:op(%Add46) {id=325} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=211
  %TrainableDropout14 = profile:op(%Softmax5) {id=326} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=216
  %TrainableDropout14_689 = profile:op(%TrainableDropout14) {id=327} : ? !xfer=5.859375ms !color=216
  %TrainableDropout14_690 = profile:op(%TrainableDropout14) {id=328} : ? !xfer=0ps !color=216
  %MatMul37 = profile:op(%TrainableDropout14_689, %Transpose19) {id=333} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=188
  %Transpose20 = profile:op(%MatMul37) {id=334} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=61
  %Reshape20 = profile:op(%Transpose20) {id=335} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=118
  %MatMul38 = profile:op(%bert.encoder.layer.4.attention.output.dense.weight_transposed, %Reshape20) {id=336} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=112
  %Add47 = profile:op(%bert.encoder.layer.4.attention.output.dense.bias, %MatMul38) {id=337} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=12
  %TrainableDropout15 = profile:op(%Add47) {id=338} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=34
  %TrainableDropout15_708 = profile:op(%TrainableDropout15) {id=339} : ? !xfer=732.421875us !color=34
  %TrainableDropout15_709 = profile:op(%TrainableDropout15) {id=340} : ? !xfer=0ps !color=34
  %Add48 = profile:op(%LayerNormalization9_629, %TrainableDropout15_708) {id=341} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=156
  %LayerNormalization10 = profile:op(%bert.encoder.layer.4.attention.output.LayerNorm.weight, %bert.encoder.layer.4.attention.output.LayerNorm.bias, %Add48) {id=342} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=15
  %LayerNormalization10_722 = profile:op(%LayerNormalization10) {id=343} : ? !xfer=732.421875us !color=15
  %LayerNormalization10_saved_mean_19 = profile:op(%LayerNormalization10) {id=344} : ? !xfer=0ps !color=15
  %LayerNormalization10_saved_inv_std_var_20 = profile:op(%LayerNormalization10) {id=345} : ? !xfer=0ps !color=15
  %MatMul39 = profile:op(%bert.encoder.layer.4.intermediate.dense_act.weight_transposed, %LayerNormalization10_722) {id=346} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=53
  %Add49 = profile:op(%bert.encoder.layer.4.intermediate.dense_act.bias, %MatMul39) {id=347} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=43
  %Gelu_4 = profile:op(%Add49) {id=348} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=20
  %MatMul40 = profile:op(%bert.encoder.layer.4.output.dense.weight_transposed, %Gelu_4) {id=349} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=29
  %Add51 = profile:op(%bert.encoder.layer.4.output.dense.bias, %MatMul40) {id=350} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=78
  %TrainableDropout16 = profile:op(%Add51) {id=351} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=159
  %TrainableDropout16_737 = profile:op(%TrainableDropout16) {id=352} : ? !xfer=732.421875us !color=159
  %TrainableDropout16_738 = profile:op(%TrainableDropout16) {id=353} : ? !xfer=0ps !color=159
  %Add52 = profile:op(%LayerNormalization10_722, %TrainableDropout16_737) {id=354} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=126
  %LayerNormalization11 = profile:op(%bert.encoder.layer.4.output.LayerNorm.weight, %bert.encoder.layer.4.output.LayerNorm.bias, %Add52) {id=355} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=73
  %LayerNormalization11_751 = profile:op(%LayerNormalization11) {id=356} : ? !xfer=732.421875us !color=73
  %LayerNormalization11_saved_mean_21 = profile:op(%LayerNormalization11) {id=357} : ? !xfer=0ps !color=73
  %LayerNormalization11_saved_inv_std_var_22 = profile:op(%LayerNormalization11) {id=358} : ? !xfer=0ps !color=73
  %MatMul42 = profile:op(%bert.encoder.layer.5.attention.self.key.weight_transposed, %LayerNormalization11_751) {id=359} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=113
  %MatMul41 = profile:op(%bert.encoder.layer.5.attention.self.query.weight_transposed, %LayerNormalization11_751) {id=363} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=66
  %MatMul43 = profile:op(%bert.encoder.layer.5.attention.self.value.weight_transposed, %LayerNormalization11_751) {id=374} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=68
  %Add54 = profile:op(%bert.encoder.layer.5.attention.self.key.bias, %MatMul42) {id=360} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=22
  %Add53 = profile:op(%bert.encoder.layer.5.attention.self.query.bias, %MatMul41) {id=364} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=63
  %Add55 = profile:op(%bert.encoder.layer.5.attention.self.value.bias, %MatMul43) {id=375} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=36
  %Reshape22 = profile:op(%Add54) {id=361} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=130
  %Reshape21 = profile:op(%Add53) {id=365} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=152
  %Reshape23 = profile:op(%Add55) {id=376} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=79
  %Transpose22 = profile:op(%Reshape22) {id=362} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=166
  %Transpose21 = profile:op(%Reshape21) {id=366} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=179
  %Transpose23 = profile:op(%Reshape23) {id=377} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=172
  %MatMul44 = profile:op(%Transpose22, %Transpose21) {id=367} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=183
  %Div11 = profile:op(%MatMul44) {id=368} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=193
  %Add56 = profile:op(%Mul1, %Div11) {id=369} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=200
  %Softmax6 = profile:op(%Add56) {id=370} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=208
  %TrainableDropout17 = profile:op(%Softmax6) {id=371} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=214
  %TrainableDropout17_811 = profile:op(%TrainableDropout17) {id=372} : ? !xfer=5.859375ms !color=214
  %TrainableDropout17_812 = profile:op(%TrainableDropout17) {id=373} : ? !xfer=0ps !color=214
  %MatMul45 = profile:op(%TrainableDropout17_811, %Transpose23) {id=378} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=186
  %Transpose24 = profile:op(%MatMul45) {id=379} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=125
  %Reshape24 = profile:op(%Transpose24) {id=380} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=202
  %MatMul46 = profile:op(%bert.encoder.layer.5.attention.output.dense.weight_transposed, %Reshape24) {id=381} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=110
  %Add57 = profile:op(%bert.encoder.layer.5.attention.output.dense.bias, %MatMul46) {id=382} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=30
  %TrainableDropout18 = profile:op(%Add57) {id=383} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=136
  %TrainableDropout18_830 = profile:op(%TrainableDropout18) {id=384} : ? !xfer=732.421875us !color=136
  %TrainableDropout18_831 = profile:op(%TrainableDropout18) {id=385} : ? !xfer=0ps !color=136
  %Add58 = profile:op(%LayerNormalization11_751, %TrainableDropout18_830) {id=386} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=155
  %LayerNormalization12 = profile:op(%bert.encoder.layer.5.attention.output.LayerNorm.weight, %bert.encoder.layer.5.attention.output.LayerNorm.bias, %Add58) {id=387} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=80
  %LayerNormalization12_844 = profile:op(%LayerNormalization12) {id=388} : ? !xfer=732.421875us !color=80
  %LayerNormalization12_saved_mean_23 = profile:op(%LayerNormalization12) {id=389} : ? !xfer=0ps !color=80
  %LayerNormalization12_saved_inv_std_var_24 = profile:op(%LayerNormalization12) {id=390} : ? !xfer=0ps !color=80
  %MatMul47 = profile:op(%bert.encoder.layer.5.intermediate.dense_act.weight_transposed, %LayerNormalization12_844) {id=391} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=21
  %Add59 = profile:op(%bert.encoder.layer.5.intermediate.dense_act.bias, %MatMul47) {id=392} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=56
  %Gelu_5 = profile:op(%Add59) {id=393} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=150
  %MatMul48 = profile:op(%bert.encoder.layer.5.output.dense.weight_transposed, %Gelu_5) {id=394} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=114
  %Add61 = profile:op(%bert.encoder.layer.5.output.dense.bias, %MatMul48) {id=395} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=81
  %TrainableDropout19 = profile:op(%Add61) {id=396} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=119
  %TrainableDropout19_859 = profile:op(%TrainableDropout19) {id=397} : ? !xfer=732.421875us !color=119
  %TrainableDropout19_860 = profile:op(%TrainableDropout19) {id=398} : ? !xfer=0ps !color=119
  %Add62 = profile:op(%LayerNormalization12_844, %TrainableDropout19_859) {id=399} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=160
  %LayerNormalization13 = profile:op(%bert.encoder.layer.5.output.LayerNorm.weight, %bert.encoder.layer.5.output.LayerNorm.bias, %Add62) {id=400} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=24
  %LayerNormalization13_873 = profile:op(%LayerNormalization13) {id=401} : ? !xfer=732.421875us !color=24
  %LayerNormalization13_saved_mean_25 = profile:op(%LayerNormalization13) {id=402} : ? !xfer=0ps !color=24
  %LayerNormalization13_saved_inv_std_var_26 = profile:op(%LayerNormalization13) {id=403} : ? !xfer=0ps !color=24
  %Gather4 = profile:op(%LayerNormalization13_873) {id=404} : ? !xfer=1.430511us !time=[95.746ns,2.202163us] !own=3KiB !color=131
  %MatMul50 = profile:op(%cls.predictions.transform.dense_act.weight_transposed, %LayerNormalization13_873) {id=422} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=23
  %MatMul49 = profile:op(%bert.pooler.dense_act.weight_transposed, %Gather4) {id=405} : ? !xfer=1.430511us !time=[67.345ns,1.548924us] !own=3KiB !color=64
  %Add64 = profile:op(%cls.predictions.transform.dense_act.bias, %MatMul50) {id=423} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=84
  %Add63 = profile:op(%bert.pooler.dense_act.bias, %MatMul49) {id=406} : ? !xfer=1.430511us !time=[95.684ns,2.200725us] !own=3KiB !color=82
  %Gelu_6 = profile:op(%Add64) {id=424} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=162
  %Tanh1 = profile:op(%Add63) {id=407} : ? !xfer=1.430511us !time=[143.809ns,3.3076us] !own=3KiB !color=161
  %LayerNormalization14 = profile:op(%cls.predictions.transform.LayerNorm.weight, %cls.predictions.transform.LayerNorm.bias, %Gelu_6) {id=425} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=60
  %Gemm1 = profile:op(%cls.seq_relationship.weight, %cls.seq_relationship.bias, %Tanh1) {id=408} : ? !xfer=0ps !time=[1.053ns,24.211ns] !own=48B !color=85
  %LayerNormalization14_902 = profile:op(%LayerNormalization14) {id=426} : ? !xfer=732.421875us !color=60
  %LayerNormalization14_saved_mean_27 = profile:op(%LayerNormalization14) {id=427} : ? !xfer=0ps !color=60
  %LayerNormalization14_saved_inv_std_var_28 = profile:op(%LayerNormalization14) {id=428} : ? !xfer=0ps !color=60
  %MatMul51 = profile:op(%Transpose25, %LayerNormalization14_902) {id=429} : ? !xfer=174.682617188ms !time=[8.223573516ms,189.142190865ms] !own=366336KiB !color=129
  %Add66 = profile:op(%cls.predictions.bias, %MatMul51) {id=430} : ? !xfer=0ps !time=[11.684129906ms,268.734987844ms] !own=366336KiB !color=83
}
