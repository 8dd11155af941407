#include "tests/fuzz/small_files.hpp"
#include "tests/fuzz/target.hpp"

EYEROOF_FUZZ_TARGET(eyeroof::tests::broken_promise_claim_yaml)
