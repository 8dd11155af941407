Constant A 9999999999999;
Network N { Layer L { Type: CONV Dimensions { N: A