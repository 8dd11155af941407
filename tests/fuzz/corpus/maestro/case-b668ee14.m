Network A {
 Layer B { T