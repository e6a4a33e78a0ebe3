# RUN: pcc pcc-repro.pir --passes='contract,dp-place'
pcc 1
path "/work/shared/workloads/throughput/op_bert3_training.json"
ir_version 0
opset none
cluster efficiency=1000000 replicate sync=2147483648B/s
class "acc" x3 memory=16782592KiB
class "cpu" x1 host
costs 2

graph @main name="workload" {
  %cls.seq_relationship.weight = profile:op() {id=0} : ? !xfer=476.837ns !own=1KiB !color=17
  %cls.seq_relationship.bias = profile:op() {id=1} : ? !xfer=3.725ns !own=8B !color=17
  %cls.predictions.transform.dense_act.weight_transposed = profile:op() {id=2} : ? !xfer=30.517578us !own=64KiB !color=69
  %cls.predictions.transform.dense_act.bias = profile:op() {id=3} : ? !xfer=238.419ns !own=512B !color=62
  %cls.predictions.transform.LayerNorm.weight = profile:op() {id=4} : ? !xfer=238.419ns !own=512B !color=48
  %cls.predictions.transform.LayerNorm.bias = profile:op() {id=5} : ? !xfer=238.419ns !own=512B !color=48
  %cls.predictions.bias = profile:op() {id=6} : ? !xfer=56.862831us !own=122112B !color=34
  %bert.pooler.dense_act.weight_transposed = profile:op() {id=7} : ? !xfer=30.517578us !own=64KiB !color=68
  %bert.pooler.dense_act.bias = profile:op() {id=8} : ? !xfer=238.419ns !own=512B !color=14
  %bert.encoder.layer.2.output.dense.weight_transposed = profile:op() {id=9} : ? !xfer=976.5625us !own=2MiB !color=11
  %bert.encoder.layer.2.output.dense.bias = profile:op() {id=10} : ? !xfer=238.419ns !own=512B !color=44
  %bert.encoder.layer.2.output.LayerNorm.weight = profile:op() {id=11} : ? !xfer=238.419ns !own=512B !color=29
  %bert.encoder.layer.2.output.LayerNorm.bias = profile:op() {id=12} : ? !xfer=238.419ns !own=512B !color=29
  %bert.encoder.layer.2.intermediate.dense_act.weight_transposed = profile:op() {id=13} : ? !xfer=976.5625us !own=2MiB !color=65
  %bert.encoder.layer.2.intermediate.dense_act.bias = profile:op() {id=14} : ? !xfer=7.629395us !own=16KiB !color=16
  %bert.encoder.layer.2.attention.self.value.weight_transposed = profile:op() {id=15} : ? !xfer=30.517578us !own=64KiB !color=43
  %bert.encoder.layer.2.attention.self.value.bias = profile:op() {id=16} : ? !xfer=238.419ns !own=512B !color=22
  %bert.encoder.layer.2.attention.self.query.weight_transposed = profile:op() {id=17} : ? !xfer=30.517578us !own=64KiB !color=66
  %bert.encoder.layer.2.attention.self.query.bias = profile:op() {id=18} : ? !xfer=238.419ns !own=512B !color=47
  %bert.encoder.layer.2.attention.self.key.weight_transposed = profile:op() {id=19} : ? !xfer=30.517578us !own=64KiB !color=59
  %bert.encoder.layer.2.attention.self.key.bias = profile:op() {id=20} : ? !xfer=238.419ns !own=512B !color=9
  %bert.encoder.layer.2.attention.output.dense.weight_transposed = profile:op() {id=21} : ? !xfer=30.517578us !own=64KiB !color=67
  %bert.encoder.layer.2.attention.output.dense.bias = profile:op() {id=22} : ? !xfer=238.419ns !own=512B !color=56
  %bert.encoder.layer.2.attention.output.LayerNorm.weight = profile:op() {id=23} : ? !xfer=238.419ns !own=512B !color=54
  %bert.encoder.layer.2.attention.output.LayerNorm.bias = profile:op() {id=24} : ? !xfer=238.419ns !own=512B !color=54
  %bert.encoder.layer.1.output.dense.weight_transposed = profile:op() {id=25} : ? !xfer=976.5625us !own=2MiB !color=57
  %bert.encoder.layer.1.output.dense.bias = profile:op() {id=26} : ? !xfer=238.419ns !own=512B !color=50
  %bert.encoder.layer.1.output.LayerNorm.weight = profile:op() {id=27} : ? !xfer=238.419ns !own=512B !color=46
  %bert.encoder.layer.1.output.LayerNorm.bias = profile:op() {id=28} : ? !xfer=238.419ns !own=512B !color=46
  %bert.encoder.layer.1.intermediate.dense_act.weight_transposed = profile:op() {id=29} : ? !xfer=976.5625us !own=2MiB !color=24
  %bert.encoder.layer.1.intermediate.dense_act.bias = profile:op() {id=30} : ? !xfer=7.629395us !own=16KiB !color=30
  %bert.encoder.layer.1.attention.self.value.weight_transposed = profile:op() {id=31} : ? !xfer=30.517578us !own=64KiB !color=42
  %bert.encoder.layer.1.attention.self.value.bias = profile:op() {id=32} : ? !xfer=238.419ns !own=512B !color=40
  %bert.encoder.layer.1.attention.self.query.weight_transposed = profile:op() {id=33} : ? !xfer=30.517578us !own=64KiB !color=64
  %bert.encoder.layer.1.attention.self.query.bias = profile:op() {id=34} : ? !xfer=238.419ns !own=512B !color=35
  %bert.encoder.layer.1.attention.self.key.weight_transposed = profile:op() {id=35} : ? !xfer=30.517578us !own=64KiB !color=51
  %bert.encoder.layer.1.attention.self.key.bias = profile:op() {id=36} : ? !xfer=238.419ns !own=512B !color=2
  %bert.encoder.layer.1.attention.output.dense.weight_transposed = profile:op() {id=37} : ? !xfer=30.517578us !own=64KiB !color=33
  %bert.encoder.layer.1.attention.output.dense.bias = profile:op() {id=38} : ? !xfer=238.419ns !own=512B !color=10
  %bert.encoder.layer.1.attention.output.LayerNorm.weight = profile:op() {id=39} : ? !xfer=238.419ns !own=512B !color=28
  %bert.encoder.layer.1.attention.output.LayerNorm.bias = profile:op() {id=40} : ? !xfer=238.419ns !own=512B !color=28
  %bert.encoder.layer.0.output.dense.weight_transposed = profile:op() {id=41} : ? !xfer=976.5625us !own=2MiB !color=23
  %bert.encoder.layer.0.output.dense.bias = profile:op() {id=42} : ? !xfer=238.419ns !own=512B !color=26
  %bert.encoder.layer.0.output.LayerNorm.weight = profile:op() {id=43} : ? !xfer=238.419ns !own=512B !color=18
  %bert.encoder.layer.0.output.LayerNorm.bias = profile:op() {id=44} : ? !xfer=238.419ns !own=512B !color=18
  %bert.encoder.layer.0.intermediate.dense_act.weight_transposed = profile:op() {id=45} : ? !xfer=976.5625us !own=2MiB !color=63
  %bert.encoder.layer.0.intermediate.dense_act.bias = profile:op() {id=46} : ? !xfer=7.629395us !own=16KiB !color=25
  %bert.encoder.layer.0.attention.self.value.weight_transposed = profile:op() {id=47} : ? !xfer=30.517578us !own=64KiB !color=45
  %bert.encoder.layer.0.attention.self.value.bias = profile:op() {id=48} : ? !xfer=238.419ns !own=512B !color=27
  %bert.encoder.layer.0.attention.self.query.weight_transposed = profile:op() {id=49} : ? !xfer=30.517578us !own=64KiB !color=37
  %bert.encoder.layer.0.attention.self.query.bias = profile:op() {id=50} : ? !xfer=238.419ns !own=512B !color=19
  %bert.encoder.layer.0.attention.self.key.weight_transposed = profile:op() {id=51} : ? !xfer=30.517578us !own=64KiB !color=41
  %bert.encoder.layer.0.attention.self.key.bias = profile:op() {id=52} : ? !xfer=238.419ns !own=512B !color=8
  %bert.encoder.layer.0.attention.output.dense.weight_transposed = profile:op() {id=53} : ? !xfer=30.517578us !own=64KiB !color=52
  %bert.encoder.layer.0.attention.output.dense.bias = profile:op() {id=54} : ? !xfer=238.419ns !own=512B !color=21
  %bert.encoder.layer.0.attention.output.LayerNorm.weight = profile:op() {id=55} : ? !xfer=238.419ns !own=512B !color=20
  %bert.encoder.layer.0.attention.output.LayerNorm.bias = profile:op() {id=56} : ? !xfer=238.419ns !own=512B !color=20
  %bert.embeddings.word_embeddings.weight = profile:op() {id=57} : ? !xfer=7.278442383ms !own=15264KiB !color=6
  %bert.embeddings.token_type_embeddings.weight = profile:op() {id=58} : ? !xfer=476.837ns !own=1KiB !color=1
  %bert.embeddings.position_embeddings.weight = profile:op() {id=59} : ? !xfer=122.070313us !own=256KiB !color=13
  %bert.embeddings.LayerNorm.weight = profile:op() {id=60} : ? !xfer=238.419ns !own=512B !color=5
  %bert.embeddings.LayerNorm.bias = profile:op() {id=61} : ? !xfer=238.419ns !own=512B !color=5
  %Bert_Total_Loss_Grad/Identity_1 = profile:op() {id=62} : ? !xfer=58ps !time=[127ps,2.92ns] !color=96 !backward
  %Shape1 = profile:op() {id=63} : ? !xfer=7.451ns !time=[436ps,10.025ns] !own=16B
  %Unsqueeze1 = profile:op() {id=91} : ? !xfer=11.444092us !time=[765.595ns,17.608679us] !own=24KiB
  %Bert_Total_Loss_Grad/Identity_0 = profile:op() {id=235} : ? !xfer=58ps !time=[127ps,2.92ns] !color=96 !backward
  %Mask_LM_Positions_Unsqueezed = profile:op() {id=236} : ? !xfer=447.035ns !time=[30.026ns,690.602ns] !own=960B !backward
  %MatMul26_Grad/Transpose_0 = profile:op(%cls.predictions.transform.dense_act.weight_transposed) {id=283} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=69 !backward
  %MatMul24_Grad/Transpose_0 = profile:op(%bert.encoder.layer.2.output.dense.weight_transposed) {id=301} : ? !xfer=976.5625us !time=[65.320146us,1.502363354ms] !own=2MiB !color=11 !backward
  %MatMul23_Grad/Transpose_0 = profile:op(%bert.encoder.layer.2.intermediate.dense_act.weight_transposed) {id=313} : ? !xfer=976.5625us !time=[65.320146us,1.502363354ms] !own=2MiB !color=65 !backward
  %MatMul19_Grad/Transpose_0 = profile:op(%bert.encoder.layer.2.attention.self.value.weight_transposed) {id=379} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=43 !backward
  %MatMul17_Grad/Transpose_0 = profile:op(%bert.encoder.layer.2.attention.self.query.weight_transposed) {id=374} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=66 !backward
  %MatMul18_Grad/Transpose_0 = profile:op(%bert.encoder.layer.2.attention.self.key.weight_transposed) {id=376} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=59 !backward
  %MatMul22_Grad/Transpose_0 = profile:op(%bert.encoder.layer.2.attention.output.dense.weight_transposed) {id=311} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=67 !backward
  %MatMul16_Grad/Transpose_0 = profile:op(%bert.encoder.layer.1.output.dense.weight_transposed) {id=397} : ? !xfer=976.5625us !time=[65.320146us,1.502363354ms] !own=2MiB !color=57 !backward
  %MatMul15_Grad/Transpose_0 = profile:op(%bert.encoder.layer.1.intermediate.dense_act.weight_transposed) {id=409} : ? !xfer=976.5625us !time=[65.320146us,1.502363354ms] !own=2MiB !color=24 !backward
  %MatMul11_Grad/Transpose_0 = profile:op(%bert.encoder.layer.1.attention.self.value.weight_transposed) {id=473} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=42 !backward
  %MatMul9_Grad/Transpose_0 = profile:op(%bert.encoder.layer.1.attention.self.query.weight_transposed) {id=475} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=64 !backward
  %MatMul10_Grad/Transpose_0 = profile:op(%bert.encoder.layer.1.attention.self.key.weight_transposed) {id=470} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=51 !backward
  %MatMul14_Grad/Transpose_0 = profile:op(%bert.encoder.layer.1.attention.output.dense.weight_transposed) {id=407} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=33 !backward
  %MatMul8_Grad/Transpose_0 = profile:op(%bert.encoder.layer.0.output.dense.weight_transposed) {id=493} : ? !xfer=976.5625us !time=[65.320146us,1.502363354ms] !own=2MiB !color=23 !backward
  %MatMul7_Grad/Transpose_0 = profile:op(%bert.encoder.layer.0.intermediate.dense_act.weight_transposed) {id=505} : ? !xfer=976.5625us !time=[65.320146us,1.502363354ms] !own=2MiB !color=63 !backward
  %MatMul3_Grad/Transpose_0 = profile:op(%bert.encoder.layer.0.attention.self.value.weight_transposed) {id=571} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=45 !backward
  %MatMul1_Grad/Transpose_0 = profile:op(%bert.encoder.layer.0.attention.self.query.weight_transposed) {id=575} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=37 !backward
  %MatMul2_Grad/Transpose_0 = profile:op(%bert.encoder.layer.0.attention.self.key.weight_transposed) {id=573} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=41 !backward
  %MatMul6_Grad/Transpose_0 = profile:op(%bert.encoder.layer.0.attention.output.dense.weight_transposed) {id=503} : ? !xfer=30.517578us !time=[2.041315us,46.950247us] !own=64KiB !color=52 !backward
  %Gather1 = profile:op(%bert.embeddings.word_embeddings.weight) {id=70} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=6
  %Transpose13 = profile:op(%bert.embeddings.word_embeddings.weight) {id=244} : ? !xfer=7.278442383ms !time=[486.838809us,11.197292598ms] !own=15264KiB !color=6
  %Gather1_Grad/Shape_0 = profile:op(%bert.embeddings.word_embeddings.weight) {id=585} : ? !xfer=7.451ns !time=[436ps,10.025ns] !own=16B !color=6 !backward
  %Gather3 = profile:op(%bert.embeddings.token_type_embeddings.weight) {id=72} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=1
  %Gather3_Grad/Shape_0 = profile:op(%bert.embeddings.token_type_embeddings.weight) {id=590} : ? !xfer=7.451ns !time=[436ps,10.025ns] !own=16B !color=1 !backward
  %Gather2_Grad/Shape_0 = profile:op(%bert.embeddings.position_embeddings.weight) {id=594} : ? !xfer=7.451ns !time=[436ps,10.025ns] !own=16B !color=13 !backward
  %Cast2 = profile:op(%Shape1) {id=64} : ? !xfer=3.725ns !time=[499ps,11.481ns] !own=8B
  %Unsqueeze2 = profile:op(%Unsqueeze1) {id=92} : ? !xfer=11.444092us !time=[765.595ns,17.608679us] !own=24KiB
  %MatMul27_Grad/Transpose_0 = profile:op(%Transpose13) {id=255} : ? !xfer=7.278442383ms !time=[486.838809us,11.197292598ms] !own=15264KiB !color=38 !backward
  %Min1 = profile:op(%Cast2) {id=65} : ? !xfer=3.725ns !time=[249ps,5.731ns] !own=8B
  %Cast1 = profile:op(%Unsqueeze2) {id=93} : ? !xfer=5.722046us !time=[574.86ns,13.221777us] !own=12KiB
  %Cast3 = profile:op(%Min1) {id=66} : ? !xfer=7.451ns !time=[623ps,14.337ns] !own=16B
  %Sub1 = profile:op(%Cast1) {id=94} : ? !xfer=5.722046us !time=[382.735ns,8.802902us] !own=12KiB
  %Slice1 = profile:op(%Cast3) {id=67} : ? !xfer=58ps !time=[32.439ns,746.107ns]
  %Mul1 = profile:op(%Sub1) {id=95} : ? !xfer=5.722046us !time=[382.735ns,8.802902us] !own=12KiB
  %Expand1 = profile:op(%Shape1, %Slice1) {id=68} : ? !xfer=11.444092us !time=[381.97ns,8.785304us] !own=24KiB
  %Gather2 = profile:op(%bert.embeddings.position_embeddings.weight, %Expand1) {id=69} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=13
  %Add1 = profile:op(%Gather2, %Gather1) {id=71} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=71
  %Add2 = profile:op(%Add1, %Gather3) {id=73} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=49
  %LayerNormalization1 = profile:op(%bert.embeddings.LayerNorm.weight, %bert.embeddings.LayerNorm.bias, %Add2) {id=74} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=5
  %LayerNormalization1_91 = profile:op(%LayerNormalization1) {id=75} : ? !xfer=732.421875us !color=5
  %LayerNormalization1_saved_mean_1 = profile:op(%LayerNormalization1) {id=76} : ? !xfer=5.722046us !color=5
  %LayerNormalization1_saved_inv_std_var_2 = profile:op(%LayerNormalization1) {id=77} : ? !xfer=5.722046us !color=5
  %TrainableDropout1 = profile:op(%LayerNormalization1_91) {id=78} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=32
  %TrainableDropout1_92 = profile:op(%TrainableDropout1) {id=79} : ? !xfer=732.421875us !color=32
  %TrainableDropout1_93 = profile:op(%TrainableDropout1) {id=80} : ? !xfer=22.888184us !color=32
  %MatMul2 = profile:op(%bert.encoder.layer.0.attention.self.key.weight_transposed, %TrainableDropout1_92) {id=81} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=41
  %MatMul1 = profile:op(%bert.encoder.layer.0.attention.self.query.weight_transposed, %TrainableDropout1_92) {id=85} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=37
  %MatMul3 = profile:op(%bert.encoder.layer.0.attention.self.value.weight_transposed, %TrainableDropout1_92) {id=101} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=45
  %MatMul3_Grad/Reshape_5 = profile:op(%TrainableDropout1_92) {id=524} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=45 !backward
  %MatMul1_Grad/Reshape_5 = profile:op(%TrainableDropout1_92) {id=542} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=37 !backward
  %MatMul2_Grad/Reshape_5 = profile:op(%TrainableDropout1_92) {id=553} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=41 !backward
  %Add4 = profile:op(%bert.encoder.layer.0.attention.self.key.bias, %MatMul2) {id=82} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=8
  %Add3 = profile:op(%bert.encoder.layer.0.attention.self.query.bias, %MatMul1) {id=86} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=19
  %Add5 = profile:op(%bert.encoder.layer.0.attention.self.value.bias, %MatMul3) {id=102} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=27
  %Reshape2 = profile:op(%Add4) {id=83} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=15
  %Reshape1 = profile:op(%Add3) {id=87} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=73
  %Reshape3 = profile:op(%Add5) {id=103} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=80
  %Transpose2 = profile:op(%Reshape2) {id=84} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=3
  %Transpose1 = profile:op(%Reshape1) {id=88} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=60
  %Transpose3 = profile:op(%Reshape3) {id=104} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=97
  %MatMul4_Grad/Transpose_0 = profile:op(%Transpose2) {id=529} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=103 !backward
  %MatMul4 = profile:op(%Transpose2, %Transpose1) {id=89} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=103
  %MatMul4_Grad/Transpose_2 = profile:op(%Transpose1) {id=547} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=103 !backward
  %MatMul5_Grad/Transpose_0 = profile:op(%Transpose3) {id=530} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=104 !backward
  %Div1 = profile:op(%MatMul4) {id=90} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=108
  %Add6 = profile:op(%Div1, %Mul1) {id=96} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=114
  %Softmax1 = profile:op(%Add6) {id=97} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=119
  %TrainableDropout2 = profile:op(%Softmax1) {id=98} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=121
  %TrainableDropout2_153 = profile:op(%TrainableDropout2) {id=99} : ? !xfer=5.859375ms !color=121
  %TrainableDropout2_154 = profile:op(%TrainableDropout2) {id=100} : ? !xfer=183.105469us !color=121
  %MatMul5 = profile:op(%TrainableDropout2_153, %Transpose3) {id=105} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=104
  %MatMul5_Grad/Transpose_2 = profile:op(%TrainableDropout2_153) {id=518} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=104 !backward
  %Transpose4 = profile:op(%MatMul5) {id=106} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=110
  %Reshape4 = profile:op(%Transpose4) {id=107} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=74
  %MatMul6 = profile:op(%bert.encoder.layer.0.attention.output.dense.weight_transposed, %Reshape4) {id=108} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=52
  %MatMul6_Grad/Reshape_5 = profile:op(%Reshape4) {id=559} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=52 !backward
  %Add7 = profile:op(%bert.encoder.layer.0.attention.output.dense.bias, %MatMul6) {id=109} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=21
  %TrainableDropout3 = profile:op(%Add7) {id=110} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=75
  %TrainableDropout3_172 = profile:op(%TrainableDropout3) {id=111} : ? !xfer=732.421875us !color=75
  %TrainableDropout3_173 = profile:op(%TrainableDropout3) {id=112} : ? !xfer=22.888184us !color=75
  %Add8 = profile:op(%TrainableDropout1_92, %TrainableDropout3_172) {id=113} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=94
  %LayerNormalization2 = profile:op(%bert.encoder.layer.0.attention.output.LayerNorm.weight, %bert.encoder.layer.0.attention.output.LayerNorm.bias, %Add8) {id=114} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=20
  %LayerNormalization2_186 = profile:op(%LayerNormalization2) {id=115} : ? !xfer=732.421875us !color=20
  %LayerNormalization2_saved_mean_3 = profile:op(%LayerNormalization2) {id=116} : ? !xfer=5.722046us !color=20
  %LayerNormalization2_saved_inv_std_var_4 = profile:op(%LayerNormalization2) {id=117} : ? !xfer=5.722046us !color=20
  %MatMul7 = profile:op(%bert.encoder.layer.0.intermediate.dense_act.weight_transposed, %LayerNormalization2_186) {id=118} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=63
  %MatMul7_Grad/Reshape_5 = profile:op(%LayerNormalization2_186) {id=498} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=63 !backward
  %Add9 = profile:op(%bert.encoder.layer.0.intermediate.dense_act.bias, %MatMul7) {id=119} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=25
  %Gelu_0 = profile:op(%Add9) {id=120} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=78
  %MatMul8 = profile:op(%bert.encoder.layer.0.output.dense.weight_transposed, %Gelu_0) {id=121} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=23
  %MatMul8_Grad/Reshape_5 = profile:op(%Gelu_0) {id=486} : ? !xfer=7.629395us !time=[254.438ns,5.852077us] !own=16KiB !color=23 !backward
  %Add11 = profile:op(%bert.encoder.layer.0.output.dense.bias, %MatMul8) {id=122} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=26
  %TrainableDropout4 = profile:op(%Add11) {id=123} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=79
  %TrainableDropout4_201 = profile:op(%TrainableDropout4) {id=124} : ? !xfer=732.421875us !color=79
  %TrainableDropout4_202 = profile:op(%TrainableDropout4) {id=125} : ? !xfer=22.888184us !color=79
  %Add12 = profile:op(%LayerNormalization2_186, %TrainableDropout4_201) {id=126} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=76
  %LayerNormalization3 = profile:op(%bert.encoder.layer.0.output.LayerNorm.weight, %bert.encoder.layer.0.output.LayerNorm.bias, %Add12) {id=127} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=18
  %LayerNormalization3_215 = profile:op(%LayerNormalization3) {id=128} : ? !xfer=732.421875us !color=18
  %LayerNormalization3_saved_mean_5 = profile:op(%LayerNormalization3) {id=129} : ? !xfer=5.722046us !color=18
  %LayerNormalization3_saved_inv_std_var_6 = profile:op(%LayerNormalization3) {id=130} : ? !xfer=5.722046us !color=18
  %MatMul10 = profile:op(%bert.encoder.layer.1.attention.self.key.weight_transposed, %LayerNormalization3_215) {id=131} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=51
  %MatMul9 = profile:op(%bert.encoder.layer.1.attention.self.query.weight_transposed, %LayerNormalization3_215) {id=135} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=64
  %MatMul11 = profile:op(%bert.encoder.layer.1.attention.self.value.weight_transposed, %LayerNormalization3_215) {id=146} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=42
  %MatMul11_Grad/Reshape_5 = profile:op(%LayerNormalization3_215) {id=428} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=42 !backward
  %MatMul9_Grad/Reshape_5 = profile:op(%LayerNormalization3_215) {id=446} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=64 !backward
  %MatMul10_Grad/Reshape_5 = profile:op(%LayerNormalization3_215) {id=457} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=51 !backward
  %Add14 = profile:op(%bert.encoder.layer.1.attention.self.key.bias, %MatMul10) {id=132} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=2
  %Add13 = profile:op(%bert.encoder.layer.1.attention.self.query.bias, %MatMul9) {id=136} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=35
  %Add15 = profile:op(%bert.encoder.layer.1.attention.self.value.bias, %MatMul11) {id=147} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=40
  %Reshape6 = profile:op(%Add14) {id=133} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=61
  %Reshape5 = profile:op(%Add13) {id=137} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=86
  %Reshape7 = profile:op(%Add15) {id=148} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=88
  %Transpose6 = profile:op(%Reshape6) {id=134} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=93
  %Transpose5 = profile:op(%Reshape5) {id=138} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=99
  %Transpose7 = profile:op(%Reshape7) {id=149} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=100
  %MatMul12_Grad/Transpose_0 = profile:op(%Transpose6) {id=440} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=101 !backward
  %MatMul12 = profile:op(%Transpose6, %Transpose5) {id=139} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=101
  %MatMul12_Grad/Transpose_2 = profile:op(%Transpose5) {id=451} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=101 !backward
  %MatMul13_Grad/Transpose_0 = profile:op(%Transpose7) {id=433} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=105 !backward
  %Div3 = profile:op(%MatMul12) {id=140} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=106
  %Add16 = profile:op(%Mul1, %Div3) {id=141} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=112
  %Softmax2 = profile:op(%Add16) {id=142} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=117
  %TrainableDropout5 = profile:op(%Softmax2) {id=143} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=7
  %TrainableDropout5_275 = profile:op(%TrainableDropout5) {id=144} : ? !xfer=5.859375ms !color=7
  %TrainableDropout5_276 = profile:op(%TrainableDropout5) {id=145} : ? !xfer=183.105469us !color=7
  %MatMul13 = profile:op(%TrainableDropout5_275, %Transpose7) {id=150} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=105
  %MatMul13_Grad/Transpose_2 = profile:op(%TrainableDropout5_275) {id=422} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=105 !backward
  %Transpose8 = profile:op(%MatMul13) {id=151} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=111
  %Reshape8 = profile:op(%Transpose8) {id=152} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=116
  %MatMul14 = profile:op(%bert.encoder.layer.1.attention.output.dense.weight_transposed, %Reshape8) {id=153} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=33
  %MatMul14_Grad/Reshape_5 = profile:op(%Reshape8) {id=463} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=33 !backward
  %Add17 = profile:op(%bert.encoder.layer.1.attention.output.dense.bias, %MatMul14) {id=154} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=10
  %TrainableDropout6 = profile:op(%Add17) {id=155} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=53
  %TrainableDropout6_294 = profile:op(%TrainableDropout6) {id=156} : ? !xfer=732.421875us !color=53
  %TrainableDropout6_295 = profile:op(%TrainableDropout6) {id=157} : ? !xfer=22.888184us !color=53
  %Add18 = profile:op(%LayerNormalization3_215, %TrainableDropout6_294) {id=158} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=4
  %LayerNormalization4 = profile:op(%bert.encoder.layer.1.attention.output.LayerNorm.weight, %bert.encoder.layer.1.attention.output.LayerNorm.bias, %Add18) {id=159} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=28
  %LayerNormalization4_308 = profile:op(%LayerNormalization4) {id=160} : ? !xfer=732.421875us !color=28
  %LayerNormalization4_saved_mean_7 = profile:op(%LayerNormalization4) {id=161} : ? !xfer=5.722046us !color=28
  %LayerNormalization4_saved_inv_std_var_8 = profile:op(%LayerNormalization4) {id=162} : ? !xfer=5.722046us !color=28
  %MatMul15 = profile:op(%bert.encoder.layer.1.intermediate.dense_act.weight_transposed, %LayerNormalization4_308) {id=163} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=24
  %MatMul15_Grad/Reshape_5 = profile:op(%LayerNormalization4_308) {id=402} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=24 !backward
  %Add19 = profile:op(%bert.encoder.layer.1.intermediate.dense_act.bias, %MatMul15) {id=164} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=30
  %Gelu_1 = profile:op(%Add19) {id=165} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=82
  %MatMul16 = profile:op(%bert.encoder.layer.1.output.dense.weight_transposed, %Gelu_1) {id=166} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=57
  %MatMul16_Grad/Reshape_5 = profile:op(%Gelu_1) {id=390} : ? !xfer=7.629395us !time=[254.438ns,5.852077us] !own=16KiB !color=57 !backward
  %Add21 = profile:op(%bert.encoder.layer.1.output.dense.bias, %MatMul16) {id=167} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=50
  %TrainableDropout7 = profile:op(%Add21) {id=168} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=83
  %TrainableDropout7_323 = profile:op(%TrainableDropout7) {id=169} : ? !xfer=732.421875us !color=83
  %TrainableDropout7_324 = profile:op(%TrainableDropout7) {id=170} : ? !xfer=22.888184us !color=83
  %Add22 = profile:op(%LayerNormalization4_308, %TrainableDropout7_323) {id=171} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=81
  %LayerNormalization5 = profile:op(%bert.encoder.layer.1.output.LayerNorm.weight, %bert.encoder.layer.1.output.LayerNorm.bias, %Add22) {id=172} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=46
  %LayerNormalization5_337 = profile:op(%LayerNormalization5) {id=173} : ? !xfer=732.421875us !color=46
  %LayerNormalization5_saved_mean_9 = profile:op(%LayerNormalization5) {id=174} : ? !xfer=5.722046us !color=46
  %LayerNormalization5_saved_inv_std_var_10 = profile:op(%LayerNormalization5) {id=175} : ? !xfer=5.722046us !color=46
  %MatMul18 = profile:op(%bert.encoder.layer.2.attention.self.key.weight_transposed, %LayerNormalization5_337) {id=176} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=59
  %MatMul17 = profile:op(%bert.encoder.layer.2.attention.self.query.weight_transposed, %LayerNormalization5_337) {id=180} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=66
  %MatMul19 = profile:op(%bert.encoder.layer.2.attention.self.value.weight_transposed, %LayerNormalization5_337) {id=191} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=43
  %MatMul19_Grad/Reshape_5 = profile:op(%LayerNormalization5_337) {id=332} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=43 !backward
  %MatMul17_Grad/Reshape_5 = profile:op(%LayerNormalization5_337) {id=350} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=66 !backward
  %MatMul18_Grad/Reshape_5 = profile:op(%LayerNormalization5_337) {id=361} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=59 !backward
  %Add24 = profile:op(%bert.encoder.layer.2.attention.self.key.bias, %MatMul18) {id=177} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=9
  %Add23 = profile:op(%bert.encoder.layer.2.attention.self.query.bias, %MatMul17) {id=181} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=47
  %Add25 = profile:op(%bert.encoder.layer.2.attention.self.value.bias, %MatMul19) {id=192} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=22
  %Reshape10 = profile:op(%Add24) {id=178} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=12
  %Reshape9 = profile:op(%Add23) {id=182} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=89
  %Reshape11 = profile:op(%Add25) {id=193} : ? !xfer=732.421875us !time=[24.414313us,561.529188us] !own=1536KiB !color=77
  %Transpose10 = profile:op(%Reshape10) {id=179} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=95
  %Transpose9 = profile:op(%Reshape9) {id=183} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=102
  %Transpose11 = profile:op(%Reshape11) {id=194} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=39
  %MatMul20_Grad/Transpose_0 = profile:op(%Transpose10) {id=337} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=58 !backward
  %MatMul20 = profile:op(%Transpose10, %Transpose9) {id=184} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=58
  %MatMul20_Grad/Transpose_2 = profile:op(%Transpose9) {id=355} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=58 !backward
  %MatMul21_Grad/Transpose_0 = profile:op(%Transpose11) {id=338} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=87 !backward
  %Div5 = profile:op(%MatMul20) {id=185} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=107
  %Add26 = profile:op(%Mul1, %Div5) {id=186} : ? !xfer=5.859375ms !time=[391.9205us,9.0141715ms] !own=12MiB !color=113
  %Softmax3 = profile:op(%Add26) {id=187} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=118
  %TrainableDropout8 = profile:op(%Softmax3) {id=188} : ? !xfer=58ps !time=[398.024141us,9.154555234ms] !own=384KiB !color=120
  %TrainableDropout8_397 = profile:op(%TrainableDropout8) {id=189} : ? !xfer=5.859375ms !color=120
  %TrainableDropout8_398 = profile:op(%TrainableDropout8) {id=190} : ? !xfer=183.105469us !color=120
  %MatMul21 = profile:op(%TrainableDropout8_397, %Transpose11) {id=195} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=87
  %MatMul21_Grad/Transpose_2 = profile:op(%TrainableDropout8_397) {id=326} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=87 !backward
  %Transpose12 = profile:op(%MatMul21) {id=196} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=109
  %Reshape12 = profile:op(%Transpose12) {id=197} : ? !xfer=732.421875us !time=[24.41425us,561.52775us] !own=1536KiB !color=115
  %MatMul22 = profile:op(%bert.encoder.layer.2.attention.output.dense.weight_transposed, %Reshape12) {id=198} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=67
  %MatMul22_Grad/Reshape_5 = profile:op(%Reshape12) {id=367} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=67 !backward
  %Add27 = profile:op(%bert.encoder.layer.2.attention.output.dense.bias, %MatMul22) {id=199} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=56
  %TrainableDropout9 = profile:op(%Add27) {id=200} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=91
  %TrainableDropout9_416 = profile:op(%TrainableDropout9) {id=201} : ? !xfer=732.421875us !color=91
  %TrainableDropout9_417 = profile:op(%TrainableDropout9) {id=202} : ? !xfer=22.888184us !color=91
  %Add28 = profile:op(%LayerNormalization5_337, %TrainableDropout9_416) {id=203} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=31
  %LayerNormalization6 = profile:op(%bert.encoder.layer.2.attention.output.LayerNorm.weight, %bert.encoder.layer.2.attention.output.LayerNorm.bias, %Add28) {id=204} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=54
  %LayerNormalization6_430 = profile:op(%LayerNormalization6) {id=205} : ? !xfer=732.421875us !color=54
  %LayerNormalization6_saved_mean_11 = profile:op(%LayerNormalization6) {id=206} : ? !xfer=5.722046us !color=54
  %LayerNormalization6_saved_inv_std_var_12 = profile:op(%LayerNormalization6) {id=207} : ? !xfer=5.722046us !color=54
  %MatMul23 = profile:op(%bert.encoder.layer.2.intermediate.dense_act.weight_transposed, %LayerNormalization6_430) {id=208} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=65
  %MatMul23_Grad/Reshape_5 = profile:op(%LayerNormalization6_430) {id=306} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=65 !backward
  %Add29 = profile:op(%bert.encoder.layer.2.intermediate.dense_act.bias, %MatMul23) {id=209} : ? !xfer=23.4375ms !time=[1.567682ms,36.056686ms] !own=48MiB !color=16
  %Gelu_2 = profile:op(%Add29) {id=210} : ? !xfer=23.4375ms !time=[2.354114125ms,54.144624875ms] !own=48MiB !color=72
  %MatMul24 = profile:op(%bert.encoder.layer.2.output.dense.weight_transposed, %Gelu_2) {id=211} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=11
  %MatMul24_Grad/Reshape_5 = profile:op(%Gelu_2) {id=294} : ? !xfer=7.629395us !time=[254.438ns,5.852077us] !own=16KiB !color=11 !backward
  %Add31 = profile:op(%bert.encoder.layer.2.output.dense.bias, %MatMul24) {id=212} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=44
  %TrainableDropout10 = profile:op(%Add31) {id=213} : ? !xfer=58ps !time=[49.753127us,1.14432192ms] !own=48KiB !color=55
  %TrainableDropout10_445 = profile:op(%TrainableDropout10) {id=214} : ? !xfer=732.421875us !color=55
  %TrainableDropout10_446 = profile:op(%TrainableDropout10) {id=215} : ? !xfer=22.888184us !color=55
  %Add32 = profile:op(%LayerNormalization6_430, %TrainableDropout10_445) {id=216} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=90
  %LayerNormalization7 = profile:op(%bert.encoder.layer.2.output.LayerNorm.weight, %bert.encoder.layer.2.output.LayerNorm.bias, %Add32) {id=217} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=29
  %LayerNormalization7_459 = profile:op(%LayerNormalization7) {id=218} : ? !xfer=732.421875us !color=29
  %LayerNormalization7_saved_mean_13 = profile:op(%LayerNormalization7) {id=219} : ? !xfer=5.722046us !color=29
  %LayerNormalization7_saved_inv_std_var_14 = profile:op(%LayerNormalization7) {id=220} : ? !xfer=5.722046us !color=29
  %Gather4 = profile:op(%LayerNormalization7_459) {id=221} : ? !xfer=1.430511us !time=[95.746ns,2.202163us] !own=3KiB !color=84
  %MatMul26 = profile:op(%cls.predictions.transform.dense_act.weight_transposed, %LayerNormalization7_459) {id=237} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=69
  %MatMul26_Grad/Reshape_5 = profile:op(%LayerNormalization7_459) {id=264} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=69 !backward
  %Gather4_Grad/Shape_0 = profile:op(%LayerNormalization7_459) {id=280} : ? !xfer=11.176ns !time=[623ps,14.318ns] !own=24B !color=84 !backward
  %MatMul25 = profile:op(%bert.pooler.dense_act.weight_transposed, %Gather4) {id=222} : ? !xfer=1.430511us !time=[67.345ns,1.548924us] !own=3KiB !color=68
  %Add34 = profile:op(%cls.predictions.transform.dense_act.bias, %MatMul26) {id=238} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !color=62
  %Add33 = profile:op(%bert.pooler.dense_act.bias, %MatMul25) {id=223} : ? !xfer=1.430511us !time=[95.684ns,2.200725us] !own=3KiB !color=14
  %Gelu_3 = profile:op(%Add34) {id=239} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=92
  %Tanh1 = profile:op(%Add33) {id=224} : ? !xfer=1.430511us !time=[143.809ns,3.3076us] !own=3KiB !color=36
  %LayerNormalization8 = profile:op(%cls.predictions.transform.LayerNorm.weight, %cls.predictions.transform.LayerNorm.bias, %Gelu_3) {id=240} : ? !xfer=58ps !time=[196.827532us,4.527033241ms] !own=12KiB !color=48
  %Gemm1 = profile:op(%cls.seq_relationship.weight, %cls.seq_relationship.bias, %Tanh1) {id=225} : ? !xfer=22.352ns !time=[1.053ns,24.211ns] !own=48B !color=17
  %LayerNormalization8_488 = profile:op(%LayerNormalization8) {id=241} : ? !xfer=732.421875us !color=48
  %LayerNormalization8_saved_mean_15 = profile:op(%LayerNormalization8) {id=242} : ? !xfer=5.722046us !color=48
  %LayerNormalization8_saved_inv_std_var_16 = profile:op(%LayerNormalization8) {id=243} : ? !xfer=5.722046us !color=48
  %Next_Sentence_Loss = profile:op(%Gemm1) {id=226} : ? !xfer=58ps !time=[6.747ns,155.181ns] !own=48B !color=70 !backward
  %MatMul27 = profile:op(%LayerNormalization8_488, %Transpose13) {id=245} : ? !xfer=174.682617188ms !time=[8.223573516ms,189.142190865ms] !own=366336KiB !color=38
  %MatMul27_Grad/Reshape_5 = profile:op(%LayerNormalization8_488) {id=567} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=38 !backward
  %Next_Sentence_Loss_nsp_loss = profile:op(%Next_Sentence_Loss) {id=227} : ? !xfer=58ps !color=70 !backward
  %Next_Sentence_Loss_probability_ns = profile:op(%Next_Sentence_Loss) {id=228} : ? !xfer=22.352ns !color=70 !backward
  %Add36 = profile:op(%cls.predictions.bias, %MatMul27) {id=246} : ? !xfer=174.682617188ms !time=[11.684129906ms,268.734987844ms] !own=366336KiB !color=34
  %Next_Sentence_Loss_Grad/SparseSoftmaxCrossEntropyGrad_0 = profile:op(%Bert_Total_Loss_Grad/Identity_1, %Next_Sentence_Loss_probability_ns) {id=229} : ? !xfer=22.352ns !time=[4.495ns,103.386ns] !own=48B !color=70 !backward
  %GATHERED_LM = profile:op(%Mask_LM_Positions_Unsqueezed, %Add36) {id=247} : ? !xfer=6.823539734ms !time=[456.411387us,10.4974619ms] !own=14310KiB !color=85 !backward
  %GATHERED_LM_Grad/Shape_0 = profile:op(%Add36) {id=252} : ? !xfer=11.176ns !time=[623ps,14.318ns] !own=24B !color=85 !backward
  %Gemm1_Grad/Gemm_2 = profile:op(%Tanh1, %Next_Sentence_Loss_Grad/SparseSoftmaxCrossEntropyGrad_0) {id=230} : ? !xfer=476.837ns !time=[16.202ns,372.645ns] !own=1KiB !color=17 !backward
  %Gemm1_Grad/ReduceSum_3 = profile:op(%Next_Sentence_Loss_Grad/SparseSoftmaxCrossEntropyGrad_0) {id=232} : ? !xfer=3.725ns !time=[499ps,11.481ns] !own=8B !color=17 !backward
  %Gemm1_Grad/Gemm_1 = profile:op(%cls.seq_relationship.weight, %Next_Sentence_Loss_Grad/SparseSoftmaxCrossEntropyGrad_0) {id=273} : ? !xfer=1.430511us !time=[47.991ns,1.103796us] !own=3KiB !color=17 !backward
  %Masked_LM_Loss = profile:op(%GATHERED_LM) {id=248} : ? !xfer=58ps !time=[2.059131326ms,47.360020507ms] !own=14310KiB !color=98 !backward
  %AdamOptimizer_cls.seq_relationship.weight = profile:op(%cls.seq_relationship.weight, %Gemm1_Grad/Gemm_2) {id=231} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=17 !backward
  %Gemm1_Grad/Identity_4 = profile:op(%Gemm1_Grad/ReduceSum_3) {id=233} : ? !xfer=3.725ns !time=[312ps,7.169ns] !own=8B !color=17 !backward
  %Tanh1_Grad/TanhGradient_0 = profile:op(%Tanh1, %Gemm1_Grad/Gemm_1) {id=274} : ? !xfer=1.430511us !time=[239.809ns,5.5156us] !own=3KiB !color=36 !backward
  %Masked_LM_Loss_mlm_loss = profile:op(%Masked_LM_Loss) {id=249} : ? !xfer=58ps !color=98 !backward
  %Masked_LM_Loss_probability_lm = profile:op(%Masked_LM_Loss) {id=250} : ? !xfer=6.823539734ms !color=98 !backward
  %AdamOptimizer_cls.seq_relationship.bias = profile:op(%cls.seq_relationship.bias, %Gemm1_Grad/Identity_4) {id=234} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=17 !backward
  %Add33_Grad/Identity_1 = profile:op(%Tanh1_Grad/TanhGradient_0) {id=275} : ? !xfer=1.430511us !time=[95.746ns,2.202163us] !own=3KiB !color=14 !backward
  %Add33_Grad/ReduceSum_0 = profile:op(%Tanh1_Grad/TanhGradient_0) {id=278} : ? !xfer=238.419ns !time=[10.572ns,243.163ns] !own=512B !color=14 !backward
  %Bert_Total_Loss = profile:op(%Next_Sentence_Loss_nsp_loss, %Masked_LM_Loss_mlm_loss) {id=599} : ? !xfer=0ps !time=[64ps,1.482ns] !color=96 !backward
  %Masked_LM_Loss_Grad/SparseSoftmaxCrossEntropyGrad_0 = profile:op(%Bert_Total_Loss_Grad/Identity_0, %Masked_LM_Loss_probability_lm) {id=251} : ? !xfer=6.823539734ms !time=[227.526324us,5.233105463ms] !own=14310KiB !color=98 !backward
  %MatMul25_Grad/Gemm_2 = profile:op(%Gather4, %Add33_Grad/Identity_1) {id=276} : ? !xfer=30.517578us !time=[1.018174us,23.418011us] !own=64KiB !color=68 !backward
  %MatMul25_Grad/Gemm_1 = profile:op(%bert.pooler.dense_act.weight_transposed, %Add33_Grad/Identity_1) {id=281} : ? !xfer=1.430511us !time=[67.345ns,1.548928us] !own=3KiB !color=68 !backward
  %AdamOptimizer_bert.pooler.dense_act.bias = profile:op(%bert.pooler.dense_act.bias, %Add33_Grad/ReduceSum_0) {id=279} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=14 !backward
  %GATHERED_LM_Grad/GatherNDGrad_1 = profile:op(%Mask_LM_Positions_Unsqueezed, %Masked_LM_Loss_Grad/SparseSoftmaxCrossEntropyGrad_0, %GATHERED_LM_Grad/Shape_0) {id=253} : ? !xfer=174.682617188ms !time=[11.684129969ms,268.734989281ms] !own=366336KiB !color=85 !backward
  %AdamOptimizer_bert.pooler.dense_act.weight_transposed = profile:op(%bert.pooler.dense_act.weight_transposed, %MatMul25_Grad/Gemm_2) {id=277} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=68 !backward
  %Gather4_Grad/GatherGrad_1 = profile:op(%Gather4_Grad/Shape_0, %MatMul25_Grad/Gemm_1) {id=282} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=84 !backward
  %Add36_Grad/Identity_0 = profile:op(%GATHERED_LM_Grad/GatherNDGrad_1) {id=254} : ? !xfer=174.682617188ms !time=[11.684129969ms,268.734989281ms] !own=366336KiB !color=34 !backward
  %Add36_Grad/ReduceSum_1 = profile:op(%GATHERED_LM_Grad/GatherNDGrad_1) {id=271} : ? !xfer=56.862831us !time=[104.927428us,2.413330837ms] !own=122112B !color=34 !backward
  %MatMul27_Grad/MatMul_1 = profile:op(%Add36_Grad/Identity_0, %MatMul27_Grad/Transpose_0) {id=256} : ? !xfer=732.421875us !time=[2.425233672ms,55.780374458ms] !own=1536KiB !color=38 !backward
  %MatMul27_Grad/Reshape_6 = profile:op(%Add36_Grad/Identity_0) {id=566} : ? !xfer=56.862831us !time=[1.895553us,43.597712us] !own=122112B !color=38 !backward
  %AdamOptimizer_cls.predictions.bias = profile:op(%cls.predictions.bias, %Add36_Grad/ReduceSum_1) {id=272} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=34 !backward
  %LayerNormalization8_Grad/LayerNormalizationGrad_0 = profile:op(%cls.predictions.transform.LayerNorm.weight, %Gelu_3, %LayerNormalization8_saved_mean_15, %LayerNormalization8_saved_inv_std_var_16, %MatMul27_Grad/MatMul_1) {id=257} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=48 !backward
  %MatMul27_Grad/Gemm_7 = profile:op(%MatMul27_Grad/Reshape_6, %MatMul27_Grad/Reshape_5) {id=568} : ? !xfer=7.278442383ms !time=[243.396263us,5.598114051ms] !own=15264KiB !color=38 !backward
  %LayerNormalization8_Grad/LayerNormalizationGrad_0_476_grad = profile:op(%LayerNormalization8_Grad/LayerNormalizationGrad_0) {id=258} : ? !xfer=732.421875us !color=48 !backward
  %LayerNormalization8_Grad/LayerNormalizationGrad_0_cls.predictions.transform.LayerNorm.weight_grad = profile:op(%LayerNormalization8_Grad/LayerNormalizationGrad_0) {id=259} : ? !xfer=238.419ns !color=48 !backward
  %LayerNormalization8_Grad/LayerNormalizationGrad_0_cls.predictions.transform.LayerNorm.bias_grad = profile:op(%LayerNormalization8_Grad/LayerNormalizationGrad_0) {id=260} : ? !xfer=238.419ns !color=48 !backward
  %Transpose13_Grad/Transpose_0 = profile:op(%MatMul27_Grad/Gemm_7) {id=569} : ? !xfer=7.278442383ms !time=[486.838809us,11.197292598ms] !own=15264KiB !backward
  %Gelu_3_Grad/GeluGrad_0 = profile:op(%Add34, %LayerNormalization8_Grad/LayerNormalizationGrad_0_476_grad) {id=261} : ? !xfer=732.421875us !time=[122.718187us,2.822518312ms] !own=1536KiB !color=92 !backward
  %AdamOptimizer_cls.predictions.transform.LayerNorm.weight = profile:op(%cls.predictions.transform.LayerNorm.weight, %LayerNormalization8_Grad/LayerNormalizationGrad_0_cls.predictions.transform.LayerNorm.weight_grad) {id=269} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=48 !backward
  %AdamOptimizer_cls.predictions.transform.LayerNorm.bias = profile:op(%cls.predictions.transform.LayerNorm.bias, %LayerNormalization8_Grad/LayerNormalizationGrad_0_cls.predictions.transform.LayerNorm.bias_grad) {id=270} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=48 !backward
  %Add34_Grad/Identity_1 = profile:op(%Gelu_3_Grad/GeluGrad_0) {id=262} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=62 !backward
  %Add34_Grad/ReduceSum_0 = profile:op(%Gelu_3_Grad/GeluGrad_0) {id=267} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=62 !backward
  %MatMul26_Grad/Reshape_6 = profile:op(%Add34_Grad/Identity_1) {id=263} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=69 !backward
  %MatMul26_Grad/MatMul_1 = profile:op(%Add34_Grad/Identity_1, %MatMul26_Grad/Transpose_0) {id=284} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=69 !backward
  %AdamOptimizer_cls.predictions.transform.dense_act.bias = profile:op(%cls.predictions.transform.dense_act.bias, %Add34_Grad/ReduceSum_0) {id=268} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=62 !backward
  %MatMul26_Grad/Gemm_7 = profile:op(%MatMul26_Grad/Reshape_6, %MatMul26_Grad/Reshape_5) {id=265} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=69 !backward
  %AccumulateGrad_459_grad = profile:op(%Gather4_Grad/GatherGrad_1, %MatMul26_Grad/MatMul_1) {id=285} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_cls.predictions.transform.dense_act.weight_transposed = profile:op(%cls.predictions.transform.dense_act.weight_transposed, %MatMul26_Grad/Gemm_7) {id=266} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=69 !backward
  %LayerNormalization7_Grad/LayerNormalizationGrad_0 = profile:op(%bert.encoder.layer.2.output.LayerNorm.weight, %Add32, %LayerNormalization7_saved_mean_13, %LayerNormalization7_saved_inv_std_var_14, %AccumulateGrad_459_grad) {id=286} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=29 !backward
  %LayerNormalization7_Grad/LayerNormalizationGrad_0_447_grad = profile:op(%LayerNormalization7_Grad/LayerNormalizationGrad_0) {id=287} : ? !xfer=732.421875us !color=29 !backward
  %LayerNormalization7_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.output.LayerNorm.weight_grad = profile:op(%LayerNormalization7_Grad/LayerNormalizationGrad_0) {id=288} : ? !xfer=238.419ns !color=29 !backward
  %LayerNormalization7_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.output.LayerNorm.bias_grad = profile:op(%LayerNormalization7_Grad/LayerNormalizationGrad_0) {id=289} : ? !xfer=238.419ns !color=29 !backward
  %Add32_Grad/Identity_0 = profile:op(%LayerNormalization7_Grad/LayerNormalizationGrad_0_447_grad) {id=290} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=90 !backward
  %Add32_Grad/Identity_1 = profile:op(%LayerNormalization7_Grad/LayerNormalizationGrad_0_447_grad) {id=312} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=90 !backward
  %AdamOptimizer_bert.encoder.layer.2.output.LayerNorm.weight = profile:op(%bert.encoder.layer.2.output.LayerNorm.weight, %LayerNormalization7_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.output.LayerNorm.weight_grad) {id=299} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=29 !backward
  %AdamOptimizer_bert.encoder.layer.2.output.LayerNorm.bias = profile:op(%bert.encoder.layer.2.output.LayerNorm.bias, %LayerNormalization7_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.output.LayerNorm.bias_grad) {id=300} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=29 !backward
  %TrainableDropout10_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout10_446, %Add32_Grad/Identity_0) {id=291} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=55 !backward
  %Add31_Grad/Identity_0 = profile:op(%TrainableDropout10_Grad/TrainableDropoutGrad_0) {id=292} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=44 !backward
  %Add31_Grad/ReduceSum_1 = profile:op(%TrainableDropout10_Grad/TrainableDropoutGrad_0) {id=297} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=44 !backward
  %MatMul24_Grad/Reshape_6 = profile:op(%Add31_Grad/Identity_0) {id=293} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=11 !backward
  %MatMul24_Grad/MatMul_1 = profile:op(%Add31_Grad/Identity_0, %MatMul24_Grad/Transpose_0) {id=302} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=11 !backward
  %AdamOptimizer_bert.encoder.layer.2.output.dense.bias = profile:op(%bert.encoder.layer.2.output.dense.bias, %Add31_Grad/ReduceSum_1) {id=298} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=44 !backward
  %MatMul24_Grad/Gemm_7 = profile:op(%MatMul24_Grad/Reshape_6, %MatMul24_Grad/Reshape_5) {id=295} : ? !xfer=976.5625us !time=[32.656941us,751.109646us] !own=2MiB !color=11 !backward
  %Gelu_2_Grad/GeluGrad_0 = profile:op(%Add29, %MatMul24_Grad/MatMul_1) {id=303} : ? !xfer=23.4375ms !time=[3.926978125ms,90.320496875ms] !own=48MiB !color=72 !backward
  %AdamOptimizer_bert.encoder.layer.2.output.dense.weight_transposed = profile:op(%bert.encoder.layer.2.output.dense.weight_transposed, %MatMul24_Grad/Gemm_7) {id=296} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=11 !backward
  %Add29_Grad/Identity_1 = profile:op(%Gelu_2_Grad/GeluGrad_0) {id=304} : ? !xfer=23.4375ms !time=[1.567682062ms,36.056687437ms] !own=48MiB !color=16 !backward
  %Add29_Grad/ReduceSum_0 = profile:op(%Gelu_2_Grad/GeluGrad_0) {id=309} : ? !xfer=7.629395us !time=[14.078313us,323.801202us] !own=16KiB !color=16 !backward
  %MatMul23_Grad/Reshape_6 = profile:op(%Add29_Grad/Identity_1) {id=305} : ? !xfer=7.629395us !time=[254.438ns,5.852077us] !own=16KiB !color=65 !backward
  %MatMul23_Grad/MatMul_1 = profile:op(%Add29_Grad/Identity_1, %MatMul23_Grad/Transpose_0) {id=314} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=65 !backward
  %AdamOptimizer_bert.encoder.layer.2.intermediate.dense_act.bias = profile:op(%bert.encoder.layer.2.intermediate.dense_act.bias, %Add29_Grad/ReduceSum_0) {id=310} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=16 !backward
  %MatMul23_Grad/Gemm_7 = profile:op(%MatMul23_Grad/Reshape_6, %MatMul23_Grad/Reshape_5) {id=307} : ? !xfer=976.5625us !time=[32.656941us,751.109646us] !own=2MiB !color=65 !backward
  %AccumulateGrad_430_grad = profile:op(%Add32_Grad/Identity_1, %MatMul23_Grad/MatMul_1) {id=315} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_bert.encoder.layer.2.intermediate.dense_act.weight_transposed = profile:op(%bert.encoder.layer.2.intermediate.dense_act.weight_transposed, %MatMul23_Grad/Gemm_7) {id=308} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=65 !backward
  %LayerNormalization6_Grad/LayerNormalizationGrad_0 = profile:op(%bert.encoder.layer.2.attention.output.LayerNorm.weight, %Add28, %LayerNormalization6_saved_mean_11, %LayerNormalization6_saved_inv_std_var_12, %AccumulateGrad_430_grad) {id=316} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=54 !backward
  %LayerNormalization6_Grad/LayerNormalizationGrad_0_418_grad = profile:op(%LayerNormalization6_Grad/LayerNormalizationGrad_0) {id=317} : ? !xfer=732.421875us !color=54 !backward
  %LayerNormalization6_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.attention.output.LayerNorm.weight_grad = profile:op(%LayerNormalization6_Grad/LayerNormalizationGrad_0) {id=318} : ? !xfer=238.419ns !color=54 !backward
  %LayerNormalization6_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.attention.output.LayerNorm.bias_grad = profile:op(%LayerNormalization6_Grad/LayerNormalizationGrad_0) {id=319} : ? !xfer=238.419ns !color=54 !backward
  %Add28_Grad/Identity_0 = profile:op(%LayerNormalization6_Grad/LayerNormalizationGrad_0_418_grad) {id=320} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=31 !backward
  %Add28_Grad/Identity_1 = profile:op(%LayerNormalization6_Grad/LayerNormalizationGrad_0_418_grad) {id=378} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=31 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.output.LayerNorm.weight = profile:op(%bert.encoder.layer.2.attention.output.LayerNorm.weight, %LayerNormalization6_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.attention.output.LayerNorm.weight_grad) {id=372} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=54 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.output.LayerNorm.bias = profile:op(%bert.encoder.layer.2.attention.output.LayerNorm.bias, %LayerNormalization6_Grad/LayerNormalizationGrad_0_bert.encoder.layer.2.attention.output.LayerNorm.bias_grad) {id=373} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=54 !backward
  %TrainableDropout9_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout9_417, %Add28_Grad/Identity_0) {id=321} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=91 !backward
  %Add27_Grad/Identity_0 = profile:op(%TrainableDropout9_Grad/TrainableDropoutGrad_0) {id=322} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=56 !backward
  %Add27_Grad/ReduceSum_1 = profile:op(%TrainableDropout9_Grad/TrainableDropoutGrad_0) {id=370} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=56 !backward
  %MatMul22_Grad/MatMul_1 = profile:op(%MatMul22_Grad/Transpose_0, %Add27_Grad/Identity_0) {id=323} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=67 !backward
  %MatMul22_Grad/Reshape_6 = profile:op(%Add27_Grad/Identity_0) {id=366} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=67 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.output.dense.bias = profile:op(%bert.encoder.layer.2.attention.output.dense.bias, %Add27_Grad/ReduceSum_1) {id=371} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=56 !backward
  %Reshape12_Grad/ReshapeGradient_0 = profile:op(%Transpose12, %MatMul22_Grad/MatMul_1) {id=324} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=115 !backward
  %MatMul22_Grad/Gemm_7 = profile:op(%MatMul22_Grad/Reshape_6, %MatMul22_Grad/Reshape_5) {id=368} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=67 !backward
  %Transpose12_Grad/Transpose_0 = profile:op(%Reshape12_Grad/ReshapeGradient_0) {id=325} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=109 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.output.dense.weight_transposed = profile:op(%bert.encoder.layer.2.attention.output.dense.weight_transposed, %MatMul22_Grad/Gemm_7) {id=369} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=67 !backward
  %MatMul21_Grad/MatMul_3 = profile:op(%Transpose12_Grad/Transpose_0, %MatMul21_Grad/Transpose_2) {id=327} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=87 !backward
  %MatMul21_Grad/MatMul_1 = profile:op(%Transpose12_Grad/Transpose_0, %MatMul21_Grad/Transpose_0) {id=339} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=87 !backward
  %Transpose11_Grad/Transpose_0 = profile:op(%MatMul21_Grad/MatMul_3) {id=328} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=39 !backward
  %TrainableDropout8_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout8_398, %MatMul21_Grad/MatMul_1) {id=340} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=120 !backward
  %Reshape11_Grad/ReshapeGradient_0 = profile:op(%Add25, %Transpose11_Grad/Transpose_0) {id=329} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=77 !backward
  %Softmax3_Grad/SoftmaxGrad_0 = profile:op(%Softmax3, %TrainableDropout8_Grad/TrainableDropoutGrad_0) {id=341} : ? !xfer=5.859375ms !time=[981.744625us,22.580126375ms] !own=12MiB !color=118 !backward
  %Add25_Grad/Identity_0 = profile:op(%Reshape11_Grad/ReshapeGradient_0) {id=330} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=22 !backward
  %Add25_Grad/ReduceSum_1 = profile:op(%Reshape11_Grad/ReshapeGradient_0) {id=335} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=22 !backward
  %Add26_Grad/Identity_0 = profile:op(%Softmax3_Grad/SoftmaxGrad_0) {id=342} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=113 !backward
  %MatMul19_Grad/Reshape_6 = profile:op(%Add25_Grad/Identity_0) {id=331} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=43 !backward
  %MatMul19_Grad/MatMul_1 = profile:op(%Add25_Grad/Identity_0, %MatMul19_Grad/Transpose_0) {id=380} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=43 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.self.value.bias = profile:op(%bert.encoder.layer.2.attention.self.value.bias, %Add25_Grad/ReduceSum_1) {id=336} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=22 !backward
  %Div5_Grad/Div_0 = profile:op(%Add26_Grad/Identity_0) {id=343} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=107 !backward
  %MatMul19_Grad/Gemm_7 = profile:op(%MatMul19_Grad/Reshape_6, %MatMul19_Grad/Reshape_5) {id=333} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=43 !backward
  %Div5_Grad/Identity_1 = profile:op(%Div5_Grad/Div_0) {id=344} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=107 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.self.value.weight_transposed = profile:op(%bert.encoder.layer.2.attention.self.value.weight_transposed, %MatMul19_Grad/Gemm_7) {id=334} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=43 !backward
  %MatMul20_Grad/MatMul_1 = profile:op(%MatMul20_Grad/Transpose_0, %Div5_Grad/Identity_1) {id=345} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=58 !backward
  %MatMul20_Grad/MatMul_3 = profile:op(%Div5_Grad/Identity_1, %MatMul20_Grad/Transpose_2) {id=356} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=58 !backward
  %Transpose9_Grad/Transpose_0 = profile:op(%MatMul20_Grad/MatMul_1) {id=346} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=102 !backward
  %Transpose10_Grad/Transpose_0 = profile:op(%MatMul20_Grad/MatMul_3) {id=357} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=95 !backward
  %Reshape9_Grad/ReshapeGradient_0 = profile:op(%Add23, %Transpose9_Grad/Transpose_0) {id=347} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=89 !backward
  %Reshape10_Grad/ReshapeGradient_0 = profile:op(%Add24, %Transpose10_Grad/Transpose_0) {id=358} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=12 !backward
  %Add23_Grad/Identity_0 = profile:op(%Reshape9_Grad/ReshapeGradient_0) {id=348} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=47 !backward
  %Add23_Grad/ReduceSum_1 = profile:op(%Reshape9_Grad/ReshapeGradient_0) {id=353} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=47 !backward
  %Add24_Grad/Identity_0 = profile:op(%Reshape10_Grad/ReshapeGradient_0) {id=359} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=9 !backward
  %Add24_Grad/ReduceSum_1 = profile:op(%Reshape10_Grad/ReshapeGradient_0) {id=364} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=9 !backward
  %MatMul17_Grad/Reshape_6 = profile:op(%Add23_Grad/Identity_0) {id=349} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=66 !backward
  %MatMul17_Grad/MatMul_1 = profile:op(%Add23_Grad/Identity_0, %MatMul17_Grad/Transpose_0) {id=375} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=66 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.self.query.bias = profile:op(%bert.encoder.layer.2.attention.self.query.bias, %Add23_Grad/ReduceSum_1) {id=354} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=47 !backward
  %MatMul18_Grad/Reshape_6 = profile:op(%Add24_Grad/Identity_0) {id=360} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=59 !backward
  %MatMul18_Grad/MatMul_1 = profile:op(%Add24_Grad/Identity_0, %MatMul18_Grad/Transpose_0) {id=377} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=59 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.self.key.bias = profile:op(%bert.encoder.layer.2.attention.self.key.bias, %Add24_Grad/ReduceSum_1) {id=365} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=9 !backward
  %MatMul17_Grad/Gemm_7 = profile:op(%MatMul17_Grad/Reshape_6, %MatMul17_Grad/Reshape_5) {id=351} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=66 !backward
  %MatMul18_Grad/Gemm_7 = profile:op(%MatMul18_Grad/Reshape_6, %MatMul18_Grad/Reshape_5) {id=362} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=59 !backward
  %AccumulateGrad_337_grad = profile:op(%MatMul17_Grad/MatMul_1, %MatMul18_Grad/MatMul_1, %Add28_Grad/Identity_1, %MatMul19_Grad/MatMul_1) {id=381} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.self.query.weight_transposed = profile:op(%bert.encoder.layer.2.attention.self.query.weight_transposed, %MatMul17_Grad/Gemm_7) {id=352} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=66 !backward
  %AdamOptimizer_bert.encoder.layer.2.attention.self.key.weight_transposed = profile:op(%bert.encoder.layer.2.attention.self.key.weight_transposed, %MatMul18_Grad/Gemm_7) {id=363} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=59 !backward
  %LayerNormalization5_Grad/LayerNormalizationGrad_0 = profile:op(%bert.encoder.layer.1.output.LayerNorm.weight, %Add22, %LayerNormalization5_saved_mean_9, %LayerNormalization5_saved_inv_std_var_10, %AccumulateGrad_337_grad) {id=382} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=46 !backward
  %LayerNormalization5_Grad/LayerNormalizationGrad_0_325_grad = profile:op(%LayerNormalization5_Grad/LayerNormalizationGrad_0) {id=383} : ? !xfer=732.421875us !color=46 !backward
  %LayerNormalization5_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.output.LayerNorm.weight_grad = profile:op(%LayerNormalization5_Grad/LayerNormalizationGrad_0) {id=384} : ? !xfer=238.419ns !color=46 !backward
  %LayerNormalization5_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.output.LayerNorm.bias_grad = profile:op(%LayerNormalization5_Grad/LayerNormalizationGrad_0) {id=385} : ? !xfer=238.419ns !color=46 !backward
  %Add22_Grad/Identity_0 = profile:op(%LayerNormalization5_Grad/LayerNormalizationGrad_0_325_grad) {id=386} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=81 !backward
  %Add22_Grad/Identity_1 = profile:op(%LayerNormalization5_Grad/LayerNormalizationGrad_0_325_grad) {id=408} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=81 !backward
  %AdamOptimizer_bert.encoder.layer.1.output.LayerNorm.weight = profile:op(%bert.encoder.layer.1.output.LayerNorm.weight, %LayerNormalization5_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.output.LayerNorm.weight_grad) {id=395} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=46 !backward
  %AdamOptimizer_bert.encoder.layer.1.output.LayerNorm.bias = profile:op(%bert.encoder.layer.1.output.LayerNorm.bias, %LayerNormalization5_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.output.LayerNorm.bias_grad) {id=396} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=46 !backward
  %TrainableDropout7_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout7_324, %Add22_Grad/Identity_0) {id=387} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=83 !backward
  %Add21_Grad/Identity_0 = profile:op(%TrainableDropout7_Grad/TrainableDropoutGrad_0) {id=388} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=50 !backward
  %Add21_Grad/ReduceSum_1 = profile:op(%TrainableDropout7_Grad/TrainableDropoutGrad_0) {id=393} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=50 !backward
  %MatMul16_Grad/Reshape_6 = profile:op(%Add21_Grad/Identity_0) {id=389} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=57 !backward
  %MatMul16_Grad/MatMul_1 = profile:op(%Add21_Grad/Identity_0, %MatMul16_Grad/Transpose_0) {id=398} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=57 !backward
  %AdamOptimizer_bert.encoder.layer.1.output.dense.bias = profile:op(%bert.encoder.layer.1.output.dense.bias, %Add21_Grad/ReduceSum_1) {id=394} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=50 !backward
  %MatMul16_Grad/Gemm_7 = profile:op(%MatMul16_Grad/Reshape_6, %MatMul16_Grad/Reshape_5) {id=391} : ? !xfer=976.5625us !time=[32.656941us,751.109646us] !own=2MiB !color=57 !backward
  %Gelu_1_Grad/GeluGrad_0 = profile:op(%Add19, %MatMul16_Grad/MatMul_1) {id=399} : ? !xfer=23.4375ms !time=[3.926978125ms,90.320496875ms] !own=48MiB !color=82 !backward
  %AdamOptimizer_bert.encoder.layer.1.output.dense.weight_transposed = profile:op(%bert.encoder.layer.1.output.dense.weight_transposed, %MatMul16_Grad/Gemm_7) {id=392} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=57 !backward
  %Add19_Grad/Identity_1 = profile:op(%Gelu_1_Grad/GeluGrad_0) {id=400} : ? !xfer=23.4375ms !time=[1.567682062ms,36.056687437ms] !own=48MiB !color=30 !backward
  %Add19_Grad/ReduceSum_0 = profile:op(%Gelu_1_Grad/GeluGrad_0) {id=405} : ? !xfer=7.629395us !time=[14.078313us,323.801202us] !own=16KiB !color=30 !backward
  %MatMul15_Grad/Reshape_6 = profile:op(%Add19_Grad/Identity_1) {id=401} : ? !xfer=7.629395us !time=[254.438ns,5.852077us] !own=16KiB !color=24 !backward
  %MatMul15_Grad/MatMul_1 = profile:op(%Add19_Grad/Identity_1, %MatMul15_Grad/Transpose_0) {id=410} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=24 !backward
  %AdamOptimizer_bert.encoder.layer.1.intermediate.dense_act.bias = profile:op(%bert.encoder.layer.1.intermediate.dense_act.bias, %Add19_Grad/ReduceSum_0) {id=406} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=30 !backward
  %MatMul15_Grad/Gemm_7 = profile:op(%MatMul15_Grad/Reshape_6, %MatMul15_Grad/Reshape_5) {id=403} : ? !xfer=976.5625us !time=[32.656941us,751.109646us] !own=2MiB !color=24 !backward
  %AccumulateGrad_308_grad = profile:op(%Add22_Grad/Identity_1, %MatMul15_Grad/MatMul_1) {id=411} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_bert.encoder.layer.1.intermediate.dense_act.weight_transposed = profile:op(%bert.encoder.layer.1.intermediate.dense_act.weight_transposed, %MatMul15_Grad/Gemm_7) {id=404} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=24 !backward
  %LayerNormalization4_Grad/LayerNormalizationGrad_0 = profile:op(%bert.encoder.layer.1.attention.output.LayerNorm.weight, %Add18, %LayerNormalization4_saved_mean_7, %LayerNormalization4_saved_inv_std_var_8, %AccumulateGrad_308_grad) {id=412} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=28 !backward
  %LayerNormalization4_Grad/LayerNormalizationGrad_0_296_grad = profile:op(%LayerNormalization4_Grad/LayerNormalizationGrad_0) {id=413} : ? !xfer=732.421875us !color=28 !backward
  %LayerNormalization4_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.attention.output.LayerNorm.weight_grad = profile:op(%LayerNormalization4_Grad/LayerNormalizationGrad_0) {id=414} : ? !xfer=238.419ns !color=28 !backward
  %LayerNormalization4_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.attention.output.LayerNorm.bias_grad = profile:op(%LayerNormalization4_Grad/LayerNormalizationGrad_0) {id=415} : ? !xfer=238.419ns !color=28 !backward
  %Add18_Grad/Identity_0 = profile:op(%LayerNormalization4_Grad/LayerNormalizationGrad_0_296_grad) {id=416} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=4 !backward
  %Add18_Grad/Identity_1 = profile:op(%LayerNormalization4_Grad/LayerNormalizationGrad_0_296_grad) {id=472} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=4 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.output.LayerNorm.weight = profile:op(%bert.encoder.layer.1.attention.output.LayerNorm.weight, %LayerNormalization4_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.attention.output.LayerNorm.weight_grad) {id=468} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=28 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.output.LayerNorm.bias = profile:op(%bert.encoder.layer.1.attention.output.LayerNorm.bias, %LayerNormalization4_Grad/LayerNormalizationGrad_0_bert.encoder.layer.1.attention.output.LayerNorm.bias_grad) {id=469} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=28 !backward
  %TrainableDropout6_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout6_295, %Add18_Grad/Identity_0) {id=417} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=53 !backward
  %Add17_Grad/Identity_0 = profile:op(%TrainableDropout6_Grad/TrainableDropoutGrad_0) {id=418} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=10 !backward
  %Add17_Grad/ReduceSum_1 = profile:op(%TrainableDropout6_Grad/TrainableDropoutGrad_0) {id=466} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=10 !backward
  %MatMul14_Grad/MatMul_1 = profile:op(%MatMul14_Grad/Transpose_0, %Add17_Grad/Identity_0) {id=419} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=33 !backward
  %MatMul14_Grad/Reshape_6 = profile:op(%Add17_Grad/Identity_0) {id=462} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=33 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.output.dense.bias = profile:op(%bert.encoder.layer.1.attention.output.dense.bias, %Add17_Grad/ReduceSum_1) {id=467} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=10 !backward
  %Reshape8_Grad/ReshapeGradient_0 = profile:op(%Transpose8, %MatMul14_Grad/MatMul_1) {id=420} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=116 !backward
  %MatMul14_Grad/Gemm_7 = profile:op(%MatMul14_Grad/Reshape_6, %MatMul14_Grad/Reshape_5) {id=464} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=33 !backward
  %Transpose8_Grad/Transpose_0 = profile:op(%Reshape8_Grad/ReshapeGradient_0) {id=421} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=111 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.output.dense.weight_transposed = profile:op(%bert.encoder.layer.1.attention.output.dense.weight_transposed, %MatMul14_Grad/Gemm_7) {id=465} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=33 !backward
  %MatMul13_Grad/MatMul_3 = profile:op(%Transpose8_Grad/Transpose_0, %MatMul13_Grad/Transpose_2) {id=423} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=105 !backward
  %MatMul13_Grad/MatMul_1 = profile:op(%Transpose8_Grad/Transpose_0, %MatMul13_Grad/Transpose_0) {id=434} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=105 !backward
  %Transpose7_Grad/Transpose_0 = profile:op(%MatMul13_Grad/MatMul_3) {id=424} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=100 !backward
  %TrainableDropout5_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout5_276, %MatMul13_Grad/MatMul_1) {id=435} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=7 !backward
  %Reshape7_Grad/ReshapeGradient_0 = profile:op(%Add15, %Transpose7_Grad/Transpose_0) {id=425} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=88 !backward
  %Softmax2_Grad/SoftmaxGrad_0 = profile:op(%Softmax2, %TrainableDropout5_Grad/TrainableDropoutGrad_0) {id=436} : ? !xfer=5.859375ms !time=[981.744625us,22.580126375ms] !own=12MiB !color=117 !backward
  %Add15_Grad/Identity_0 = profile:op(%Reshape7_Grad/ReshapeGradient_0) {id=426} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=40 !backward
  %Add15_Grad/ReduceSum_1 = profile:op(%Reshape7_Grad/ReshapeGradient_0) {id=431} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=40 !backward
  %Add16_Grad/Identity_0 = profile:op(%Softmax2_Grad/SoftmaxGrad_0) {id=437} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=112 !backward
  %MatMul11_Grad/Reshape_6 = profile:op(%Add15_Grad/Identity_0) {id=427} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=42 !backward
  %MatMul11_Grad/MatMul_1 = profile:op(%Add15_Grad/Identity_0, %MatMul11_Grad/Transpose_0) {id=474} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=42 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.self.value.bias = profile:op(%bert.encoder.layer.1.attention.self.value.bias, %Add15_Grad/ReduceSum_1) {id=432} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=40 !backward
  %Div3_Grad/Div_0 = profile:op(%Add16_Grad/Identity_0) {id=438} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=106 !backward
  %MatMul11_Grad/Gemm_7 = profile:op(%MatMul11_Grad/Reshape_6, %MatMul11_Grad/Reshape_5) {id=429} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=42 !backward
  %Div3_Grad/Identity_1 = profile:op(%Div3_Grad/Div_0) {id=439} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=106 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.self.value.weight_transposed = profile:op(%bert.encoder.layer.1.attention.self.value.weight_transposed, %MatMul11_Grad/Gemm_7) {id=430} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=42 !backward
  %MatMul12_Grad/MatMul_1 = profile:op(%Div3_Grad/Identity_1, %MatMul12_Grad/Transpose_0) {id=441} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=101 !backward
  %MatMul12_Grad/MatMul_3 = profile:op(%Div3_Grad/Identity_1, %MatMul12_Grad/Transpose_2) {id=452} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=101 !backward
  %Transpose5_Grad/Transpose_0 = profile:op(%MatMul12_Grad/MatMul_1) {id=442} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=99 !backward
  %Transpose6_Grad/Transpose_0 = profile:op(%MatMul12_Grad/MatMul_3) {id=453} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=93 !backward
  %Reshape5_Grad/ReshapeGradient_0 = profile:op(%Add13, %Transpose5_Grad/Transpose_0) {id=443} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=86 !backward
  %Reshape6_Grad/ReshapeGradient_0 = profile:op(%Add14, %Transpose6_Grad/Transpose_0) {id=454} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=61 !backward
  %Add13_Grad/Identity_0 = profile:op(%Reshape5_Grad/ReshapeGradient_0) {id=444} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=35 !backward
  %Add13_Grad/ReduceSum_1 = profile:op(%Reshape5_Grad/ReshapeGradient_0) {id=449} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=35 !backward
  %Add14_Grad/Identity_0 = profile:op(%Reshape6_Grad/ReshapeGradient_0) {id=455} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=2 !backward
  %Add14_Grad/ReduceSum_1 = profile:op(%Reshape6_Grad/ReshapeGradient_0) {id=460} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=2 !backward
  %MatMul9_Grad/Reshape_6 = profile:op(%Add13_Grad/Identity_0) {id=445} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=64 !backward
  %MatMul9_Grad/MatMul_1 = profile:op(%Add13_Grad/Identity_0, %MatMul9_Grad/Transpose_0) {id=476} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=64 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.self.query.bias = profile:op(%bert.encoder.layer.1.attention.self.query.bias, %Add13_Grad/ReduceSum_1) {id=450} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=35 !backward
  %MatMul10_Grad/Reshape_6 = profile:op(%Add14_Grad/Identity_0) {id=456} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=51 !backward
  %MatMul10_Grad/MatMul_1 = profile:op(%Add14_Grad/Identity_0, %MatMul10_Grad/Transpose_0) {id=471} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=51 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.self.key.bias = profile:op(%bert.encoder.layer.1.attention.self.key.bias, %Add14_Grad/ReduceSum_1) {id=461} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=2 !backward
  %MatMul9_Grad/Gemm_7 = profile:op(%MatMul9_Grad/Reshape_6, %MatMul9_Grad/Reshape_5) {id=447} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=64 !backward
  %MatMul10_Grad/Gemm_7 = profile:op(%MatMul10_Grad/Reshape_6, %MatMul10_Grad/Reshape_5) {id=458} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=51 !backward
  %AccumulateGrad_215_grad = profile:op(%MatMul10_Grad/MatMul_1, %Add18_Grad/Identity_1, %MatMul11_Grad/MatMul_1, %MatMul9_Grad/MatMul_1) {id=477} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.self.query.weight_transposed = profile:op(%bert.encoder.layer.1.attention.self.query.weight_transposed, %MatMul9_Grad/Gemm_7) {id=448} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=64 !backward
  %AdamOptimizer_bert.encoder.layer.1.attention.self.key.weight_transposed = profile:op(%bert.encoder.layer.1.attention.self.key.weight_transposed, %MatMul10_Grad/Gemm_7) {id=459} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=51 !backward
  %LayerNormalization3_Grad/LayerNormalizationGrad_0 = profile:op(%bert.encoder.layer.0.output.LayerNorm.weight, %Add12, %LayerNormalization3_saved_mean_5, %LayerNormalization3_saved_inv_std_var_6, %AccumulateGrad_215_grad) {id=478} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=18 !backward
  %LayerNormalization3_Grad/LayerNormalizationGrad_0_203_grad = profile:op(%LayerNormalization3_Grad/LayerNormalizationGrad_0) {id=479} : ? !xfer=732.421875us !color=18 !backward
  %LayerNormalization3_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.output.LayerNorm.weight_grad = profile:op(%LayerNormalization3_Grad/LayerNormalizationGrad_0) {id=480} : ? !xfer=238.419ns !color=18 !backward
  %LayerNormalization3_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.output.LayerNorm.bias_grad = profile:op(%LayerNormalization3_Grad/LayerNormalizationGrad_0) {id=481} : ? !xfer=238.419ns !color=18 !backward
  %Add12_Grad/Identity_0 = profile:op(%LayerNormalization3_Grad/LayerNormalizationGrad_0_203_grad) {id=482} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=76 !backward
  %Add12_Grad/Identity_1 = profile:op(%LayerNormalization3_Grad/LayerNormalizationGrad_0_203_grad) {id=504} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=76 !backward
  %AdamOptimizer_bert.encoder.layer.0.output.LayerNorm.weight = profile:op(%bert.encoder.layer.0.output.LayerNorm.weight, %LayerNormalization3_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.output.LayerNorm.weight_grad) {id=491} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=18 !backward
  %AdamOptimizer_bert.encoder.layer.0.output.LayerNorm.bias = profile:op(%bert.encoder.layer.0.output.LayerNorm.bias, %LayerNormalization3_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.output.LayerNorm.bias_grad) {id=492} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=18 !backward
  %TrainableDropout4_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout4_202, %Add12_Grad/Identity_0) {id=483} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=79 !backward
  %Add11_Grad/Identity_0 = profile:op(%TrainableDropout4_Grad/TrainableDropoutGrad_0) {id=484} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=26 !backward
  %Add11_Grad/ReduceSum_1 = profile:op(%TrainableDropout4_Grad/TrainableDropoutGrad_0) {id=489} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=26 !backward
  %MatMul8_Grad/Reshape_6 = profile:op(%Add11_Grad/Identity_0) {id=485} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=23 !backward
  %MatMul8_Grad/MatMul_1 = profile:op(%Add11_Grad/Identity_0, %MatMul8_Grad/Transpose_0) {id=494} : ? !xfer=23.4375ms !time=[1.103372547ms,25.377568586ms] !own=48MiB !color=23 !backward
  %AdamOptimizer_bert.encoder.layer.0.output.dense.bias = profile:op(%bert.encoder.layer.0.output.dense.bias, %Add11_Grad/ReduceSum_1) {id=490} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=26 !backward
  %MatMul8_Grad/Gemm_7 = profile:op(%MatMul8_Grad/Reshape_6, %MatMul8_Grad/Reshape_5) {id=487} : ? !xfer=976.5625us !time=[32.656941us,751.109646us] !own=2MiB !color=23 !backward
  %Gelu_0_Grad/GeluGrad_0 = profile:op(%Add9, %MatMul8_Grad/MatMul_1) {id=495} : ? !xfer=23.4375ms !time=[3.926978125ms,90.320496875ms] !own=48MiB !color=78 !backward
  %AdamOptimizer_bert.encoder.layer.0.output.dense.weight_transposed = profile:op(%bert.encoder.layer.0.output.dense.weight_transposed, %MatMul8_Grad/Gemm_7) {id=488} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=23 !backward
  %Add9_Grad/Identity_1 = profile:op(%Gelu_0_Grad/GeluGrad_0) {id=496} : ? !xfer=23.4375ms !time=[1.567682062ms,36.056687437ms] !own=48MiB !color=25 !backward
  %Add9_Grad/ReduceSum_0 = profile:op(%Gelu_0_Grad/GeluGrad_0) {id=501} : ? !xfer=7.629395us !time=[14.078313us,323.801202us] !own=16KiB !color=25 !backward
  %MatMul7_Grad/Reshape_6 = profile:op(%Add9_Grad/Identity_1) {id=497} : ? !xfer=7.629395us !time=[254.438ns,5.852077us] !own=16KiB !color=63 !backward
  %MatMul7_Grad/MatMul_1 = profile:op(%Add9_Grad/Identity_1, %MatMul7_Grad/Transpose_0) {id=506} : ? !xfer=732.421875us !time=[346.53661us,7.970342023ms] !own=1536KiB !color=63 !backward
  %AdamOptimizer_bert.encoder.layer.0.intermediate.dense_act.bias = profile:op(%bert.encoder.layer.0.intermediate.dense_act.bias, %Add9_Grad/ReduceSum_0) {id=502} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=25 !backward
  %MatMul7_Grad/Gemm_7 = profile:op(%MatMul7_Grad/Reshape_6, %MatMul7_Grad/Reshape_5) {id=499} : ? !xfer=976.5625us !time=[32.656941us,751.109646us] !own=2MiB !color=63 !backward
  %AccumulateGrad_186_grad = profile:op(%Add12_Grad/Identity_1, %MatMul7_Grad/MatMul_1) {id=507} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_bert.encoder.layer.0.intermediate.dense_act.weight_transposed = profile:op(%bert.encoder.layer.0.intermediate.dense_act.weight_transposed, %MatMul7_Grad/Gemm_7) {id=500} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=63 !backward
  %LayerNormalization2_Grad/LayerNormalizationGrad_0 = profile:op(%bert.encoder.layer.0.attention.output.LayerNorm.weight, %Add8, %LayerNormalization2_saved_mean_3, %LayerNormalization2_saved_inv_std_var_4, %AccumulateGrad_186_grad) {id=508} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=20 !backward
  %LayerNormalization2_Grad/LayerNormalizationGrad_0_174_grad = profile:op(%LayerNormalization2_Grad/LayerNormalizationGrad_0) {id=509} : ? !xfer=732.421875us !color=20 !backward
  %LayerNormalization2_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.attention.output.LayerNorm.weight_grad = profile:op(%LayerNormalization2_Grad/LayerNormalizationGrad_0) {id=510} : ? !xfer=238.419ns !color=20 !backward
  %LayerNormalization2_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.attention.output.LayerNorm.bias_grad = profile:op(%LayerNormalization2_Grad/LayerNormalizationGrad_0) {id=511} : ? !xfer=238.419ns !color=20 !backward
  %Add8_Grad/Identity_0 = profile:op(%LayerNormalization2_Grad/LayerNormalizationGrad_0_174_grad) {id=512} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=94 !backward
  %Add8_Grad/Identity_1 = profile:op(%LayerNormalization2_Grad/LayerNormalizationGrad_0_174_grad) {id=570} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=94 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.output.LayerNorm.weight = profile:op(%bert.encoder.layer.0.attention.output.LayerNorm.weight, %LayerNormalization2_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.attention.output.LayerNorm.weight_grad) {id=564} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=20 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.output.LayerNorm.bias = profile:op(%bert.encoder.layer.0.attention.output.LayerNorm.bias, %LayerNormalization2_Grad/LayerNormalizationGrad_0_bert.encoder.layer.0.attention.output.LayerNorm.bias_grad) {id=565} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=20 !backward
  %TrainableDropout3_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout3_173, %Add8_Grad/Identity_0) {id=513} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=75 !backward
  %Add7_Grad/Identity_0 = profile:op(%TrainableDropout3_Grad/TrainableDropoutGrad_0) {id=514} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=21 !backward
  %Add7_Grad/ReduceSum_1 = profile:op(%TrainableDropout3_Grad/TrainableDropoutGrad_0) {id=562} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=21 !backward
  %MatMul6_Grad/MatMul_1 = profile:op(%MatMul6_Grad/Transpose_0, %Add7_Grad/Identity_0) {id=515} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=52 !backward
  %MatMul6_Grad/Reshape_6 = profile:op(%Add7_Grad/Identity_0) {id=558} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=52 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.output.dense.bias = profile:op(%bert.encoder.layer.0.attention.output.dense.bias, %Add7_Grad/ReduceSum_1) {id=563} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=21 !backward
  %Reshape4_Grad/ReshapeGradient_0 = profile:op(%Transpose4, %MatMul6_Grad/MatMul_1) {id=516} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=74 !backward
  %MatMul6_Grad/Gemm_7 = profile:op(%MatMul6_Grad/Reshape_6, %MatMul6_Grad/Reshape_5) {id=560} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=52 !backward
  %Transpose4_Grad/Transpose_0 = profile:op(%Reshape4_Grad/ReshapeGradient_0) {id=517} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=110 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.output.dense.weight_transposed = profile:op(%bert.encoder.layer.0.attention.output.dense.weight_transposed, %MatMul6_Grad/Gemm_7) {id=561} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=52 !backward
  %MatMul5_Grad/MatMul_3 = profile:op(%Transpose4_Grad/Transpose_0, %MatMul5_Grad/Transpose_2) {id=519} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=104 !backward
  %MatMul5_Grad/MatMul_1 = profile:op(%Transpose4_Grad/Transpose_0, %MatMul5_Grad/Transpose_0) {id=531} : ? !xfer=5.859375ms !time=[255.710478us,5.881340985ms] !own=12MiB !color=104 !backward
  %Transpose3_Grad/Transpose_0 = profile:op(%MatMul5_Grad/MatMul_3) {id=520} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=97 !backward
  %TrainableDropout2_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout2_154, %MatMul5_Grad/MatMul_1) {id=532} : ? !xfer=5.859375ms !time=[588.528625us,13.536158375ms] !own=12MiB !color=121 !backward
  %Reshape3_Grad/ReshapeGradient_0 = profile:op(%Add5, %Transpose3_Grad/Transpose_0) {id=521} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=80 !backward
  %Softmax1_Grad/SoftmaxGrad_0 = profile:op(%Softmax1, %TrainableDropout2_Grad/TrainableDropoutGrad_0) {id=533} : ? !xfer=5.859375ms !time=[981.744625us,22.580126375ms] !own=12MiB !color=119 !backward
  %Add5_Grad/Identity_0 = profile:op(%Reshape3_Grad/ReshapeGradient_0) {id=522} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=27 !backward
  %Add5_Grad/ReduceSum_1 = profile:op(%Reshape3_Grad/ReshapeGradient_0) {id=527} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=27 !backward
  %Add6_Grad/Identity_0 = profile:op(%Softmax1_Grad/SoftmaxGrad_0) {id=534} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=114 !backward
  %MatMul3_Grad/Reshape_6 = profile:op(%Add5_Grad/Identity_0) {id=523} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=45 !backward
  %MatMul3_Grad/MatMul_1 = profile:op(%Add5_Grad/Identity_0, %MatMul3_Grad/Transpose_0) {id=572} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=45 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.self.value.bias = profile:op(%bert.encoder.layer.0.attention.self.value.bias, %Add5_Grad/ReduceSum_1) {id=528} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=27 !backward
  %Div1_Grad/Div_0 = profile:op(%Add6_Grad/Identity_0) {id=535} : ? !xfer=5.859375ms !time=[588.52875us,13.53616125ms] !own=12MiB !color=108 !backward
  %MatMul3_Grad/Gemm_7 = profile:op(%MatMul3_Grad/Reshape_6, %MatMul3_Grad/Reshape_5) {id=525} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=45 !backward
  %Div1_Grad/Identity_1 = profile:op(%Div1_Grad/Div_0) {id=536} : ? !xfer=5.859375ms !time=[391.920563us,9.014172938ms] !own=12MiB !color=108 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.self.value.weight_transposed = profile:op(%bert.encoder.layer.0.attention.self.value.weight_transposed, %MatMul3_Grad/Gemm_7) {id=526} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=45 !backward
  %MatMul4_Grad/MatMul_1 = profile:op(%MatMul4_Grad/Transpose_0, %Div1_Grad/Identity_1) {id=537} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=103 !backward
  %MatMul4_Grad/MatMul_3 = profile:op(%Div1_Grad/Identity_1, %MatMul4_Grad/Transpose_2) {id=548} : ? !xfer=732.421875us !time=[507.597883us,11.674751316ms] !own=1536KiB !color=103 !backward
  %Transpose1_Grad/Transpose_0 = profile:op(%MatMul4_Grad/MatMul_1) {id=538} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=60 !backward
  %Transpose2_Grad/Transpose_0 = profile:op(%MatMul4_Grad/MatMul_3) {id=549} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=3 !backward
  %Reshape1_Grad/ReshapeGradient_0 = profile:op(%Add3, %Transpose1_Grad/Transpose_0) {id=539} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=73 !backward
  %Reshape2_Grad/ReshapeGradient_0 = profile:op(%Add4, %Transpose2_Grad/Transpose_0) {id=550} : ? !xfer=732.421875us !time=[24.422063us,561.707438us] !own=1536KiB !color=15 !backward
  %Add3_Grad/Identity_0 = profile:op(%Reshape1_Grad/ReshapeGradient_0) {id=540} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=19 !backward
  %Add3_Grad/ReduceSum_1 = profile:op(%Reshape1_Grad/ReshapeGradient_0) {id=545} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=19 !backward
  %Add4_Grad/Identity_0 = profile:op(%Reshape2_Grad/ReshapeGradient_0) {id=551} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=8 !backward
  %Add4_Grad/ReduceSum_1 = profile:op(%Reshape2_Grad/ReshapeGradient_0) {id=556} : ? !xfer=238.419ns !time=[439.947ns,10.118788us] !own=512B !color=8 !backward
  %MatMul1_Grad/Reshape_6 = profile:op(%Add3_Grad/Identity_0) {id=541} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=37 !backward
  %MatMul1_Grad/MatMul_1 = profile:op(%Add3_Grad/Identity_0, %MatMul1_Grad/Transpose_0) {id=576} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=37 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.self.query.bias = profile:op(%bert.encoder.layer.0.attention.self.query.bias, %Add3_Grad/ReduceSum_1) {id=546} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=19 !backward
  %MatMul2_Grad/Reshape_6 = profile:op(%Add4_Grad/Identity_0) {id=552} : ? !xfer=238.419ns !time=[8.072ns,185.663ns] !own=512B !color=41 !backward
  %MatMul2_Grad/MatMul_1 = profile:op(%Add4_Grad/Identity_0, %MatMul2_Grad/Transpose_0) {id=574} : ? !xfer=732.421875us !time=[34.480392us,793.049018us] !own=1536KiB !color=41 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.self.key.bias = profile:op(%bert.encoder.layer.0.attention.self.key.bias, %Add4_Grad/ReduceSum_1) {id=557} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=8 !backward
  %MatMul1_Grad/Gemm_7 = profile:op(%MatMul1_Grad/Reshape_6, %MatMul1_Grad/Reshape_5) {id=543} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=37 !backward
  %MatMul2_Grad/Gemm_7 = profile:op(%MatMul2_Grad/Reshape_6, %MatMul2_Grad/Reshape_5) {id=554} : ? !xfer=30.517578us !time=[1.017278us,23.397403us] !own=64KiB !color=41 !backward
  %AccumulateGrad_92_grad = profile:op(%Add8_Grad/Identity_1, %MatMul3_Grad/MatMul_1, %MatMul2_Grad/MatMul_1, %MatMul1_Grad/MatMul_1) {id=577} : ? !xfer=732.421875us !time=[48.990063us,1.126771438ms] !own=1536KiB !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.self.query.weight_transposed = profile:op(%bert.encoder.layer.0.attention.self.query.weight_transposed, %MatMul1_Grad/Gemm_7) {id=544} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=37 !backward
  %AdamOptimizer_bert.encoder.layer.0.attention.self.key.weight_transposed = profile:op(%bert.encoder.layer.0.attention.self.key.weight_transposed, %MatMul2_Grad/Gemm_7) {id=555} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=41 !backward
  %TrainableDropout1_Grad/TrainableDropoutGrad_0 = profile:op(%TrainableDropout1_93, %AccumulateGrad_92_grad) {id=578} : ? !xfer=732.421875us !time=[73.566188us,1.692022313ms] !own=1536KiB !color=32 !backward
  %LayerNormalization1_Grad/LayerNormalizationGrad_0 = profile:op(%bert.embeddings.LayerNorm.weight, %Add2, %LayerNormalization1_saved_mean_1, %LayerNormalization1_saved_inv_std_var_2, %TrainableDropout1_Grad/TrainableDropoutGrad_0) {id=579} : ? !xfer=58ps !time=[196.461957us,4.518625013ms] !own=512B !color=5 !backward
  %LayerNormalization1_Grad/LayerNormalizationGrad_0_79_grad = profile:op(%LayerNormalization1_Grad/LayerNormalizationGrad_0) {id=580} : ? !xfer=732.421875us !color=5 !backward
  %LayerNormalization1_Grad/LayerNormalizationGrad_0_bert.embeddings.LayerNorm.weight_grad = profile:op(%LayerNormalization1_Grad/LayerNormalizationGrad_0) {id=581} : ? !xfer=238.419ns !color=5 !backward
  %LayerNormalization1_Grad/LayerNormalizationGrad_0_bert.embeddings.LayerNorm.bias_grad = profile:op(%LayerNormalization1_Grad/LayerNormalizationGrad_0) {id=582} : ? !xfer=238.419ns !color=5 !backward
  %Add2_Grad/Identity_0 = profile:op(%LayerNormalization1_Grad/LayerNormalizationGrad_0_79_grad) {id=583} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=49 !backward
  %Add2_Grad/Identity_1 = profile:op(%LayerNormalization1_Grad/LayerNormalizationGrad_0_79_grad) {id=589} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=49 !backward
  %AdamOptimizer_bert.embeddings.LayerNorm.weight = profile:op(%bert.embeddings.LayerNorm.weight, %LayerNormalization1_Grad/LayerNormalizationGrad_0_bert.embeddings.LayerNorm.weight_grad) {id=597} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=5 !backward
  %AdamOptimizer_bert.embeddings.LayerNorm.bias = profile:op(%bert.embeddings.LayerNorm.bias, %LayerNormalization1_Grad/LayerNormalizationGrad_0_bert.embeddings.LayerNorm.bias_grad) {id=598} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=5 !backward
  %Add1_Grad/Identity_0 = profile:op(%Add2_Grad/Identity_0) {id=584} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=71 !backward
  %Add1_Grad/Identity_1 = profile:op(%Add2_Grad/Identity_0) {id=593} : ? !xfer=732.421875us !time=[48.990125us,1.126772875ms] !own=1536KiB !color=71 !backward
  %Gather3_Grad/GatherGrad_1 = profile:op(%Add2_Grad/Identity_1, %Gather3_Grad/Shape_0) {id=591} : ? !xfer=476.837ns !time=[31.957ns,735.013ns] !own=1KiB !color=1 !backward
  %Gather1_Grad/GatherGrad_1 = profile:op(%Add1_Grad/Identity_0, %Gather1_Grad/Shape_0) {id=586} : ? !xfer=7.278442383ms !time=[486.838809us,11.197292598ms] !own=15264KiB !color=6 !backward
  %Gather2_Grad/GatherGrad_1 = profile:op(%Expand1, %Add1_Grad/Identity_1, %Gather2_Grad/Shape_0) {id=595} : ? !xfer=122.070313us !time=[8.165073us,187.796677us] !own=256KiB !color=13 !backward
  %AdamOptimizer_bert.embeddings.token_type_embeddings.weight = profile:op(%bert.embeddings.token_type_embeddings.weight, %Gather3_Grad/GatherGrad_1) {id=592} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=1 !backward
  %AccumulateGrad_bert.embeddings.word_embeddings.weight_grad = profile:op(%Transpose13_Grad/Transpose_0, %Gather1_Grad/GatherGrad_1) {id=587} : ? !xfer=7.278442383ms !time=[486.838746us,11.19729116ms] !own=15264KiB !backward
  %AdamOptimizer_bert.embeddings.position_embeddings.weight = profile:op(%bert.embeddings.position_embeddings.weight, %Gather2_Grad/GatherGrad_1) {id=596} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=13 !backward
  %AdamOptimizer_bert.embeddings.word_embeddings.weight = profile:op(%bert.embeddings.word_embeddings.weight, %AccumulateGrad_bert.embeddings.word_embeddings.weight_grad) {id=588} : ? !xfer=0ps !time=[1.5ns,34.5ns] !color=6 !backward
}
