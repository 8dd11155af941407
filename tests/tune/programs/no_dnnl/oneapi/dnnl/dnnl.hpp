// Stands in front of an installed oneDNN: what a compiler says where there is none.
#error there is no oneDNN
