// A convolution, a depthwise one, a grouped one and two matrix products.
Constant Batch 4;
Constant Wide