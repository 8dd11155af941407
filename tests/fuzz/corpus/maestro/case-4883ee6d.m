// A convolution, a depthwise one, a grouped one and two matrix products.
Constant Batch 4;
Constant Wide 128;
Network Small {
  Layer conv-1 {
    Type: CONV
    Stride { X: 2, Y: 2 }
    Dimensions { N: Batch, K: 64, C: 3, R: 7, S: 7, Y: 229, X: 229 }
    Dataflow {
    