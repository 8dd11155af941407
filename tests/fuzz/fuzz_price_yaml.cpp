#include "tests/fuzz/reader_files.hpp"
#include "tests/fuzz/target.hpp"

EYEROOF_FUZZ_TARGET(eyeroof::tests::broken_promise_price_yaml)
