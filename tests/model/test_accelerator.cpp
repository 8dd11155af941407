#include "model/accelerator/accelerator.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_accelerator {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

TEST_CASE("MAC units are the product of all fan-outs") {
    CHECK(mac_units(eyeriss168()) == 168);
    CHECK(instances_of(eyeriss168(), 1) == 1);
    CHECK(instances_of(eyeriss168(), 2) == 168);
}

TEST_CASE("stores and channels are found by operand") {
    const Accelerator a = eyeriss168();
    CHECK(store_of(a.levels[2], Operand::input) != nullptr);
    CHECK(store_of(a.levels[2], Operand::weight) == nullptr);
    CHECK(channel_of(a.levels[1], Operand::input)->forwards);
    CHECK(channel_of(a.levels[0], Operand::input) == nullptr);
}

TEST_CASE("run-length coding sends only non-zero words, and is left out where it would not help") {
    const Accelerator a = eyeriss168();
    Channel c;
    c.bits_per_nonzero = 21.0;
    CHECK(bytes_per_word(c, 16, 0.5) == near(21.0 * 0.5 / 8));
    CHECK(bytes_per_word(c, 16, 0.0) == 2.0); // 21 bits would be worse than 16
    CHECK(bytes_per_word(Channel{}, 16, 0.5) == 2.0);
}

TEST_CASE("dataflow names are read back") {
    for (const DataflowKind kind : {DataflowKind::ws, DataflowKind::os, DataflowKind::is,
                                    DataflowKind::nlr, DataflowKind::rs, DataflowKind::rs_plus}) {
        CHECK(dataflow_from_name(dataflow_name(kind)) == kind);
    }
    CHECK_FALSE(dataflow_from_name("row"));
}

TEST_CASE("every broken rule of a machine is reported") {
    CHECK(validate(eyeriss168()).empty());
    Accelerator a = eyeriss168();
    a.clock_hz = 0;
    a.levels[0].stores[0].operands = {Operand::input};
    a.levels[1].fanout[0].size = 0;
    a.levels[1].stores.push_back(a.levels[1].stores[0]);
    a.dataflows.emplace_back();
    a.dataflows.back().spatial.push_back({"z", {Dim::K}});
    const Diagnostics d = validate(a);
    const auto says = [&](std::string_view code) {
        for (const Diagnostic& item : d) {
            if (item.code == code) {
                return true;
            }
        }
        return false;
    };
    CHECK(says("bad-clock"));
    CHECK(says("no-home"));
    CHECK(says("bad-fanout"));
    CHECK(says("operand-twice"));
    CHECK(says("unknown-axis"));
}

} // namespace test_model_accelerator
