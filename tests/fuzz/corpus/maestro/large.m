Constant A 9999999999999;
Network N { Layer L { Type: CONV Dimensions { N: A, K: 999999999, C: 999999999, G: 999999999, R: 1, S: 1, Y: 1, X: 1 } } }