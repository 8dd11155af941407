Network A { Layer B { Type: LSTM Dimensions { K: 3 } } Layer C { Type: CONV Dimensions { Z: 1, C: 0 } } }
