#include "tests/fuzz/target.hpp"
#include "tests/fuzz/trials.hpp"

EYEROOF_FUZZ_TARGET(eyeroof::tests::broken_promise_trials)
