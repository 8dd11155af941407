// A convolution, a depthwise one, a grouped one and two matrix products.
Constant Batch 4;
Constant Wide 128;
Network Small {
  Layer conv-1 {
    Type: CONV
    Stride { X: 2, Y: 2 }
    Dimensions { N: Batch, K: 64, C: 3, R: 7, S: 7, Y: 229, X: 229 }
    Dataflow {
      SpatialMap(1,1) K;
      TemporalMap(Sz(R),1) Y';
      Cluster(8, P);
      TemporalMap(1,1) C;
    }
  }
  Layer depth_1 { /* K filters for each channel */
    Type: DSCONV
    Dimensions { K 1, C 64, R 3, S 3, Y 58, X 58 }
  }
  Layer group_1 {
    Type: NGCONV
    Stride { X: 1, Y: 1 }
    Dimensions { G: 32, K: 4, C: 4, R: 3, S