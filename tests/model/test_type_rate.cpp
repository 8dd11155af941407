#include "model/accelerator/type_rate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_type_rate {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

// 4 x 8 MACs at 1 GHz with 16-bit words, 64 B/cycle from memory.
model::Accelerator array() {
    model::Accelerator a;
    a.clock_hz = 1e9;
    model::Level memory;
    memory.name = "memory";
    model::Channel link;
    link.name = "link";
    link.operands = {model::Operand::input, model::Operand::weight, model::Operand::output};
    link.down_bytes_per_cycle = 64.0;
    link.up_bytes_per_cycle = 64.0;
    memory.channels = {link};
    memory.fanout = {{"column", 4}, {"row", 8}};
    a.levels = {memory, model::Level{"PE", {}, {}, {}}};
    return a;
}

double bytes_per_s(const model::Accelerator& a) {
    return a.levels[0].channels[0].down_bytes_per_cycle * a.clock_hz;
}

} // namespace

TEST_CASE("a type at twice the rate lengthens its axis and keeps clock and bandwidth") {
    model::Accelerator a = array();
    a.type_rates = {{model::DataType::fp8, 64e9, "row"}};
    const auto b = model::with_type(a, model::DataType::fp8);
    CHECK(model::mac_units(b) == 64);
    CHECK(b.clock_hz == near(1e9));
    CHECK(bytes_per_s(b) == near(64e9));
    CHECK(b.word_bits[index(model::Operand::weight)] == 8);
    CHECK(b.type == model::DataType::fp8);
}

TEST_CASE("a rate that is no power of two moves the clock, and no bandwidth") {
    model::Accelerator a = array();
    a.type_rates = {{model::DataType::fp8, 1.9 * 32e9, "row"}};
    const auto b = model::with_type(a, model::DataType::fp8);
    CHECK(static_cast<double>(model::mac_units(b)) * b.clock_hz == near(1.9 * 32e9));
    CHECK(bytes_per_s(b) == near(64e9));
}

TEST_CASE("a type without a rate of its own changes nothing") {
    const auto a = array();
    CHECK(model::with_type(a, model::DataType::fp8) == a);
}

} // namespace test_model_type_rate
