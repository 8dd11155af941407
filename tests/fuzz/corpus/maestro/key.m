Network A {
 Layer B { Type: CONV Strid { X: 1 } } }