Network A {
 Layer B { Type: CONV Stri