// A file of any bytes through the door that tells files apart by their content.
#include "tests/fuzz/any_file.hpp"
#include "tests/fuzz/target.hpp"

EYEROOF_FUZZ_TARGET(eyeroof::tests::broken_promise_any_file)
