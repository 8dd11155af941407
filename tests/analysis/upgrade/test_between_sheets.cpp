// What one GPU gains over another lies between the extreme ratios of their data sheets, whatever
// was measured of either: every network of the catalog, small and large batches.
#include "analysis/exam/run.hpp"
#include "analysis/program/lower.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace test_analysis_upgrade_between_sheets {

using namespace eyeroof; // NOLINT

namespace {

std::vector<std::filesystem::path> folders(const char* name) {
    return {std::filesystem::path(tests::source_dir()) / name};
}

struct Range {
    double low, high;
};

// Of the peaks of the network's types and of fp32, DRAM, L2, the clock that latencies follow, and
// the power that the clock of long kernels follows.
Range sheet_ratios(const model::Network& network, const model::Gpu& from, const model::Gpu& to) {
    std::vector<double> ratios = {
        to.dram_bytes_per_s / from.dram_bytes_per_s, to.boost_hz / from.boost_hz,
        model::l2_bandwidth(to) / model::l2_bandwidth(from), to.tdp_w / from.tdp_w};
    std::set<model::DataType> types = {model::DataType::fp32};
    for (const model::Layer& layer : network.layers) {
        types.insert(layer.types.input);
    }
    for (const model::DataType type : types) {
        ratios.push_back(to.rate(type).flops_per_s / from.rate(type).flops_per_s);
    }
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    return {*low, *high};
}

// Libraries differ severalfold in 8-bit products: some GPUs were measured with slow ones.
bool has_bytes(const model::Network& network) {
    return std::any_of(network.layers.begin(), network.layers.end(), [](const model::Layer& l) {
        return l.types.input == model::DataType::int8 || l.types.input == model::DataType::fp8;
    });
}

// Seconds of the kernels; 0 where the GPU does not serve one of the types.
double kernels_s(const model::Network& network, const model::Machine& machine, Count batches) {
    analysis::Scenario scenario;
    scenario.batch = batches * analysis::own_batch(network);
    const auto report = analysis::run(network, machine, scenario);
    return report ? report->total.device_s : 0.0;
}

model::Machine machine(const std::string& id) {
    auto found = hwdb::load_machine(id, folders("hwdb"));
    REQUIRE(found.ok());
    return *found;
}

constexpr Count kFewMacs = 10'000;

Count macs_of(const model::Network& network) {
    Count macs = 0;
    for (const model::Layer& layer : network.layers) {
        const auto work = model::work_of(layer);
        macs += work ? work->macs * layer.count : 0;
    }
    return macs;
}

// Each GPU beside the next.
void check_chain(const std::vector<model::Machine>& chain, const model::Network& network) {
    // Launches are each GPU's own: V100's convolutions were measured in a loop of calls, A100's
    // were not.
    constexpr double kTolerance = 1.07;
    for (const Count batch : {1, 32}) {
        double after = kernels_s(network, chain.front(), batch);
        for (std::size_t i = 1; i < chain.size(); ++i) {
            const model::Machine& from = chain[i - 1];
            const model::Machine& to = chain[i];
            const double before = std::exchange(after, kernels_s(network, to, batch));
            if (before <= 0.0 || after <= 0.0) {
                continue;
            }
            Range range = sheet_ratios(network, std::get<model::Gpu>(from.kind),
                                       std::get<model::Gpu>(to.kind));
            if (macs_of(network) < kFewMacs) {
                // All of it is the start of kernels, which no sheet has: no slower is what is left.
                range.low = std::min(range.low, kTolerance);
            }
            CAPTURE(from.id);
            CAPTURE(to.id);
            CAPTURE(network.id);
            CAPTURE(batch);
            CHECK(before / after >= range.low / kTolerance);
            CHECK(before / after <= range.high * kTolerance);
        }
    }
}

void check_catalog(const std::vector<std::string>& ids) {
    const auto listed = formats::list_networks(folders("examples/networks"));
    REQUIRE(listed.ok());
    std::vector<model::Machine> chain;
    for (const std::string& id : ids) {
        chain.push_back(machine(id));
    }
    for (const auto& entry : *listed) {
        const auto network = formats::load_network(entry.id, folders("examples/networks"));
        if (network && !has_bytes(*network)) { // without a network: it wants a parameter
            check_chain(chain, *network);
        }
    }
}

} // namespace

TEST_CASE("networks gain no less and no more than the extreme ratios of two data sheets") {
    check_catalog({"v100-sxm2-16gb", "a100-sxm-40gb", "h100-sxm-80gb", "b200-sxm"});
    check_catalog({"v100-pcie-32gb", "a100-pcie-80gb"});
    check_catalog({"t4", "l4"});
}

} // namespace test_analysis_upgrade_between_sheets
