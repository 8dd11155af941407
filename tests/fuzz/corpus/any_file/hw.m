NumPEs: 256
L1Size: 256
L2Size: 4096
NoC_BW: 64
NoC_NumHops: 1
